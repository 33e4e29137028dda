//! Where the store is and how it is opened.

use std::path::PathBuf;

use crate::limits;

/// Name of the embedded database in its folder.
pub const DATABASE_FILE: &str = "harvestman.db";

/// Where and how to open the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreConfig {
    /// Folder of the embedded database; made when missing.
    pub data_dir: PathBuf,
    /// Connections for reading; at least one is used.
    pub readers: u32,
    /// What the page cache may take on disk, in bytes; 0 keeps nothing.
    pub cache_bytes: u64,
}

impl StoreConfig {
    /// The embedded database in this folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            readers: limits::DEFAULT_READERS,
            cache_bytes: limits::DEFAULT_CACHE_BYTES,
        }
    }
}
