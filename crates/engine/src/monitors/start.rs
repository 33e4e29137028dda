//! Starts checks: due ones, and those that a caller requests.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::monitor::MonitorRequest;
use harvestman_core::api::monitor_response::CheckTrigger;
use harvestman_core::ids::JobId;
use harvestman_core::monitor::schedule::Plan;
use harvestman_core::monitor::{ORIGIN, TargetJob, job_of};
use harvestman_core::webhook::Event;
use harvestman_store::{JobKind, MonitorRow, NewCheck, NewJob, StartOutcome, StoreError, WebhookEvents};

use crate::clock;
use crate::context::Context;

const DAY_MS: u64 = 86_400_000;

/// Starts a check, and advances the monitor's next time if the check is due. Returns the check's id.
pub(super) async fn start(
    context: &Context,
    monitor: &MonitorRow,
    trigger: CheckTrigger,
) -> Result<(JobId, StartOutcome), StoreError> {
    let now = clock::now();
    let request = read(monitor)?;
    let due = match (trigger, monitor.next_run_at) {
        (CheckTrigger::Scheduled, Some(due)) => {
            let plan = Plan::stored(&request.schedule).map_err(unreadable)?;
            Some((due, plan.next_after(context.store.database_time(now).await?)))
        }
        _ => None,
    };
    let events = request.webhook.as_ref().map(|webhook| WebhookEvents {
        page: webhook.wants(Event::MonitorPage),
        completed: webhook.wants(Event::MonitorCheckCompleted),
        ..WebhookEvents::default()
    });
    let id = clock::new_job_id();
    // Searches need no job.
    let jobs = request
        .targets
        .iter()
        .map(|target| match job_of(&target.target, monitor.id) {
            TargetJob::Pages(..) | TargetJob::Crawl(_) => clock::new_job_id(),
            TargetJob::Searches(_) => id,
        });
    let check = NewCheck {
        monitor: monitor.id,
        job: NewJob {
            id,
            team: monitor.team,
            key: monitor.key,
            kind: JobKind::Monitor,
            url: request.name.clone(),
            request: monitor.request.clone(),
            base: monitor.base.clone(),
            page_limit: 0,
            webhook: events,
            origin: Some(ORIGIN.to_owned()),
            integration: None,
            username: None,
            zero_data_retention: false,
            retention_ms: request.retention_days * DAY_MS,
            created_at: now,
        },
        due,
        jobs: jobs.collect(),
    };
    let outcome = context.store.start_check(&check).await?;
    match outcome {
        StartOutcome::Started => {
            tracing::info!(check.id = %id, monitor.id = %monitor.id, "check started");
            context.new_checks.notify_one();
        }
        StartOutcome::Overlap if due.is_some() => {
            tracing::info!(monitor.id = %monitor.id, "check skipped: the previous one is still running");
        }
        StartOutcome::Overlap | StartOutcome::Stale => {}
    }
    Ok((id, outcome))
}

/// Reads the stored request of a monitor.
pub(super) fn read(monitor: &MonitorRow) -> Result<MonitorRequest, StoreError> {
    MonitorRequest::from_json(monitor.request.as_bytes()).map_err(unreadable)
}

fn unreadable(error: ApiError) -> StoreError {
    StoreError::Unreadable(format!("stored request of a monitor: {error}"))
}
