//! `/v2/batch/scrape`: a list of pages as one job.

use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};

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
}
