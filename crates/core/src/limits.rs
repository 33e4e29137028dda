//! Every limit of the wire API (docs/API.md sections 3, 4, 6 and 19).

/// Maximum characters of a URL.
pub const MAX_URL_CHARS: usize = 8192;
/// Maximum characters of a prompt, question or query for a model.
pub const MAX_PROMPT_CHARS: usize = 10_000;
/// Maximum characters of a short text for which docs/API.md sets no limit (names, tags, origins).
pub const MAX_SHORT_TEXT_CHARS: usize = 1024;
/// Maximum bytes of a JSON request body.
pub const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Maximum nesting of arrays and objects in a request body.
pub const MAX_BODY_DEPTH: usize = 64;
/// Maximum bytes of an uploaded file.
pub const MAX_UPLOAD_BYTES: usize = 50 * 1024 * 1024;
/// Maximum characters of a file name.
pub const MAX_FILE_NAME_CHARS: usize = 255;

/// Maximum number of headers sent to a target.
pub const MAX_TARGET_HEADERS: usize = 64;
/// Maximum bytes of all headers sent to a target: names, values and separators.
pub const MAX_TARGET_HEADER_BYTES: usize = 16 * 1024;
/// Maximum bytes read from a target.
pub const MAX_RESPONSE_BYTES: u64 = 50 * 1024 * 1024;
/// Maximum redirects followed.
pub const MAX_REDIRECTS: u32 = 20;

/// Minimum scrape timeout in ms.
pub const MIN_SCRAPE_TIMEOUT_MS: u64 = 1000;
/// Default scrape timeout in ms.
pub const DEFAULT_SCRAPE_TIMEOUT_MS: u64 = 60_000;
/// Maximum scrape timeout in ms.
pub const MAX_SCRAPE_TIMEOUT_MS: u64 = 300_000;
/// Default parse timeout in ms.
pub const DEFAULT_PARSE_TIMEOUT_MS: u64 = 30_000;
/// Maximum `waitFor`, and maximum sum of it and all wait actions, in ms.
pub const MAX_WAIT_MS: u64 = 60_000;
/// Default maximum age of a cached copy in ms: two days.
pub const DEFAULT_MAX_AGE_MS: u64 = 172_800_000;
/// Default maximum age of a cached copy for `lockdown` and `minAge`, and retention of copies, in ms:
/// two years.
pub const LOCKDOWN_MAX_AGE_MS: u64 = 2 * 365 * 86_400_000;
/// Maximum actions of one scrape.
pub const MAX_ACTIONS: usize = 50;
/// Maximum characters of a script action.
pub const MAX_SCRIPT_CHARS: usize = 100_000;
/// Maximum formats, parsers, selectors and similar items per list, before duplicates are merged.
pub const MAX_LIST_ITEMS: usize = 1000;
/// Maximum characters of a CSS selector.
pub const MAX_SELECTOR_CHARS: usize = 2000;
/// Maximum width of a screenshot viewport in CSS pixels.
pub const MAX_VIEWPORT_WIDTH: u64 = 7680;
/// Maximum height of a screenshot viewport in CSS pixels.
pub const MAX_VIEWPORT_HEIGHT: u64 = 4320;
/// Maximum number of document pages that a request can ask a parser to convert.
pub const MAX_DOCUMENT_PAGES: u64 = 10_000;
/// Maximum characters of the name of a key or team.
pub const MAX_KEY_NAME_CHARS: usize = 100;
/// Maximum characters of a profile name.
pub const MAX_PROFILE_NAME_CHARS: usize = 128;
/// Maximum languages of a location.
pub const MAX_LANGUAGES: usize = 32;

/// Default page limit of a crawl.
pub const DEFAULT_CRAWL_LIMIT: u64 = 10_000;
/// Maximum delay between two fetches of a crawl in seconds.
pub const MAX_CRAWL_DELAY_S: f64 = 60.0;
/// Maximum patterns in `includePaths` and `excludePaths` together.
pub const MAX_PATTERNS: usize = 1000;
/// Maximum characters of one pattern.
pub const MAX_PATTERN_CHARS: usize = 2000;
/// Maximum characters of all patterns together.
pub const MAX_PATTERNS_CHARS: usize = 100_000;

/// Maximum patterns that one prompt may propose.
pub const MAX_PROPOSED_PATTERNS: usize = 50;

/// Default number of links of a map.
pub const DEFAULT_MAP_LIMIT: u64 = 5000;
/// Maximum number of links of a map.
pub const MAX_MAP_LIMIT: u64 = 100_000;
/// Maximum candidate links from which a map selects the best ones.
pub const MAP_KNOWN_MAX: usize = 250_000;
/// Maximum distinct words of a map's `search`.
pub const MAP_SEARCH_WORDS_MAX: usize = 16;
/// Cache lifetime of a sitemap in ms: 7 days.
pub const SITEMAP_CACHE_MS: u64 = 7 * 86_400_000;

/// Maximum URLs of one batch scrape request.
pub const MAX_BATCH_URLS: usize = 100_000;

/// Maximum bytes of JSON in one status response.
pub const MAX_STATUS_BYTES: usize = 10 * 1024 * 1024;
/// Maximum `limit` of a status request.
pub const MAX_STATUS_LIMIT: u64 = 1000;
/// Default number of activity entries per response.
pub const DEFAULT_ACTIVITY_LIMIT: u64 = 50;
/// Maximum activity entries per response.
pub const MAX_ACTIVITY_LIMIT: u64 = 100;

