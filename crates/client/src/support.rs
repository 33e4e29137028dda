//! `POST /v2/support/docs-search`: answers from the embedded documentation.

use harvestman_core::api::support::{DocsResponse, DocsSearchRequest};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Searches the documentation for the answer to a question.
    pub async fn docs_search(&self, request: &DocsSearchRequest) -> Result<DocsResponse, ClientError> {
        self.post("/v2/support/docs-search", request).await
    }
}
