//! The last version of each tracked page: written together with the page's document, read before the next
//! comparison. Never written with zero data retention.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::page_version::{PageVersion, VersionKey};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::prepared::PreparedVersion;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, bad_column, blob, int};
use crate::sqlite::status::decompress_texts;

impl Sqlite {
    pub(crate) async fn page_version(
        &self,
        team: TeamId,
        key: &VersionKey,
    ) -> Result<Option<PageVersion>, StoreError> {
        let row = query(
            "SELECT at, status_code, size_bytes, zstd, data FROM page_version
             WHERE team_id = ?1 AND url_key = ?2 AND tag = ?3",
        )
        .bind(blob(team.0))
        .bind(key.url.to_bytes().to_vec())
        .bind(&key.tag)
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (at, status_code) = (row.time("at")?, row.count("status_code")?);
        let data = row.maybe_text("data")?;
        let data = data
            .map(|text| serde_json::from_str(&text).map_err(|_| bad_column("data")))
            .transpose()?;
        let markdown = decompress_texts(vec![row]).await?.pop();
        Ok(markdown.map(|markdown| PageVersion {
            at,
            status_code: u16::try_from(status_code).unwrap_or(0),
            markdown,
            data,
        }))
    }
}

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
