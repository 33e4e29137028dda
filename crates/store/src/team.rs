//! Who asks, and what they used.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::time::Timestamp;

/// The owner of an API key.
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

/// A key as it is listed; never the key itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRow {
    /// Its id.
    pub id: KeyId,
    /// Team of the key.
    pub team: TeamId,
    /// Name of the team.
    pub team_name: String,
    /// Name of the key.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// Credits of one calendar month (UTC) and key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonthUsage {
    /// `YYYY-MM`.
    pub month: String,
    /// The key; `None` for use without a key.
    pub key: Option<KeyId>,
    /// Name of the key.
    pub key_name: Option<String>,
    /// Credits used.
    pub credits: u64,
}
