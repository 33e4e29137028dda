//! Files of browser sessions, as they are stored and read. They are deleted with their session.

use harvestman_core::ids::SessionId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;

/// A file of a session to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSessionFile {
    /// The session.
    pub session: SessionId,
    /// Whether a client gave it to the session; otherwise a page downloaded it.
    pub is_upload: bool,
    /// File name.
    pub name: String,
    /// Content type.
    pub content_type: String,
    /// URL that it was downloaded from.
    pub url: Option<String>,
    /// Size in bytes, as far as known.
    pub size: u64,
    /// Content, or why there is none.
    pub content: Result<Vec<u8>, String>,
    /// Unguessable token that gives access to the content.
    pub token: String,
    /// When it arrived.
    pub created_at: Timestamp,
}

/// A stored file of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionFileRow {
    /// Number within the session, from 1.
    pub no: u64,
    /// Whether a client gave it to the session; otherwise a page downloaded it.
    pub is_upload: bool,
    /// File name.
    pub name: String,
    /// Content type.
    pub content_type: String,
    /// URL that it was downloaded from.
    pub url: Option<String>,
    /// Size in bytes, as far as known.
    pub size: u64,
    /// Token of the content; `None` if there is none.
    pub token: Option<String>,
    /// Why there is no content.
    pub error: Option<String>,
    /// When it arrived.
    pub created_at: Timestamp,
}

impl From<&NewSessionFile> for SessionFileRow {
    /// Returns the file as it is listed, before it has a number.
    fn from(new: &NewSessionFile) -> Self {
        Self {
            no: 0,
            is_upload: new.is_upload,
            name: new.name.clone(),
            content_type: new.content_type.clone(),
            url: new.url.clone(),
            size: new.size,
            token: new.content.is_ok().then(|| new.token.clone()),
            error: new.content.as_ref().err().cloned(),
            created_at: new.created_at,
        }
    }
}

operations! {
    /// Files of browser sessions.
    trait SessionFiles {
        /// Stores a file of a session; its content can be read by its token until the session is deleted.
        async fn add_session_file(&self, file: NewSessionFile) -> Result<(), StoreError>;

        /// Lists the files of a session in the order of arrival.
        async fn session_files(&self, session: SessionId) -> Result<Vec<SessionFileRow>, StoreError>;
    }
}
