//! Recent activity of a team (docs/API.md section 6.9).

use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{JobKind, JobStatus, NewJob};
use crate::operations::operations;
use crate::value::{Value, params};

/// One request that created a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Activity {
    /// The job.
    pub id: JobId,
    /// `scrape`, `crawl`, ...
    pub endpoint: String,
    /// URL or query; `None` with zero data retention.
    pub target: Option<String>,
    /// `origin` of the request.
    pub origin: Option<String>,
    /// `integration` of the request.
    pub integration: Option<String>,
    /// User who is accountable for the request.
    pub username: Option<String>,
    /// Time of the request.
    pub created_at: Timestamp,
}

/// An activity with its key and its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The activity.
    pub activity: Activity,
    /// API key of the request; `None` in open mode.
    pub key: Option<KeyId>,
    /// Name of its key, revoked or not.
    pub key_name: Option<String>,
    /// Status of its job or session; `None` without one, or when it is no longer stored.
    pub status: Option<JobStatus>,
    /// Error message, if it failed.
    pub error: Option<String>,
    /// End of its job or session, or the time at which a call without them was charged.
    pub ended_at: Option<Timestamp>,
    /// Credits of its job or session, or of the call itself.
    pub credits: Option<u64>,
}

/// Filter of a list of calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallQuery {
    /// Filter of the activity.
    pub activity: ActivityQuery,
    /// Only with this key.
    pub key: Option<KeyId>,
    /// Only with this status.
    pub status: Option<JobStatus>,
}

/// One page of a list of calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallList {
    /// Newest first.
    pub calls: Vec<Call>,
    /// `before` of the next page; `None` at the end.
    pub next: Option<(Timestamp, JobId)>,
}

/// Filter of a list of activity: newest first, from the 24 hours before `now`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivityQuery {
    /// End of the 24 hours.
    pub now: Timestamp,
    /// Only this endpoint.
    pub endpoint: Option<String>,
    /// Only entries older than this one: time and id of the last entry of the previous page.
    pub before: Option<(Timestamp, JobId)>,
    /// At most this many.
    pub limit: u32,
}

/// Running jobs of one kind, across all teams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunningJobs {
    /// Kind.
    pub kind: JobKind,
    /// Number of jobs.
    pub count: u64,
    /// Their pages that have no outcome yet, whether in flight or waiting.
    pub pending_pages: u64,
}

/// Pending pages of a team, and its last success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TeamQueue {
    /// Pages of running jobs that have no outcome yet, whether in flight or waiting.
    pub pending_pages: u64,
    /// End of the latest completed job; `None` when no such job is still stored.
    pub last_success: Option<Timestamp>,
}

/// Returns the values of an activity entry, in the order of both engines' statements. `end` is the status and error of a
/// request without a job; for others it is read from their job or session.
pub(crate) fn activity_values(job: &NewJob, end: Option<(JobStatus, Option<String>)>) -> Vec<Value> {
    let (outcome, failure) = end.unzip();
    let shown = !job.zero_data_retention;
    params![
        job.id,
        job.team,
        job.key,
        job.kind.as_str(),
        Some(&job.url).filter(|url| shown && !url.is_empty()),
        job.origin.clone(),
        job.integration.clone(),
        job.created_at,
        outcome.map(JobStatus::as_str),
        failure.flatten().filter(|_| shown),
        job.username.clone(),
    ]
}

operations! {
    /// The requests of a team.
    trait Activities {
        /// Lists the activity of a team, newest first.
        async fn activity(&self, team: TeamId, query: &ActivityQuery) -> Result<Vec<Activity>, StoreError>;

        /// Lists the activity of a team with keys and outcomes, optionally filtered by them.
        async fn calls(&self, team: TeamId, query: &CallQuery) -> Result<CallList, StoreError>;

        /// Returns the pending pages of a team, and its last success.
        async fn queue(&self, team: TeamId) -> Result<TeamQueue, StoreError>;

        /// Returns the running jobs of all teams, by kind.
        async fn running_jobs(&self) -> Result<Vec<RunningJobs>, StoreError>;
    }
}
