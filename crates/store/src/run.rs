//! Runs of extract and agent: jobs with one result instead of pages.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::job::{JobKind, JobStatus};

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
