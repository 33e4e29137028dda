//! Runs of extract and agent: jobs with one result instead of pages.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{JobKind, JobStatus};
use crate::lease::Lease;
use crate::operations::operations;

/// A stored run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Job id.
    pub id: JobId,
    /// `Extract` or `Agent`.
    pub kind: JobKind,
    /// Job status.
    pub status: JobStatus,
    /// The request as JSON text.
    pub request: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Credits charged.
    pub credits: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` while it is running.
    pub expires_at: Option<Timestamp>,
    /// Its data is deleted once the result has been delivered.
    pub zero_data_retention: bool,
    /// `origin` of the request, while its activity entry is stored.
    pub origin: Option<String>,
    /// `integration` of the request, likewise.
    pub integration: Option<String>,
    /// The result as JSON text; `None` in lists.
    pub result: Option<String>,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunEnd {
    /// Why it failed; `None` when it completed.
    pub error: Option<String>,
    /// The result as JSON text.
    pub result: Option<String>,
    /// Credits, charged in the same transaction.
    pub credits: u32,
    /// `data` of the final webhook event, as JSON text.
    pub event_data: Option<String>,
}

operations! {
    /// Runs of extract and agent; [`Store::create_crawl`](crate::Store::create_crawl) creates them.
    trait Runs {
        /// Ends a run: result, ledger entry and event in one transaction. Returns false, and stores nothing, when
        /// another owner has the run or it has ended.
        async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError>;

        /// Adds an event for an action of a run; `data` is JSON text. Returns false as [`Store::finish_run`](crate::Store::finish_run)
        /// does.
        async fn add_action(&self, lease: &Lease, data: String, now: Timestamp) -> Result<bool, StoreError>;

        /// Returns an extract or agent of the team that has not expired, with its result.
        async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError>;

        /// Lists the agents of the team that have not expired, newest first, without their results.
        async fn agents(
            &self,
            team: TeamId,
            before: Option<Timestamp>,
            limit: u32,
            now: Timestamp,
        ) -> Result<Vec<RunRow>, StoreError>;
    }
}
