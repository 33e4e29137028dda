//! The last version of each tracked page: written together with the page's document, read before the next
//! comparison. Never written with zero data retention.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::sqlite::prepared::PreparedVersion;
use crate::sqlite::query::query;
use crate::value::params;

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
    .bind_all(params![
        job,
        version.key.url.to_bytes(),
        version.key.tag,
        now,
        version.status_code,
        version.size_bytes,
        version.body,
        version.data,
    ])
    .run(connection)
    .await
}
