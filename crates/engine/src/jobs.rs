//! Operations that all stored jobs have in common: create, cancel, and wait for a change.

use std::time::Duration;

use harvestman_core::api::caller::Caller;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::JobId;
use harvestman_core::webhook::{Event, Family};
use harvestman_store::{
    CancelOutcome, CreateOutcome, Idempotency, JobKind, JobStatus, NewJob, Principal, StoreError,
    WebhookEvents, discarded_parts,
};
use serde::Serialize;

use crate::clock;
use crate::context::{Context, Engine};
use crate::error::{internal_error, job_not_found, key_reused};

/// Returns a job of one page, without URL, webhook and base URL; callers override fields that differ.
pub(crate) fn new_job(
    context: &Context,
    principal: &Principal,
    kind: JobKind,
    request: &impl Serialize,
    caller: &Caller,
) -> Result<NewJob, ApiError> {
    Ok(NewJob {
        id: clock::new_job_id(),
        team: principal.team,
        key: principal.key,
        kind,
        url: String::new(),
        request: serde_json::to_string(request).map_err(internal_error)?,
        base: String::new(),
        page_limit: 1,
        webhook: None,
        origin: caller.origin.clone(),
        integration: caller.integration.clone(),
        username: caller.username(),
        created_at: clock::now(),
        zero_data_retention: false,
        retention_ms: u64::try_from(context.config.retention.as_millis()).unwrap_or(u64::MAX),
    })
}

/// Reads the stored request of a job that is to go on.
///
/// # Errors
/// 409 if it cannot be read, or a part of it was discarded because its key is lost.
pub(crate) fn stored_request<T>(
    request: &str,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    check_complete(&discarded_parts(request), "this job is lost; start a new one")?;
    read(request.as_bytes()).map_err(|error| {
        tracing::error!(%error, "cannot read a stored request");
        ApiError::conflict("the stored options of this job cannot be read; start a new one")
    })
}

/// Refuses to use a stored request without its discarded parts.
pub(crate) fn check_complete(discarded: &[&str], advice: &str) -> Result<(), ApiError> {
    if discarded.is_empty() {
        return Ok(());
    }
    Err(ApiError::conflict(format!(
        "the key that encrypted `{}` of {advice}",
        discarded.join("` and `")
    )))
}

/// Returns the events of a family that a receiver subscribed to.
pub(crate) fn subscribed(webhook: Option<&WebhookSpec>, family: Family) -> Option<WebhookEvents> {
    let webhook = webhook?;
    let wants = |name| Event::of(family, name).is_some_and(|event| webhook.wants(event));
    Some(WebhookEvents {
        started: wants("started"),
        page: wants("page") || wants("action"),
        completed: wants("completed"),
        failed: wants("failed"),
        cancelled: wants("cancelled"),
    })
}

impl Engine {
    /// Stores a job that finds its pages itself, and starts it, if the team can afford it.
    pub(crate) async fn start_job(
        &self,
        principal: &Principal,
        job: &NewJob,
        idempotency: Option<Idempotency>,
    ) -> Result<JobId, ApiError> {
        if let Some(first) = self.afford(principal, idempotency.as_ref()).await? {
            return Ok(first);
        }
        let created = self.context.store.create_crawl(job, idempotency.as_ref()).await;
        self.job_created(job, created)
    }

    /// Wakes the loops that work on a new job. Returns its id, or that of the first job with the same
    /// idempotency key.
    pub(crate) fn job_created(
        &self,
        job: &NewJob,
        created: Result<CreateOutcome, StoreError>,
    ) -> Result<JobId, ApiError> {
        match created? {
            CreateOutcome::Created => {
                tracing::info!(job.id = %job.id, team.id = %job.team, pages = job.page_limit, "{} started", job.kind.as_str());
                self.context.new_work.notify_one();
                self.context.outbox.notify_one();
                Ok(job.id)
            }
            CreateOutcome::Repeated(id) => Ok(id),
            CreateOutcome::KeyReused => Err(key_reused()),
        }
    }

    /// Cancels a job of the team. Cancelling it again succeeds.
    pub async fn cancel(&self, principal: &Principal, job: JobId) -> Result<(), ApiError> {
        let store = &self.context.store;
        let cancelled = store.cancel(principal.team, job, clock::now()).await;
        match cancelled? {
            CancelOutcome::Cancelled(kind) => {
                let metrics = self.context.slots.metrics();
                metrics.count_job_end(kind, JobStatus::Cancelled);
            }
            CancelOutcome::AlreadyEnded(JobStatus::Cancelled) => {}
            CancelOutcome::AlreadyEnded(status) => {
                return Err(ApiError::conflict(format!(
                    "the job is already {}; there is nothing to cancel",
                    status.as_str()
                )));
            }
            CancelOutcome::NotFound => return Err(job_not_found()),
        }
        self.context.driver_signals.cancel(job);
        self.context.changes.announce(job);
        Ok(())
    }

    /// Waits until the job has more than `seen_completed` documents, has ended, or `wait` has passed.
    pub async fn wait_for_change(
        &self,
        principal: &Principal,
        job: JobId,
        seen_completed: u64,
        wait: Duration,
    ) {
        let notify = self.context.changes.subscribe(job);
        let watching = async {
            loop {
                let notified = notify.notified();
                match self.context.store.job(principal.team, job, clock::now()).await {
                    Ok(Some(row)) if row.completed <= seen_completed && row.status == JobStatus::Scraping => {
                        notified.await
                    }
                    Ok(_) | Err(_) => return,
                }
            }
        };
        let _ = tokio::time::timeout(wait, watching).await;
    }
}
