//! Teams and their API keys.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;

/// The team and key behind a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Principal {
    /// Team of the key.
    pub team: TeamId,
    /// Name of the team.
    pub team_name: String,
    /// The key's row; `None` in open mode.
    pub key: Option<KeyId>,
    /// Name of the key, as reports show it.
    pub key_name: String,
}

/// What is stored of a key instead of the key itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFingerprint {
    /// Its SHA-256.
    pub hash: [u8; 32],
    /// Its last characters, so that its owner can recognise it; may be empty.
    pub hint: String,
}

impl From<[u8; 32]> for KeyFingerprint {
    fn from(hash: [u8; 32]) -> Self {
        let hint = String::new();
        Self { hash, hint }
    }
}

/// Result of revoking a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RevokeOutcome {
    /// The key is revoked.
    Revoked,
    /// Refused: it is the last key of its team.
    LastKey,
    /// No such key, or it is already revoked.
    NotFound,
}

/// A team in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TeamRow {
    /// Team id.
    pub id: TeamId,
    /// Team name.
    pub name: String,
    /// The operator's plan for it; `None`: the server's default limits.
    pub plan: Option<String>,
    /// Number of keys that are not revoked.
    pub keys: u64,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A key in a list; never the key itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRow {
    /// Key id.
    pub id: KeyId,
    /// Team of the key.
    pub team: TeamId,
    /// Name of the team.
    pub team_name: String,
    /// Name of the key.
    pub name: String,
    /// Its last characters; empty when unknown.
    pub hint: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

operations! {
    /// Teams, their plans and their webhook secrets.
    trait Teams {
        /// Returns the team with this name; creates it when missing.
        async fn ensure_team(&self, name: &str) -> Result<TeamId, StoreError>;

        /// Lists all teams, sorted by name.
        async fn teams(&self) -> Result<Vec<TeamRow>, StoreError>;

        /// Sets or removes the plan of a team. Returns `None` when there is no team with this name.
        async fn set_plan(&self, name: &str, plan: Option<&str>) -> Result<Option<TeamId>, StoreError>;

        /// Returns the team's own webhook secret.
        async fn webhook_secret(&self, team: TeamId) -> Result<Option<String>, StoreError> => open_secret;

        /// Replaces the webhook secret of a team.
        async fn set_webhook_secret(
            &self,
            team: TeamId,
            #[seal_secret &] secret: &str,
        ) -> Result<(), StoreError>;
    }
}

operations! {
    /// API keys.
    trait Keys {
        /// Stores the fingerprint of a key. A known hash keeps its id and stays revoked if it was; its team, name
        /// and hint are replaced.
        async fn add_key(
            &self,
            team: TeamId,
            name: &str,
            key: impl Into<KeyFingerprint>,
            now: Timestamp,
        ) -> Result<KeyId, StoreError>;

        /// Returns the owner of the key with this SHA-256. Updates its `last_used_at` at most once a minute.
        async fn principal(&self, key_hash: [u8; 32]) -> Result<Option<Principal>, StoreError>;

        /// Returns whether there is a key that is not revoked.
        async fn has_keys(&self) -> Result<bool, StoreError>;

        /// Lists the keys of a team, or of all teams, oldest first, including revoked ones.
        async fn keys(&self, team: Option<TeamId>) -> Result<Vec<KeyRow>, StoreError>;

        /// Revokes a key permanently. With a team, only a key of that team, and never its last one.
        async fn revoke_key(
            &self,
            team: Option<TeamId>,
            key: KeyId,
            now: Timestamp,
        ) -> Result<RevokeOutcome, StoreError>;
    }
}
