//! All limits of the store.

use std::time::Duration;

/// URLs that a job may know per page of its limit, in addition to [`FRONTIER_BASE`]. Further URLs are dropped
/// with a warning.
pub(crate) const FRONTIER_PER_PAGE: u64 = 20;
/// URLs that a job may know regardless of its limit.
pub(crate) const FRONTIER_BASE: u64 = 10_000;
/// URLs that a crawl can inherit from the one that it continues.
pub(crate) const INHERITED_URLS: u64 = 250_000;
/// URLs beyond the limit that an ended crawl keeps until it expires, in order of discovery, so that it can be continued.
pub(crate) const SPARE_KEPT: u64 = 50_000;
/// Pages of one batch scrape, including those added later.
pub(crate) const PAGES_PER_BATCH: u64 = 1_000_000;
/// Pages of a batch scrape inserted by one statement.
pub(crate) const PAGES_PER_STATEMENT: usize = 10_000;
/// Warnings stored per job.
pub(crate) const WARNINGS_PER_JOB: usize = 50;
/// Write tasks that share one transaction.
pub(crate) const GROUP_TASKS: usize = 64;
/// Capacity of the writer's queue; further callers wait until there is space.
pub(crate) const QUEUED_TASKS: usize = 1024;
/// Default number of reader connections.
pub(crate) const DEFAULT_READERS: u32 = 4;
/// How long a statement waits for a lock before it fails.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause before the write-ahead log is checkpointed again after a reader has prevented it.
pub(crate) const CHECKPOINT_RETRY: Duration = Duration::from_secs(2);
/// How long a read waits for a free reader connection.
pub(crate) const READER_TIMEOUT: Duration = Duration::from_secs(30);
/// Size to which the write-ahead log is truncated after a checkpoint.
pub(crate) const JOURNAL_BYTES: u64 = 64 << 20;
/// SQLite page cache of the writer connection, in KiB.
pub(crate) const WRITER_CACHE_KIB: u64 = 8 << 10;
/// Document bodies written by one statement.
pub(crate) const BODIES_PER_STATEMENT: usize = 16;
/// URL keys read per query when a new owner loads a job.
pub(crate) const KEYS_PER_READ: u32 = 4_000;
/// Compression level of document bodies.
pub(crate) const ZSTD_LEVEL: i32 = 1;
/// Bodies up to this size are compressed and decompressed on the caller's thread, which takes about 100 microseconds.
pub(crate) const COMPRESSED_INLINE_BYTES: usize = 64 * 1024;
/// Bytes of texts of a batch that are serialised before they are compressed together.
pub(crate) const COMPRESSED_TOGETHER_BYTES: usize = 512 * 1024;
/// Maximum uncompressed size of a stored document; a larger one is refused on read.
pub(crate) const DOCUMENT_BYTES: u64 = 1 << 30;
/// Minimum interval between two writes of a key's `last_used_at`, in ms.
pub(crate) const KEY_USE_INTERVAL_MS: u64 = 60_000;
/// How long an idempotency key is valid, in ms (docs/API.md section 1).
pub(crate) const IDEMPOTENCY_MS: u64 = 24 * 3_600_000;
/// How long activity is listed and stored, in ms (docs/API.md section 6.9).
pub(crate) const ACTIVITY_MS: u64 = 24 * 3_600_000;
/// Activity rows examined for one page of a filtered list, in total and per query.
pub(crate) const CALLS_EXAMINED: usize = 5_000;
pub(crate) const CALLS_PER_QUERY: u32 = 500;
/// Delay after the end of a job with zero data retention until its documents are deleted, in ms. Together with the
/// pause between two runs of expiry, it stays within 10 minutes (docs/API.md section 6.1).
pub(crate) const ZERO_RETENTION_DELAY_MS: u64 = 8 * 60_000;
/// Default size of the page cache on disk.
pub(crate) const DEFAULT_CACHE_BYTES: u64 = 1 << 30;
/// Maximum uncompressed size of a cached response; a larger one is not cached.
pub(crate) const CACHED_BODY_BYTES: usize = 16 << 20;
/// Estimated bytes of a cached response on disk, without its text columns and its body: numbers and
/// index entries.
pub(crate) const CACHED_ROW_BYTES: u64 = 256;
/// Bytes of page text per byte that its full-text index takes on disk.
pub(crate) const TEXT_BYTES_PER_INDEXED: usize = 2;
/// Maximum number of responses that PostgreSQL writes to the cache in one transaction. Joining up to 30 futures
/// starts them in order.
pub(crate) const CACHE_BATCH_PAGES: usize = 30;
/// Bytes of responses waiting to be written to the cache; further ones are dropped.
pub(crate) const CACHE_WAITING_BYTES: u64 = 32 << 20;
/// Bytes of texts that may wait in memory for the full-text index; further ones are indexed at once.
pub(crate) const INDEX_WAITING_BYTES: usize = 8 << 20;
/// Texts indexed by one write task: at most so many, and no more once they have so many bytes. Takes about 10 ms.
pub(crate) const INDEXED_PAGES: usize = 64;
pub(crate) const INDEXED_BYTES: usize = 512 << 10;
/// How long no page must have been cached before the texts that wait are indexed.
pub(crate) const INDEX_PAUSE: Duration = Duration::from_millis(200);
/// Cached responses evicted per statement.
pub(crate) const EVICTED_PER_STATEMENT: u32 = 16;
/// Sessions returned by one list.
pub(crate) const SESSIONS_LISTED: u32 = 1_000;
/// Browser profiles per team; the least recently saved are deleted first.
pub(crate) const PROFILES_PER_TEAM: u32 = 1_000;
/// Runs of one thread of agents.
pub(crate) const THREAD_RUNS: u64 = 100;
/// Step of the clock back after which events, checks and hosts do not wait for times that were set before it, in ms.
pub(crate) const CLOCK_STEP_MS: u64 = 60_000;
/// How long feedback is kept, in ms.
pub(crate) const FEEDBACK_MS: u64 = 365 * 24 * 3_600_000;
/// Rows deleted per transaction of expiry.
pub(crate) const EXPIRY_ROWS: u32 = 500;
/// Files deleted per step of expiry; each may be several MiB.
pub(crate) const FILES_PER_STEP: u32 = 20;
/// Transactions per call of expiry.
pub(crate) const EXPIRY_STEPS: u32 = 2_000;
/// How long the first connection to a database server is retried.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(30);
/// Pause between two attempts to connect for the first time.
pub(crate) const CONNECT_RETRY: Duration = Duration::from_secs(1);
/// How long one attempt to connect to a database server may take. A connection whose other end acknowledges nothing is
/// closed after at most twice this time.
pub(crate) const CONNECTION_TIMEOUT: Duration = Duration::from_secs(3);
/// How long an operation waits for a database server that cannot be reached.
pub(crate) const RECONNECT_TIME: Duration = Duration::from_secs(8);
/// Pause between two attempts to reconnect.
pub(crate) const RECONNECT_RETRY: Duration = Duration::from_millis(100);
/// How long a statement waits for the response of a database server. Longer than the time limits that the server knows.
pub(crate) const STATEMENT_TIME: Duration = Duration::from_secs(30);
/// Connections of a node to its database server.
pub(crate) const POSTGRES_CONNECTIONS: usize = 10;
/// Interval at which a node reports that it is alive.
pub(crate) const NODE_HEARTBEAT: Duration = Duration::from_secs(3);
/// Time without a report after which a node is dead, in ms.
pub(crate) const NODE_LEASE_MS: u64 = 15_000;
/// How long a node that leaves waits for its last report.
pub(crate) const LAST_REPORT_TIME: Duration = Duration::from_secs(2);
/// How long before the end of [`NODE_LEASE_MS`] a node without a successful report stops using what others could take
/// over.
pub(crate) const NODE_LEASE_MARGIN: Duration = Duration::from_secs(2);
/// Length of a window of a rate limit, in ms.
pub(crate) const RATE_WINDOW_MS: u64 = 60_000;
/// Time for which a unit stays with a node when there are fewer units than nodes that want one, in ms.
pub(crate) const SHARE_TURN_MS: u64 = 1_000;
/// Added to the delay between two requests to a host, in ms: a node starts late by the time of a round trip.
pub(crate) const HOST_START_SLACK_MS: u64 = 25;
/// Paused hosts read at once.
pub(crate) const PAUSED_HOSTS: u32 = 10_000;
/// How long rate windows and hosts are kept after their last use, in ms.
pub(crate) const SHARED_ROWS_MS: u64 = 24 * 3_600_000;
/// Seconds after which a client may repeat a request that the database could not serve.
pub(crate) const RETRY_AFTER_S: u32 = 2;
/// Rows copied to another database by one statement, and their bytes.
pub(crate) const COPIED_ROWS: usize = 1_000;
pub(crate) const COPIED_BYTES: usize = 8 << 20;
/// Time after which a node that already has its share may lease a free shard, in ms.
pub(crate) const SHARE_GRACE_MS: u64 = 2_000;
/// Minimum interval between two checks of the page cache's size by a node.
pub(crate) const CACHE_SIZE_INTERVAL: Duration = Duration::from_secs(10);
/// Bytes of each part of a page's text that PostgreSQL indexes; its index entry for a page has at most 1 MiB.
pub(crate) const INDEXED_TEXT_BYTES: usize = 256 << 10;
/// Sizes of documents read per query.
pub(crate) const SIZES_PER_READ: u32 = 1_000;
