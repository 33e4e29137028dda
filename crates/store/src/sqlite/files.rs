//! Files created for callers, such as screenshots.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::file::{Files, NewFile, StoredFile};
use crate::limits;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::value::params;

impl Files for Sqlite {
    async fn store_files(&self, files: Vec<NewFile>) -> Result<(), StoreError> {
        self.write(move |connection| {
            Box::pin(async move {
                for file in files {
                    query(
                        "INSERT INTO file (token, content_type, bytes, expires_at) VALUES (?1, ?2, ?3, ?4)",
                    )
                    .bind_all(params![
                        file.token, file.content_type, file.bytes, file.expires_at
                    ])
                    .execute(&mut *connection)
                    .await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn file(&self, token: &str, now: Timestamp) -> Result<Option<StoredFile>, StoreError> {
        let row = query("SELECT content_type, bytes FROM file WHERE token = ?1 AND expires_at > ?2")
            .bind_all(params![token, now])
            .fetch_optional(&self.readers)
            .await?;
        row.map(|row| {
            Ok(StoredFile {
                content_type: row.try_get("content_type")?,
                bytes: row.try_get("bytes")?,
            })
        })
        .transpose()
    }
}

/// Deletes some of the expired files. Returns how many.
pub(super) async fn expire(connection: &mut SqliteConnection, now: Timestamp) -> Result<u64, StoreError> {
    query("DELETE FROM file WHERE token IN (SELECT token FROM file WHERE expires_at <= ?1 LIMIT ?2)")
        .bind_all(params![now, limits::FILES_PER_STEP])
        .execute(connection)
        .await
}
