//! Files of browser sessions.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::SessionId;

use crate::error::StoreError;
use crate::limits;
use crate::rows::session_file_row;
use crate::session_file::{NewSessionFile, SessionFileRow, SessionFiles};
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::value::params;

impl SessionFiles for Sqlite {
    async fn add_session_file(&self, file: NewSessionFile) -> Result<(), StoreError> {
        self.write(move |connection| {
                Box::pin(async move {
                    let (bytes, error) = match file.content {
                        Ok(bytes) => (Some(bytes), None),
                        Err(error) => (None, Some(error)),
                    };
                    query(
                        "INSERT INTO session_file (session_id, no, is_upload, name, content_type, url, size_bytes,
                            token, error, created_at)
                         SELECT ?1, count(*) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
                         FROM session_file WHERE session_id = ?1",
                    )
                    .bind_all(params![
                        file.session,
                        file.is_upload,
                        file.name,
                        &file.content_type,
                        file.url,
                        file.size,
                        bytes.is_some().then_some(&file.token),
                        error,
                        file.created_at,
                    ])
                    .execute(&mut *connection)
                    .await?;
                    if let Some(bytes) = bytes {
                        query(
                            "INSERT INTO file (token, content_type, bytes, expires_at)
                             SELECT ?1, ?2, ?3, coalesce(ended_at, expires_at) + ?4 FROM session WHERE id = ?5",
                        )
                        .bind_all(params![file.token, file.content_type, bytes, limits::ACTIVITY_MS, file.session])
                        .execute(connection)
                        .await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    async fn session_files(&self, session: SessionId) -> Result<Vec<SessionFileRow>, StoreError> {
        query("SELECT * FROM session_file WHERE session_id = ?1 ORDER BY no")
            .bind(session)
            .read_all(&self.readers, session_file_row)
            .await
    }
}

/// Keeps the content of a session's files for as long as the session is listed.
pub(super) async fn keep_as_long_as_session(
    connection: &mut SqliteConnection,
    id: SessionId,
) -> Result<(), StoreError> {
    query(
        "UPDATE file SET expires_at = coalesce(session.ended_at, session.expires_at) + ?2
         FROM session, session_file
         WHERE session.id = ?1 AND session_file.session_id = ?1 AND file.token = session_file.token",
    )
    .bind_all(params![id, limits::ACTIVITY_MS])
    .run(connection)
    .await
}
