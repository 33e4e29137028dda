//! Feedback of clients on results, for the operator.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::operations::operations;

/// Feedback to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewFeedback {
    /// Its id.
    pub id: Uuid,
    /// The team.
    pub team: TeamId,
    /// The request that it is about.
    pub job: JobId,
    /// Kind of the request.
    pub endpoint: String,
    /// `good`, `partial` or `bad`.
    pub rating: String,
    /// The body as JSON text.
    pub body: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// Stored feedback.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedbackRow {
    /// Name of the team.
    pub team_name: String,
    /// The feedback.
    pub feedback: NewFeedback,
}

/// Result of storing feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedbackOutcome {
    /// The feedback is stored.
    Stored,
    /// The request already has feedback, with this id, which is kept.
    Repeated(Uuid),
    /// The team made no such request within the last 24 hours.
    UnknownJob,
}

operations! {
    /// Feedback on results.
    trait FeedbackList {
        /// Stores feedback on a request of the team; a request can have feedback only once.
        async fn add_feedback(&self, feedback: &NewFeedback) -> Result<FeedbackOutcome, StoreError>;

        /// Lists feedback of all teams, newest first.
        async fn feedback(&self, limit: u32) -> Result<Vec<FeedbackRow>, StoreError>;
    }
}
