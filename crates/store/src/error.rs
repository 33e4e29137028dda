//! What can go wrong in the store, named by what it means for the caller.

use std::path::PathBuf;

use harvestman_core::crawl::{JobState, Snapshot};

/// A failed operation. Nothing of it is stored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the data folder.
    #[error("another server uses the data folder {}: stop it, or give this one its own folder", .0.display())]
    Locked(PathBuf),
    /// The database file cannot be read as a whole. It was left untouched.
    #[error("the database is damaged and was left untouched: {0}")]
    Damaged(String),
    /// The file was written by a newer version.
    #[error(
        "the database {} has schema version {found}, this server knows versions up to {supported}: \
         start the newer server, or use another data folder", path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this server knows.
        supported: u32,
    },
    /// The file is an SQLite database of another program.
    #[error("{} is a database of another program", .0.display())]
    ForeignFile(PathBuf),
    /// Disk full, I/O error or a lock: may pass by itself, worth a retry with back-off.
    #[error("the database cannot be written or read at the moment: {0}")]
    Passing(String),
    /// A stored value cannot be read back, or a value cannot be stored.
    #[error("a stored value cannot be read: {0}")]
    Unreadable(String),
    /// The database refused a statement.
    #[error("database error: {0}")]
    Database(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether the same operation may succeed later without anyone doing anything.
    pub fn passing(&self) -> bool {
        matches!(self, Self::Passing(_))
    }

    pub(crate) fn io(action: &str, error: &std::io::Error) -> Self {
        Self::Passing(format!("{action}: {error}"))
    }
}

/// Why a batch was not committed (now).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommitError {
    /// Another owner has the shard, or this one skipped a number: drop the shard.
    #[error("the lease of the shard is lost")]
    LeaseLost,
    /// This batch is already committed and its answer was lost: go on from the snapshot.
    #[error("the batch was committed before")]
    Repeated(Box<Repeated>),
    /// Nothing was stored; the same batch may be committed again when the error is passing.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where a job stands after a batch whose answer was lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeated {
    /// Whether the job goes on.
    pub state: JobState,
    /// Everything that the owner needs to go on.
    pub snapshot: Snapshot,
}
