//! Streams the documents of a job in order of completion: follows `next`, returns each document once, and ends
//! when the job has ended and every document was returned.

use std::collections::VecDeque;

use harvestman_core::api::Document;
use harvestman_core::api::job::{JobProgress, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;

use crate::error::ClientError;
use crate::limits::PAGE_DOCUMENTS;
use crate::transport::Client;

/// Stream of documents; see [`Client::crawl_pages`] and [`Client::batch_scrape_pages`]. After an error, calling
/// [`DocumentStream::next`] again continues at the same position.
#[derive(Debug)]
pub struct DocumentStream {
    client: Client,
    path: StatusPath,
    id: JobId,
    skip: u64,
    ready: VecDeque<Document>,
    progress: Option<JobProgress<Document>>,
    at_end: bool,
}

impl DocumentStream {
    pub(crate) fn new(client: Client, path: StatusPath, id: JobId) -> Self {
        Self {
            client,
            path,
            id,
            skip: 0,
            ready: VecDeque::new(),
            progress: None,
            at_end: false,
        }
    }

    /// Returns the next document, or `None` when the job has ended. Waits while the job runs.
    pub async fn next(&mut self) -> Result<Option<Document>, ClientError> {
        loop {
            if let Some(document) = self.ready.pop_front() {
                return Ok(Some(document));
            }
            if self.at_end {
                return Ok(None);
            }
            let query = StatusQuery {
                skip: self.skip,
                limit: Some(PAGE_DOCUMENTS),
            };
            let mut progress = self
                .client
                .job_status::<Document>(self.path, self.id, query)
                .await?;
            let documents = std::mem::take(&mut progress.data);
            self.skip += documents.len() as u64;
            self.at_end = progress.next.is_none();
            self.ready.extend(documents);
            self.progress = Some(progress);
        }
    }

    /// Returns the progress in the last response; its `data` is empty.
    pub fn progress(&self) -> Option<&JobProgress<Document>> {
        self.progress.as_ref()
    }
}
