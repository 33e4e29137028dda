//! `POST /v2/scrape` and `GET /v2/scrape/{id}`.

use harvestman_core::api::ScrapeRequest;
use harvestman_core::api::scrape::ScrapeResponse;
use harvestman_core::ids::ScrapeId;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Scrapes one page and waits for the result.
    pub async fn scrape(&self, request: &ScrapeRequest) -> Result<ScrapeResponse, ClientError> {
        self.post("/v2/scrape", request).await
    }

    /// Returns an earlier scrape or page of a crawl; `status` is set while it is in progress.
    pub async fn scrape_result(&self, id: ScrapeId) -> Result<ScrapeResponse, ClientError> {
        self.get(&format!("/v2/scrape/{id}")).await
    }
}