/// Maximum characters of code for a browser session.
pub const MAX_CODE_CHARS: usize = 100_000;
/// Default execution timeout in seconds.
pub const DEFAULT_EXECUTE_TIMEOUT_S: f64 = 30.0;
/// Maximum execution timeout in seconds.
pub const MAX_EXECUTE_TIMEOUT_S: f64 = 300.0;
/// Maximum captured stdout and stderr, in bytes each.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Maximum steps of a prompt that is parsed without a model.
pub const MAX_STEPS: usize = 100;
/// Maximum words of an unquoted element name in such a prompt.
pub const MAX_NAME_WORDS: usize = 12;
/// Maximum repeats of one such step.
pub const MAX_STEP_REPEATS: u32 = 50;
/// Maximum scroll distance of one such step in CSS pixels.
pub const MAX_SCROLL_PIXELS: i64 = 1_000_000;
/// Minimum session lifetime in seconds.
pub const MIN_SESSION_TTL_S: u64 = 30;
/// Maximum session lifetime in seconds.
pub const MAX_SESSION_TTL_S: u64 = 3600;
/// Minimum idle timeout of a session in seconds.
pub const MIN_SESSION_IDLE_S: u64 = 10;
/// Default lifetime of a session created by `POST /v2/browser`, in seconds.
pub const DEFAULT_BROWSER_TTL_S: u64 = 300;
/// Default lifetime of a session created by the first interact, in seconds.
pub const DEFAULT_INTERACT_TTL_S: u64 = 600;
/// Default idle timeout of a session created by the first interact, in seconds.
pub const DEFAULT_INTERACT_IDLE_S: u64 = 300;

/// Maximum characters of a search query.
pub const MAX_SEARCH_QUERY_CHARS: usize = 500;
/// Default number of search results per source.
pub const DEFAULT_SEARCH_LIMIT: u64 = 10;
/// Maximum search results per source.
pub const MAX_SEARCH_LIMIT: u64 = 100;
/// Default search timeout in ms.
pub const DEFAULT_SEARCH_TIMEOUT_MS: u64 = 60_000;
/// Maximum words of a search query that are matched against stored pages.
pub const MAX_SEARCH_WORDS: usize = 32;
/// Maximum bytes of a stored page's text that are searched.
pub const MAX_SEARCHED_BYTES: usize = 96 * 1024;
/// Maximum characters of the passage that describes a search result.
pub const MAX_SEARCH_PASSAGE_CHARS: usize = 320;

/// Maximum URLs of one extract request.
pub const MAX_EXTRACT_URLS: usize = 10;
/// Default credit budget of an agent.
pub const DEFAULT_AGENT_CREDITS: u64 = 2500;
/// Agent runs per page of the list.
pub const AGENTS_PER_PAGE: usize = 20;

/// Maximum targets of a monitor.
pub const MAX_MONITOR_TARGETS: usize = 50;
/// Page limit of a crawl of a monitor whose options have none.
pub const DEFAULT_MONITOR_CRAWL_LIMIT: u64 = 1_000;
/// Maximum pages of one check of a monitor.
pub const MAX_MONITOR_PAGES: u64 = 10_000;
/// Maximum monitors of a team.
pub const MAX_MONITORS: u64 = 1000;
/// Default number of monitors, checks or pages per response.
pub const DEFAULT_MONITOR_LIMIT: u64 = 25;
/// Maximum monitors, checks or pages per response.
pub const MAX_MONITOR_LIMIT: u64 = 100;
/// Maximum distinct query words used to rank passages.
pub const MAX_QUERY_WORDS: usize = 64;
/// Maximum documentation passages that answer a question.
pub const MAX_DOCS_PASSAGES: usize = 3;
/// Maximum characters of one such passage.
pub const MAX_DOCS_PASSAGE_CHARS: usize = 1800;

/// Maximum steps when validating one value against a schema.
pub const MAX_SCHEMA_STEPS: usize = 200_000;
/// Maximum nesting of a validated value.
pub const MAX_SCHEMA_DEPTH: usize = 64;
/// Maximum references followed from one position of a schema.
pub const MAX_SCHEMA_REFERENCES: usize = 16;
/// Maximum patterns of a schema that are compiled.
pub const MAX_SCHEMA_PATTERNS: usize = 50;
/// Maximum bytes of one compiled pattern of a schema.
pub const MAX_SCHEMA_PATTERN_BYTES: usize = 256 * 1024;
/// Maximum violations reported for a value.
pub const MAX_VIOLATIONS: usize = 10;
/// Maximum names of unknown properties that are reported.
pub const MAX_PRUNED: usize = 1000;
/// Maximum characters of a name in a warning.
pub const MAX_NAMED_CHARS: usize = 100;
/// Maximum lookups and values when filling a schema.
pub const MAX_FILL_STEPS: usize = 50_000;
/// Maximum nesting of a filled value.
pub const MAX_FILL_DEPTH: usize = 16;
/// Maximum items of a filled list.
pub const MAX_FILLED_ITEMS: usize = 1000;
/// Maximum changed fields of extracted data that are reported.
pub const MAX_CHANGED_FIELDS: usize = 1000;
/// Maximum items of a list merged from several pages.
pub const MAX_MERGED_ITEMS: usize = 10_000;
/// Maximum properties used to rank objects.
pub const MAX_RANKED_PROPERTIES: usize = 100;
/// Maximum values that are considered per object or kind of statement.
pub const MAX_SOURCE_VALUES: usize = 2000;
