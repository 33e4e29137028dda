//! The page cache: the newest response of each team and key.
//!
//! A response is written together with the others that wait, before any write that is queued after it. After each
//! write, the cache is within its size limit. Caching never delays other work: a response that cannot be cached is
//! dropped.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row};

use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::search::PageText;
use harvestman_core::time::Timestamp;

use crate::cache::{CachedPage, NewCachedPage, PageCache};
use crate::error::StoreError;
use crate::limits;
use crate::prepared::CompressedPage;
use crate::rows::decompress_page;
use crate::sqlite::Sqlite;
use crate::sqlite::index::IndexedText;
use crate::sqlite::query::query;
use crate::sqlite::rows::{Columns, bad_column};
use crate::value::{int, params};

/// Size limit, and responses waiting to be written.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Maximum bytes on disk; 0 disables the cache.
    max_bytes: u64,
    waiting: Arc<Mutex<WriteQueue>>,
}

/// Responses for the next write. A write is queued exactly while this is not empty.
#[derive(Debug, Default)]
struct WriteQueue {
    pages: Vec<CompressedPage>,
    bytes: u64,
}

/// The right to write the waiting responses. When dropped unused it discards them, so that the next response
/// queues a new write.
struct PendingWrite(Option<Arc<Mutex<WriteQueue>>>);

impl PendingWrite {
    fn take(&mut self) -> Vec<CompressedPage> {
        let waiting = self.0.take();
        let taken = waiting.map(|waiting| std::mem::take(&mut *waiting.lock()));
        taken.unwrap_or_default().pages
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        self.take();
    }
}

impl Cache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            waiting: Arc::default(),
        }
    }

    /// Queues a response if there is space. Returns a [`PendingWrite`] for the first one, whose caller must
    /// queue the write.
    fn enqueue(&self, cached: CompressedPage) -> Option<PendingWrite> {
        let bytes = cached.stored_bytes;
        let mut waiting = self.waiting.lock();
        if bytes > self.max_bytes || waiting.bytes + bytes > limits::CACHE_WAITING_BYTES {
            tracing::debug!(bytes, "cache write queue is full: response not cached");
            return None;
        }
        waiting.bytes += bytes;
        waiting.pages.push(cached);
        (waiting.pages.len() == 1).then(|| PendingWrite(Some(self.waiting.clone())))
    }
}

impl PageCache for Sqlite {
    async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) {
        let max_bytes = self.cache.max_bytes;
        if max_bytes == 0 {
            return;
        }
        let Some(cached) = CompressedPage::of(page, body).await else {
            return;
        };
        let Some(mut pending_write) = self.cache.enqueue(cached) else {
            return;
        };
        let (index, writer) = (Arc::clone(&self.index), Arc::clone(&self.writer));
        self.writer.post(move |connection| {
            Box::pin(async move {
                let mut texts = upsert(connection, pending_write.take()).await?;
                // A statement takes a limited number of values.
                while !texts.is_empty() {
                    let rest = texts.split_off(texts.len().min(limits::INDEXED_PAGES));
                    let some = std::mem::replace(&mut texts, rest);
                    index.add(&writer, connection, some).await?;
                }
                make_room(connection, max_bytes).await
            })
        });
    }

    async fn cached_page(
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
        .bind_all(params![team, key.0.to_vec(), now.0.saturating_sub(ages.max_ms)])
        .fetch_optional(&self.readers)
        .await?;
        match row {
            Some(row) if ages.allow(row.time("fetched_at")?, now) => decompress_page(&row).await.map(Some),
            Some(_) | None => Ok(None),
        }
    }
}

/// Stores responses, except where the stored one was fetched later. Returns the texts of those that were stored.
async fn upsert(
    connection: &mut SqliteConnection,
    mut pages: Vec<CompressedPage>,
) -> Result<Vec<IndexedText>, StoreError> {
    let mut stored = Vec::new();
    while !pages.is_empty() {
        let rest = pages.split_off(pages.len().min(limits::BODIES_PER_STATEMENT));
        let mut now = std::mem::replace(&mut pages, rest);
        let mut texts: HashMap<_, PageText> = HashMap::new();
        for cached in &mut now {
            if let Some(text) = cached.page.text.take() {
                texts.insert((cached.page.team, cached.page.key), text);
            }
        }
        let kept = QueryBuilder::new(
            "INSERT INTO cached_page (team_id, cache_key, site, url, title, description, status_code,
                content_type, fetched_at, size_bytes, stored_bytes, zstd) ",
        )
        .push_values(now, |mut row, cached| {
            let page = cached.page;
            row.push_bind(page.team.0.as_bytes().to_vec())
                .push_bind(page.key.0.to_vec())
                .push_bind(page.site)
                .push_bind(page.url)
                .push_bind(page.title)
                .push_bind(page.description)
                .push_bind(page.status)
                .push_bind(page.content_type)
                .push_bind(int(page.fetched_at.0))
                .push_bind(int(cached.size_bytes as u64))
                .push_bind(int(cached.stored_bytes))
                .push_bind(cached.zstd);
        })
        .push(
            " ON CONFLICT (team_id, cache_key) DO UPDATE SET site = excluded.site, url = excluded.url,
                title = excluded.title, description = excluded.description,
                status_code = excluded.status_code, content_type = excluded.content_type,
                fetched_at = excluded.fetched_at, size_bytes = excluded.size_bytes,
                stored_bytes = excluded.stored_bytes, zstd = excluded.zstd
             WHERE excluded.fetched_at >= cached_page.fetched_at
             RETURNING id, team_id, cache_key",
        )
        .build()
        .fetch_all(&mut *connection)
        .await?;
        for row in &kept {
            let key: [u8; 16] = row
                .try_get::<Vec<u8>, _>("cache_key")?
                .try_into()
                .map_err(|_| bad_column("cache_key"))?;
            let team = TeamId(row.id("team_id")?);
            if let Some(text) = texts.remove(&(team, CacheKey(key))) {
                stored.push(IndexedText::new(row.try_get("id")?, team, text));
            }
        }
    }
    Ok(stored)
}

/// Deletes the oldest responses until the rest fits.
async fn make_room(connection: &mut SqliteConnection, max_bytes: u64) -> Result<(), StoreError> {
    loop {
        let bytes: i64 = query("SELECT bytes FROM cache_size")
            .fetch_scalar(&mut *connection)
            .await?;
        if bytes <= int(max_bytes) {
            return Ok(());
        }
        let evicted = query(
            "DELETE FROM cached_page WHERE id IN (SELECT id FROM cached_page ORDER BY fetched_at LIMIT ?1)",
        )
        .bind(limits::EVICTED_PER_STATEMENT)
        .execute(&mut *connection)
        .await?;
        if evicted == 0 {
            return Err(StoreError::Unreadable("cache_size".to_owned()));
        }
    }
}
