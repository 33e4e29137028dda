//! Owed webhook events, as a deliverer sees them.

use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;

use crate::job::{JobEntry, JobKind};

/// An event handed to a deliverer for one attempt. The events of one answer that belong to the
/// same job must be attempted in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DueEvent {
    /// The job.
    pub job: JobId,
    /// Its team.
    pub team: TeamId,
    /// Its kind.
    pub kind: JobKind,
    /// Number within the job, from 1.
    pub event_no: u64,
    /// The same on every attempt.
    pub webhook_id: WebhookId,
    /// Full name, for example `crawl.page`.
    pub event: String,
    /// What the event is about.
    pub subject: EventSubject,
    /// Finished attempts so far.
    pub attempts: u32,
    /// When it happened.
    pub created_at: Timestamp,
    /// The job's request as JSON text; it holds the webhook specification.
    pub request: String,
}

/// What an event is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventSubject {
    /// The job as a whole; with the job's error when it failed.
    Job {
        /// Why the job failed.
        error: Option<String>,
    },
    /// A page: its document as JSON text.
    Page(String),
    /// A page that could not be fetched.
    PageFailed(JobEntry),
}

/// What one delivery attempt met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// HTTP status of the receiver.
    pub status: Option<u16>,
    /// Why there is no status, or why it does not count.
    pub error: Option<String>,
}

/// What follows from an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptEnd {
    /// Acknowledged.
    Delivered,
    /// Another attempt at this time.
    RetryAt(Timestamp),
    /// The last attempt failed.
    GivenUp,
}

/// An entry of the delivery log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Number of the event within the job.
    pub event_no: u64,
    /// The event's id.
    pub webhook_id: WebhookId,
    /// Full name of the event.
    pub event: String,
    /// 1 for the first attempt.
    pub number: u32,
    /// What the attempt met.
    pub attempt: Attempt,
}
