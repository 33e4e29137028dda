//! Webhook events in the outbox, and the delivery log.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::error::StoreError;
use crate::job::{JobError, JobKind};
use crate::operations::operations;

/// An event to deliver, for one attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DueEvent {
    /// The job.
    pub job: JobId,
    /// Team of the job.
    pub team: TeamId,
    /// Kind of the job.
    pub kind: JobKind,
    /// Number within the job, from 1.
    pub event_no: u64,
    /// Same on every attempt.
    pub webhook_id: WebhookId,
    /// Full name, for example `crawl.page`.
    pub event: String,
    /// Subject of the event.
    pub subject: EventSubject,
    /// Finished attempts so far.
    pub attempts: u32,
    /// When the event happened.
    pub created_at: Timestamp,
    /// `webhook` of the job's request as JSON text.
    pub webhook: String,
}

/// Subject of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventSubject {
    /// The job as a whole, with its error if it failed.
    Job {
        /// Why the job failed.
        error: Option<String>,
    },
    /// Data of a run as JSON text, with the job's error if it failed.
    Run {
        /// JSON text.
        data: String,
        /// Why the job failed.
        error: Option<String>,
    },
    /// A page: its document as JSON text.
    Page(String),
    /// A page that could not be fetched.
    PageFailed(JobError),
    /// The stored data is unreadable and will stay so; the text says why.
    Unreadable(String),
}

/// State of the event after an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptEnd {
    /// The receiver acknowledged the event.
    Delivered,
    /// The next attempt is at this time.
    RetryAt(Timestamp),
    /// The last attempt failed.
    GivenUp,
}

impl AttemptEnd {
    /// Returns the state of the event, and the time of the next attempt.
    pub(crate) fn state(self) -> (DeliveryState, Option<Timestamp>) {
        match self {
            Self::Delivered => (DeliveryState::Delivered, None),
            Self::RetryAt(at) => (DeliveryState::Pending, Some(at)),
            Self::GivenUp => (DeliveryState::GivenUp, None),
        }
    }
}

/// Filter of a delivery log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryQuery {
    /// Events with a higher number than this; 0 for all.
    pub after: u64,
    /// Only events in this state.
    pub state: Option<DeliveryState>,
    /// Maximum number of events.
    pub limit: u32,
}

/// Delivery log of a job: counts per state, and one page of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryLog {
    /// Events waiting for an attempt.
    pub pending: u64,
    /// Events that were acknowledged.
    pub delivered: u64,
    /// Events with no further attempt.
    pub given_up: u64,
    /// In order of events.
    pub deliveries: Vec<Delivery>,
}

/// An event in the delivery log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Number of the event within the job, from 1.
    pub event_no: u64,
    /// The event's id.
    pub webhook_id: WebhookId,
    /// Full name of the event.
    pub event: String,
    /// State of the event.
    pub state: DeliveryState,
    /// When the event happened.
    pub created_at: Timestamp,
    /// When the next attempt may begin; `None` when there will be none.
    pub next_attempt_at: Option<Timestamp>,
    /// In the order in which they were made.
    pub attempts: Vec<DeliveryAttempt>,
}

operations! {
    /// The webhook outbox.
    trait Outbox {
        /// Leases up to `limit` jobs with a due event for `lease_ms`, none of the teams `except`. No other call gets
        /// them in that time, so that the events of a job are attempted one at a time.
        async fn lease_receivers(
            &self,
            now: Timestamp,
            lease_ms: u64,
            limit: u32,
            except: &[TeamId],
        ) -> Result<Vec<(JobId, TeamId)>, StoreError>;

        /// Releases a leased job early.
        async fn release_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError>;

        /// Stores the result of an attempt in the delivery log, and extends the lease of the job to
        /// `lease_until`. Returns false, and stores nothing, when another deliverer has meanwhile finished or
        /// attempted the event.
        async fn finish_attempt(
            &self,
            event: &DueEvent,
            attempt: &DeliveryAttempt,
            end: AttemptEnd,
            lease_until: Timestamp,
        ) -> Result<bool, StoreError>;

        /// Returns when [`Store::lease_receivers`](crate::Store::lease_receivers) will next have a job to lease, unless an
        /// attempt ends or an event happens earlier.
        async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

        /// Returns the event of a leased job that is due first. First attempts come in the order of events.
        async fn due_event(&self, job: JobId, now: Timestamp) -> Result<Option<DueEvent>, StoreError>
            => open_requests;

        /// Makes an event due again, even if delivered or given up. Returns false when the team has no such
        /// event.
        async fn resend_event(
            &self,
            team: TeamId,
            job: JobId,
            event: WebhookId,
            now: Timestamp,
        ) -> Result<bool, StoreError>;

        /// Returns the delivery log of a job of the team; empty for a job of another team.
        async fn delivery_log(
            &self,
            team: TeamId,
            job: JobId,
            page: &DeliveryQuery,
        ) -> Result<DeliveryLog, StoreError>;
    }
}
