//! Decides which jobs this node drives: leases shards without an owner and runs a driver for each. The store divides the
//! room among the teams.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::ids::TeamId;
use harvestman_store::{JobKind, Lease, LeaseRoom};
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::Ticker;
use crate::context::Context;
use crate::driver::Driver;
use crate::{clock, lease, limits, runs};

/// Leases and drives shards until `stop` is cancelled; returns when every driver has ended.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut drivers = JoinSet::new();
    let mut teams: HashMap<Id, TeamId> = HashMap::new();
    let mut ticker = Ticker::new();
    let mut renewed_at = Instant::now();
    loop {
        while let Some(ended) = drivers.try_join_next_with_id() {
            teams.remove(&ended.map_or_else(|panic| panic.id(), |(id, ())| id));
        }
        let mut room = LeaseRoom {
            limit: limits::LEASES_PER_POLL,
            capacity: limits::MAX_SHARDS,
            driven: HashMap::new(),
        };
        for team in teams.values() {
            *room.driven.entry(*team).or_default() += 1;
        }
        // After a forward step of the clock, the leases of this node look expired until its drivers renew them.
        let now = clock::now();
        if now.millis_since(ticker.now()) > limits::CLOCK_STEP_MS && !drivers.is_empty() {
            renewed_at = Instant::now() + limits::HEARTBEAT * 2;
        }
        ticker = Ticker::new();
        if Instant::now() < renewed_at {
            room.limit = 0;
        }
        let leases = match context
            .store
            .lease(&context.node, now, limits::LEASE_MS, &room)
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
            let span = tracing::info_span!("crawl", crawl.id = %lease.job, team.id = %lease.team);
            let team = lease.team;
            let driver = drivers.spawn(drive(context.clone(), lease, stop.clone()).instrument(span));
            teams.insert(driver.id(), team);
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

async fn drive(context: Arc<Context>, lease: Lease, stop: CancellationToken) {
    let signals = context.driver_signals.register(&lease);
    let work = async {
        match lease.kind {
            JobKind::Extract | JobKind::Agent => runs::drive(&context, &lease, stop).await,
            _ => {
                Driver::new(context.clone(), lease.clone())?
                    .run(stop, &signals)
                    .await
            }
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
