//! `/console/api/keys`, `webhook-secret`, `webhook-test`: API keys and webhook signing of a team.

use harvestman_core::api::body::ToNode;
use harvestman_core::api::keys::{
    Keys, NewKey, NewKeyRequest, NewWebhookSecret, WebhookSecret, WebhookTested,
};
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::KeyId;
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Lists the team's keys, oldest first, including revoked ones.
    pub async fn keys(&self) -> Result<Keys, ClientError> {
        self.get("/console/api/keys").await
    }

    /// Creates a key. Only this response contains it.
    pub async fn create_key(&self, name: &str) -> Result<NewKey, ClientError> {
        let request = NewKeyRequest {
            name: name.to_owned(),
        };
        self.post("/console/api/keys", &request).await
    }

    /// Revokes a key immediately.
    ///
    /// # Errors
    /// 409 for the team's last key.
    pub async fn revoke_key(&self, id: KeyId) -> Result<(), ClientError> {
        let path = format!("/console/api/keys/{id}");
        self.delete::<Value>(&path).await.map(drop)
    }

    /// Returns whether the team's webhooks are signed, and with which secret.
    pub async fn webhook_secret(&self) -> Result<WebhookSecret, ClientError> {
        self.get("/console/api/webhook-secret").await
    }

    /// Creates a new webhook secret for the team. Only this response contains it.
    pub async fn rotate_webhook_secret(&self) -> Result<NewWebhookSecret, ClientError> {
        self.post("/console/api/webhook-secret", &json!({})).await
    }

    /// Sends a signed test event and returns the receiver's response.
    pub async fn test_webhook(&self, receiver: &WebhookSpec) -> Result<WebhookTested, ClientError> {
        self.post("/console/api/webhook-test", &receiver.to_node()).await
    }
}
