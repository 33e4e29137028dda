//! Files created for callers, such as screenshots.

use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::file::{Files, NewFile, StoredFile};
use crate::limits;
use crate::sql::{Connection, Database, statement, transact};
use crate::value::params;

impl<D: Database> Files for D {
    async fn store_files(&self, files: Vec<NewFile>, now: Timestamp) -> Result<(), StoreError> {
        let called_at = now;
        transact!(self, now, |transaction, now| {
            for file in files {
                statement!(
                    "INSERT INTO harvestman.file (token, content_type, bytes, expires_at)
                     VALUES ($1, $2, $3, $4)",
                )
                .bind_all(params![
                    file.token,
                    file.content_type,
                    file.bytes,
                    now.0.saturating_add(file.expires_at.millis_since(called_at)),
                ])
                .execute(transaction)
                .await?;
            }
            Ok(())
        })
    }

    async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError> {
        let row = statement!(
            "SELECT content_type, bytes FROM harvestman.file
             WHERE token = $1 AND expires_at > harvestman.clock($2)",
        )
        .bind_all(params![token, now])
        .fetch_optional(&mut self.reader().await?)
        .await?;
        row.map(|row| {
            Ok(StoredFile {
                content_type: row.text("content_type")?,
                bytes: row.bytes("bytes")?,
            })
        })
        .transpose()
    }
}

/// Deletes some of the expired files. Returns how many.
pub(crate) async fn expire(connection: &mut impl Connection, now: Timestamp) -> Result<u64, StoreError> {
    statement!(
        "DELETE FROM harvestman.file WHERE token IN
            (SELECT token FROM harvestman.file WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    )
    .bind_all(params![now, limits::FILES_PER_STEP])
    .execute(connection)
    .await
}
