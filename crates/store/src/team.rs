//! Who asks, and what they used.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::month::Month;
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

/// What is kept of a key instead of the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPrint {
    /// Its SHA-256.
    pub hash: [u8; 32],
    /// Its last characters, by which its owner knows it again; may be empty.
    pub hint: String,
}

impl From<[u8; 32]> for KeyPrint {
    fn from(hash: [u8; 32]) -> Self {
        let hint = String::new();
        Self { hash, hint }
    }
}

/// What became of taking a key back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revoked {
    /// It opens nothing any more.
    Revoked,
    /// It is the last one of its team, and stays.
    Last,
    /// There is no such key, or it is revoked already.
    NotFound,
}

/// A team as it is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TeamRow {
    /// Its id.
    pub id: TeamId,
    /// Its name.
    pub name: String,
    /// The operator's plan for it; `None` for the limits that all have.
    pub plan: Option<String>,
    /// Keys that are not revoked.
    pub keys: u64,
    /// When it was made.
    pub created_at: Timestamp,
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
    /// Its last characters; empty when they are not known.
    pub hint: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was taken back.
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

/// Pages of a team that are not settled, and its last success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queue {
    /// Pages of running jobs, in work or not.
    pub unsettled: u64,
    /// End of the newest job that completed; `None` without one whose results are still there.
    pub last_success: Option<Timestamp>,
}
