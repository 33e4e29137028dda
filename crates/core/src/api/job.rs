//! Models of the status, the errors and the cancellation of a job (docs/API.md sections 6.2, 6.6, 8.2, 8.3).

use harvestman_derive::response;
use serde::{Deserialize, Serialize};

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
    /// Kind of a job.
    JobKind {
        /// One page.
        Scrape = "scrape",
        /// One uploaded file.
        Parse = "parse",
        /// Pages discovered by links.
        Crawl = "crawl",
        /// A list of pages.
        BatchScrape = "batch_scrape",
        /// URLs only.
        Map = "map",
        /// A web search.
        Search = "search",
        /// Data extracted from pages.
        Extract = "extract",
        /// Data from the web, collected by a model.
        Agent = "agent",
        /// A browser session that continues a scrape.
        Interact = "interact",
        /// A browser session without a scrape.
        Browser = "browser",
        /// A check of a monitor.
        Monitor = "monitor",
    }
}

wire_enum! {
    /// State of a job (docs/API.md section 17). All states except `Scraping` are final.
    JobStatus {
        /// The job is running.
        Scraping = "scraping",
        /// The job has completed.
        Completed = "completed",
        /// The job failed without processing anything.
        Failed = "failed",
        /// The caller cancelled the job.
        Cancelled = "cancelled",
    }
}

impl JobStatus {
    /// Returns whether the state never changes again.
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
    /// Always true; clients treat its absence as a failure.
    #[serde(default)]
    pub success: bool,
    /// State of the job.
    pub status: JobStatus,
    /// Number of pages attempted: fetched, in flight and queued. Never above the limit.
    #[serde(default)]
    pub total: u64,
    /// Number of pages processed successfully.
    #[serde(default)]
    pub completed: u64,
    /// Credits used so far.
    #[serde(default)]
    pub credits_used: u64,
    /// Time until which the results can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Start time of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// End time of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Seconds from the start to the end, or until now while the job is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// URL of the remaining documents; null only when the job has ended and every document was returned.
    #[serde(default)]
    pub next: Option<String>,
    /// Warning about the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Reason of the failure; only with status `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Documents in order of completion.
    #[serde(default = "Vec::<D>::new")]
    pub data: Vec<D>,
}

/// Query parameters of a status request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusQuery {
    /// Number of documents to skip.
    pub skip: u64,
    /// Maximum number of documents to return; `None` returns as many as fit.
    pub limit: Option<u64>,
}

impl StatusQuery {
    /// Parses a query string. Unknown parameters are ignored.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        let query = Query::parse(query);
        Ok(Self {
            skip: query.integer("skip", 0..=Slot::UNBOUNDED)?.unwrap_or(0),
            limit: query.integer("limit", 1..=MAX_STATUS_LIMIT)?,
        })
    }
}

/// Response of `GET .../errors`.
#[response(Eq, Default)]
pub struct JobErrors {
    /// Always true.
    pub success: bool,
    /// Pages that could not be fetched or were dropped.
    pub errors: Vec<JobErrorEntry>,
    /// URLs blocked by robots.txt.
    pub robots_blocked: Vec<String>,
}

impl JobErrors {
    /// Creates the response from the failed pages and the URLs blocked by robots.txt.
    pub fn new(errors: Vec<JobErrorEntry>, robots_blocked: Vec<String>) -> Self {
        Self {
            success: true,
            errors,
            robots_blocked,
        }
    }
}

/// Page that could not be fetched.
#[response(Eq)]
pub struct JobErrorEntry {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Time of the failure.
    pub timestamp: Timestamp,
    /// URL of the page.
    pub url: String,
    /// Error code.
    pub code: ErrorCode,
    /// Error message.
    pub error: String,
}

/// Response of `DELETE /v2/crawl/{id}` and `DELETE /v2/batch/scrape/{id}`.
#[response(Eq)]
pub struct JobCancelled {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Always `cancelled`.
    pub status: JobStatus,
}

impl JobCancelled {
    /// Creates the response for a cancelled job.
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

/// Endpoint that returns the status of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPath {
    /// `/v2/crawl/{id}`
    Crawl,
    /// `/v2/batch/scrape/{id}`
    BatchScrape,
}

impl StatusPath {
    /// Returns the endpoint for a kind of job; `None` for a kind without pages.
    pub fn of(kind: JobKind) -> Option<Self> {
        match kind {
            JobKind::Crawl => Some(StatusPath::Crawl),
            JobKind::BatchScrape => Some(StatusPath::BatchScrape),
            JobKind::Scrape
            | JobKind::Parse
            | JobKind::Map
            | JobKind::Search
            | JobKind::Extract
            | JobKind::Agent
            | JobKind::Interact
            | JobKind::Browser
            | JobKind::Monitor => None,
        }
    }

    /// Returns the path without the id, with a trailing slash.
    pub fn prefix(self) -> &'static str {
        match self {
            StatusPath::Crawl => "/v2/crawl/",
            StatusPath::BatchScrape => "/v2/batch/scrape/",
        }
    }

    /// Returns the absolute URL of a job's status; `base` has no trailing slash.
    pub fn url(self, base: &str, id: crate::ids::JobId) -> String {
        format!("{base}{}{id}", self.prefix())
    }
}
