//! `POST /v2/search`: web search.

use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::search_response::SearchResponse;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Searches, and scrapes the results if requested.
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchResponse, ClientError> {
        self.post("/v2/search", request).await
    }
}
