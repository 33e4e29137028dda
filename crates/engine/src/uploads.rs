//! Uploads by URL: a file is sent first and used by a later request of the team, once (docs/API.md section 7.5).

use bytes::Bytes;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::parse::{UploadUrl, UploadUrlRequest};
use harvestman_core::ids::TeamId;
use harvestman_core::limits::MAX_UPLOAD_BYTES;
use harvestman_store::{NewUpload, Principal, UploadUse};
use uuid::Uuid;

use crate::context::Engine;
use crate::single::UploadedFile;
use crate::{clock, limits};

impl Engine {
    /// Reserves an upload. `base` is this server's URL as the client sees it.
    ///
    /// # Errors
    /// 429 if the team has too many uploads that it has not used.
    pub async fn reserve_upload(
        &self,
        principal: &Principal,
        request: UploadUrlRequest,
        base: &str,
    ) -> Result<UploadUrl, ApiError> {
        let now = clock::now();
        let upload = NewUpload {
            id: Uuid::new_v4(),
            token: Uuid::new_v4().simple().to_string(),
            team: principal.team,
            name: UploadedFile::clean_name(&request.filename).ok_or_else(|| {
                ApiError::bad_request("`filename` contains no character that is valid in a file name")
            })?,
            content_type: request.content_type,
            expires_at: now + limits::UPLOAD_LIFETIME,
        };
        let most = limits::UPLOADS_PER_TEAM;
        if !self.context.store.reserve_upload(&upload, most, now).await? {
            let message = format!(
                "the team has {most} uploads that were not used; use them, or wait until they expire"
            );
            let mut error = ApiError::new(ErrorCode::ConcurrencyLimited, message);
            error.retry_after_s = Some(limits::RETRY_AFTER_S);
            return Err(error);
        }
        let content_type = upload
            .content_type
            .as_deref()
            .unwrap_or("application/octet-stream");
        Ok(UploadUrl {
            upload_url: format!("{base}/v2/parse/upload/{}", upload.token),
            upload_ref: upload.id.to_string(),
            method: "PUT".to_owned(),
            headers: [("Content-Type".to_owned(), content_type.to_owned())].into(),
            expires_at: upload.expires_at,
            max_size_bytes: MAX_UPLOAD_BYTES as u64,
        })
    }

    /// Checks that a file may be sent with this token. Returns the team that reserved the upload.
    ///
    /// # Errors
    /// 404 for an unknown or expired token, 409 if the file has arrived already.
    pub async fn check_upload(&self, token: &str) -> Result<TeamId, ApiError> {
        match self.context.store.upload_state(token, clock::now()).await? {
            Some(state) if !state.received => Ok(state.team),
            Some(_) => Err(ApiError::conflict(
                "a file was already sent to this URL; request a new URL",
            )),
            None => Err(ApiError::not_found(
                "no such upload: the file was already used, or the URL has expired; request a new URL",
            )),
        }
    }

    /// Stores the file that was sent with this token.
    ///
    /// # Errors
    /// As for [`Self::check_upload`].
    pub async fn receive_upload(&self, token: &str, body: Bytes) -> Result<(), ApiError> {
        let stored = self
            .context
            .store
            .receive_upload(token, body.into(), clock::now())
            .await;
        match stored? {
            true => Ok(()),
            false => self.check_upload(token).await.map(|_| ()),
        }
    }

    /// Returns the file of a reference, which cannot be used again.
    ///
    /// # Errors
    /// 404 for a reference that the team does not have (any more), 409 if the file has not arrived.
    pub async fn uploaded_file(
        &self,
        principal: &Principal,
        reference: &str,
    ) -> Result<UploadedFile, ApiError> {
        let used = match Uuid::try_parse(reference) {
            Ok(id) => {
                self.context
                    .store
                    .use_upload(principal.team, id, clock::now())
                    .await?
            }
            Err(_) => UploadUse::Unknown,
        };
        match used {
            UploadUse::File(file) => Ok(UploadedFile {
                name: file.name,
                content_type: file.content_type,
                body: file.bytes.into(),
            }),
            UploadUse::NotReceived => Err(ApiError::conflict(
                "the file for this `uploadRef` has not arrived; send it to `uploadUrl` first",
            )),
            UploadUse::Unknown => Err(ApiError::not_found(
                "no such `uploadRef`: it was already used, or it has expired; upload the file again",
            )),
        }
    }
}

impl UploadedFile {
    /// Returns the last part of a path without control characters; `None` if nothing is left. It is displayed, never
    /// used as a path of this machine.
    pub fn clean_name(path: &str) -> Option<String> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = name
            .chars()
            .filter(|c| !c.is_control())
            .take(harvestman_core::limits::MAX_FILE_NAME_CHARS)
            .collect();
        let name = name.trim();
        (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
    }
}
