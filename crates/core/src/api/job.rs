//! What a caller learns about a running or finished job (docs/API.md sections 6.2, 6.6, 8.2, 8.3).

use serde::{Deserialize, Serialize};
use url::Url;

use crate::api::ApiError;
use crate::api::error::ErrorCode;
use crate::api::fields::Slot;
use crate::api::page::Document;
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::ids::ScrapeId;
use crate::limits::MAX_STATUS_LIMIT;
use crate::time::Timestamp;

wire_enum! {
    /// State of a crawl or batch scrape (docs/API.md section 17). All but `Scraping` are final.
    JobStatus {
        /// Running.
        Scraping = "scraping",
        /// Everything is done.
        Completed = "completed",
        /// Nothing could be done.
        Failed = "failed",
        /// Cancelled by the caller.
        Cancelled = "cancelled",
    }
}

impl JobStatus {
    /// Whether the state never changes again.
    pub fn is_final(self) -> bool {
        match self {
            JobStatus::Scraping => false,
            JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled => true,
        }
    }
}

// The server writes stored documents into `data` as text; see `paging::status_json`.
/// Response of `GET /v2/crawl/{id}` and `GET /v2/batch/scrape/{id}`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "openapi",
    derive(schemars::JsonSchema),
    schemars(rename = "JobProgress")
)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress<D = Document> {
    /// Always true; its absence means failure to clients.
    #[serde(default)]
    pub success: bool,
    /// State.
    pub status: JobStatus,
    /// Pages attempted: fetched, in flight and queued; never above the limit.
    #[serde(default)]
    pub total: u64,
    /// Pages processed successfully.
    #[serde(default)]
    pub completed: u64,
    /// Credits so far.
    #[serde(default)]
    pub credits_used: u64,
    /// Until when the results can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the job was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Seconds from start to end, or until now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Address of the rest; null exactly when the job ended and everything has been handed out.
    #[serde(default)]
    pub next: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Why nothing could be done; only with status `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Documents in order of completion.
    #[serde(default = "Vec::<D>::new")]
    pub data: Vec<D>,
}

/// Query of a status request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusQuery {
    /// Documents to leave out.
    pub skip: u64,
    /// Documents to return, at most; none: as many as fit.
    pub limit: Option<u64>,
}

impl StatusQuery {
    /// Reads a query string; unknown parameters are ignored. Errors: 400.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        let query = Query::parse(query);
        Ok(Self {
            skip: query.integer("skip", 0..=Slot::UNBOUNDED)?.unwrap_or(0),
            limit: query.integer("limit", 1..=MAX_STATUS_LIMIT)?,
        })
    }
}

/// Answer of `GET .../errors`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JobErrors {
    /// Always true.
    pub success: bool,
    /// Pages that could not be fetched, or were dropped.
    pub errors: Vec<JobErrorEntry>,
    /// Addresses refused by robots.txt.
    pub robots_blocked: Vec<String>,
}

impl JobErrors {
    /// What a job failed on and was refused.
    pub fn new(errors: Vec<JobErrorEntry>, robots_blocked: Vec<String>) -> Self {
        Self {
            success: true,
            errors,
            robots_blocked,
        }
    }
}

/// One page that could not be fetched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct JobErrorEntry {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// When it failed.
    pub timestamp: Timestamp,
    /// The page.
    pub url: String,
    /// Machine code.
    pub code: ErrorCode,
    /// Human sentence.
    pub error: String,
}

/// Answer of `DELETE /v2/crawl/{id}` and `DELETE /v2/batch/scrape/{id}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct JobCancelled {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// `cancelled`.
    pub status: JobStatus,
}

impl JobCancelled {
    /// A cancelled job.
    pub fn new() -> Self {
        Self {
            success: true,
            status: JobStatus::Cancelled,
        }
    }
}

impl Default for JobCancelled {
    fn default() -> Self {
        Self::new()
    }
}

/// Which endpoint a job's status is read at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPath {
    /// `/v2/crawl/{id}`
    Crawl,
    /// `/v2/batch/scrape/{id}`
    BatchScrape,
}

impl StatusPath {
    /// The path without the id, with a slash at its end.
    pub fn prefix(self) -> &'static str {
        match self {
            StatusPath::Crawl => "/v2/crawl/",
            StatusPath::BatchScrape => "/v2/batch/scrape/",
        }
    }

    /// Absolute address of a job's status; `base` has no slash at its end.
    pub fn url(self, base: &str, id: crate::ids::JobId) -> String {
        format!("{base}{}{id}", self.prefix())
    }
}

/// Reads `skip` back from a `next` address.
pub fn skip_of(next: &Url) -> Option<u64> {
    next.query_pairs()
        .find(|(name, _)| name == "skip")
        .and_then(|(_, value)| value.parse().ok())
}
