//! `GET /health` and `GET /ready`: whether the server and each of its parts is up.

use gloo_net::http::Method;
use harvestman_core::api::health::{Health, PartState, Readiness};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Returns whether the process is up.
    pub async fn health(&self) -> Result<bool, ClientError> {
        let health: Health = self.get("/health").await?;
        Ok(health.status == PartState::Ok)
    }

    /// Returns the readiness of the server and its parts, also while it is not ready.
    pub async fn ready(&self) -> Result<Readiness, ClientError> {
        let response = self.exchange(Method::GET, "/ready", None).await?;
        if response.status != 200 && response.status != 503 {
            return Err(ClientError::from_response(
                response.status, None, &response.body, None,
            ));
        }
        response.json()
    }
}
