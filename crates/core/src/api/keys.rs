//! API keys and webhooks of a team, for its console: `/console/api/keys`, `/console/api/webhook-secret` and
//! `/console/api/webhook-test`. Only the response that creates a key or secret contains it.

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};

use crate::api::fields::wire;
use crate::api::wire_enum::wire_enum;
use crate::ids::{KeyId, WebhookId};
use crate::limits::MAX_KEY_NAME_CHARS;
use crate::time::Timestamp;

/// Response of `GET /console/api/keys`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Keys {
    /// Always true.
    pub success: bool,
    /// Keys of the team, oldest first, including revoked keys.
    pub keys: Vec<Key>,
}

/// API key, without the key itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// Id of the key.
    pub id: KeyId,
    /// Name of the key, as shown in reports.
    pub name: String,
    /// Name of the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Last characters of the key; empty if they are not known.
    #[serde(default)]
    pub hint: String,
    /// Creation time of the key.
    pub created_at: Timestamp,
    /// Time of the last use, to the minute; null if the key was never used.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the key was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Whether this request is made with the key.
    #[serde(default)]
    pub current: bool,
}

/// Body of `POST /console/api/keys`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct NewKeyRequest {
    /// Name of the key.
    #[field(required, bounds = 1..=MAX_KEY_NAME_CHARS, label = "Name", example = r#""search index""#)]
    pub name: String,
}

wire!(NewKeyRequest);

/// Response of `POST /console/api/keys`.
#[derive(Clone, Serialize, Deserialize)]
pub struct NewKey {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Description of the key, as it is listed from now on.
    #[serde(flatten)]
    pub listed: Key,
    /// The key itself. No other response contains it.
    pub key: String,
}

wire_enum! {
    /// Source of the secret that signs a team's webhooks.
    SecretSource {
        /// The team has its own secret.
        Team = "team",
        /// The operator configured the secret.
        Setting = "setting",
    }
}

/// Response of `GET /console/api/webhook-secret`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookSecret {
    /// Always true.
    pub success: bool,
    /// Whether webhooks are signed.
    pub set: bool,
    /// Source of the secret; null if webhooks are not signed.
    pub source: Option<SecretSource>,
}

/// Response of `POST /console/api/webhook-secret`.
#[derive(Clone, Serialize, Deserialize)]
pub struct NewWebhookSecret {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The secret. No other response contains it. It signs deliveries from now on.
    pub secret: String,
}

/// Response of `POST /console/api/webhook-test`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTested {
    /// Always true: the delivery was attempted.
    #[serde(default)]
    pub success: bool,
    /// Whether the receiver acknowledged the event.
    pub delivered: bool,
    /// Whether the event was signed.
    pub signed: bool,
    /// Id of the event.
    pub webhook_id: WebhookId,
    /// HTTP status of the receiver; null without a response.
    pub status: Option<u16>,
    /// Reason why the event was not acknowledged; null if it was.
    pub error: Option<String>,
    /// Duration of the attempt, ms.
    pub duration_ms: u64,
    /// Beginning of the receiver's response.
    #[serde(default)]
    pub answer: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_new_key_is_a_listed_one_with_the_key() {
        let response = json!({
            "success": true, "id": "018f2f9e-0000-7000-8000-000000000001", "name": "ci", "team": "default",
            "hint": "beef", "createdAt": "2026-01-31T09:05:00.000Z", "lastUsedAt": null, "current": false,
            "key": "fc-dead-beef",
        });
        let read: NewKey = serde_json::from_value(response.clone()).unwrap();
        assert_eq!(
            (read.key.as_str(), read.listed.hint.as_str()),
            ("fc-dead-beef", "beef")
        );
        assert_eq!(serde_json::to_value(&read).unwrap(), response);
    }

    #[test]
    fn a_key_needs_a_name() {
        let read = |body: Value| NewKeyRequest::from_json(body.to_string().as_bytes());
        assert_eq!(read(json!({ "name": "ci" })).unwrap().name, "ci");
        for bad in [
            json!({}),
            json!({ "name": "" }),
            json!({ "name": "x".repeat(101) }),
        ] {
            assert_eq!(read(bad).unwrap_err().status(), 400);
        }
    }
}
