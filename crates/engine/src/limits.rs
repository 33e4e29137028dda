//! All limits of the engine.

use std::time::Duration;

/// How long a shard stays leased without a commit or heartbeat, in milliseconds.
pub const LEASE_MS: u64 = 15_000;
/// Interval at which an idle lease is renewed; well below [`LEASE_MS`].
pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// Interval at which a node looks for work that it could lease: shards, webhook events, checks of monitors.
pub const LEASE_POLL: Duration = Duration::from_millis(500);
/// Interval between two checks of the jobs that other nodes may change.
pub const WATCH_POLL: Duration = Duration::from_millis(500);
/// Interval between two checks of the other nodes and of the plans assigned there.
pub const NODES_POLL: Duration = Duration::from_secs(2);
/// Time before the end of a lease at which its work is dropped, if the lease could not be renewed.
pub const LEASE_MARGIN: Duration = Duration::from_secs(1);
/// Forward step of the wall clock that makes a node renew its leases before it takes any, in milliseconds.
pub const CLOCK_STEP_MS: u64 = 1_000;
/// Pause before a renewal that failed is repeated.
pub const RENEW_RETRY: Duration = Duration::from_millis(500);
/// Shards leased per poll.
pub const LEASES_PER_POLL: u32 = 32;
/// Shards that one node drives at once; at most half of them belong to one team.
pub const MAX_SHARDS: u64 = 2_048;
/// First pause after a failed commit; doubled up to [`COMMIT_RETRY_MAX`].
pub const COMMIT_RETRY: Duration = Duration::from_millis(50);
/// Longest pause between two attempts of a commit.
pub const COMMIT_RETRY_MAX: Duration = Duration::from_secs(5);
/// Time for which an upload URL and its reference are valid.
pub const UPLOAD_LIFETIME: Duration = Duration::from_secs(900);
/// Uploads of one team that are neither used nor expired.
pub const UPLOADS_PER_TEAM: u64 = 20;
/// Timeout of robots.txt and of each sitemap file.
pub const SITE_FILE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes read of a robots.txt: a byte order mark and one byte more than are parsed, so that the parser sees where it is
/// cut. RFC 9309 section 2.5 requires at least 500 KiB.
pub const ROBOTS_BYTES: u64 = 512 * 1024 + 4;
/// Redirects followed for a robots.txt (RFC 9309 section 2.3.1.2).
pub const ROBOTS_REDIRECTS: u32 = 5;
/// Bytes read of a sitemap file, after decompression.
pub const SITEMAP_BYTES: u64 = 50 * 1024 * 1024;
/// Timeout of all sitemaps of a map.
pub const MAP_SITEMAPS_TIMEOUT: Duration = Duration::from_secs(120);
/// Maps that run at once, at most half of them of one team; further ones wait.
pub const MAPS_AT_ONCE: usize = 32;
/// How long a used-up budget must be unchanged before the charges are read from the store.
pub const BUDGET_RECHECK_AFTER: Duration = Duration::from_secs(10);
/// Redirects followed for a page.
pub const PAGE_REDIRECTS: u32 = 20;
/// Redirects made by pages (`meta` refresh and the like) that are followed for a page (docs/API.md section 5
/// rule 12).
pub const PAGE_REFRESHES: u32 = 10;
/// Frame documents fetched for a page, including nested frames.
pub const PAGE_FRAMES: usize = 8;
/// Nesting depth of frames that are read.
pub const FRAME_DEPTH: u32 = 2;
/// Bytes read of a frame document.
pub const FRAME_BYTES: u64 = 4 * 1024 * 1024;
/// Timeout of a frame document; never more than half of the time that the page has left.
pub const FRAME_TIMEOUT: Duration = Duration::from_secs(10);
/// Hosts for which the engine remembers whether the browser helped.
pub const HOST_MEMORY_HOSTS: usize = 4_096;
/// Consecutive pages after which the result for a host counts as certain.
pub const HOST_MEMORY_CERTAIN_AFTER: u32 = 3;
/// Pages that were complete without the browser after which short pages of a host count as complete.
pub const HOST_MEMORY_COMPLETE_PAGES: u32 = 50;
/// Pages of a host after which a certain result is tested again.
pub const HOST_MEMORY_RETEST_EVERY: u32 = 20;
/// Bytes read of a page, after decompression.
pub const PAGE_BYTES: u64 = 50 * 1024 * 1024;
/// Pages up to this size are converted on the thread that fetched them. This takes about 300 microseconds; a switch
/// to another thread costs 20, and cold caches.
pub(crate) const CONVERTED_INLINE_BYTES: usize = 32 << 10;
/// Pages above this size are converted one at a time.
pub const LARGE_PAGE_BYTES: usize = 1024 * 1024;
/// Bytes of large documents that wait to be stored before the next large page waits to be converted.
pub const UNSTORED_BYTES: usize = 4 * 1024 * 1024;
/// Longest time that it waits.
pub const LARGE_DOCUMENT_WAIT: Duration = Duration::from_secs(1);
/// Bodies from the page cache held in memory at once, per core; at most half of them belong to one team.
pub const COPIES_PER_CORE: usize = 4;
/// Memory of pages that wait for the browser, as fetched over HTTP, in bytes; at most half of it is for one team.
pub const WAITING_PAGES_BYTES: usize = 512 * 1024 * 1024;
/// Approximate memory of a scraped page besides its texts, in bytes.
pub const SCRAPED_OVERHEAD_BYTES: usize = 16 * 1024;
/// Capacity of the channel from the pages of a job to its driver.
pub const TURN_EVENTS_QUEUED: usize = 64;
/// Time for the last commit of a job to finish at shutdown.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// HTTP pages in flight at once across all teams, unless the limit of one team is higher.
pub const PAGES_IN_FLIGHT: usize = 512;
/// `Retry-After` of a request that the shutdown interrupts, in seconds.
pub const STOP_RETRY_AFTER_S: u32 = 5;
/// Interval at which expired jobs are removed.
pub const EXPIRY_POLL: Duration = Duration::from_secs(60);
/// How long `/metrics` waits for the store.
pub const METRICS_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout of one webhook delivery (docs/API.md section 14).
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the body of a receiver's response to arrive.
pub const WEBHOOK_BODY_TIME: Duration = Duration::from_secs(1);
/// Bytes read of a receiver's response.
pub const WEBHOOK_RESPONSE_BYTES: u64 = 64 * 1024;
/// Bytes of a receiver's response shown to the user who tests a receiver.
pub const WEBHOOK_RESPONSE_SHOWN: usize = 1024;
/// How long a browser session stays in the activity list after its end, in milliseconds.
pub const SESSION_RETENTION_MS: u64 = 24 * 60 * 60 * 1_000;
/// Jobs whose events are delivered concurrently.
pub const WEBHOOK_RECEIVERS: usize = 128;
/// How long events of one job are delivered before another job gets its turn.
pub const WEBHOOK_TURN: Duration = Duration::from_secs(10);
/// How long a job stays leased by the webhook loop, in milliseconds; longer than one delivery can take.
pub const WEBHOOK_LEASE_MS: u64 = 30_000;
/// How long a synchronous scrape runs before it is stored as running. A faster one is stored once, at its end.
pub const STORED_AS_RUNNING_AFTER: Duration = Duration::from_millis(50);
/// `Retry-After` when all slots of a team are taken, in seconds.
pub const RETRY_AFTER_S: u32 = 5;
/// Interval at which expired browser sessions are ended.
pub const SESSION_POLL: Duration = Duration::from_secs(1);
/// Interval at which the last use of browser sessions is stored; at most this much is lost if the server is killed.
pub const SESSION_USE_INTERVAL: Duration = Duration::from_secs(5);
/// Browser sessions at once, across all teams.
pub const SESSIONS_AT_ONCE: usize = 256;
/// Calls that run or wait in one browser session.
pub const CALLS_PER_SESSION: usize = 16;
/// Time for browser sessions to end at shutdown.
pub const SESSIONS_STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Time to read a profile from the browser of an ending session, and to save it before the session ends without it.
pub const PROFILE_SAVE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long saving the profile of an ended session is retried while the store is unavailable.
pub const PROFILE_RETRY_TIME: Duration = Duration::from_secs(600);
/// Maximum size of a browser profile, as JSON text in bytes.
pub const PROFILE_BYTES: usize = 16 * 1024 * 1024;
/// Files read at once, per core.
pub const FILE_READERS_PER_CORE: usize = 1;
/// Maximum output of a file reader, in bytes.
pub const FILE_READER_OUTPUT_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum memory of a file reader, in bytes.
pub const FILE_READER_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum processor time of a file reader, in seconds: the longest timeout of a scrape.
pub const FILE_READER_CPU_S: u64 = 300;
/// Address space of a text recognizer in bytes.
pub const RECOGNIZER_MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// CPU time of a text recognizer in seconds.
pub const RECOGNIZER_CPU_S: u64 = 120;
/// How long tesseract may take to list its languages.
pub const RECOGNIZER_LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// Files that a text recognizer may have open: its libraries and language data.
pub const RECOGNIZER_FILES: u64 = 64;
/// Bytes of text that a text recognizer may return.
pub const RECOGNIZER_OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes read of a text recognizer's messages.
pub const RECOGNIZER_MESSAGE_BYTES: u64 = 64 * 1024;
/// Timeout of one attempt of a request to the language model.
pub const LLM_TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts per request to the language model.
pub const LLM_ATTEMPTS: u32 = 4;
/// First pause before a request to the language model is retried; doubled up to [`LLM_RETRY_MAX`].
pub const LLM_RETRY: Duration = Duration::from_millis(500);
/// Longest pause between two attempts; if the endpoint asks for a longer one, the request fails.
pub const LLM_RETRY_MAX: Duration = Duration::from_secs(20);
/// Bytes read of a response of the language model.
pub const LLM_RESPONSE_BYTES: u64 = 2 * 1024 * 1024;
/// Tool calls accepted from one reply of the language model.
pub const LLM_CALLS: usize = 16;
/// Requests to the language model until it returns JSON.
pub const LLM_JSON_ROUNDS: u32 = 2;
/// Characters of the language model's error message that are reported.
pub const LLM_ERROR_CHARS: usize = 300;
/// Steps that a language model may take for one prompt (docs/COMMANDS.md: at most 25).
pub const AGENT_STEPS: usize = 25;
/// Consecutive replies without a tool call after which the text counts as the answer.
pub const AGENT_REPLIES_WITHOUT_CALLS: usize = 2;
/// Bytes of a page snapshot sent to the language model.
pub const AGENT_PAGE_BYTES: usize = 40 * 1024;
/// Bytes of a text that the language model reads with a tool.
pub const AGENT_READ_BYTES: usize = 12 * 1024;
/// Bytes of a URL or title sent to the language model.
pub const AGENT_LINE_BYTES: usize = 1024;
/// Longest time that the language model may wait for something to appear.
pub const AGENT_WAIT: Duration = Duration::from_secs(10);
/// Maximum size of one line in the log of a prompt, in bytes.
pub const PROMPT_LOG_LINE_BYTES: usize = 1024;
/// Characters of the words that a prompt's error reports as not understood.
pub const UNKNOWN_WORDS_CHARS: usize = 1_000;
/// Timeout of the final snapshot of a prompt.
pub const FINAL_SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a plain step waits for its element.
pub const STEP_ELEMENT_TIMEOUT: Duration = Duration::from_secs(4);
/// Interval at which a plain step looks for its element.
pub const STEP_POLL: Duration = Duration::from_millis(200);
/// Bytes read of a response of the search provider.
pub const SEARCH_RESPONSE_BYTES: u64 = 4 * 1024 * 1024;
/// Result pages requested from the search provider, per source.
pub const SEARCH_PAGES: usize = 12;
/// Of these, pages beyond the number needed if every result matches.
pub const SEARCH_SPARE_PAGES: usize = 2;
/// Pause before a request to the search provider is retried, if the provider names none.
pub const SEARCH_RETRY: Duration = Duration::from_millis(500);
/// Longest such pause; if the provider asks for a longer one, the search fails.
pub const SEARCH_RETRY_MAX: Duration = Duration::from_secs(5);
/// Cached pages ranked for the results of a search.
pub const SEARCH_CANDIDATES: u32 = 500;
/// Timeout for extracting the passage that describes a cached page; after it the page's own description is
/// used.
pub const SEARCH_PASSAGE_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest cached file, such as a PDF, that is read again for the passage that describes it, in bytes.
pub const SEARCH_PASSAGE_FILE_BYTES: usize = 2 * 1024 * 1024;
/// Cached pages whose lost texts are made at once when the server starts.
pub const LOST_TEXTS_AT_ONCE: u32 = 16;
/// Timeout for the text of one page.
pub const LOST_TEXT_TIMEOUT: Duration = Duration::from_secs(60);
/// Documentation passages sent to the language model.
pub const DOCS_PASSAGES: usize = 6;
/// Timeout of the language model for a question about the documentation.
pub const DOCS_TIMEOUT: Duration = Duration::from_secs(45);
/// Timeout of the language model for proposing the options of a crawl.
pub const CRAWL_PROMPT_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a page sent to the language model: about 30,000 tokens of English.
pub const MODEL_PAGE_BYTES: usize = 120 * 1024;
/// Requests to the language model that search one page for names.
pub const REDACTION_REQUESTS: usize = 8;
/// Bytes of a page's structured data sent to the language model.
pub const MODEL_FACTS_BYTES: usize = 16 * 1024;
/// Longest duration of an extract or agent.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Attempts of one extract or agent: how many servers may stop while they work on it.
pub const RUN_ATTEMPTS: u64 = 5;
/// Pages of one extract or agent read concurrently.
pub const RUN_PAGES_AT_ONCE: usize = 4;
/// Default page limit of an extract.
pub const EXTRACT_PAGES: u64 = 20;
/// Maximum page limit of an extract.
pub const EXTRACT_PAGES_MAX: u64 = 1_000;
/// Search results that an extract reads.
pub const EXTRACT_SEARCH_RESULTS: u64 = 5;
/// Search results shown to an agent.
pub const RUN_SEARCH_RESULTS: u64 = 10;
/// Maximum number of warnings in one result.
pub const RUN_WARNINGS: usize = 20;
/// Property names used to choose the pages of a site.
pub const RANKING_PROPERTY_NAMES: usize = 16;
/// Shortest word used to choose links to other sites, in characters.
pub const RANKING_WORD_CHARS: usize = 4;
/// Steps of an agent at low effort.
pub const RUN_STEPS_LOW: usize = 8;
/// Steps of an agent at medium effort.
pub const RUN_STEPS: usize = 20;
/// Steps of an agent at high effort.
pub const RUN_STEPS_HIGH: usize = 40;
/// Invalid results that are returned to an agent for correction.
pub const RUN_REPAIRS: usize = 2;
/// Links of a map shown to an agent.
pub const RUN_MAP_LINKS: u64 = 200;
/// Links of a page shown to an agent.
pub const RUN_LINKS_SHOWN: usize = 200;
/// Bytes of page text in an agent's conversation at one time.
pub const RUN_CONVERSATION_BYTES: usize = 200 * 1024;
/// Interval at which an extract stores what it has found.
pub const PARTIAL_INTERVAL: Duration = Duration::from_secs(2);
/// Largest unfinished result that is stored, in bytes.
pub const PARTIAL_BYTES: usize = 1024 * 1024;
/// Events in the trace of one agent.
pub const TRACE_EVENTS: u64 = 1_000;
/// Bytes of a tool's result in a trace.
pub const TRACE_RESULT_BYTES: usize = 512;
/// Earlier runs of a thread that an agent gets.
pub const THREAD_RUNS_READ: usize = 10;
/// Bytes of the answer of an earlier run that an agent gets.
pub const THREAD_ANSWER_BYTES: usize = 8 * 1024;
/// Bytes of results in one response about a thread; results beyond it are left out.
pub const THREAD_DATA_BYTES: usize = 10 * 1024 * 1024;
/// Characters of a prompt that identify an agent in a list.
pub const AGENT_HINT_CHARS: usize = 100;
/// Interval at which a check looks at the job that it waits for.
pub const CHECK_POLL: Duration = Duration::from_secs(1);
/// Checks of monitors that one node works on at once, most of which wait for their jobs; further ones wait in the
/// store.
pub const CHECKS_AT_ONCE: usize = 256;
/// Targets whose pages are compared at once.
pub const COMPARISONS_AT_ONCE: usize = 16;
/// Checks started per poll.
pub const CHECKS_STARTED: u64 = 100;
/// Time after which a check that could not be started is due again.
pub const CHECK_POSTPONED_MS: u64 = 3_600_000;
/// Pages of a check that are compared and stored together.
pub const CHECK_PORTION: u64 = 50;
/// Bytes of documents read together, and of pages in one response.
pub const CHECK_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// URLs of a target that are checked for private addresses before the monitor is stored; the others are checked
/// when they are fetched.
pub const MONITOR_URLS_CHECKED: usize = 100;
/// Changes of one check that the language model judges.
pub const JUDGED_BY_MODEL: usize = 50;
/// Time limit of one judgment in seconds.
pub const JUDGE_TIMEOUT_S: u64 = 60;
/// How long a proxy cools down after a failure; doubles with each further failure in a row.
pub const PROXY_COOLDOWN: Duration = Duration::from_secs(30);
/// Longest time that a proxy cools down.
pub const PROXY_MAX_COOLDOWN: Duration = Duration::from_secs(10 * 60);
/// Maximum proxies that one request is sent through.
pub const PROXIES_TRIED: usize = 3;
/// Time that must be left to fetch a blocked page with the next class of proxies.
pub const SECOND_CLASS_TIME: Duration = Duration::from_secs(1);
/// Interval at which a node compares what it holds of shared limits with what it needs.
pub(crate) const HOLDINGS_POLL: Duration = Duration::from_millis(250);
/// Interval at which a node checks which units other nodes wait for.
pub(crate) const AWAITED_POLL: Duration = Duration::from_millis(500);
/// Pause before this node asks again for units that were not free.
pub(crate) const BORROW_RETRY: Duration = Duration::from_millis(100);
/// Time after which units that no work wants are given back.
pub(crate) const IDLE_UNITS: Duration = Duration::from_secs(1);
/// A node borrows pages in multiples of this number.
pub(crate) const PAGES_PER_BLOCK: u64 = 4;
/// Credits of a budget that a node borrows at once, or a quarter of those in use if that is more.
pub(crate) const CREDITS_PER_BLOCK: u64 = 8;
/// How long a page waits for credits that other nodes hold and may give back.
pub(crate) const CREDITS_WAIT: Duration = Duration::from_secs(6);
/// Seconds after which a client may repeat a request whose session another node holds.
pub(crate) const ELSEWHERE_RETRY_AFTER_S: u32 = 5;
