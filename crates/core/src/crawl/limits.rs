//! Limits of a crawl. Everything that the web could make grow has a named limit here.

/// Maximum bytes read of a robots.txt (RFC 9309 section 2.5 requires at least 500 KiB).
pub const ROBOTS_MAX_BYTES: usize = 512 * 1024;
/// Maximum bytes of one robots.txt line; the rest of a longer line is ignored.
pub const ROBOTS_LINE_MAX_BYTES: usize = 16 * 1024;
/// Maximum work of one check of a URL against rules with wildcards: about the bytes that are compared. A path that needs
/// more counts as disallowed if a rule that was not checked may disallow it. Real files stay far below it.
pub const ROBOTS_WORK_MAX: usize = 4 * 1024 * 1024;
/// Maximum `Sitemap:` lines kept of one robots.txt.
pub const ROBOTS_SITEMAPS_MAX: usize = 500;
/// Maximum memory of all robots.txt rules of one job, in bytes. Beyond it the oldest are evicted, and
/// fetched again when needed.
pub const ROBOTS_MEMORY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Maximum pages of one job in flight per site (registrable domain). Does not apply when the request sets
/// `maxConcurrency` or the site is at a private address.
pub const SITE_MAX_IN_FLIGHT: u32 = 8;
/// Longest `Crawl-delay` honored, in ms.
pub const CRAWL_DELAY_MAX_MS: u64 = 60_000;

/// Maximum size of a sitemap file in bytes, decompressed.
pub const SITEMAP_MAX_BYTES: usize = 50 * 1024 * 1024;
/// Maximum entries of one sitemap file.
pub const SITEMAP_MAX_ENTRIES: usize = 50_000;
/// Maximum levels of sitemap indexes, counting the first file.
pub const SITEMAP_MAX_LEVELS: u32 = 5;
/// Maximum sitemap files per job.
pub const SITEMAP_MAX_FILES: usize = 500;
/// How long the links of a start page wait for sitemaps when the request limits no depth, in ms.
pub const SEED_HOLD_MS: u64 = 2_000;
/// Maximum sitemap files in flight.
pub const SITEMAP_MAX_IN_FLIGHT: usize = 4;

/// Maximum length of a URL in bytes; longer ones are ignored.
pub const URL_MAX_BYTES: usize = 8192;

/// Maximum characters of the path or URL that a user's pattern is matched against.
pub const PATTERN_TEXT_MAX_CHARS: usize = 8192;
/// Maximum patterns in both lists together.
pub const PATTERNS_MAX: usize = 1000;
/// Maximum characters of one pattern.
pub const PATTERN_MAX_CHARS: usize = 2000;
/// Maximum characters of all patterns together.
pub const PATTERNS_MAX_CHARS: usize = 100_000;
/// Maximum invalid patterns reported in one error.
pub const PATTERN_PROBLEMS_MAX: usize = 20;
/// Maximum bytes of one compiled pattern.
pub const PATTERN_COMPILED_MAX_BYTES: usize = 256 * 1024;
/// Memory of the automaton that matches a pattern list. A text for which it is filled twice is given up.
pub const PATTERN_MEMORY_BYTES: usize = 1024 * 1024;
/// Texts that must be matched or skipped for each one that was given up.
pub const PATTERN_DEBT_PER_FAILURE: u32 = 64;
/// Texts that are owed in this way before further ones are skipped.
pub const PATTERN_DEBT_MAX: u32 = 16 * PATTERN_DEBT_PER_FAILURE;
/// Maximum bytes of a compiled pattern list.
pub const PATTERN_SET_COMPILED_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum attempts per page or robots.txt, counting the first.
pub const ATTEMPTS_MAX: u32 = 3;
/// Owners lost on one page before the job fetches pages one at a time, so that the page at fault can be
/// identified.
pub const LOST_OWNERS_SUSPECT: u32 = 2;
/// Owners lost on one page before it counts as failed.
pub const LOST_OWNERS_MAX: u32 = 10;
/// Back-off before the second attempt, in ms; doubles for each further one.
pub const BACKOFF_FIRST_MS: u64 = 1_000;
/// Longest `Retry-After` that is waited for, in ms. A page with a longer one is not retried.
pub const RETRY_AFTER_MAX_MS: u64 = 60_000;

/// Known URLs per page of a job's limit; see [`known_urls_max`].
pub const KNOWN_URLS_PER_PAGE: u64 = 20;
/// Known URLs of a job in addition to [`KNOWN_URLS_PER_PAGE`].
pub const KNOWN_URLS_BASE: u64 = 10_000;

/// Maximum known URLs of a job, unless its page limit is larger. Each takes about 50 bytes.
pub const KNOWN_URLS_MAX: u64 = 10_000_000;

/// Returns how many URLs a job with this `limit` may know; further ones are not offered.
pub fn known_urls_max(limit: u64) -> usize {
    let by_limit = limit
        .saturating_mul(KNOWN_URLS_PER_PAGE)
        .saturating_add(KNOWN_URLS_BASE);
    usize::try_from(by_limit.min(KNOWN_URLS_MAX.max(limit))).unwrap_or(usize::MAX)
}

/// Maximum outcomes in one batch.
pub const BATCH_MAX_SETTLED: usize = 256;
/// Maximum offers and blocked URLs in one batch.
pub const BATCH_MAX_OFFERS: usize = 20_000;
/// Maximum document text in one batch, in bytes; a larger document is sent alone.
pub const BATCH_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Capacity that the queue of changes keeps; memory beyond it, as after a large sitemap, is released.
pub const CHANGES_KEPT: usize = 1_024;
/// Maximum pages that wait for a commit. At this number, no further page starts.
pub const BACKLOG_MAX_PAGES: usize = 256;
/// Maximum bytes of documents that wait for a commit. At this size, no further page starts.
pub const BACKLOG_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Maximum pages of one job that wait for the browser. At this number, no further page starts.
pub const RENDERS_WAITING_MAX_PAGES: usize = 4_096;
/// Maximum bytes held by pages that wait for the browser. At this size, no further page starts.
pub const RENDERS_WAITING_MAX_BYTES: usize = 64 * 1024 * 1024;
/// How long changes are gathered into one commit while enough pages are queued, in ms.
pub const GATHER_MS: u64 = 50;
/// The same while fewer than [`FEW_PAGES`] pages and [`BATCH_MAX_BYTES`] have settled, in ms. With the shorter time, many
/// slow crawls at once would need a commit for each page.
pub const GATHER_FEW_MS: u64 = 250;
/// Number of settled pages at which the shorter time applies. At most this many are fetched again if their owner is
/// killed.
pub const FEW_PAGES: usize = 4;
/// Time without a response to a commit after which no further page starts, in ms. If an owner is cut off from the
/// store, the next owner fetches its pages again.
pub const COMMIT_LATE_MS: u64 = 1_000;
/// Wait before the end is proposed again if the store did not confirm it, in ms.
pub const END_RETRY_MS: u64 = 1_000;
