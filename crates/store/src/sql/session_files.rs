//! Files of browser sessions.

use harvestman_core::ids::SessionId;

use crate::error::StoreError;
use crate::limits;
use crate::rows::session_file_row;
use crate::session_file::{NewSessionFile, SessionFileRow, SessionFiles};
use crate::sql::{Connection, Database, statement, transact};
use crate::value::params;

impl<D: Database> SessionFiles for D {
    async fn add_session_file(&self, file: NewSessionFile) -> Result<(), StoreError> {
        transact!(self, file.created_at, |transaction, _| {
            let (bytes, error) = match file.content {
                Ok(bytes) => (Some(bytes), None),
                Err(error) => (None, Some(error)),
            };
            // Serializes the files of the session, so that each gets a number of its own.
            statement!("SELECT id FROM harvestman.session WHERE id = $1 FOR NO KEY UPDATE")
                .bind(file.session)
                .lock(transaction)
                .await?;
            statement!(
                "INSERT INTO harvestman.session_file (session_id, no, is_upload, name, content_type, url,
                    size_bytes, token, error, created_at)
                 SELECT $1, count(*) + 1, $2, $3, $4, $5, $6, $7, $8, $9
                 FROM harvestman.session_file WHERE session_id = $1",
            )
            .bind_all(params![
                file.session,
                file.is_upload,
                file.name,
                file.content_type.clone(),
                file.url,
                file.size,
                bytes.is_some().then(|| file.token.clone()),
                error,
                file.created_at,
            ])
            .execute(transaction)
            .await?;
            if let Some(bytes) = bytes {
                statement!(
                    "INSERT INTO harvestman.file (token, content_type, bytes, expires_at)
                     SELECT $1, $2, $3, coalesce(ended_at, expires_at) + $4
                     FROM harvestman.session WHERE id = $5",
                )
                .bind_all(params![
                    file.token,
                    file.content_type,
                    bytes,
                    limits::ACTIVITY_MS,
                    file.session,
                ])
                .execute(transaction)
                .await?;
            }
            Ok(())
        })
    }

    async fn session_files(&self, session: SessionId) -> Result<Vec<SessionFileRow>, StoreError> {
        statement!("SELECT * FROM harvestman.session_file WHERE session_id = $1 ORDER BY no")
            .bind(session)
            .read_all(&mut self.reader().await?, session_file_row)
            .await
    }
}

/// Keeps the content of a session's files for as long as the session is listed.
pub(crate) async fn keep_as_long_as_session(
    connection: &mut impl Connection,
    id: SessionId,
) -> Result<(), StoreError> {
    statement!(
        "UPDATE harvestman.file SET expires_at = coalesce(session.ended_at, session.expires_at) + $2
         FROM harvestman.session, harvestman.session_file
         WHERE session.id = $1 AND session_file.session_id = $1 AND file.token = session_file.token",
    )
    .bind_all(params![id, limits::ACTIVITY_MS])
    .run(connection)
    .await
}
