//! Stored documents, as they are written and read.

use harvestman_core::crawl::ProcessingCounts;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::page_version::{PageVersion, VersionKey};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::JobErrors;
use crate::operations::operations;

/// Consecutive documents of one job, in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentChunk {
    /// One JSON text per document.
    pub documents: Vec<String>,
    /// Number of documents of the job up to the end of this chunk: `skip` of the next call.
    pub next_skip: u64,
    /// Whether more documents were stored when this chunk was read.
    pub more: bool,
}

/// Facts about a page of a job that its document does not contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageFacts {
    /// When it was stored.
    pub stored_at: Timestamp,
    /// Number of links from the start page to it; `None` for a page that was not discovered.
    pub depth: Option<u32>,
    /// Time from the start of its fetch to the finished document, ms; `None` if it was not measured.
    pub took_ms: Option<u64>,
}

operations! {
    /// Deletion of documents.
    trait ZeroRetention {
        /// Records that the documents after the first `skip`, up to and including number `upto`, reached their
        /// caller. With zero data retention, those that no pending webhook event needs are deleted.
        async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError>;
    }
}

operations! {
    /// Results of jobs with pages.
    trait Pages {
        /// Returns documents after the first `skip`, in order of completion: at most `limit`, and at most
        /// `max_bytes` of JSON text with separators, but always at least one.
        async fn documents(
            &self,
            job: JobId,
            skip: u64,
            limit: Option<u64>,
            max_bytes: usize,
        ) -> Result<DocumentChunk, StoreError>;

        /// Returns for each of the first `limit` pages, in order of completion, the index (from 0, in the same
        /// list) of the page with the first link to it. `None` when no link led there, or the linking page is not
        /// in the list. Empty with zero data retention.
        async fn found_on(&self, job: JobId, limit: u64) -> Result<Vec<Option<u32>>, StoreError>;

        /// Returns facts about pages after the first `skip`, in order of completion: at most `limit`. Empty with zero
        /// data retention.
        async fn page_facts(&self, job: JobId, skip: u64, limit: u64) -> Result<Vec<PageFacts>, StoreError>;

        /// Returns the errors of a job.
        async fn errors(&self, job: JobId) -> Result<JobErrors, StoreError>;

        /// Returns how many pages of a job used the browser, waited or were retried.
        async fn pace_counts(&self, job: JobId) -> Result<ProcessingCounts, StoreError>;

        /// Returns the last version of a page, for `changeTracking`.
        async fn page_version(
            &self,
            team: TeamId,
            key: &VersionKey,
        ) -> Result<Option<PageVersion>, StoreError>;
    }
}
