//! Decides which jobs this node drives: leases shards without an owner and runs a driver for each. The store divides the
//! room among the teams.

use std::sync::Arc;

use harvestman_store::{JobKind, JobStatus, Lease, LeaseRoom, StoreError};
use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::context::Context;
use crate::driver::Driver;
use crate::driver_signals::JobSignals;
use crate::lease::{ClockSteps, LeaseEnd};
use crate::team_tasks::TeamTasks;
use crate::{clock, lease, limits, outage, runs};

/// Leases and drives shards until `stop` is cancelled; returns when every driver has ended.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut drivers = TeamTasks::default();
    let mut steps = ClockSteps::new();
    loop {
        drivers.remove_ended();
        let mut room = LeaseRoom {
            limit: limits::LEASES_PER_POLL,
            capacity: limits::MAX_SHARDS,
            driven: drivers.by_team(),
        };
        if !steps.may_lease(drivers.len() > 0) {
            room.limit = 0;
        }
        let leases = match context
            .store
            .lease(&context.node, clock::now(), limits::LEASE_MS, &room)
            .await
        {
            Ok(leases) => leases,
            Err(error) => {
                tracing::warn!(%error, "cannot lease shards; retrying");
                Vec::new()
            }
        };
        // More may be waiting, even if many jobs caused only one notification.
        let more = !leases.is_empty();
        for lease in leases {
            let span = span_of(&lease);
            let team = lease.team;
            let driver = drive(context.clone(), lease, stop.clone());
            drivers.spawn(team, driver.instrument(span));
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = std::future::ready(()), if more => {}
            () = context.new_work.notified() => {}
        }
    }
    while drivers.join_next().await.is_some() {}
}

/// Returns the span of a job, without its URLs and prompt: they may contain secrets.
fn span_of(lease: &Lease) -> Span {
    let Lease { job, team, kind, .. } = lease;
    match kind {
        JobKind::Extract => {
            tracing::info_span!("extract", job.id = %job, team.id = %team, "error.type" = Empty)
        }
        JobKind::Agent => tracing::info_span!("agent", job.id = %job, team.id = %team, "error.type" = Empty),
        _ => tracing::info_span!("crawl", crawl.id = %job, team.id = %team),
    }
}

async fn drive(context: Arc<Context>, lease: Lease, stop: CancellationToken) {
    let signals = context.driver_signals.register(&lease);
    let work = async {
        match lease.kind {
            JobKind::Extract | JobKind::Agent => runs::drive(&context, &lease, stop).await,
            _ => fetch_pages(&context, &lease, stop, &signals).await,
        }
    };
    tokio::select! {
        end = lease::hold(&context, &lease, work) => match end {
            Ok(end) => tracing::debug!(?end, "stopped working on a job"),
            // The lease expires, and this or another node leases the shard again.
            Err(error) => tracing::error!(%error, "a job failed; it will be resumed when its lease expires"),
        },
        // Dropping the work drops its fetches; a commit in progress finds the lease lost.
        () = signals.cancelled.cancelled() => tracing::info!("job cancelled"),
    }
    context.driver_signals.remove(&lease);
    context.budget.close(lease.team, lease.job);
    context.changes.announce(lease.job);
}

/// Drives a job that fetches pages. A job whose stored state cannot be read fails, unless another process may be able to
/// read it.
async fn fetch_pages(
    context: &Arc<Context>,
    lease: &Lease,
    stop: CancellationToken,
    signals: &JobSignals,
) -> Result<LeaseEnd, StoreError> {
    let driver = match Driver::new(context.clone(), lease.clone()) {
        Err(error) if context.store.may_be_readable_elsewhere(&lease.request) => return Err(error),
        driver => driver,
    };
    let end = match driver {
        Ok(driver) => driver.run(stop, signals).await,
        Err(error) => Err(error),
    };
    let Err(StoreError::Unreadable(error)) = end else {
        return end;
    };
    tracing::error!(error, "the stored state of a job is damaged");
    let write = || context.store.fail_damaged(lease, clock::now());
    if !outage::retry(StoreError::is_transient, write).await? {
        return Ok(LeaseEnd::Lost);
    }
    let metrics = context.slots.metrics();
    metrics.count_job_end(lease.kind, JobStatus::Failed);
    context.outbox.notify_one();
    Ok(LeaseEnd::JobEnded)
}
