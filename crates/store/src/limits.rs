//! Every bound of the store, by name.

use std::time::Duration;

/// URLs a job may know per page of its limit, beside [`FRONTIER_BASE`]. Further offers are left
/// out with a warning.
pub(crate) const FRONTIER_PER_PAGE: u64 = 20;
/// URLs a job may know whatever its limit.
pub(crate) const FRONTIER_BASE: u64 = 10_000;
/// Pages of one batch scrape, with all that were added to it.
pub(crate) const PAGES_PER_BATCH: u64 = 1_000_000;
/// Given pages that one statement stores.
pub(crate) const PAGES_PER_STATEMENT: usize = 10_000;
/// Sentences kept in `warning` of one job.
pub(crate) const WARNINGS_PER_JOB: usize = 50;
/// Pieces of work that share one transaction of the writer.
pub(crate) const GROUP_WORKS: usize = 64;
/// Pieces of work that wait for the writer; more callers wait for a place in the queue.
pub(crate) const QUEUED_WORKS: usize = 1024;
/// Reader connections when the configuration names none.
pub(crate) const DEFAULT_READERS: u32 = 4;
/// How long a statement waits for a lock before it fails.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a read waits for a free reader connection.
pub(crate) const READER_TIMEOUT: Duration = Duration::from_secs(30);
/// Size to which the write-ahead log is cut after a checkpoint.
pub(crate) const JOURNAL_BYTES: u64 = 64 << 20;
/// Page cache of the writer connection, in KiB.
pub(crate) const WRITER_CACHE_KIB: u64 = 16 << 10;
/// Document bodies written by one statement.
pub(crate) const BODIES_PER_STATEMENT: usize = 16;
/// URL keys read in one text when a new owner loads a job.
pub(crate) const KEYS_PER_READ: u32 = 4_000;
/// Compression level of document bodies.
pub(crate) const ZSTD_LEVEL: i32 = 1;
/// Uncompressed size of one stored document, at most; a larger one is refused when read back.
pub(crate) const DOCUMENT_BYTES: u64 = 1 << 30;
/// `last_used` of a key is written at most this often, in ms.
pub(crate) const KEY_TOUCH_MS: u64 = 60_000;
/// How long an idempotency key is remembered, in ms (contract section 1).
pub(crate) const IDEMPOTENCY_MS: u64 = 24 * 3_600_000;
/// How long activity is shown and kept, in ms (contract section 6.9).
pub(crate) const ACTIVITY_MS: u64 = 24 * 3_600_000;
/// Activity looked at for one part of a filtered list, and how much of it at once.
pub(crate) const CALLS_LOOKED_AT: usize = 5_000;
pub(crate) const CALLS_AT_ONCE: u32 = 500;
/// Documents of a job without data retention go so long after its end, in ms: with the pause between
/// two rounds of expiry that is within 10 minutes (contract section 6.1).
pub(crate) const FORGET_AFTER_MS: u64 = 8 * 60_000;
/// Bytes of kept answers on disk when the configuration says nothing.
pub(crate) const DEFAULT_CACHE_BYTES: u64 = 1 << 30;
/// Uncompressed size of one kept answer, at most; a larger one is not kept.
pub(crate) const CACHED_BODY_BYTES: usize = 16 << 20;
/// What a kept answer takes on disk beside its texts and its body: its numbers and its share of indexes.
pub(crate) const CACHED_ROW_BYTES: u64 = 256;
/// Bytes of a page's text for each byte that its words take on disk.
pub(crate) const TEXT_BYTES_PER_INDEXED: usize = 2;
/// Bytes of answers that wait to be kept; further ones are not kept.
pub(crate) const CACHE_WAITING_BYTES: u64 = 32 << 20;
/// Kept answers that make room for newer ones at once.
pub(crate) const EVICTED_AT_ONCE: u32 = 16;
/// Sessions in one list.
pub(crate) const SESSIONS_LISTED: u32 = 1_000;
/// Browser profiles of one team; the ones that were saved longest ago go first.
pub(crate) const PROFILES_PER_TEAM: u32 = 1_000;
/// Rows deleted in one transaction of expiry.
pub(crate) const EXPIRY_ROWS: u32 = 500;
/// Files that one step of expiry deletes: each may be several MiB.
pub(crate) const FILES_PER_STEP: u32 = 20;
/// Transactions of one call of expiry.
pub(crate) const EXPIRY_STEPS: u32 = 2_000;
