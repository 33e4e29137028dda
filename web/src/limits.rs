//! Limits and times of the console.

/// Documents asked for with one status request of a running job.
pub const STATUS_DOCUMENTS: u64 = 100;
/// Pause between status requests while documents come, ms.
pub const STATUS_BUSY_MS: u32 = 200;
/// Pause between status requests while nothing new comes, ms.
pub const STATUS_QUIET_MS: u32 = 800;
/// First pause after a failed request, ms; doubled up to the longest.
pub const RETRY_FIRST_MS: u32 = 1_000;
/// Longest pause after failed requests, ms.
pub const RETRY_LONGEST_MS: u32 = 15_000;
/// How soon who waits to try again hears that the server is back, ms.
pub const REST_MS: u32 = 250;
/// Looks in a row that show more pages than a socket told, or get no answer, before the socket is given up.
pub const SILENT_LOOKS: u32 = 3;
/// Pause between looks at the errors of a running job, ms.
pub const ERRORS_MS: u32 = 3_000;
/// Pause between looks at health and running crawls, ms.
pub const PULSE_MS: u32 = 5_000;
/// Pause between looks while crawls are running, ms.
pub const PULSE_BUSY_MS: u32 = 2_000;
/// Pause before the parts of other screens are fetched ahead, ms.
#[cfg(feature = "split")]
pub const FETCH_AHEAD_MS: u32 = 1_000;
/// Requests that are remembered on this device.
pub const REMEMBERED_REQUESTS: usize = 50;
/// Pause between looks at a running extraction, ms.
pub const EXTRACT_LOOK_MS: u32 = 1_000;
/// Things in the command palette at once.
pub const PALETTE_ITEMS: usize = 40;
/// Jobs in the list of the overview.
pub const RECENT_JOBS: usize = 10;
/// Time over which the speed of a job is measured, ms.
pub const SPEED_WINDOW_MS: f64 = 6_000.0;
/// Height of a row of the page list, px; the same as `--row`.
pub const ROW_PX: f64 = 34.0;
/// Rows drawn above and below what is visible.
pub const OVERSCAN_ROWS: usize = 8;
/// Characters of code that are coloured; longer code is shown plain.
pub const HIGHLIGHT_CHARS: usize = 60_000;
/// Characters of Markdown that are rendered; the rest is in the Markdown tab.
pub const RENDER_CHARS: usize = 600_000;
/// Characters of a text token, for the estimate beside a result.
pub const CHARS_PER_TOKEN: usize = 4;
/// How long a toast stays, ms.
pub const TOAST_MS: u32 = 2_400;
/// Time for the letter after `g`, ms.
pub const CHORD_MS: f64 = 1_200.0;
/// Pause between looks at an open session, ms.
pub const SESSION_MS: u32 = 2_000;
/// Sessions whose calls are remembered on this device.
pub const REMEMBERED_SESSIONS: usize = 5;
/// Calls that are remembered of a session.
pub const REMEMBERED_CALLS: usize = 30;
/// Characters that are remembered of each text that a call answered.
pub const KEPT_CHARS: usize = 4_000;
/// Rows of a tree that are open at first.
pub const TREE_ROWS: usize = 60;
/// Time without a further change after which what is typed and opened stands in the address, ms.
pub const ADDRESS_MS: u32 = 300;
/// Longest stretch of work on a long list before the page is drawn and heard again, ms.
pub const SLICE_MS: f64 = 12.0;
/// Pages that are taken between two looks at the clock.
pub const SLICE_PAGES: usize = 100;
/// Pause between looks at the numbers of a job whose pages come by socket, ms.
pub const NUMBERS_MS: u32 = 1_000;
/// Pages that the socket tells within this time are shown together, ms.
pub const GATHER_MS: u32 = 150;
/// Sockets that may close without a page before the job is only polled.
pub const SOCKET_FAILURES: u32 = 3;
/// Links that are drawn besides the ways from the first page.
pub const GRAPH_LINES: usize = 6_000;
/// Documents asked for with one request of an export.
pub const EXPORT_DOCUMENTS: u64 = 100;
/// Errors, and refusals of robots.txt, that are shown.
pub const SHOWN_ERRORS: usize = 500;
/// Addresses of a sitemap that a look at a site asks for.
pub const PREVIEW_ADDRESSES: u64 = 5_000;
/// Addresses of it that are shown, each of those that belong and those that do not.
pub const PREVIEW_SHOWN: usize = 50;
/// Bytes of a source text that are shown; copying and saving take all of it.
pub const SOURCE_BYTES: usize = 1024 * 1024;
/// Addresses of a page that are shown.
pub const SHOWN_ADDRESSES: usize = 2_000;
