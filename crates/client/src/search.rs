//! `POST /v2/search`: the web by words.

use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::search_answer::SearchAnswer;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Searches, and scrapes what was found if asked.
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, ClientError> {
        self.post("/v2/search", request).await
    }
}
