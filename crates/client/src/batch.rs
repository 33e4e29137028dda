//! `/v2/batch/scrape`: a list of pages as one job.

use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};
use harvestman_core::api::job::{JobCancelled, JobErrors, JobProgress, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Starts a batch scrape, or adds pages to one. `invalid_urls` of the response includes the invalid URLs
    /// that parsing dropped from the request, as if the server had seen them.
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

    /// Returns progress and documents of a batch scrape.
    pub async fn batch_scrape_status(
        &self,
        id: JobId,
        query: StatusQuery,
    ) -> Result<JobProgress, ClientError> {
        self.job_status(StatusPath::BatchScrape, id, query).await
    }

    /// Cancels a batch scrape; its documents stay readable.
    pub async fn cancel_batch_scrape(&self, id: JobId) -> Result<JobCancelled, ClientError> {
        self.cancel_job(StatusPath::BatchScrape, id).await
    }

    /// Returns the failed pages and the URLs blocked by robots.txt.
    pub async fn batch_scrape_errors(&self, id: JobId) -> Result<JobErrors, ClientError> {
        self.job_errors(StatusPath::BatchScrape, id).await
    }
}
