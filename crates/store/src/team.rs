//! Who asks, and what they used.

use harvestman_core::ids::{KeyId, TeamId};

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
