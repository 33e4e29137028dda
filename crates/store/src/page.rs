//! Stored documents as they are read and written.

use harvestman_core::api::error::ApiError;
use harvestman_core::api::page::Document;

/// A run of documents of one job, in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentChunk {
    /// JSON texts.
    pub documents: Vec<String>,
    /// Documents of the job up to and with this chunk: the next `skip`.
    pub next_skip: u64,
    /// Whether documents after this chunk were stored when it was read.
    pub more: bool,
}

/// How a single scrape ended.
#[derive(Clone, Copy, Debug)]
pub enum ScrapeResult<'a> {
    /// With a document.
    Document {
        /// What the caller received.
        document: &'a Document,
        /// Its price.
        credits: u32,
    },
    /// With an error answer, which a later read repeats.
    Failed(&'a ApiError),
}

/// A scrape as it is read by its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoredScrape {
    /// Not finished.
    Running,
    /// JSON text of the document.
    Document(String),
    /// The original error answer.
    Failed {
        /// HTTP status.
        status: u16,
        /// JSON body.
        body: String,
    },
}
