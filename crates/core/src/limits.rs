//! Every bound of the wire (contract sections 3, 4, 6 and 19) under one roof.

/// Characters of a URL.
pub const MAX_URL_CHARS: usize = 8192;
/// Characters of a prompt, question or query for a model.
pub const MAX_PROMPT_CHARS: usize = 10_000;
/// Characters of a short text without a bound of its own in the contract (names, tags, origins).
pub const MAX_SHORT_TEXT_CHARS: usize = 1024;
/// Bytes of a JSON request body.
pub const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Deepest nesting of arrays and objects in a request body.
pub const MAX_BODY_DEPTH: usize = 64;
/// Bytes of an uploaded file.
pub const MAX_UPLOAD_BYTES: usize = 50 * 1024 * 1024;

/// Headers sent to a target.
pub const MAX_TARGET_HEADERS: usize = 64;
/// Bytes of all headers sent to a target, names, values and separators.
pub const MAX_TARGET_HEADER_BYTES: usize = 16 * 1024;
/// Bytes read from a target.
pub const MAX_RESPONSE_BYTES: u64 = 50 * 1024 * 1024;
/// Redirects followed.
pub const MAX_REDIRECTS: u32 = 20;

/// Shortest scrape timeout, ms.
pub const MIN_SCRAPE_TIMEOUT_MS: u64 = 1000;
/// Scrape timeout unless given, ms.
pub const DEFAULT_SCRAPE_TIMEOUT_MS: u64 = 60_000;
/// Longest scrape timeout, ms.
pub const MAX_SCRAPE_TIMEOUT_MS: u64 = 300_000;
/// Parse timeout unless given, ms.
pub const DEFAULT_PARSE_TIMEOUT_MS: u64 = 30_000;
/// Longest `waitFor`, and longest sum of it and all wait actions, ms.
pub const MAX_WAIT_MS: u64 = 60_000;
/// Age up to which a cached copy is used unless given, ms: two days.
pub const DEFAULT_MAX_AGE_MS: u64 = 172_800_000;
/// Age up to which `lockdown` and `minAge` serve from the cache unless given, and up to which copies
/// are kept, ms: two years.
pub const LOCKDOWN_MAX_AGE_MS: u64 = 2 * 365 * 86_400_000;
/// Page actions of one scrape.
pub const MAX_ACTIONS: usize = 50;
/// Characters of a script action.
pub const MAX_SCRIPT_CHARS: usize = 100_000;
/// Formats, parsers, selectors and similar lists of one request, before duplicates collapse.
pub const MAX_LIST_ITEMS: usize = 1000;
/// Characters of a CSS selector.
pub const MAX_SELECTOR_CHARS: usize = 2000;
/// Widest screenshot viewport, CSS pixels.
pub const MAX_VIEWPORT_WIDTH: u64 = 7680;
/// Highest screenshot viewport, CSS pixels.
pub const MAX_VIEWPORT_HEIGHT: u64 = 4320;
/// Pages of a document that a parser may be asked for.
pub const MAX_DOCUMENT_PAGES: u64 = 10_000;
/// Characters of the name of a key or a team.
pub const MAX_KEY_NAME_CHARS: usize = 100;
/// Characters of a profile name.
pub const MAX_PROFILE_NAME_CHARS: usize = 128;
/// Languages of a location.
pub const MAX_LANGUAGES: usize = 32;

/// Pages of a crawl unless given.
pub const DEFAULT_CRAWL_LIMIT: u64 = 10_000;
/// Longest pause between two fetches of a crawl, seconds.
pub const MAX_CRAWL_DELAY_S: f64 = 60.0;
/// `includePaths` and `excludePaths` together.
pub const MAX_PATTERNS: usize = 1000;
/// Characters of one pattern.
pub const MAX_PATTERN_CHARS: usize = 2000;
/// Characters of all patterns together.
pub const MAX_PATTERNS_CHARS: usize = 100_000;

/// Patterns of one proposal from a prompt.
pub const MAX_PROPOSED_PATTERNS: usize = 50;

/// Links of a map unless given.
pub const DEFAULT_MAP_LIMIT: u64 = 5000;
/// Most links of a map.
pub const MAX_MAP_LIMIT: u64 = 100_000;
/// Links of which a map keeps the best ones when their order has to be known first.
pub const MAP_KNOWN_MAX: usize = 250_000;
/// Words of a `search` that are looked for, counting each once.
pub const MAP_SEARCH_WORDS_MAX: usize = 16;
/// How long a sitemap is cached, ms: 7 days.
pub const SITEMAP_CACHE_MS: u64 = 7 * 86_400_000;

/// URLs of one batch scrape request.
pub const MAX_BATCH_URLS: usize = 100_000;

/// Bytes of JSON in one status answer.
pub const MAX_STATUS_BYTES: usize = 10 * 1024 * 1024;
/// Largest `limit` of a status request.
pub const MAX_STATUS_LIMIT: u64 = 1000;
/// How long a finished job can be read, ms: 24 h.
pub const RESULT_RETENTION_MS: u64 = 86_400_000;

