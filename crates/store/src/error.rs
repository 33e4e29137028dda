//! Errors of the store, named by what they mean to the caller.

use std::path::PathBuf;

use harvestman_core::api::error::{ApiError, ErrorCode};

use crate::limits;

/// Why an operation failed. Nothing of the operation is stored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process uses the data folder.
    #[error("another server uses the data folder {}: stop it, or give this one its own folder", .0.display())]
    Locked(PathBuf),
    /// The database file is damaged. It was left untouched.
    #[error("the database is damaged and was left untouched: {0}")]
    Damaged(String),
    /// The file was written by a newer version.
    #[error(
        "the database {} has schema version {found}, but this server supports versions up to {supported}: \
         start the newer server, or use another data folder", path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: u32,
        /// The newest schema version that this server supports.
        supported: u32,
    },
    /// The file is an SQLite database of another program.
    #[error("{} is a database of another program: choose another data folder", .0.display())]
    ForeignFile(PathBuf),
    /// The database, or a copy of it, cannot be used as it is; the text says what to do. It contains no password.
    #[error("{0}")]
    Setup(String),
    /// Disk full, I/O error, lock or lost connection: may resolve on its own, so retry with back-off.
    #[error("the database is temporarily unavailable: {0}")]
    Transient(String),
    /// A stored value cannot be read back, or a value cannot be serialised.
    #[error("a stored value cannot be read: {0}")]
    Unreadable(String),
    /// A stored value was encrypted with a key that this process does not have.
    #[error("a stored value was encrypted with another secret key")]
    UnknownKey,
    /// The database refused a statement.
    #[error("database error: {0}")]
    Database(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Returns whether the same operation may succeed later without intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_))
    }

    pub(crate) fn io(action: &str, error: &std::io::Error) -> Self {
        Self::Transient(format!("{action}: {error}"))
    }
}

/// Returns the error of a request that failed because of the store, the same on every route: 503 if the request may
/// succeed later, else 500, and never 404 (docs/API.md section 2). Logs the cause, which the response does not
/// contain.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed to handle a request");
        match error {
            StoreError::Transient(_) | StoreError::Closed => Self {
                retry_after_s: Some(limits::RETRY_AFTER_S),
                ..Self::new(
                    ErrorCode::Unavailable,
                    "the database is temporarily unavailable; try again in a moment",
                )
            },
            StoreError::Damaged(_) => Self::new(
                ErrorCode::Unknown,
                "the database is damaged; the operator has to restore a backup",
            ),
            StoreError::Locked(_)
            | StoreError::NewerSchema { .. }
            | StoreError::ForeignFile(_)
            | StoreError::Setup(_)
            | StoreError::Unreadable(_)
            | StoreError::UnknownKey
            | StoreError::Database(_) => {
                Self::new(ErrorCode::Unknown, "internal server error; see the server's log")
            }
        }
    }
}

/// Why a batch was not committed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommitError {
    /// Another owner has the shard, or this one skipped a batch number: drop the shard.
    #[error("the lease of the shard is lost")]
    LeaseLost,
    /// Nothing was stored; if the error is transient, the same batch may be committed again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_that_may_pass_are_answered_with_503() {
        let text = || "page 7 of /data/harvestman.db".to_owned();
        for (error, status) in [
            (StoreError::Transient(text()), 503),
            (StoreError::Closed, 503),
            (StoreError::Damaged(text()), 500),
            (StoreError::Unreadable(text()), 500),
            (StoreError::UnknownKey, 500),
            (StoreError::Database(text()), 500),
        ] {
            let response = ApiError::from(error.clone());
            assert_eq!(response.status(), status, "{error}");
            assert!(!response.message.contains("/data"), "{response:?}");
        }
    }
}
