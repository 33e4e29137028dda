//! Stored documents, as they are written and read.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::page::Document;

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