/// Activity window, ms: 24 h.
pub const ACTIVITY_WINDOW_MS: u64 = 86_400_000;
/// Activity entries per answer unless given.
pub const DEFAULT_ACTIVITY_LIMIT: u64 = 50;
/// Most activity entries per answer.
pub const MAX_ACTIVITY_LIMIT: u64 = 100;

/// Characters of code for a browser session.
pub const MAX_CODE_CHARS: usize = 100_000;
/// Execution timeout unless given, seconds.
pub const DEFAULT_EXECUTE_TIMEOUT_S: f64 = 30.0;
/// Longest execution timeout, seconds.
pub const MAX_EXECUTE_TIMEOUT_S: f64 = 300.0;
/// Captured stdout or stderr, bytes each.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Steps of one prompt that is understood without a model.
pub const MAX_STEPS: usize = 100;
/// Words of an element's name that stands without quotes.
pub const MAX_NAME_WORDS: usize = 12;
/// Repeats of one such step.
pub const MAX_STEP_REPEATS: u32 = 50;
/// Farthest scroll of one such step, CSS pixels.
pub const MAX_SCROLL_PIXELS: i64 = 1_000_000;
/// Shortest session lifetime, seconds.
pub const MIN_SESSION_TTL_S: u64 = 30;
/// Longest session lifetime, seconds.
pub const MAX_SESSION_TTL_S: u64 = 3600;
/// Shortest idle time of a session, seconds.
pub const MIN_SESSION_IDLE_S: u64 = 10;
/// Lifetime of a session created by `POST /v2/browser` unless given, seconds.
pub const DEFAULT_BROWSER_TTL_S: u64 = 300;
/// Lifetime of a session created by the first interact unless given, seconds.
pub const DEFAULT_INTERACT_TTL_S: u64 = 600;
/// Idle time of a session created by the first interact unless given, seconds.
pub const DEFAULT_INTERACT_IDLE_S: u64 = 300;

/// Characters of a search query.
pub const MAX_SEARCH_QUERY_CHARS: usize = 500;
/// Search results per source unless given.
pub const DEFAULT_SEARCH_LIMIT: u64 = 10;
/// Most search results per source.
pub const MAX_SEARCH_LIMIT: u64 = 100;
/// Search timeout unless given, ms.
pub const DEFAULT_SEARCH_TIMEOUT_MS: u64 = 60_000;
/// Words of a search query that are looked for in stored pages.
pub const MAX_SEARCH_WORDS: usize = 32;
/// Bytes of the text of a stored page that are searched.
pub const MAX_SEARCHED_BYTES: usize = 96 * 1024;
/// Characters of the passage that describes a search result.
pub const MAX_SEARCH_PASSAGE_CHARS: usize = 320;

/// URLs of one extract request.
pub const MAX_EXTRACT_URLS: usize = 10;
/// Credits an agent may use unless given.
pub const DEFAULT_AGENT_CREDITS: u64 = 2500;
/// Agent runs per list answer.
pub const AGENTS_PER_PAGE: usize = 20;

/// Targets of a monitor.
pub const MAX_MONITOR_TARGETS: usize = 50;
/// Distinct words of a query that passages are ranked by.
pub const MAX_QUERY_WORDS: usize = 64;
/// Passages of the documentation that answer a question.
pub const MAX_DOCS_PASSAGES: usize = 3;
/// Characters of one such passage.
pub const MAX_DOCS_PASSAGE_CHARS: usize = 1800;

/// Steps of the validation of one value.
pub const MAX_SCHEMA_STEPS: usize = 200_000;
/// Deepest nesting of a value that is validated.
pub const MAX_SCHEMA_DEPTH: usize = 64;
/// References followed from one place of a schema.
pub const MAX_SCHEMA_REFERENCES: usize = 16;
/// Patterns of a schema that are compiled.
pub const MAX_SCHEMA_PATTERNS: usize = 50;
/// Bytes of one compiled pattern of a schema.
pub const MAX_SCHEMA_PATTERN_BYTES: usize = 256 * 1024;
/// Things that are wrong with a value, as far as they are told.
pub const MAX_VIOLATIONS: usize = 10;
/// Names of properties that a schema does not have, as far as they are kept to be told.
pub const MAX_PRUNED: usize = 1000;
/// Characters of a name in a warning.
pub const MAX_NAMED_CHARS: usize = 100;
/// Lookups and values of one filling of a schema.
pub const MAX_FILL_STEPS: usize = 50_000;
/// Deepest nesting of what is filled.
pub const MAX_FILL_DEPTH: usize = 16;
/// Items of one list that is filled.
pub const MAX_FILLED_ITEMS: usize = 1000;
/// Fields of extracted data that are told to differ.
pub const MAX_CHANGED_FIELDS: usize = 1000;
/// Items of one list that several pages give together.
pub const MAX_MERGED_ITEMS: usize = 10_000;
/// Properties by which objects are ranked.
pub const MAX_RANKED_PROPERTIES: usize = 100;
/// Values of one object or kind of statement that are looked at.
pub const MAX_SOURCE_VALUES: usize = 2000;
