//! The page cache: fetched answers of a team under their key, the newest only.
//!
//! An answer is written before anything that is asked of the writer later. The cache is never larger
//! than its limit after a write, and never in the way of anything: what cannot be kept is left out.

use std::sync::Arc;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{query, query_scalar};
use tokio::sync::Semaphore;

use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::limits::{LOCKDOWN_MAX_AGE_MS, SITEMAP_CACHE_MS};
use harvestman_core::time::Timestamp;

use crate::cache::{CachedPage, KnownPage, NewCachedPage};
use crate::error::StoreError;
use crate::limits;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int, wrong};

/// What the cache may take.
#[derive(Debug)]
pub(crate) struct Room {
    /// Bytes on disk; 0 keeps nothing.
    max_bytes: u64,
    /// Bytes of answers that wait for the writer.
    waiting: Arc<Semaphore>,
}

impl Room {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            waiting: Arc::new(Semaphore::new(limits::CACHE_WAITING_BYTES)),
        }
    }
}

impl Sqlite {
    pub(crate) async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) {
        let size_bytes = body.as_ref().len();
        if size_bytes > limits::CACHED_BODY_BYTES || self.room.max_bytes == 0 {
            return;
        }
        let pack = move || zstd::bulk::compress(body.as_ref(), limits::ZSTD_LEVEL);
        let Ok(Ok(zstd)) = tokio::task::spawn_blocking(pack).await else {
            return;
        };
        let (max_bytes, stored_bytes) = (self.room.max_bytes, stored_bytes(&page, &zstd));
        let place = u32::try_from(stored_bytes)
            .ok()
            .filter(|bytes| u64::from(*bytes) <= max_bytes)
            .and_then(|bytes| self.room.waiting.clone().try_acquire_many_owned(bytes).ok());
        let Some(place) = place else {
            tracing::debug!(bytes = stored_bytes, "no room in the cache for an answer");
            return;
        };
        self.writer.post(move |connection| {
            Box::pin(async move {
                let _place = place;
                keep(connection, page, zstd, size_bytes, stored_bytes).await?;
                make_room(connection, max_bytes).await
            })
        });
    }

    pub(crate) async fn cached_page(
        &self,
        team: TeamId,
        key: CacheKey,
        ages: Ages,
        now: Timestamp,
    ) -> Result<Option<CachedPage>, StoreError> {
        let row = query(
            "SELECT url, status_code, content_type, fetched_at, size_bytes, zstd FROM cached_page
             WHERE team_id = ?1 AND cache_key = ?2 AND fetched_at >= ?3",
        )
        .bind(blob(team.0))
        .bind(key.0.to_vec())
        .bind(int(now.0.saturating_sub(ages.max_ms)))
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let fetched_at = row.time("fetched_at")?;
        if !ages.allow(fetched_at, now) {
            return Ok(None);
        }
        let (packed, size): (Vec<u8>, _) = (sqlx::Row::try_get(&row, "zstd")?, row.count("size_bytes")?);
        let size = usize::try_from(size).map_err(|_| wrong("size_bytes"))?;
        let unpack = move || zstd::bulk::decompress(&packed, size.min(limits::CACHED_BODY_BYTES));
        let body = tokio::task::spawn_blocking(unpack)
            .await
            .map_err(|_| StoreError::Closed)?
            .map_err(|error| StoreError::Unreadable(format!("a cached body: {error}")))?;
        Ok(Some(CachedPage {
            url: row.text("url")?,
            status: u16::try_from(row.count("status_code")?).map_err(|_| wrong("status_code"))?,
            content_type: row.maybe_text("content_type")?,
            fetched_at,
            body,
        }))
    }

    pub(crate) async fn known_pages(
        &self,
        team: TeamId,
        site: &str,
        limit: usize,
    ) -> Result<Vec<KnownPage>, StoreError> {
        let rows = query(
            "SELECT url, title, description FROM cached_page
             WHERE team_id = ?1 AND site = ?2 ORDER BY id LIMIT ?3",
        )
        .bind(blob(team.0))
        .bind(site)
        .bind(int(limit as u64))
        .fetch_all(&self.readers)
        .await?;
        let page = |row: &SqliteRow| {
            Ok(KnownPage {
                url: row.text("url")?,
                title: row.maybe_text("title")?,
                description: row.maybe_text("description")?,
            })
        };
        rows.iter().map(page).collect()
    }
}

fn stored_bytes(page: &NewCachedPage, zstd: &[u8]) -> u64 {
    let texts = [&page.site, &page.title, &page.description, &page.content_type];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    limits::CACHED_ROW_BYTES + (page.url.len() + texts + zstd.len()) as u64
}

/// Puts an answer in the place of an older one; one that was fetched later stays.
async fn keep(
    connection: &mut SqliteConnection,
    page: NewCachedPage,
    zstd: Vec<u8>,
    size_bytes: usize,
    stored_bytes: u64,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO cached_page (team_id, cache_key, site, url, title, description, status_code,
            content_type, fetched_at, size_bytes, stored_bytes, zstd)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (team_id, cache_key) DO UPDATE SET url = excluded.url, title = excluded.title,
            description = excluded.description, status_code = excluded.status_code,
            content_type = excluded.content_type, fetched_at = excluded.fetched_at,
            size_bytes = excluded.size_bytes, stored_bytes = excluded.stored_bytes, zstd = excluded.zstd
         WHERE excluded.fetched_at >= fetched_at",
    )
    .bind(blob(page.team.0))
    .bind(page.key.0.to_vec())
    .bind(page.site)
    .bind(page.url)
    .bind(page.title)
    .bind(page.description)
    .bind(page.status)
    .bind(page.content_type)
    .bind(int(page.fetched_at.0))
    .bind(int(size_bytes as u64))
    .bind(int(stored_bytes))
    .bind(zstd)
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes the oldest answers until the rest fits.
async fn make_room(connection: &mut SqliteConnection, max_bytes: u64) -> Result<(), StoreError> {
    loop {
        let bytes: i64 = query_scalar("SELECT bytes FROM cache_size")
            .fetch_one(&mut *connection)
            .await?;
        if bytes <= int(max_bytes) {
            return Ok(());
        }
        let evicted = query(
            "DELETE FROM cached_page WHERE id IN (SELECT id FROM cached_page ORDER BY fetched_at LIMIT ?1)",
        )
        .bind(limits::EVICTED_AT_ONCE)
        .execute(&mut *connection)
        .await?;
        if evicted.rows_affected() == 0 {
            return Err(StoreError::Unreadable("cache_size".to_owned()));
        }
    }
}

/// Deletes some of the answers that no request may get any more; how many.
pub(super) async fn forget_aged(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for (statement, kept_ms) in [
        (
            "DELETE FROM cached_page WHERE id IN (SELECT id FROM cached_page WHERE fetched_at < ?1 LIMIT ?2)",
            LOCKDOWN_MAX_AGE_MS,
        ),
        (
            "DELETE FROM cached_page WHERE id IN
                (SELECT id FROM cached_page WHERE site IS NULL AND fetched_at < ?1 LIMIT ?2)",
            SITEMAP_CACHE_MS,
        ),
    ] {
        let done = query(statement)
            .bind(int(now.0.saturating_sub(kept_ms)))
            .bind(limits::EXPIRY_ROWS)
            .execute(&mut *connection)
            .await?;
        deleted += done.rows_affected();
    }
    Ok(deleted)
}
