//! Uploads for later requests.

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::rows::upload_state;
use crate::sql::{Connection, Database, statement, transact};
use crate::upload::{NewUpload, StoredUpload, UploadState, UploadUse, Uploads};
use crate::value::params;

impl<D: Database> Uploads for D {
    async fn reserve_upload(
        &self,
        upload: &NewUpload,
        most: u64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let new = upload.clone();
        let lifetime_ms = new.expires_at.millis_since(now);
        transact!(self, now, |transaction, now| {
            // Serializes the reservations of the team, so that the count holds.
            statement!("SELECT id FROM harvestman.team WHERE id = $1 FOR NO KEY UPDATE")
                .bind(new.team)
                .lock(transaction)
                .await?;
            let reserved = statement!(
                "INSERT INTO harvestman.upload (id, token, team_id, name, content_type, expires_at)
                 SELECT $1, $2, $3, $4, $5, $6
                 WHERE (SELECT count(*) FROM harvestman.upload WHERE team_id = $3 AND expires_at > $7) < $8",
            )
            .bind_all(params![
                new.id,
                new.token,
                new.team,
                new.name,
                new.content_type,
                now.0.saturating_add(lifetime_ms),
                now,
                most,
            ])
            .execute(transaction)
            .await?;
            Ok(reserved == 1)
        })
    }

    async fn upload_state(&self, token: &str, now: Timestamp) -> Result<Option<UploadState>, StoreError> {
        statement!(
            "SELECT team_id, bytes IS NOT NULL AS received FROM harvestman.upload
             WHERE token = $1 AND expires_at > harvestman.clock($2)",
        )
        .bind_all(params![token, now])
        .read_optional(&mut self.reader().await?, upload_state)
        .await
    }

    async fn receive_upload(&self, token: &str, bytes: Vec<u8>, now: Timestamp) -> Result<bool, StoreError> {
        let received = statement!(
            "UPDATE harvestman.upload SET bytes = $2
             WHERE token = $1 AND bytes IS NULL AND expires_at > harvestman.clock($3)",
        )
        .bind_all(params![token, bytes, now])
        .write(self)
        .await?;
        Ok(received == 1)
    }

    async fn use_upload(&self, team: TeamId, id: Uuid, now: Timestamp) -> Result<UploadUse, StoreError> {
        transact!(self, now, |transaction, now| {
            let taken = statement!(
                "DELETE FROM harvestman.upload WHERE id = $1 AND team_id = $2 AND expires_at > $3
                    AND bytes IS NOT NULL RETURNING name, content_type, bytes",
            )
            .bind_all(params![id, team, now])
            .fetch_optional(transaction)
            .await?;
            if let Some(row) = taken {
                return Ok(UploadUse::File(StoredUpload {
                    name: row.text("name")?,
                    content_type: row.maybe_text("content_type")?,
                    bytes: row.bytes("bytes")?,
                }));
            }
            let reserved = statement!(
                "SELECT id FROM harvestman.upload WHERE id = $1 AND team_id = $2 AND expires_at > $3",
            )
            .bind_all(params![id, team, now])
            .fetch_optional(transaction)
            .await?;
            Ok(match reserved {
                Some(_) => UploadUse::NotReceived,
                None => UploadUse::Unknown,
            })
        })
    }
}

/// Deletes some of the expired uploads. Returns how many.
pub(crate) async fn expire(connection: &mut impl Connection, now: Timestamp) -> Result<u64, StoreError> {
    statement!(
        "DELETE FROM harvestman.upload WHERE id IN
            (SELECT id FROM harvestman.upload WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    )
    .bind_all(params![now, limits::FILES_PER_STEP])
    .execute(connection)
    .await
}
