//! Polls the jobs that this node drives or that requests here wait for, because other nodes change them too. The
//! store is the truth; this only shortens the wait. Not needed on a store that no other node uses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use harvestman_core::ids::JobId;
use harvestman_store::{JobSignal, JobStatus, StoreError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::limits;

/// Looks regularly until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    if !context.store.is_shared() {
        return;
    }
    let mut known = HashMap::new();
    let mut next_look = Instant::now();
    loop {
        if Instant::now() >= next_look {
            next_look = Instant::now() + limits::NODES_POLL;
            if let Err(error) = look_at_nodes(&context).await {
                tracing::debug!(%error, "cannot look at the other nodes; retrying");
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::WATCH_POLL) => {}
        }
        let driven: HashSet<JobId> = context.driver_signals.jobs().into_iter().collect();
        let mut jobs: HashSet<JobId> = context.changes.jobs().into_iter().collect();
        jobs.extend(&driven);
        if jobs.is_empty() {
            known.clear();
            continue;
        }
        if let Some(shared) = context.holdings.limits().filter(|_| !driven.is_empty()) {
            match shared.paused_hosts().await {
                Ok(hosts) => context.host_pauses.set(hosts),
                Err(error) => tracing::debug!(%error, "cannot look at paused hosts; retrying"),
            }
        }
        let jobs: Vec<JobId> = jobs.into_iter().collect();
        match context.store.job_signals(&jobs).await {
            Ok(signals) => known = pass_on(&context, &driven, &jobs, &known, &signals),
            Err(error) => tracing::debug!(%error, "cannot look at the jobs of other nodes; retrying"),
        }
    }
}

/// Reads the plans that were assigned on other nodes.
async fn look_at_nodes(context: &Context) -> Result<(), StoreError> {
    let plans = &context.config.plans;
    for team in context.store.teams().await? {
        plans.assign(team.id, team.plan.as_deref());
    }
    Ok(())
}

/// Passes changes on to drivers and waiters. Returns the current state of the jobs.
fn pass_on(
    context: &Context,
    driven: &HashSet<JobId>,
    jobs: &[JobId],
    known: &HashMap<JobId, JobSignal>,
    signals: &[JobSignal],
) -> HashMap<JobId, JobSignal> {
    let now: HashMap<JobId, JobSignal> = signals.iter().map(|signal| (signal.job, *signal)).collect();
    for job in jobs {
        let (before, after) = (known.get(job), now.get(job));
        if before == after {
            continue;
        }
        if let Some(after) = after.filter(|_| driven.contains(job)) {
            if after.status == JobStatus::Cancelled {
                context.driver_signals.cancel(*job);
            }
            if before.is_none_or(|before| before.page_limit < after.page_limit) {
                context.driver_signals.pages_added(*job);
            }
        }
        context.changes.announce(*job);
    }
    now
}
