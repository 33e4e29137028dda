//! Every bound of the engine, in one place.

use std::time::Duration;

/// How long a shard stays with its owner without a commit or heartbeat.
pub const LEASE_MS: u64 = 15_000;
/// Pause between two renewals of an idle lease; well below [`LEASE_MS`].
pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// Pause between two looks for shards without an owner.
pub const LEASE_POLL: Duration = Duration::from_millis(500);
/// Shards taken in one look.
pub const LEASES_PER_POLL: u32 = 32;
/// Shards one node drives at once.
pub const MAX_SHARDS: usize = 1_024;
/// First pause after a commit that the store could not take; doubled up to [`COMMIT_RETRY_MAX`].
pub const COMMIT_RETRY: Duration = Duration::from_millis(50);
/// Longest pause between two attempts of a commit.
pub const COMMIT_RETRY_MAX: Duration = Duration::from_secs(5);
/// Time for robots.txt and each sitemap file.
pub const SITE_FILE_TIMEOUT: Duration = Duration::from_secs(20);
/// What is read of a robots.txt (RFC 9309 section 2.5 asks for at least 500 KiB).
pub const ROBOTS_BYTES: u64 = 512 * 1024;
/// Redirects followed for a robots.txt (RFC 9309 section 2.3.1.2).
pub const ROBOTS_REDIRECTS: u32 = 5;
/// What is read of a sitemap file, after decompression.
pub const SITEMAP_BYTES: u64 = 50 * 1024 * 1024;
/// Time for the sitemaps of a map.
pub const MAP_SITEMAPS_TIME: Duration = Duration::from_secs(120);
/// Maps that look at a site at once; further ones wait.
pub const MAPS_AT_ONCE: usize = 16;
/// How long nothing was spent of a used-up budget before the store is asked what was charged in the end.
pub const BUDGET_QUIET: Duration = Duration::from_secs(10);
/// Redirects followed for a page.
pub const PAGE_REDIRECTS: u32 = 20;
/// Redirects by the pages themselves (`meta` refresh and the like) that are followed for a page (contract section 5.12).
pub const PAGE_REFRESHES: u32 = 10;
/// Documents of frames that are fetched for a page, those of frames within frames included.
pub const PAGE_FRAMES: usize = 8;
/// Frames within frames that are read.
pub const FRAME_DEPTH: u32 = 2;
/// What is read of the document of a frame.
pub const FRAME_BYTES: u64 = 4 * 1024 * 1024;
/// Time for the document of a frame, and no more than half of what the page has left.
pub const FRAME_TIME: Duration = Duration::from_secs(10);
/// Hosts for which is remembered what the browser was good for.
pub const LEARNED_HOSTS: usize = 4_096;
/// Pages of a host from which this is learned.
pub const LEARNED_AFTER: u32 = 3;
/// Pages of a host after which what was learned is tried again.
pub const LEARN_AGAIN: u32 = 20;
/// What is read of a page, after decompression.
pub const PAGE_BYTES: u64 = 50 * 1024 * 1024;
/// Bodies from the page cache in memory at once, for each core.
pub const COPIES_PER_CORE: usize = 4;
/// What a page in memory takes beside its texts, about.
pub const SCRAPED_BYTES: usize = 16 * 1024;
/// News of the pages of one job on their way to its driver.
pub const NEWS_WAITING: usize = 64;
/// Time that pages in flight get to finish at shutdown.
pub const DRAIN: Duration = Duration::from_secs(5);
/// Pages of all teams in flight at once, unless one team alone may have more.
pub const PAGES_IN_FLIGHT: usize = 512;
/// When the caller of a scrape that was given up at shutdown may ask again, in seconds.
pub const STOP_RETRY_AFTER_S: u32 = 5;
/// Pause between two looks for expired jobs.
pub const EXPIRY_POLL: Duration = Duration::from_secs(60);
/// Pause between two looks for owed webhook events when nothing woke the deliverer.
pub const WEBHOOK_POLL: Duration = Duration::from_secs(1);
/// Time for one webhook delivery (contract section 14).
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of a receiver's answer.
pub const WEBHOOK_ANSWER_BYTES: u64 = 64 * 1024;
/// What is shown of it to who tries a receiver.
pub const WEBHOOK_ANSWER_SHOWN: usize = 1024;
/// How long results stay readable after the end of a job (contract section 19).
pub const RETENTION_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long a picture of a page can be fetched (contract section 4.2).
pub const FILE_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Jobs whose events are delivered at the same time.
pub const WEBHOOK_RECEIVERS: usize = 128;
/// How long events of one job are delivered before another job gets the place.
pub const WEBHOOK_TURN: Duration = Duration::from_secs(10);
/// How long a taken job stays with its deliverer; longer than one delivery can take.
pub const WEBHOOK_LEASE_MS: u64 = 30_000;
/// `Retry-After` when all of a team's slots are taken, in seconds.
pub const RETRY_AFTER_S: u32 = 5;
/// Pause between two looks for browser sessions whose time is over.
pub const SESSION_POLL: Duration = Duration::from_secs(1);
/// Pause between two notes of when browser sessions were last used: what a killed server may forget.
pub const SESSION_NOTE: Duration = Duration::from_secs(5);
/// Browser sessions of all teams at once.
pub const SESSIONS_AT_ONCE: usize = 256;
/// Calls that have the turn in one browser session or wait for it.
pub const CALLS_PER_SESSION: usize = 16;
/// Time that browser sessions get to end with the server.
pub const SESSIONS_STOP: Duration = Duration::from_secs(5);
/// Time to read a profile from the browser of a session that ends.
pub const PROFILE_SAVE_TIME: Duration = Duration::from_secs(10);
/// JSON text of one browser profile.
pub const PROFILE_BYTES: usize = 16 * 1024 * 1024;
/// Files read at once, for each core.
pub const FILE_READERS_PER_CORE: usize = 1;
/// What a reader of files may answer, in bytes.
pub const FILE_ANSWER_BYTES: u64 = 256 * 1024 * 1024;
/// Memory that a reader of files may take, in bytes.
pub const FILE_READER_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Processor time that a reader of files may take, in seconds: the longest timeout of a scrape.
pub const FILE_READER_CPU_S: u64 = 300;
/// One attempt of a question to the language model.
pub const LLM_TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts of a question to the language model.
pub const LLM_ATTEMPTS: u32 = 4;
/// First pause before a question to the language model is repeated; doubled up to [`LLM_RETRY_MAX`].
pub const LLM_RETRY: Duration = Duration::from_millis(500);
/// Longest pause between two attempts; an endpoint that wants a longer one is not asked again.
pub const LLM_RETRY_MAX: Duration = Duration::from_secs(20);
/// What is read of an answer of the language model.
pub const LLM_ANSWER_BYTES: u64 = 2 * 1024 * 1024;
/// Tool calls taken from one answer of the language model.
pub const LLM_CALLS: usize = 16;
/// Times that the language model is asked for JSON until it gives some.
pub const LLM_JSON_ROUNDS: u32 = 2;
/// Characters of an error of the language model that are told.
pub const LLM_ERROR_CHARS: usize = 300;
/// Steps of one prompt that a language model takes (contract: at most 25).
pub const AGENT_STEPS: usize = 25;
/// Messages without a call in a row until the model's words are taken for its answer.
pub const AGENT_SILENCES: usize = 2;
/// What the language model is shown of a page.
pub const AGENT_PAGE_BYTES: usize = 40 * 1024;
/// What the language model is given of a text that it reads.
pub const AGENT_READ_BYTES: usize = 12 * 1024;
/// What the language model is shown of an address or a title.
pub const AGENT_LINE_BYTES: usize = 1024;
/// What the language model may wait for something to appear.
pub const AGENT_WAIT: Duration = Duration::from_secs(10);
/// One line of what a prompt did.
pub const NOTE_BYTES: usize = 1024;
/// Words of a prompt that are told when they are not understood.
pub const UNKNOWN_WORDS_CHARS: usize = 1_000;
/// Time for the last snapshot of a prompt.
pub const LAST_LOOK: Duration = Duration::from_secs(3);
/// How long a plain step looks for its element.
pub const STEP_PATIENCE: Duration = Duration::from_secs(4);
/// Between two looks for it.
pub const STEP_POLL: Duration = Duration::from_millis(200);
/// What is read of an answer of the search provider.
pub const SEARCH_ANSWER_BYTES: u64 = 4 * 1024 * 1024;
/// Pages of results that the search provider is asked for, for one source.
pub const SEARCH_PAGES: usize = 12;
/// Of these, pages beyond those that would be enough if every result fitted.
pub const SEARCH_SPARE_PAGES: usize = 2;
/// Pause before a search provider is asked again that names none.
pub const SEARCH_RETRY: Duration = Duration::from_millis(500);
/// Longest such pause; a provider that wants a longer one is not asked again.
pub const SEARCH_RETRY_MAX: Duration = Duration::from_secs(5);
/// Kept pages of which the best are shown as the results of a search.
pub const SEARCH_CANDIDATES: u32 = 500;
/// Time to read a kept page for the passage that describes it; without one its own description does.
pub const SEARCH_PASSAGE_TIME: Duration = Duration::from_secs(5);
/// Passages of the documentation that the language model is given.
pub const DOCS_PASSAGES: usize = 6;
/// Time for the language model to answer a question to the documentation.
pub const DOCS_TIME: Duration = Duration::from_secs(45);
/// Time for the language model to propose the options of a crawl.
pub const CRAWL_PROMPT_TIME: Duration = Duration::from_secs(20);
/// What the language model is given of a page: some 30,000 tokens of English.
pub const MODEL_PAGE_BYTES: usize = 120 * 1024;
/// What the language model is given of the data that a page states.
pub const MODEL_STATED_BYTES: usize = 16 * 1024;
/// The longest time of an extract or agent.
pub const RUN_TIME: Duration = Duration::from_secs(30 * 60);
/// Servers that may stop while they work on one extract or agent.
pub const RUN_ATTEMPTS: u64 = 5;
/// Pages of one extract or agent that are read at the same time.
pub const RUN_PAGES_AT_ONCE: usize = 4;
/// Pages of an extract unless given.
pub const EXTRACT_PAGES: u64 = 20;
/// Most pages of an extract.
pub const EXTRACT_PAGES_MAX: u64 = 1_000;
/// Results of a search that an extract reads.
pub const EXTRACT_SEARCH_RESULTS: u64 = 5;
/// Results of a search that an agent is shown.
pub const RUN_SEARCH_RESULTS: u64 = 10;
/// Warnings of one result.
pub const RUN_WARNINGS: usize = 20;
/// Names of properties by which pages of a site are chosen.
pub const CHOOSING_NAMES: usize = 16;
/// Shortest word by which links to other sites are chosen, in characters.
pub const CHOOSING_WORD_CHARS: usize = 4;
/// Steps of an agent by its effort.
pub const RUN_STEPS_LOW: usize = 8;
/// As before.
pub const RUN_STEPS: usize = 20;
/// As before.
pub const RUN_STEPS_HIGH: usize = 40;
/// Results of an agent that are given back to it because they are not valid.
pub const RUN_REPAIRS: usize = 2;
/// Links of a map that an agent is shown.
pub const RUN_MAP_LINKS: u64 = 200;
/// Links of a page that an agent is shown.
pub const RUN_LINKS_SHOWN: usize = 200;
/// Pages that an agent has before it at one time, in bytes.
pub const RUN_TALK_BYTES: usize = 200 * 1024;
/// Characters of a prompt by which an agent is shown in a list.
pub const AGENT_HINT_CHARS: usize = 100;
