//! The request of a stored job, of either kind. It holds no rules: those are in the core.

use std::time::Duration;

use harvestman_core::api::batch::BatchOptions;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::crawl::{Crawl, Policy, Snapshot};
use harvestman_core::scope::has_origin_of;
use harvestman_store::{JobKind, Lease, StoreError};
use url::Url;

/// URL that stands for a batch whose URLs were deleted, when pages are added to it.
const DELETED_URL: &str = "http://forgotten.invalid/";

/// The request of a job that fetches many pages.
pub(crate) enum JobRequest {
    Crawl(Box<CrawlRequest>),
    /// With the first URL, which identifies the batch.
    Batch(Url, Box<BatchOptions>),
}

impl JobRequest {
    pub(crate) fn read(lease: &Lease) -> Result<Self, StoreError> {
        let bytes = lease.request.as_bytes();
        let read = match lease.kind {
            JobKind::BatchScrape => BatchOptions::from_json(bytes).and_then(|batch| {
                let url = if lease.url.is_empty() {
                    DELETED_URL
                } else {
                    &lease.url
                };
                let first = url.parse::<Url>().map_err(crate::error::internal_error)?;
                Ok(Self::Batch(first, Box::new(batch)))
            }),
            _ => CrawlRequest::from_json(bytes).map(|request| Self::Crawl(Box::new(request))),
        };
        read.map_err(|error| StoreError::Unreadable(format!("stored request of job {}: {error}", lease.job)))
    }

    /// Returns the options with which each page is scraped.
    pub(crate) fn scrape_options(&self) -> ScrapeOptions {
        let options = match self {
            Self::Crawl(request) => &request.scrape_options,
            Self::Batch(_, batch) => &batch.options,
        };
        let mut options = options.clone();
        options.store_in_cache &= !self.zero_data_retention();
        options
    }

    /// Returns whether the caller named the origin of a page: with the URL of the page, or with the start URL of a
    /// crawl, whose redirect target is `root`.
    pub(crate) fn names_origin_of(&self, page: &Url, root: &Url) -> bool {
        match self {
            Self::Crawl(request) => has_origin_of(page, &request.url.url) || has_origin_of(page, root),
            Self::Batch(..) => true,
        }
    }

    /// Returns whether the rules of robots.txt apply to the job.
    pub(crate) fn obeys_robots(&self) -> bool {
        matches!(self, Self::Crawl(request) if !request.ignore_robots_txt)
    }

    /// Returns the time between two requests that the caller asks for.
    pub(crate) fn delay(&self) -> Option<Duration> {
        match self {
            Self::Crawl(request) => request
                .delay
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            Self::Batch(..) => None,
        }
    }

    /// Returns whether nothing of the job may be stored.
    pub(crate) fn zero_data_retention(&self) -> bool {
        match self {
            Self::Crawl(request) => request.zero_data_retention,
            Self::Batch(_, batch) => batch.zero_data_retention,
        }
    }

    /// Restores the crawl state from the store's snapshot.
    pub(crate) fn restore(&self, policy: Policy, snapshot: Snapshot) -> Result<Crawl, ApiError> {
        let (mut crawl, caller) = match self {
            Self::Crawl(request) => (Crawl::restore(request, policy, snapshot)?, &request.caller),
            Self::Batch(first, batch) => (
                Crawl::restore_batch_scrape(first, batch.max_concurrency, policy, snapshot)?,
                &batch.caller,
            ),
        };
        if let Some(warning) = caller.warning() {
            crawl.warn(warning);
        }
        Ok(crawl)
    }
}
