//! `/console/api/keys`, `webhook-secret`, `webhook-test`: what a team does with its keys and webhooks.

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
    /// The team's keys, oldest first, also the revoked ones.
    pub async fn keys(&self) -> Result<Keys, ClientError> {
        self.get("/console/api/keys").await
    }

    /// Makes a key. This answer alone has it.
    pub async fn create_key(&self, name: &str) -> Result<NewKey, ClientError> {
        let request = NewKeyRequest {
            name: name.to_owned(),
        };
        self.post("/console/api/keys", &request).await
    }

    /// Revokes a key, at once. Errors: 409 for the team's last one.
    pub async fn revoke_key(&self, id: KeyId) -> Result<(), ClientError> {
        let path = format!("/console/api/keys/{id}");
        self.delete::<Value>(&path).await.map(drop)
    }

    /// Whether the team's webhooks are signed, and by which secret.
    pub async fn webhook_secret(&self) -> Result<WebhookSecret, ClientError> {
        self.get("/console/api/webhook-secret").await
    }

    /// Gives the team a new secret for its webhooks. This answer alone has it.
    pub async fn rotate_webhook_secret(&self) -> Result<NewWebhookSecret, ClientError> {
        self.post("/console/api/webhook-secret", &json!({})).await
    }

    /// Sends a signed event that tells of nothing, and says what came back.
    pub async fn test_webhook(&self, receiver: &WebhookSpec) -> Result<WebhookTested, ClientError> {
        self.post("/console/api/webhook-test", &receiver.to_node()).await
    }
}
