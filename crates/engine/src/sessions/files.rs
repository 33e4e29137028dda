//! Files of sessions: what pages download, and what clients give to a session. The content is stored like other
//! files, for as long as the session is listed.

use std::sync::Arc;
use std::time::Duration;

use harvestman_browser::Download;
use harvestman_core::api::browser::{ExtendRequest, SessionExtended};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::session_file::{FileOrigin, SessionFile, SessionFileAdded, SessionFiles};
use harvestman_core::ids::SessionId;
use harvestman_core::interact::SessionError;
use harvestman_core::scrape::content_type_of;
use harvestman_store::{NewSessionFile, Principal, SessionFileRow, StoreError};
use url::Url;
use uuid::Uuid;

use super::live::LiveSession;
use crate::context::{Context, Engine};
use crate::single::UploadedFile;

/// A file for a session.
#[derive(Debug)]
pub enum SessionFileSource {
    /// Sent with the request.
    File(UploadedFile),
    /// Uploaded before, by its reference.
    Reference(String),
}

impl Engine {
    /// Lists the files of a session of the team, also after its end. `base` is this server's URL as the client sees
    /// it.
    ///
    /// # Errors
    /// 403 for another team's session, 404 for an unknown one.
    pub async fn session_files(
        &self,
        principal: &Principal,
        id: SessionId,
        base: &str,
    ) -> Result<SessionFiles, ApiError> {
        let row = self.context.store.session(id).await?;
        let row = row.ok_or(SessionError::NoSession)?;
        if row.team != principal.team {
            return Err(SessionError::OtherTeam.into());
        }
        Ok(SessionFiles {
            success: true,
            files: self.context.files_of(id, base).await?,
        })
    }

    /// Gives a file to a session of the team, for its code and its `upload` command.
    ///
    /// # Errors
    /// As for [`Engine::execute`]; 404 and 409 for a reference, 409 for a file that the session cannot take.
    pub async fn add_session_file(
        &self,
        principal: &Principal,
        id: SessionId,
        source: SessionFileSource,
        base: &str,
    ) -> Result<SessionFileAdded, ApiError> {
        let session = self.context.active_session(principal, id).await?;
        let file = match source {
            SessionFileSource::File(file) => file,
            SessionFileSource::Reference(reference) => self.uploaded_file(principal, &reference).await?,
        };
        let content_type = file
            .content_type
            .unwrap_or_else(|| content_type_of(&file.name).to_owned());
        let added = session
            .browser
            .add_upload(&file.name, &content_type, file.body.clone());
        let conflict = |message| ApiError::conflict(message);
        added.await.map_err(conflict)?;
        let new = NewSessionFile {
            session: id,
            is_upload: true,
            name: file.name,
            content_type,
            url: None,
            size: file.body.len() as u64,
            content: Ok(file.body.into()),
            token: Uuid::new_v4().simple().to_string(),
            created_at: session.age.now(),
        };
        let row = SessionFileRow::from(&new);
        if let Err(error) = self.context.store.add_session_file(new).await {
            session.browser.remove_upload(&row.name);
            return Err(error.into());
        }
        Ok(SessionFileAdded {
            success: true,
            file: describe(row, base, Some(&*session)),
        })
    }

    /// Lets a session of the team live longer.
    ///
    /// # Errors
    /// As for [`Engine::execute`].
    pub async fn extend_session(
        &self,
        principal: &Principal,
        id: SessionId,
        request: ExtendRequest,
    ) -> Result<SessionExtended, ApiError> {
        let session = self.context.active_session(principal, id).await?;
        let expires_at = session.extend(Duration::from_secs(request.ttl));
        if !self.context.store.extend_session(id, expires_at).await? {
            return Err(SessionError::Destroyed.into());
        }
        Ok(SessionExtended {
            success: true,
            expires_at,
        })
    }
}

impl Context {
    /// Returns the files of a session.
    pub(super) async fn files_of(&self, id: SessionId, base: &str) -> Result<Vec<SessionFile>, ApiError> {
        let rows = self.store.session_files(id).await?;
        let live = self.sessions.registry.get(id);
        let describe = |row| describe(row, base, live.as_deref());
        Ok(rows.into_iter().map(describe).collect())
    }

    /// Stores what the pages of a session download, until the session ends.
    pub(super) fn keep_downloads(self: &Arc<Self>, session: Arc<LiveSession>) {
        let context = self.clone();
        tokio::spawn(async move {
            loop {
                let download = tokio::select! {
                    () = session.ended.cancelled() => return,
                    download = session.browser.next_download() => download,
                };
                let Some(download) = download else { return };
                if let Err(error) = context.keep(&session, &download).await {
                    tracing::warn!(%error, session.id = %session.id, "cannot store a download of a session");
                }
            }
        });
    }

    async fn keep(&self, session: &LiveSession, download: &Download) -> Result<(), StoreError> {
        let name = UploadedFile::clean_name(&download.name).unwrap_or_else(|| "download".to_owned());
        let lost = NewSessionFile {
            session: session.id,
            is_upload: false,
            content_type: content_type_of(&name).to_owned(),
            name,
            // A `data:` URL is as long as its file.
            url: Some(&download.url).filter(|url| url.starts_with("http")).cloned(),
            size: download.size,
            content: Err("the server could not store the file".to_owned()),
            token: Uuid::new_v4().simple().to_string(),
            created_at: session.age.now(),
        };
        let content = download.content.as_ref();
        let file = NewSessionFile {
            content: content.map(|bytes| bytes.to_vec()).map_err(Clone::clone),
            ..lost.clone()
        };
        match self.store.add_session_file(file).await {
            Err(error) => self.store.add_session_file(lost).await.and(Err(error)),
            stored => stored,
        }
    }
}

fn describe(row: SessionFileRow, base: &str, live: Option<&LiveSession>) -> SessionFile {
    let path = live
        .filter(|_| row.is_upload)
        .map(|live| live.browser.upload_path(&row.name));
    SessionFile {
        origin: match row.is_upload {
            true => FileOrigin::Upload,
            false => FileOrigin::Download,
        },
        url: row.token.map(|token| file_url(base, &token, &row.name)),
        name: row.name,
        content_type: row.content_type,
        size_bytes: row.size,
        path,
        source_url: row.url,
        error: row.error,
        created_at: row.created_at,
    }
}

/// Returns the URL of stored content. The part after the token is only the name under which a browser saves the file.
fn file_url(base: &str, token: &str, name: &str) -> String {
    let mut encoded = Url::parse("file:///").expect("the base is a URL");
    encoded.set_path(&name.replace('%', "%25"));
    format!("{base}/files/{token}.{}", encoded.path().trim_start_matches('/'))
}
