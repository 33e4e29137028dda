//! `/v2/extract`: data extraction.

use harvestman_core::api::extract::{ExtractRequest, ExtractResponse, ExtractStarted};
use harvestman_core::ids::JobId;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Starts an extraction.
    pub async fn start_extract(&self, request: &ExtractRequest) -> Result<ExtractStarted, ClientError> {
        self.post("/v2/extract", request).await
    }

    /// Returns state and result of an extraction or agent run.
    pub async fn extract_status(&self, id: JobId) -> Result<ExtractResponse, ClientError> {
        self.get(&format!("/v2/extract/{id}")).await
    }
}
