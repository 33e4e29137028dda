//! Where the store is, and how to open it.

use std::path::PathBuf;

use crate::limits;

/// File name of the embedded database in the data folder.
pub const DATABASE_FILE: &str = "harvestman.db";

/// Where and how to open the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreConfig {
    /// The data folder; created when missing.
    pub data_dir: PathBuf,
    /// Number of reader connections; 0 counts as 1.
    pub readers: u32,
    /// Maximum size of the page cache on disk, in bytes; 0 disables the cache.
    pub cache_bytes: u64,
}

impl StoreConfig {
    /// Returns the default configuration for this data folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            readers: limits::DEFAULT_READERS,
            cache_bytes: limits::DEFAULT_CACHE_BYTES,
        }
    }
}
