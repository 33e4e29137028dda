//! Decides which jobs this node drives: leases shards without an owner and runs a driver for each.

use std::sync::Arc;

use harvestman_store::{JobKind, Lease};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::context::Context;
use crate::driver::Driver;
use crate::{clock, limits, runs};

/// Leases and drives shards until `stop` is cancelled; returns when every driver has ended.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut drivers = JoinSet::new();
    loop {
        while drivers.try_join_next().is_some() {}
        let room = limits::MAX_SHARDS.saturating_sub(drivers.len());
        let wanted = limits::LEASES_PER_POLL.min(u32::try_from(room).unwrap_or(u32::MAX));
        let leases = match context
            .store
            .lease(&context.node, clock::now(), limits::LEASE_MS, wanted)
            .await
        {
            Ok(leases) => leases,
            Err(error) => {
                tracing::warn!(%error, "cannot lease shards; retrying");
                Vec::new()
            }
        };
        // A full result means that more may be waiting, even if many jobs caused only one notification.
        let more = wanted > 0 && leases.len() >= wanted as usize;
        for lease in leases {
            let span = tracing::info_span!("crawl", crawl.id = %lease.job, team.id = %lease.team);
            drivers.spawn(drive(context.clone(), lease, stop.clone()).instrument(span));
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = std::future::ready(()), if more => {}
            () = context.new_work.notified() => {}
            () = tokio::time::sleep(limits::LEASE_POLL) => {}
        }
    }
    while drivers.join_next().await.is_some() {}
}

async fn drive(context: Arc<Context>, lease: Lease, stop: CancellationToken) {
    if matches!(lease.kind, JobKind::Extract | JobKind::Agent) {
        let signals = context.driver_signals.register(&lease);
        tokio::select! {
            ended = runs::drive(context.clone(), lease.clone(), stop) => match ended {
                Ok(exit) => tracing::debug!(?exit, "stopped driving a run"),
                Err(error) => tracing::error!(%error, "a run failed; it will be restarted when its lease expires"),
            },
            () = signals.cancelled.cancelled() => tracing::debug!("run cancelled"),
        }
        context.driver_signals.remove(&lease);
        context.changes.announce(lease.job);
        return;
    }
    let driver = match Driver::new(context.clone(), lease.clone()) {
        Ok(driver) => driver,
        Err(error) => return tracing::error!(%error, "cannot read a stored job"),
    };
    let signals = context.driver_signals.register(&lease);
    tokio::select! {
        exit = driver.run(stop, &signals) => match exit {
            Ok(exit) => tracing::debug!(?exit, "stopped driving a crawl"),
            // The lease expires, and this or another node leases the shard again.
            Err(error) => tracing::error!(%error, "a crawl failed; it will be resumed when its lease expires"),
        },
        // Dropping the driver drops its fetches; a commit in progress finds the lease lost.
        () = signals.cancelled.cancelled() => tracing::debug!("crawl cancelled"),
    }
    context.driver_signals.remove(&lease);
    context.changes.announce(lease.job);
}
