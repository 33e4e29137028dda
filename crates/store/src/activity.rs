//! What a team did lately (contract section 6.9).

use harvestman_core::ids::{JobId, KeyId};
use harvestman_core::time::Timestamp;

use crate::job::JobStatus;

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

/// An activity with who did it and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The activity.
    pub activity: Activity,
    /// Its key.
    pub key: Option<KeyId>,
    /// Name of its key, revoked or not.
    pub key_name: Option<String>,
    /// How it stands or ended; of its job or session, if it had one, as long as that is known.
    pub status: Option<JobStatus>,
    /// Why it failed, in words.
    pub error: Option<String>,
}

/// Which calls to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallQuery {
    /// Among these.
    pub activity: ActivityQuery,
    /// Only with this key.
    pub key: Option<KeyId>,
    /// Only in this state.
    pub status: Option<JobStatus>,
}

/// Calls that were found, and where to go on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Newest first.
    pub calls: Vec<Call>,
    /// `before` of the next part; `None` at the end.
    pub next: Option<(Timestamp, JobId)>,
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
