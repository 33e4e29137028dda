//! Limits, intervals and sizes of the console.

/// Documents per status request of a running job.
pub const STATUS_DOCUMENTS: u64 = 100;
/// Polling interval of the job status while documents arrive, ms.
pub const STATUS_BUSY_MS: u32 = 200;
/// Polling interval of the job status while no documents arrive, ms.
pub const STATUS_IDLE_MS: u32 = 800;
/// First retry delay after a failed request, ms; doubled up to [`RETRY_LONGEST_MS`].
pub const RETRY_FIRST_MS: u32 = 1_000;
/// Longest retry delay, ms.
pub const RETRY_LONGEST_MS: u32 = 15_000;
/// Interval at which a pending retry checks whether the server is back, ms.
pub const RETRY_CHECK_MS: u32 = 250;
/// Consecutive polls that show more pages than the socket sent, or that fail, before the socket is closed.
pub const STALE_SOCKET_POLLS: u32 = 3;
/// Polling interval of the errors of a running job, ms.
pub const ERRORS_POLL_MS: u32 = 3_000;
/// Polling interval of health and running crawls, ms.
pub const POLL_MS: u32 = 5_000;
/// The same while a crawl is running, ms.
pub const POLL_BUSY_MS: u32 = 2_000;
/// Delay before the code of other screens is prefetched, ms.
#[cfg(feature = "split")]
pub const PREFETCH_DELAY_MS: u32 = 1_000;
/// Requests that are kept in local storage.
pub const STORED_REQUESTS: usize = 50;
/// Polling interval of a running extraction, ms.
pub const EXTRACT_POLL_MS: u32 = 1_000;
/// Entries shown in the command palette.
pub const PALETTE_ITEMS: usize = 40;
/// Jobs in one response to the command palette or to the choice of another run.
pub const PALETTE_JOBS: u64 = 100;
/// Time without a change of the input after which the command palette asks the server, ms.
pub const PALETTE_PAUSE_MS: u32 = 150;
/// Newest jobs whose progress the overview shows.
pub const OVERVIEW_JOBS: u64 = 20;
/// Calls in the list of the overview.
pub const RECENT_CALLS: usize = 10;
/// Time window over which the speed of a job is measured, ms.
pub const SPEED_WINDOW_MS: f64 = 6_000.0;
/// Height of a row of a virtualized list, px; equals `--row` in the style sheet.
pub const ROW_PX: f64 = 34.0;
/// Rows rendered above and below the visible ones.
pub const OVERSCAN_ROWS: usize = 8;
/// Longest code that is highlighted, bytes; longer code is shown plain.
pub const HIGHLIGHT_BYTES: usize = 60_000;
/// Size of a block of plain text that is laid out on its own, bytes.
pub const BLOCK_BYTES: usize = 4_000;
/// Characters of Markdown that are rendered; the Markdown tab has all of it.
pub const RENDER_CHARS: usize = 600_000;
/// Characters per text token, for the estimate below a result.
pub const CHARS_PER_TOKEN: usize = 4;
/// Time that a toast is visible, ms.
pub const TOAST_MS: u32 = 2_400;
/// Time to type the letter after `g`, ms.
pub const CHORD_MS: f64 = 1_200.0;
/// Polling interval of an open session, ms.
pub const SESSION_POLL_MS: u32 = 2_000;
/// Sessions whose runs are kept in local storage.
pub const STORED_SESSIONS: usize = 5;
/// Runs kept per session.
pub const RUNS_PER_SESSION: usize = 30;
/// Characters kept of each output of a run.
pub const STORED_OUTPUT_CHARS: usize = 4_000;
/// Most rows of a tree that are visible initially.
pub const INITIAL_TREE_ROWS: usize = 60;
/// Time without a change before the view state is written to the URL, ms.
pub const URL_UPDATE_MS: u32 = 300;
/// Longest time to work on a long list before yielding to rendering and input, ms.
pub const WORK_SLICE_MS: f64 = 12.0;
/// Pages processed between two clock checks.
pub const SLICE_PAGES: usize = 100;
/// Polling interval of the counters of a job whose pages arrive by socket, ms.
pub const COUNTERS_POLL_MS: u32 = 1_000;
/// Time over which pages from the socket are batched into one update, ms.
pub const SOCKET_BATCH_MS: u32 = 150;
/// Sockets that may close without sending a page before the job is only polled.
pub const SOCKET_FAILURES: u32 = 3;
/// Links drawn in addition to the links to each page from its parent.
pub const GRAPH_LINKS: usize = 6_000;
/// Documents per request of an export.
pub const EXPORT_DOCUMENTS: u64 = 100;
/// Depths with a chip above the list of pages.
pub const DEPTH_CHIPS: usize = 12;
/// Pages with less content than this are thin, bytes.
pub const THIN_PAGE_BYTES: usize = 300;
/// Maximum size of a file of URLs that is read into a form, bytes.
pub const URL_FILE_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// Errors shown, and URLs blocked by robots.txt shown.
pub const SHOWN_ERRORS: usize = 500;
/// Sitemap URLs requested for a site preview.
pub const PREVIEW_URLS: u64 = 5_000;
/// Sitemap URLs shown, of those in scope and of those out of scope each.
pub const PREVIEW_SHOWN_URLS: usize = 50;
/// Bytes of a source text that are shown; copying and saving include all of it.
pub const SOURCE_BYTES: usize = 1024 * 1024;
/// Links or images of a page that are shown.
pub const SHOWN_LINKS: usize = 2_000;
/// Monitors that are fetched at once.
pub const MONITORS_LISTED: u64 = 100;
/// Checks on the timeline of a monitor.
pub const CHECKS_LISTED: u64 = 60;
/// Pages of a check that are loaded at once.
pub const CHECK_PAGES_LOADED: u64 = 50;
/// Pause between two requests for the state of a monitor, ms.
pub const MONITOR_POLL_MS: u32 = 3_000;
