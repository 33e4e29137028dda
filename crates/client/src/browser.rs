//! `/v2/browser`: browser sessions without a scrape.

use harvestman_core::api::browser::{
    BrowserCreated, BrowserRequest, ExecuteRequest, ExtendRequest, SessionExtended,
};
use harvestman_core::api::interact::{ExecuteResponse, SessionEnded};
use harvestman_core::api::session_file::SessionFiles;
use harvestman_core::ids::SessionId;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Opens a browser session.
    pub async fn browser(&self, request: &BrowserRequest) -> Result<BrowserCreated, ClientError> {
        self.post("/v2/browser", request).await
    }

    /// Runs code in a browser session.
    pub async fn browser_execute(
        &self,
        id: SessionId,
        request: &ExecuteRequest,
    ) -> Result<ExecuteResponse, ClientError> {
        self.post(&format!("/v2/browser/{id}/execute"), request).await
    }

    /// Extends the lifetime of a browser session.
    pub async fn extend_browser(
        &self,
        id: SessionId,
        request: &ExtendRequest,
    ) -> Result<SessionExtended, ClientError> {
        self.post(&format!("/v2/browser/{id}/extend"), request).await
    }

    /// Lists the downloads and uploads of a browser session, also after its end.
    pub async fn session_files(&self, id: SessionId) -> Result<SessionFiles, ClientError> {
        self.get(&format!("/v2/browser/{id}/files")).await
    }

    /// Ends a browser session.
    pub async fn delete_browser(&self, id: SessionId) -> Result<SessionEnded, ClientError> {
        self.delete(&format!("/v2/browser/{id}")).await
    }
}
