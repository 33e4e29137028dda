//! Uploads for later requests.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::rows::upload_state;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::upload::{NewUpload, StoredUpload, UploadState, UploadUse, Uploads};
use crate::value::params;

impl Uploads for Sqlite {
    async fn reserve_upload(
        &self,
        upload: &NewUpload,
        most: u64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let reserved = query(
            "INSERT INTO upload (id, token, team_id, name, content_type, expires_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6
             WHERE (SELECT count(*) FROM upload WHERE team_id = ?3 AND expires_at > ?7) < ?8",
        )
        .bind_all(params![
            upload.id,
            &upload.token,
            upload.team,
            &upload.name,
            upload.content_type.clone(),
            upload.expires_at,
            now,
            most,
        ])
        .write(&self.writer)
        .await?;
        Ok(reserved == 1)
    }

    async fn upload_state(&self, token: &str, now: Timestamp) -> Result<Option<UploadState>, StoreError> {
        query(
            "SELECT team_id, bytes IS NOT NULL AS received FROM upload WHERE token = ?1 AND expires_at > ?2",
        )
        .bind_all(params![token, now])
        .read_optional(&self.readers, upload_state)
        .await
    }

    async fn receive_upload(&self, token: &str, bytes: Vec<u8>, now: Timestamp) -> Result<bool, StoreError> {
        let received =
            query("UPDATE upload SET bytes = ?2 WHERE token = ?1 AND bytes IS NULL AND expires_at > ?3")
                .bind_all(params![token, bytes, now])
                .write(&self.writer)
                .await?;
        Ok(received == 1)
    }

    async fn use_upload(&self, team: TeamId, id: Uuid, now: Timestamp) -> Result<UploadUse, StoreError> {
        self.write(move |connection| {
            Box::pin(async move {
                let taken = query(
                    "DELETE FROM upload WHERE id = ?1 AND team_id = ?2 AND expires_at > ?3
                        AND bytes IS NOT NULL RETURNING name, content_type, bytes",
                )
                .bind_all(params![id, team, now])
                .fetch_optional(&mut *connection)
                .await?;
                if let Some(row) = taken {
                    return Ok(UploadUse::File(StoredUpload {
                        name: row.text("name")?,
                        content_type: row.maybe_text("content_type")?,
                        bytes: row.try_get("bytes")?,
                    }));
                }
                let reserved =
                    query("SELECT 1 FROM upload WHERE id = ?1 AND team_id = ?2 AND expires_at > ?3")
                        .bind_all(params![id, team, now])
                        .fetch_optional(connection)
                        .await?;
                Ok(match reserved {
                    Some(_) => UploadUse::NotReceived,
                    None => UploadUse::Unknown,
                })
            })
        })
        .await
    }
}

/// Deletes some of the expired uploads. Returns how many.
pub(super) async fn expire(connection: &mut SqliteConnection, now: Timestamp) -> Result<u64, StoreError> {
    query("DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires_at <= ?1 LIMIT ?2)")
        .bind_all(params![now, limits::FILES_PER_STEP])
        .execute(connection)
        .await
}
