//! The last version of each tracked page: written together with the page's document, read before the next
//! comparison. Never written with zero data retention.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::sqlite::prepared::PreparedVersion;
use crate::sqlite::rows::{blob, int};

/// Stores this as the last version of its page.
pub(super) async fn upsert(
    connection: &mut SqliteConnection,
    job: JobId,
    version: PreparedVersion,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO page_version (team_id, url_key, tag, at, status_code, size_bytes, zstd, data)
         SELECT team_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM job WHERE id = ?1 AND zero_data_retention = 0
         ON CONFLICT (team_id, url_key, tag) DO UPDATE SET at = excluded.at, status_code = excluded.status_code,
            size_bytes = excluded.size_bytes, zstd = excluded.zstd, data = excluded.data",
    )
    .bind(blob(job.0))
    .bind(version.key.url.to_bytes().to_vec())
    .bind(version.key.tag)
    .bind(int(now.0))
    .bind(version.status_code)
    .bind(int(version.size_bytes))
    .bind(version.body)
    .bind(version.data)
    .execute(connection)
    .await?;
    Ok(())
}
