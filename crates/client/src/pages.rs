//! The documents of a job in order of completion: follows `next`, never gives a page twice, ends
//! when the job has ended and everything has been handed out.

use std::collections::VecDeque;

use harvestman_core::api::Document;
use harvestman_core::api::job::{JobProgress, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;

use crate::error::ClientError;
use crate::limits::PAGE_DOCUMENTS;
use crate::transport::Client;

/// See [`Client::crawl_pages`] and [`Client::batch_scrape_pages`]. An error leaves it where it was: calling again goes on.
#[derive(Debug)]
pub struct Pages {
    client: Client,
    path: StatusPath,
    id: JobId,
    skip: u64,
    ready: VecDeque<Document>,
    progress: Option<JobProgress<Document>>,
    at_end: bool,
}

impl Pages {
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

    /// The next document; none when the job has ended. Waits while the job runs.
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

    /// The numbers of the last answer; its `data` is empty.
    pub fn progress(&self) -> Option<&JobProgress<Document>> {
        self.progress.as_ref()
    }
}
