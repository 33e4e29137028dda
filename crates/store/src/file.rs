//! Files created for callers, such as screenshots, as they are stored and read.

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;

/// A file to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewFile {
    /// Unguessable token that gives access to the file.
    pub token: String,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
    /// When it is deleted.
    pub expires_at: Timestamp,
}

/// A stored file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFile {
    /// Value of `Content-Type`.
    pub content_type: String,
    /// Content.
    pub bytes: Vec<u8>,
}

operations! {
    /// Files for callers.
    trait Files {
        /// Stores files for callers.
        async fn store_files(&self, files: Vec<NewFile>, now: Timestamp) -> Result<(), StoreError>;

        /// Returns the file with this token, until it expires.
        async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError>;
    }
}
