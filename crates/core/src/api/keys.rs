//! Keys and webhooks of a team, as its console sees them: `/console/api/keys`, `/console/api/webhook-secret` and
//! `/console/api/webhook-test`. A key or secret itself is in the one answer that made it, and in no other.

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};

use crate::api::fields::wire;
use crate::api::wire_enum::wire_enum;
use crate::ids::{KeyId, WebhookId};
use crate::limits::MAX_KEY_NAME_CHARS;
use crate::time::Timestamp;

/// Answer of `GET /console/api/keys`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Keys {
    /// Always true.
    pub success: bool,
    /// Oldest first, also the revoked ones.
    pub keys: Vec<Key>,
}

/// A key without the key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// Its name, as reports show it.
    pub name: String,
    /// Name of its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Its last characters; empty when they are not known.
    #[serde(default)]
    pub hint: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute; null when it never was.
    #[serde(default)]
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Whether it is the key that asks.
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

/// Answer of `POST /console/api/keys`.
#[derive(Clone, Serialize, Deserialize)]
pub struct NewKey {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The key as it is listed from now on.
    #[serde(flatten)]
    pub listed: Key,
    /// The key itself, this once.
    pub key: String,
}

wire_enum! {
    /// Where the secret that signs a team's webhooks comes from.
    SecretSource {
        /// The team has one of its own.
        Team = "team",
        /// The operator's setting.
        Setting = "setting",
    }
}

/// Answer of `GET /console/api/webhook-secret`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookSecret {
    /// Always true.
    pub success: bool,
    /// Whether webhooks are signed.
    pub set: bool,
    /// By which secret; null when they are not.
    pub source: Option<SecretSource>,
}

/// Answer of `POST /console/api/webhook-secret`.
#[derive(Clone, Serialize, Deserialize)]
pub struct NewWebhookSecret {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The secret, this once. Deliveries are signed by it from now on.
    pub secret: String,
}

/// Answer of `POST /console/api/webhook-test`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTested {
    /// Always true: the attempt was made.
    #[serde(default)]
    pub success: bool,
    /// Whether the receiver acknowledged the event.
    pub delivered: bool,
    /// Whether it was signed.
    pub signed: bool,
    /// The event.
    pub webhook_id: WebhookId,
    /// HTTP status of the receiver; null without an answer.
    #[serde(default)]
    pub status: Option<u16>,
    /// Why it does not count; null when it does.
    #[serde(default)]
    pub error: Option<String>,
    /// How long it took, ms.
    pub duration_ms: u64,
    /// Beginning of what the receiver answered.
    #[serde(default)]
    pub answer: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_new_key_is_a_listed_one_with_the_key() {
        let answer = json!({
            "success": true, "id": "018f2f9e-0000-7000-8000-000000000001", "name": "ci", "team": "default",
            "hint": "beef", "createdAt": "2026-01-31T09:05:00.000Z", "lastUsedAt": null, "current": false,
            "key": "fc-dead-beef",
        });
        let read: NewKey = serde_json::from_value(answer.clone()).unwrap();
        assert_eq!(
            (read.key.as_str(), read.listed.hint.as_str()),
            ("fc-dead-beef", "beef")
        );
        assert_eq!(serde_json::to_value(&read).unwrap(), answer);
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
