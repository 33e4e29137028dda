//! Where the store is, and how to open it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::limits;

/// File name of the embedded database in the data folder.
pub const DATABASE_FILE: &str = "harvestman.db";

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
            readers: limits::DEFAULT_READERS,
            cache_bytes: limits::DEFAULT_CACHE_BYTES,
        }
    }
}
