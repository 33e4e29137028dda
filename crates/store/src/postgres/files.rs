//! Files created for callers, such as screenshots.

use harvestman_core::time::Timestamp;
use tokio_postgres::Client;

use crate::error::StoreError;
use crate::file::{Files, NewFile, StoredFile};
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::value::params;

impl Files for Postgres {
    async fn store_files(&self, files: Vec<NewFile>) -> Result<(), StoreError> {
        self.write(Timestamp(0), move |transaction, _| {
            Box::pin(async move {
                for file in files {
                    query(
                        "INSERT INTO harvestman.file (token, content_type, bytes, expires_at)
                         VALUES ($1, $2, $3, $4)",
                    )
                    .bind_all(params![
                        file.token, file.content_type, file.bytes, file.expires_at
                    ])
                    .execute(transaction)
                    .await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError> {
        let row = query(
            "SELECT content_type, bytes FROM harvestman.file
             WHERE token = $1 AND expires_at > harvestman.clock($2)",
        )
        .bind_all(params![token, now])
        .fetch_optional(&*self.pool.connection().await?)
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
pub(super) async fn expire(client: &Client, now: Timestamp) -> Result<u64, StoreError> {
    query(
        "DELETE FROM harvestman.file WHERE token IN
            (SELECT token FROM harvestman.file WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
    )
    .bind_all(params![now, limits::FILES_PER_STEP])
    .execute(client)
    .await
}
