//! What a team did lately (contract section 6.9).

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

/// One request that made a job.
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
    /// When.
    pub created_at: Timestamp,
}

/// Which activity to read: newest first, the last 24 hours before `now`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivityQuery {
    /// End of the 24 hours.
    pub now: Timestamp,
    /// Only this endpoint.
    pub endpoint: Option<String>,
    /// Only entries older than this one (time and id of the last entry handed out).
    pub before: Option<(Timestamp, JobId)>,
    /// At most this many.
    pub limit: u32,
}
