//! `/v2/scrape/{id}/interact`: the browser session of a scraped page.

use harvestman_core::api::interact::{ExecuteResponse, InteractRequest, SessionEnded};
use harvestman_core::ids::ScrapeId;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Runs code or a prompt in the browser session of a scrape; the first call opens it.
    pub async fn interact(
        &self,
        id: ScrapeId,
        request: &InteractRequest,
    ) -> Result<ExecuteResponse, ClientError> {
        self.post(&format!("/v2/scrape/{id}/interact"), request).await
    }

    /// Ends the browser session of a scrape.
    pub async fn stop_interaction(&self, id: ScrapeId) -> Result<SessionEnded, ClientError> {
        self.delete(&format!("/v2/scrape/{id}/interact")).await
    }
}
