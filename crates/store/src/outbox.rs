//! Owed webhook events, as a deliverer sees them.

use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::job::{JobEntry, JobKind};

/// An event handed to a deliverer for one attempt.
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
    /// `webhook` of the job's request as JSON text.
    pub webhook: String,
}

/// What an event is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventSubject {
    /// The job as a whole; with the job's error when it failed.
    Job {
        /// Why the job failed.
        error: Option<String>,
    },
    /// Something that a run tells, as JSON text; with the job's error when it failed.
    Told {
        /// JSON text.
        told: String,
        /// Why the job failed.
        error: Option<String>,
    },
    /// A page: its document as JSON text.
    Page(String),
    /// A page that could not be fetched.
    PageFailed(JobEntry),
    /// What is stored of it cannot be read, now or later; the text says why.
    Unreadable(String),
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

/// Which part of a delivery log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryQuery {
    /// Events with a higher number than this; 0 for all.
    pub after: u64,
    /// Only events in this state.
    pub state: Option<DeliveryState>,
    /// At most so many.
    pub limit: u32,
}

/// What became of a job's events: how many stand where, and a part of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryLog {
    /// Events that wait for an attempt.
    pub pending: u64,
    /// Events that were acknowledged.
    pub delivered: u64,
    /// Events without a further attempt.
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
    /// Where it stands.
    pub state: DeliveryState,
    /// When it happened.
    pub created_at: Timestamp,
    /// When the next attempt may begin, while one is to come.
    pub next_attempt_at: Option<Timestamp>,
    /// In order.
    pub attempts: Vec<Attempt>,
}
