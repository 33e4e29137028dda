//! Teams, their API keys, and their usage.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

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

/// Credits of one calendar month (UTC) and key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonthUsage {
    /// The month.
    pub month: Month,
    /// The key; `None` for use without a key.
    pub key: Option<KeyId>,
    /// Name of the key.
    pub key_name: Option<String>,
    /// Credits used.
    pub credits: u64,
}

/// Pending pages of a team, and its last success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TeamQueue {
    /// Pages of running jobs that have no outcome yet, whether in flight or waiting.
    pub pending_pages: u64,
    /// End of the latest completed job; `None` when no such job is still stored.
    pub last_success: Option<Timestamp>,
}
