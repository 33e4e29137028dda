//! The page cache: the newest response of each team and key.
//!
//! One task writes the responses: all that have arrived since the last write, in one transaction. Caching never
//! delays other work: a response that cannot be cached is dropped. The task sums the size every few seconds, and
//! deletes the oldest responses until the rest fits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{join3, try_join_all};
use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::search::PageText;
use harvestman_core::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::cache::{CachedPage, NewCachedPage, PageCache};
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::connect::{Pool, SharedConnection};
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::{BEGIN, Transaction};
use crate::postgres::words::fold;
use crate::prepared::CompressedPage;
use crate::rows::decompress_page;
use crate::value::params;

/// Size limit, and the queue of the task that writes.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Maximum bytes; 0 disables the cache.
    max_bytes: u64,
    queue: mpsc::UnboundedSender<CacheTask>,
    /// Bytes of the responses in the queue.
    waiting: Arc<AtomicU64>,
    /// The connection that reads cached responses.
    reader: SharedConnection,
}

#[derive(Debug)]
enum CacheTask {
    Store(Box<CompressedPage>),
    Flush(oneshot::Sender<()>),
}

impl Cache {
    /// Starts the task that writes; it ends when the store is dropped.
    pub(crate) fn start(pool: Pool, max_bytes: u64) -> Self {
        let (queue, tasks) = mpsc::unbounded_channel();
        let waiting = Arc::default();
        tokio::spawn(write_all(pool, tasks, Arc::clone(&waiting), max_bytes));
        Self {
            max_bytes,
            queue,
            waiting,
            reader: SharedConnection::default(),
        }
    }

    /// Waits until the responses that were queued before are written.
    pub(crate) async fn flush(&self) {
        let (reply, flushed) = oneshot::channel();
        if self.queue.send(CacheTask::Flush(reply)).is_ok() {
            let _ = flushed.await;
        }
    }

    fn enqueue(&self, cached: CompressedPage) {
        let bytes = cached.stored_bytes;
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if bytes > self.max_bytes || waiting + bytes > limits::CACHE_WAITING_BYTES {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            tracing::debug!(bytes, "cache write queue is full: response not cached");
            return;
        }
        let _ = self.queue.send(CacheTask::Store(Box::new(cached)));
    }
}

async fn write_all(
    pool: Pool,
    mut tasks: mpsc::UnboundedReceiver<CacheTask>,
    waiting: Arc<AtomicU64>,
    max_bytes: u64,
) {
    let mut checked_at: Option<Instant> = None;
    let mut arrived = Vec::new();
    while tasks.recv_many(&mut arrived, limits::CACHE_BATCH_PAGES).await > 0 {
        let (mut pages, mut flushes) = (Vec::new(), Vec::new());
        for task in arrived.drain(..) {
            match task {
                CacheTask::Store(cached) => pages.push(*cached),
                CacheTask::Flush(reply) => flushes.push(reply),
            }
        }
        if !pages.is_empty() {
            write(&pool, &mut pages).await;
            let written = pages.iter().map(|page| page.stored_bytes).sum();
            waiting.fetch_sub(written, Ordering::Relaxed);
            if checked_at.is_none_or(|at| at.elapsed() >= limits::CACHE_SIZE_INTERVAL) {
                checked_at = Some(Instant::now());
                if let Err(error) = make_room(&pool, max_bytes).await {
                    tracing::debug!(%error, "cache size not checked");
                }
            }
        }
        for flushed in flushes {
            let _ = flushed.send(());
        }
    }
}

/// Writes responses together. If the database refuses that, writes each alone, so that one bad response does not
/// affect the others.
async fn write(pool: &Pool, pages: &mut [CompressedPage]) {
    // All nodes lock the rows in the same order.
    pages.sort_by_key(|cached| (cached.page.team.0, cached.page.key.0));
    match upsert_all(pool, pages).await {
        Err(error) if pages.len() > 1 && !error.is_transient() => {
            for page in pages.chunks(1) {
                log_failure(upsert_all(pool, page).await);
            }
        }
        result => log_failure(result),
    }
}

fn log_failure(written: Result<(), StoreError>) {
    if let Err(error) = written {
        tracing::debug!(%error, "response not cached");
    }
}

