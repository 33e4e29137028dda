//! Where the store is, and how to open it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::limits;

/// File name of the embedded database in the data folder.
pub const DATABASE_FILE: &str = "harvestman.db";

/// File name of the key in the data folder that encrypts secrets when the settings have none.
pub const KEY_FILE: &str = "harvestman.key";

/// The text from which the keys that encrypt secrets in the database are derived. Any text is accepted, because it is only
/// the input of a key derivation; it should be random, because the derivation does not slow down guesses.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(String);

impl SecretKey {
    /// Smallest number of characters of a key.
    pub const MIN_CHARS: usize = 16;

    /// Returns the key unless it is too short.
    pub fn parse(text: &str) -> Option<Self> {
        (text.chars().count() >= Self::MIN_CHARS).then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hides the key.
impl fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretKey")
    }
}

/// The URL of a PostgreSQL database. It may contain a password, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Returns the URL if it is a PostgreSQL URL.
    pub fn parse(url: &str) -> Option<Self> {
        ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
            .then(|| Self(url.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://(hidden)")
    }
}

/// What a node reports about itself to the other nodes of a database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeReport {
    /// URL at which the others reach it.
    pub url: Option<String>,
    /// Settings that all nodes must have in common, by name. A secret is represented by a hash.
    pub settings: BTreeMap<String, String>,
}

/// Where and how to open the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreConfig {
    /// The data folder; created when missing. Not used with `database_url`.
    pub data_dir: PathBuf,
    /// The PostgreSQL database; `None` for the embedded one in the data folder.
    pub database_url: Option<DatabaseUrl>,
    /// What this process reports as a node of the PostgreSQL database; `None` if it is not one, but only reads or changes
    /// the data.
    pub node: Option<NodeReport>,
    /// The key that encrypts secrets in the database. By default that of the key file in the data folder, which is
    /// created for the embedded database. Not used without `node`, which neither reads nor writes secrets.
    pub secret_key: Option<SecretKey>,
    /// Keys used before: what they encrypted is encrypted again with the current one.
    pub earlier_keys: Vec<SecretKey>,
    /// The key of all nodes of a PostgreSQL database when `secret_key` is not set, derived from a secret that they share.
    pub cluster_key: Option<SecretKey>,
    /// Number of reader connections of the embedded database; 0 counts as 1.
    pub readers: u32,
    /// Maximum size of the page cache in the database, in bytes; 0 disables the cache.
    pub cache_bytes: u64,
}

impl StoreConfig {
    /// Returns the default configuration for this data folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            database_url: None,
            node: Some(NodeReport::default()),
            secret_key: None,
            earlier_keys: Vec::new(),
            cluster_key: None,
            readers: limits::DEFAULT_READERS,
            cache_bytes: limits::DEFAULT_CACHE_BYTES,
        }
    }
}
