//! Bounds of a crawl: everything that the web could make grow has its number here.

/// Bytes of a robots.txt that are read (RFC 9309 section 2.5 asks for at least 500 KiB).
pub const ROBOTS_MAX_BYTES: usize = 512 * 1024;
/// Bytes of one robots.txt line; the rest of a longer line is not read.
pub const ROBOTS_LINE_MAX_BYTES: usize = 16 * 1024;
/// `Sitemap:` lines kept of one robots.txt.
pub const ROBOTS_SITEMAPS_MAX: usize = 500;
/// Memory of all robots.txt rules of one job, in bytes; beyond it the oldest are forgotten, and
/// asked for again when they are needed.
pub const ROBOTS_MEMORY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Pages of one job in flight at one site (registrable domain), unless the request has a `maxConcurrency` or the
/// site is at a private address.
pub const SITE_MAX_IN_FLIGHT: u32 = 8;
/// Longest `Crawl-delay` that is honoured, in ms.
pub const CRAWL_DELAY_MAX_MS: u64 = 60_000;

/// Bytes of one sitemap file, decompressed.
pub const SITEMAP_MAX_BYTES: usize = 50 * 1024 * 1024;
/// Entries of one sitemap file.
pub const SITEMAP_MAX_ENTRIES: usize = 50_000;
/// Levels of sitemap indexes, counting the first file.
pub const SITEMAP_MAX_LEVELS: u32 = 5;
/// Sitemap files of one job.
pub const SITEMAP_MAX_FILES: usize = 500;
/// How long the links of a start page wait for sitemaps where no depth depends on it, in ms.
pub const SEED_HOLD_MS: u64 = 2_000;
/// Sitemap files asked for at once.
pub const SITEMAP_MAX_IN_FLIGHT: usize = 4;

/// Bytes of a URL that is looked at.
pub const URL_MAX_BYTES: usize = 8192;

/// Characters of a path or URL that a user's pattern is matched against.
pub const PATTERN_TEXT_MAX_CHARS: usize = 8192;
/// Patterns in both lists together.
pub const PATTERNS_MAX: usize = 1000;
/// Characters of one pattern.
pub const PATTERN_MAX_CHARS: usize = 2000;
/// Characters of all patterns together.
pub const PATTERNS_MAX_CHARS: usize = 100_000;
/// Bad patterns that are told in one answer.
pub const PATTERN_PROBLEMS_MAX: usize = 20;
/// Bytes that one compiled pattern may take.
pub const PATTERN_COMPILED_MAX_BYTES: usize = 256 * 1024;
/// Bytes that a compiled list of patterns may take.
pub const PATTERN_SET_COMPILED_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Attempts at one page or robots.txt, counting the first.
pub const ATTEMPTS_MAX: u32 = 3;
/// Owners that may be lost over one page before their job goes on with one page at a time, so that
/// the page at fault is found.
pub const LOST_OWNERS_SUSPECT: u32 = 2;
/// Owners that may be lost over one page; then it counts as failed.
pub const LOST_OWNERS_MAX: u32 = 10;
/// Wait before the second attempt, in ms; doubled for each further one.
pub const BACKOFF_FIRST_MS: u64 = 1_000;
/// Longest `Retry-After` that is waited for, in ms. A page that asks for more is taken as it is.
pub const RETRY_AFTER_MAX_MS: u64 = 60_000;

/// URLs known to one job for each page of its limit; see [`known_urls_max`].
pub const KNOWN_URLS_PER_PAGE: u64 = 20;
/// URLs known to one job beside those by its limit.
pub const KNOWN_URLS_BASE: u64 = 10_000;

/// URLs known to one job, whatever its limit, unless the limit itself is larger: some 50 bytes each.
pub const KNOWN_URLS_MAX: u64 = 10_000_000;

/// URLs that a job with this `limit` may know; further ones are not offered.
pub fn known_urls_max(limit: u64) -> usize {
    let by_limit = limit
        .saturating_mul(KNOWN_URLS_PER_PAGE)
        .saturating_add(KNOWN_URLS_BASE);
    usize::try_from(by_limit.min(KNOWN_URLS_MAX.max(limit))).unwrap_or(usize::MAX)
}

/// Outcomes in one batch.
pub const BATCH_MAX_SETTLED: usize = 256;
/// Offers and refused URLs in one batch.
pub const BATCH_MAX_OFFERS: usize = 20_000;
/// Text of the documents in one batch, in bytes; one larger document goes alone.
pub const BATCH_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Changes that wait for a commit without memory being asked for: what a large sitemap needed is given back.
pub const CHANGES_KEPT: usize = 1_024;
/// Pages that wait for a commit before no further fetch is started.
pub const BACKLOG_MAX_PAGES: usize = 256;
/// Text of documents that wait for a commit before no further fetch is started, in bytes.
pub const BACKLOG_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Pages of one job that wait for the browser before no further page is started.
pub const RENDERS_WAITING_MAX_PAGES: usize = 4_096;
/// What they hold in memory before no further page is started, in bytes.
pub const RENDERS_WAITING_MAX_BYTES: usize = 64 * 1024 * 1024;
/// While there is enough to fetch, what happened is gathered for so long before it is committed
/// together, in ms.
pub const GATHER_MS: u64 = 50;
/// Wait before the end is proposed again when the store did not confirm it, in ms.
pub const END_RETRY_MS: u64 = 1_000;
