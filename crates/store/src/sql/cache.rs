//! Reads the page cache, and deletes what is too old.

use harvestman_core::ids::TeamId;
use harvestman_core::limits::{LOCKDOWN_MAX_AGE_MS, SITEMAP_CACHE_MS};
use harvestman_core::time::Timestamp;

use crate::cache::{CachedPage, CachedPages, KnownPage};
use crate::error::StoreError;
use crate::limits;
use crate::rows::{decompress_page, known_page};
use crate::sql::{Connection, Database, statement};
use crate::value::params;

impl<D: Database> CachedPages for D {
    async fn known_pages(
        &self,
        team: TeamId,
        site: &str,
        limit: usize,
    ) -> Result<Vec<KnownPage>, StoreError> {
        statement!(
            "SELECT url, title, description FROM harvestman.cached_page
             WHERE team_id = $1 AND site = $2 ORDER BY id LIMIT $3",
        )
        .bind_all(params![team, site, limit as u64])
        .read_all(&mut self.reader().await?, known_page)
        .await
    }

    async fn cached_page_by_id(&self, team: TeamId, id: i64) -> Result<Option<CachedPage>, StoreError> {
        let row = statement!(
            "SELECT url, status_code, content_type, fetched_at, size_bytes, zstd FROM harvestman.cached_page
             WHERE id = $1 AND team_id = $2",
        )
        .bind_all(params![id, team])
        .fetch_optional(&mut self.reader().await?)
        .await?;
        match row {
            Some(row) => decompress_page(&row).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Deletes some responses that are too old for any request. Returns how many.
pub(crate) async fn delete_aged(connection: &mut impl Connection, now: Timestamp) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for (delete, kept_ms) in [
        (
            statement!(
                "DELETE FROM harvestman.cached_page WHERE id IN (SELECT id FROM harvestman.cached_page
                    WHERE fetched_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
            ),
            LOCKDOWN_MAX_AGE_MS,
        ),
        (
            statement!(
                "DELETE FROM harvestman.cached_page WHERE id IN (SELECT id FROM harvestman.cached_page
                    WHERE site IS NULL AND fetched_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
            ),
            SITEMAP_CACHE_MS,
        ),
    ] {
        deleted += delete
            .bind_all(params![now.0.saturating_sub(kept_ms), limits::EXPIRY_ROWS])
            .execute(connection)
            .await?;
    }
    Ok(deleted)
}
