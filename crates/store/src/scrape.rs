//! Single scrapes, as they are written and read, and what is needed to repeat one.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::page::Document;
use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{JobKind, NewJob};
use crate::operations::operations;

/// The result of a single scrape.
#[derive(Clone, Copy, Debug)]
pub enum ScrapeResult<'a> {
    /// The page was scraped.
    Document {
        /// The document that the caller received.
        document: &'a Document,
        /// Credits to charge.
        credits: u32,
    },
    /// The scrape failed; a later read returns the same error.
    Failed(&'a ApiError),
}

/// A single scrape, read by its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoredScrape {
    /// Still in progress.
    Running,
    /// Completed: the document as JSON text.
    Document(String),
    /// Failed: the error response as it was sent.
    Failed {
        /// HTTP status.
        status: u16,
        /// JSON body.
        body: String,
    },
}

/// What is needed to repeat a scrape or a page of a larger job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScrapeOrigin {
    /// The team that owns it.
    pub team: TeamId,
    /// Kind of the job.
    pub kind: JobKind,
    /// URL of the page.
    pub url: String,
    /// The job's request as JSON text.
    pub request: String,
    /// Zero data retention: the scrape must not be repeated.
    pub zero_data_retention: bool,
    /// When it expires; `None` while its job is running.
    pub expires_at: Option<Timestamp>,
    /// State of the page.
    pub state: OriginState,
}

/// State of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginState {
    /// Being fetched.
    Running,
    /// Fetched, or its single scrape has ended.
    Ended,
    /// A page of a larger job that could not be fetched.
    Failed,
}

operations! {
    /// Single scrapes.
    trait Scrapes {
        /// Creates a running scrape and its activity entry. The job id is the scrape id.
        async fn begin_scrape(
            &self,
            #[seal_request &] job: &NewJob,
            now: Timestamp,
        ) -> Result<(), StoreError>;

        /// Ends a scrape with its document and ledger entry, or with its error. Only the first end counts.
        async fn finish_scrape(
            &self,
            job: JobId,
            result: ScrapeResult<'_>,
            now: Timestamp,
        ) -> Result<(), StoreError>;

        /// Stores a scrape that has already ended: [`begin_scrape`](Self::begin_scrape) and
        /// [`finish_scrape`](Self::finish_scrape) in one transaction.
        async fn record_scrape(
            &self,
            #[seal_request &] job: &NewJob,
            result: ScrapeResult<'_>,
            now: Timestamp,
        ) -> Result<(), StoreError>;

        /// Returns a scrape of the team, or a page of one of its jobs, by scrape id. `None` when it is unknown,
        /// expired, of another team, or without data retention.
        async fn scrape(
            &self,
            team: TeamId,
            id: ScrapeId,
            now: Timestamp,
        ) -> Result<Option<StoredScrape>, StoreError>;

        /// Returns what is needed to repeat a scrape or a page of any team. `None` when unknown or deleted.
        async fn scrape_origin(&self, id: ScrapeId) -> Result<Option<ScrapeOrigin>, StoreError>
            => open_requests;
    }
}
