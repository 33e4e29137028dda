//! Runs of extract and agent: jobs with one result instead of pages.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::job::{JobKind, JobStatus};

/// A run as it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Its id.
    pub id: JobId,
    /// `Extract` or `Agent`.
    pub kind: JobKind,
    /// Where it stands.
    pub status: JobStatus,
    /// The request as JSON text.
    pub request: String,
    /// Why it failed.
    pub error: Option<String>,
    /// What was charged.
    pub credits: u64,
    /// When it was started.
    pub created_at: Timestamp,
    /// Until when it can be read: known when it has ended.
    pub expires_at: Option<Timestamp>,
    /// Nothing is kept of it once its result was told.
    pub zero_data_retention: bool,
    /// `origin` of the request, as long as its activity is kept.
    pub origin: Option<String>,
    /// `integration` of the request, likewise.
    pub integration: Option<String>,
    /// The result as JSON text; lists leave it out.
    pub result: Option<String>,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunEnd {
    /// Why it failed; none: it completed.
    pub error: Option<String>,
    /// The result as JSON text.
    pub result: Option<String>,
    /// What it cost; charged with the result.
    pub credits: u32,
    /// What the event of the end tells, as JSON text.
    pub told: Option<String>,
}
