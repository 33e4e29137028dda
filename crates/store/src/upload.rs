//! Files that clients upload for a later request, as they are stored and read.

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::operations::operations;

/// An upload to reserve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewUpload {
    /// Reference for the later request.
    pub id: Uuid,
    /// Unguessable token that allows one transfer.
    pub token: String,
    /// The team that may use the reference.
    pub team: TeamId,
    /// File name.
    pub name: String,
    /// Content type that the client announced.
    pub content_type: Option<String>,
    /// When it is deleted.
    pub expires_at: Timestamp,
}

/// State of an upload that is neither used nor expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UploadState {
    /// The team that reserved it.
    pub team: TeamId,
    /// Whether the file has arrived.
    pub received: bool,
}

/// A received upload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredUpload {
    /// File name.
    pub name: String,
    /// Content type that the client announced.
    pub content_type: Option<String>,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Result of using the reference of an upload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UploadUse {
    /// The file, which is not stored any more.
    File(StoredUpload),
    /// The file has not arrived yet.
    NotReceived,
    /// The team has no such upload, or it was used or has expired.
    Unknown,
}

operations! {
    /// Uploads for later requests.
    trait Uploads {
        /// Reserves an upload. Returns false if the team already has `most` uploads that are neither used nor
        /// expired.
        async fn reserve_upload(&self, upload: &NewUpload, most: u64, now: Timestamp) -> Result<bool, StoreError>;

        /// Returns the state of the upload with this token; `None` if there is no such upload any more.
        async fn upload_state(&self, token: &str, now: Timestamp) -> Result<Option<UploadState>, StoreError>;

        /// Stores the file for this token. Returns false if it has arrived already or there is no such upload.
        async fn receive_upload(&self, token: &str, bytes: Vec<u8>, now: Timestamp) -> Result<bool, StoreError>;

        /// Uses the reference of an upload: returns the file and deletes it.
        async fn use_upload(&self, team: TeamId, id: Uuid, now: Timestamp) -> Result<UploadUse, StoreError>;
    }
}
