//! `/v2/batch/scrape`: given pages as one job.

use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};
use harvestman_core::api::job::{JobCancelled, JobErrors, JobProgress, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;

use crate::error::ClientError;
use crate::pages::Pages;
use crate::transport::Client;

impl Client {
    /// Starts a batch, or adds pages to one. What the request was read with and is no address is told as
    /// if the server had seen it.
    pub async fn start_batch_scrape(
        &self,
        request: &BatchScrapeRequest,
    ) -> Result<BatchStarted, ClientError> {
        let mut started: BatchStarted = self.post("/v2/batch/scrape", request).await?;
        if let Some(invalid) = &mut started.invalid_urls {
            invalid.extend_from_slice(&request.invalid_urls);
        }
        Ok(started)
    }

    /// Numbers and documents of a batch.
    pub async fn batch_scrape_status(
        &self,
        id: JobId,
        query: StatusQuery,
    ) -> Result<JobProgress, ClientError> {
        self.job_status(StatusPath::BatchScrape, id, query).await
    }

    /// Every document of a batch, as it becomes ready; see [`Pages`].
    pub fn batch_scrape_pages(&self, id: JobId) -> Pages {
        Pages::new(self.clone(), StatusPath::BatchScrape, id)
    }

    /// Stops a batch; documents so far stay readable.
    pub async fn cancel_batch_scrape(&self, id: JobId) -> Result<JobCancelled, ClientError> {
        self.cancel_job(StatusPath::BatchScrape, id).await
    }

    /// Pages that failed and addresses that robots.txt kept out.
    pub async fn batch_scrape_errors(&self, id: JobId) -> Result<JobErrors, ClientError> {
        self.job_errors(StatusPath::BatchScrape, id).await
    }
}
