//! Files made for callers, such as pictures of pages, as they are stored and read.

use harvestman_core::time::Timestamp;

/// A file to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewFile {
    /// Opens it; nobody can guess it.
    pub token: String,
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it goes.
    pub expires_at: Timestamp,
}

/// A stored file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFile {
    /// Its `Content-Type`.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
