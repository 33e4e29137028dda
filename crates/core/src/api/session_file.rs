//! Models of the files of browser sessions: `/v2/browser/{id}/files` (docs/API.md section 11).

use harvestman_derive::{Request, response};

use crate::api::caller::Caller;
use crate::api::fields::wire;
use crate::api::parse::UploadReference;
use crate::api::wire_enum::wire_enum;
use crate::time::Timestamp;

/// JSON body of `POST /v2/browser/{id}/files`: gives a file to the session that was uploaded before.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct SessionFileRequest {
    /// File to use.
    #[field(flatten)]
    pub upload: UploadReference,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(SessionFileRequest);

wire_enum! {
    /// How a session got a file.
    FileOrigin {
        /// A page downloaded it.
        Download = "download",
        /// A client gave it to the session.
        Upload = "upload",
    }
}

/// File of a session.
#[response(Eq)]
pub struct SessionFile {
    /// How the session got it.
    pub origin: FileOrigin,
    /// File name.
    pub name: String,
    /// Content type, by the file name for a download.
    pub content_type: String,
    /// Size in bytes; for a download without content, as far as it came.
    pub size_bytes: u64,
    /// URL of the content, with a token instead of a key; absent if there is none.
    pub url: Option<String>,
    /// Path of an upload for code of the session, while the session runs.
    pub path: Option<String>,
    /// URL that the page downloaded it from.
    pub source_url: Option<String>,
    /// Why there is no content.
    pub error: Option<String>,
    /// Time of arrival.
    pub created_at: Timestamp,
}

/// Response of `GET /v2/browser/{id}/files`.
#[response(Eq, Default)]
pub struct SessionFiles {
    /// Always true.
    pub success: bool,
    /// Files of the session in the order of arrival.
    pub files: Vec<SessionFile>,
}

/// Response of `POST /v2/browser/{id}/files`.
#[response(Eq)]
pub struct SessionFileAdded {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: SessionFile,
}