impl PageCache for Postgres {
    async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static) {
        if self.cache.max_bytes == 0 {
            return;
        }
        if let Some(cached) = CompressedPage::of(page, body).await {
            self.cache.enqueue(cached);
        }
    }

    async fn cached_page(
        &self,
        team: TeamId,
        key: CacheKey,
        ages: Ages,
        now: Timestamp,
    ) -> Result<Option<CachedPage>, StoreError> {
        let row = query(
            "SELECT url, status_code, content_type, fetched_at, size_bytes, zstd, harvestman.clock($3) AS now
             FROM harvestman.cached_page
             WHERE team_id = $1 AND cache_key = $2 AND fetched_at >= harvestman.clock($3) - $4",
        )
        .bind_all(params![team, key, now, ages.max_ms])
        .fetch_optional(&*self.cache.reader.of(&self.pool).await?)
        .await?;
        match row {
            Some(row) if ages.allow(row.time("fetched_at")?, row.time("now")?) => {
                decompress_page(&row).await.map(Some)
            }
            Some(_) | None => Ok(None),
        }
    }
}

/// Writes responses in one transaction and one round trip.
async fn upsert_all(pool: &Pool, pages: &[CompressedPage]) -> Result<(), StoreError> {
    let transaction = Transaction::on(pool).await?;
    // A response that is lost in a crash is fetched again, so the COMMIT need not wait for the disk.
    let begin = format!("{BEGIN}; SET LOCAL synchronous_commit = off");
    let begun = transaction.batch_execute(&begin);
    let written = try_join_all(pages.iter().map(|page| upsert(&transaction, page)));
    let (begun, written, committed) = join3(begun, written, transaction.batch_execute("COMMIT")).await;
    // This also holds if a statement failed, which turns the COMMIT into a ROLLBACK.
    if committed.is_ok() {
        transaction.ended();
    }
    begun.and(committed)?;
    written.map(drop)
}

/// Stores a response under the time of the database, unless the stored one has a later one. A response without text keeps
/// the words of the older one.
async fn upsert(client: &Client, cached: &CompressedPage) -> Result<(), StoreError> {
    let page = &cached.page;
    let text = page.text.as_ref();
    let words = |part: fn(&PageText) -> &str| text.map(|text| fold(part(text)));
    query(
        "INSERT INTO harvestman.cached_page AS old (team_id, cache_key, site, url, title, description, status_code,
            content_type, fetched_at, size_bytes, stored_bytes, zstd, words, host_words, path_words)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, harvestman.clock($9), $10, $11, $12,
            setweight(to_tsvector('harvestman.words', $13), 'A')
                || setweight(to_tsvector('harvestman.words', $14 || ' ' || $15), 'B')
                || setweight(to_tsvector('harvestman.words', $16), 'C')
                || setweight(to_tsvector('harvestman.words', $17 || ' ' || $18), 'D'),
            to_tsvector('harvestman.words', $17), to_tsvector('harvestman.words', $14)
         ON CONFLICT (team_id, cache_key) DO UPDATE SET site = excluded.site, url = excluded.url,
            title = excluded.title, description = excluded.description, status_code = excluded.status_code,
            content_type = excluded.content_type, fetched_at = excluded.fetched_at,
            size_bytes = excluded.size_bytes, stored_bytes = excluded.stored_bytes, zstd = excluded.zstd,
            words = coalesce(excluded.words, old.words), host_words = coalesce(excluded.host_words, old.host_words),
            path_words = coalesce(excluded.path_words, old.path_words)
         WHERE excluded.fetched_at >= old.fetched_at",
    )
    .bind_all(params![
        page.team,
        page.key,
        page.site.clone(),
        page.url.clone(),
        page.title.clone(),
        page.description.clone(),
        page.status,
        page.content_type.clone(),
        page.fetched_at,
        cached.size_bytes as u64,
        cached.stored_bytes,
        cached.zstd.clone(),
        words(|text| &text.title),
        words(|text| &text.path),
        words(|text| &text.headings),
        words(|text| &text.description),
        words(|text| &text.host),
        words(|text| &text.body),
    ])
    .run(client)
    .await
}

/// Deletes the oldest responses until the rest fits.
async fn make_room(pool: &Pool, max_bytes: u64) -> Result<(), StoreError> {
    let connection = pool.connection().await?;
    let client: &Client = &connection;
    loop {
        let row = query("SELECT coalesce(sum(stored_bytes), 0)::bigint AS bytes FROM harvestman.cached_page")
            .fetch_one(client)
            .await?;
        let excess = row.count("bytes")?.saturating_sub(max_bytes);
        if excess == 0 {
            return Ok(());
        }
        // The oldest responses whose total size is at least the excess.
        let deleted = query(
            "DELETE FROM harvestman.cached_page WHERE id IN (
                SELECT id FROM (SELECT id, sum(stored_bytes) OVER (ORDER BY fetched_at, id) - stored_bytes AS older
                    FROM harvestman.cached_page ORDER BY fetched_at, id) AS sums WHERE older < $1)",
        )
        .bind(excess)
        .execute(client)
        .await?;
        if deleted == 0 {
            return Ok(());
        }
    }
}
