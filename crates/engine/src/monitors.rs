//! Monitors: a loop that starts due checks and works on those that have not ended. A check fetches its pages with
//! ordinary jobs (`check.rs`), which survive a restart like any other. Its own state is a row under a lease, so each
//! due check runs once.

mod check;
mod finding;
mod judge;
mod requests;
mod start;

use std::sync::Arc;

use harvestman_core::api::monitor_response::CheckTrigger;
use harvestman_store::{DueMonitor, StoreError};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::context::Context;
use crate::lease::ClockSteps;
use crate::{clock, limits};

/// Starts due checks and works on checks until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut checks = JoinSet::new();
    let mut steps = ClockSteps::new();
    let comparisons = Arc::new(Semaphore::new(limits::COMPARISONS_AT_ONCE));
    while !stop.is_cancelled() {
        while checks.try_join_next().is_some() {}
        if let Err(error) = start_due(&context).await {
            tracing::warn!(%error, "cannot start due checks of monitors; retrying");
        }
        let mut room = limits::CHECKS_AT_ONCE.saturating_sub(checks.len()) as u64;
        if !steps.may_lease(!checks.is_empty()) {
            room = 0;
        }
        let leased = match room {
            0 => Ok(Vec::new()),
            _ => {
                context
                    .store
                    .lease_checks(clock::now(), limits::LEASE_MS, room)
                    .await
            }
        };
        for lease in leased.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot lease checks of monitors; retrying");
            Vec::new()
        }) {
            let span = tracing::info_span!("check", check.id = %lease.check, monitor.id = %lease.monitor);
            checks.spawn(
                check::drive(context.clone(), lease, comparisons.clone(), stop.clone()).instrument(span),
            );
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = context.new_checks.notified() => {}
            Some(_) = checks.join_next() => {}
        }
    }
    while checks.join_next().await.is_some() {}
}

/// Starts checks that are due, at most [`limits::CHECKS_STARTED`] per call. A check that cannot be started is
/// postponed, so that it does not hold up others.
async fn start_due(context: &Context) -> Result<(), StoreError> {
    let now = clock::now();
    for monitor in context.store.due_monitors(now, limits::CHECKS_STARTED).await? {
        if let Err(error) = start_scheduled(context, monitor).await {
            if error.is_transient() {
                return Err(error);
            }
            tracing::error!(%error, monitor.id = %monitor.id, "cannot start a due check; retrying in an hour");
            context
                .store
                .postpone_monitor(monitor, now, limits::CHECK_POSTPONED_MS)
                .await?;
        }
    }
    Ok(())
}

async fn start_scheduled(context: &Context, due: DueMonitor) -> Result<(), StoreError> {
    let monitor = context.store.monitor(due.team, due.id).await?;
    // It may have been changed or deleted meanwhile.
    if let Some(monitor) = monitor.filter(|monitor| monitor.next_run_at == Some(due.due)) {
        start::start(context, &monitor, CheckTrigger::Scheduled).await?;
    }
    Ok(())
}
