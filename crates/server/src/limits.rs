//! Limits of the server: sizes, counts and times.

use std::time::Duration;

/// Largest JSON request body (docs/API.md section 1).
pub const BODY_BYTES: usize = 10 * 1024 * 1024;
/// Pages of one team fetched at once, by default (docs/API.md section 19).
pub const MAX_CONCURRENCY: usize = 64;
/// Chunk size of a response whose documents are deleted after its last chunk.
pub const RESPONSE_CHUNK_BYTES: usize = 64 * 1024;
/// Bytes that an upload may have in addition to the file: options and part headers.
pub const UPLOAD_SLACK_BYTES: usize = 1024 * 1024;
/// Uploads held in memory at once; further ones wait.
pub const UPLOADS_AT_ONCE: usize = 16;
/// Uploads of one team held in memory at once; further ones wait.
pub const TEAM_UPLOADS_AT_ONCE: usize = 4;
/// Longest wait of an upload for others to end.
pub const UPLOAD_WAIT: Duration = Duration::from_secs(30);
/// Seconds after which a client may repeat an upload that waited in vain.
pub const UPLOAD_RETRY_AFTER_S: u32 = 5;
/// Files of one browser session; further downloads are cancelled.
pub const SESSION_FILES: usize = 100;
/// Time limit for receiving an upload.
pub const UPLOAD_TIME: Duration = Duration::from_secs(300);
/// Bytes of a request that are read and discarded after the response, so that the client sees it instead of a
/// connection reset.
pub const DRAIN_BYTES: usize = 64 * 1024 * 1024;
/// Time limit for discarding them.
pub const DRAIN_TIME: Duration = Duration::from_secs(5);
/// Longest pause between two parts of a request body.
pub const BODY_SILENCE: Duration = Duration::from_secs(30);
/// Time limit for the head of a request, from the first byte of the connection or of the request.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed.
pub const IDLE_TIME: Duration = Duration::from_secs(75);
/// Time after which a response is given up when the client does not read it.
pub const WRITE_SILENCE: Duration = Duration::from_secs(60);
/// Connections at once; further ones get a 503.
pub const MAX_CONNECTIONS: usize = 10_000;
/// Connections at once that are being sent a 503; further ones are closed.
pub const MAX_REFUSALS: usize = 256;
/// Time limit for sending a 503.
pub const REFUSAL_TIME: Duration = Duration::from_secs(2);
/// Pause after a failed accept (for example without free file descriptors).
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Largest request head; the last read may exceed it a little.
pub const HEAD_BYTES: usize = 64 * 1024;
/// Longest `x-request-id` that is accepted.
pub const REQUEST_ID_CHARS: usize = 128;
/// Longest `x-idempotency-key`.
pub const IDEMPOTENCY_KEY_CHARS: usize = 256;
/// Longest API key that is looked up.
pub const API_KEY_CHARS: usize = 256;
/// Active keys that a team may create.
pub const KEYS_PER_TEAM: usize = 1_000;
/// Last characters of a key that are stored, so that its owner can recognise it.
pub const HINT_CHARS: usize = 4;
/// Length below which no characters of a key are stored.
pub const MIN_HINT_KEY_CHARS: usize = 16;
/// Time for which a key lookup is cached.
pub const PRINCIPAL_CACHE_TIME: Duration = Duration::from_secs(5);
/// Key lookups cached at once.
pub const PRINCIPAL_CACHE_ENTRIES: usize = 10_000;
/// Window of the rate limits.
pub const RATE_WINDOW: Duration = Duration::from_secs(60);
/// Number of blocks that the requests of a window are divided into; a node takes one block at a time.
pub const RATE_BLOCKS: u32 = 20;
/// Rate windows of teams and keys that are kept before expired ones are removed.
pub const RATE_WINDOWS: usize = 10_000;
/// Time limit for an operator command in a running server.
pub const OPERATOR_TIME: Duration = Duration::from_secs(30);
/// Time for which a status request at the end of a running job waits for a new document.
pub const TAIL_HOLD: Duration = Duration::from_secs(1);
/// Documents read at once for a live job socket.
pub const SOCKET_DOCUMENTS: u64 = 100;
/// Interval between two pings of a live socket.
pub const SOCKET_PING: Duration = Duration::from_secs(20);
/// Time limit for sending one message to a live socket.
pub const SOCKET_SEND: Duration = Duration::from_secs(30);
/// Unanswered pings in a row after which a socket is closed.
pub const SOCKET_MISSED_PINGS: u32 = 2;
/// Replies to a viewer's inputs that may be queued; further inputs wait.
pub const VIEW_REPLIES: usize = 16;
/// Interval at which a node that forwarded a request checks whether the owner of the session lives.
pub const OWNER_POLL: Duration = Duration::from_secs(2);
/// Seconds after which a client may repeat a request whose session is on a node that cannot be reached.
pub const OWNER_RETRY_AFTER_S: u32 = 5;
/// Longest session token that is looked up.
pub const TOKEN_CHARS: usize = 128;
/// Largest message that the client of a live job socket may send; none is expected.
pub const SOCKET_MESSAGE_BYTES: usize = 4 * 1024;
/// Time for which the sign-in code of a start is valid.
pub const SIGN_IN_TIME: Duration = Duration::from_secs(600);
/// Largest number of jobs in the console's overview.
pub const OVERVIEW_JOBS: u64 = 100;
/// Browser sessions in the console's list.
pub const OVERVIEW_SESSIONS: usize = 50;
/// Pages of a job in one response of the console's page list.
pub const JOB_PAGES: u64 = 2_000;
/// Pages of a job in its link graph.
pub const GRAPH_PAGES: u64 = 2_000;
/// Pages of each job that a comparison of two jobs reads.
pub const COMPARED_PAGES: u64 = 100_000;
/// Pages that a comparison lists.
pub const LISTED_CHANGES: usize = 2_000;
/// Links in a link graph, in addition to those through which the pages were discovered.
pub const GRAPH_LINKS: usize = 10_000;
/// Largest number of days in the console's usage report.
pub const USAGE_DAYS: u64 = 366;
/// Days in the console's usage report by default.
pub const USAGE_DAYS_DEFAULT: u64 = 30;
/// Jobs in the console's overview by default.
pub const OVERVIEW_JOBS_DEFAULT: u64 = 20;
/// Largest number of events in one response of the delivery log.
pub const DELIVERIES: u64 = 100;
/// Events in one response of the delivery log by default.
pub const DELIVERIES_DEFAULT: u64 = 50;
/// Time limit for each check of `/ready`.
pub const READY_TIME: Duration = Duration::from_secs(5);
/// Time for which a start retries to take over the address and the data folder of a server that was just killed.
pub const START_RETRY_TIME: Duration = Duration::from_secs(2);
/// Delay between two such attempts.
pub const START_RETRY_DELAY: Duration = Duration::from_millis(25);
/// Time limit for a shutdown after the time for requests in flight.
pub const STOP_TIME: Duration = Duration::from_millis(7_500);
/// Longest line that `convert` and `robots` read.
pub const LINE_BYTES: usize = 256 * 1024 * 1024;
/// Largest file that `convert` reads, and largest body of an archived response, decoded.
pub const FILE_BYTES: u64 = harvestman_core::limits::MAX_RESPONSE_BYTES;
/// Largest archive record that is read; larger ones are reported and skipped.
pub const RECORD_BYTES: u64 = 2 * FILE_BYTES;
/// Largest head of an archive record or archived response.
pub const RECORD_HEAD_BYTES: usize = 64 * 1024;
/// Content codings of an archived response that are decoded.
pub const RECORD_CODINGS: usize = 2;
/// Buffer size of the Brotli decoder.
pub const BROTLI_BUFFER_BYTES: usize = 4096;

/// Folder of browser profiles, in the data folder.
pub const BROWSER_FOLDER: &str = "browser";
/// Folder in the data folder where the server unpacks the driver for code in Node.js.
pub const DRIVER_FOLDER: &str = "driver";
/// Folder in the data folder where the operator may install playwright-core, for a build without a driver.
pub const NODE_MODULES_FOLDER: &str = "node_modules";
/// Folder in the data folder with a Node.js; `harvestman setup` installs it.
pub const NODE_FOLDER: &str = "node";
/// Folder in the data folder with a Python environment that has playwright; `harvestman setup` creates it.
pub const PYTHON_FOLDER: &str = "python";
/// Size below which responses are not compressed, in bytes: they would gain nothing.
pub const MIN_COMPRESSED_BYTES: u64 = 512;
/// Time limit for one request of a command or tool to a server; a scrape takes at most 5 minutes and may be queued.
pub const REMOTE_TIME: Duration = Duration::from_secs(1800);
/// Largest response to such a request.
pub const REMOTE_RESPONSE_BYTES: u64 = 256 * 1024 * 1024;
/// Documents of a job in one such response.
pub const REMOTE_DOCUMENTS: u64 = 100;
/// Interval between two status requests for a running job.
pub const REMOTE_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval between two readings of a job's failures for the progress on a terminal.
pub const PROGRESS_FAILURES_INTERVAL: Duration = Duration::from_secs(5);
/// Attempts of one status request.
pub const REMOTE_ATTEMPTS: u32 = 8;
/// Delay after the first failed attempt; each further failure adds the same amount.
pub const REMOTE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Longest such delay, even if the server's `Retry-After` is longer.
pub const REMOTE_MAX_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Tool calls that run at once for one client; further messages wait.
pub const MCP_CALLS: usize = 32;
/// Time for which a tool waits for the end of a job before it returns the job's id; clients time out after a minute.
pub const MCP_WAIT: Duration = Duration::from_secs(45);
/// Longest time that the caller of a tool may choose instead.
pub const MCP_WAIT_MAX: Duration = Duration::from_secs(300);
/// Documents of a job in one tool result by default.
pub const MCP_DOCUMENTS: u64 = 10;
/// Largest number of documents of a job in one tool result.
pub const MCP_DOCUMENTS_MAX: u64 = 100;
/// Monitors, checks or pages of a check in one result of an MCP tool by default.
pub const MCP_MONITORS: u64 = 25;
/// Largest text of a tool result, in characters.
pub const MCP_RESULT_CHARS: usize = 40_000;
/// Longest value in the lines about a tool result, in characters.
pub const MCP_LINE_CHARS: usize = 500;
/// Characters for the number above each page of a job in a tool result.
pub const MCP_PAGE_MARK_CHARS: usize = 32;
/// Longest error of a tool, in characters.
pub const MCP_ERROR_CHARS: usize = 4_000;
/// Pictures in one tool result.
pub const MCP_PICTURES: usize = 4;
/// Largest picture in a tool result; larger ones are returned as a URL.
pub const MCP_PICTURE_BYTES: usize = 4 << 20;
/// Largest file of a session whose content a tool returns; for larger ones, it returns the URL.
pub const MCP_FILE_BYTES: u64 = 16 << 20;
/// Feedback that `harvestman feedback` lists.
pub const FEEDBACK_LISTED: u32 = 200;
/// Largest file of a filter list for `blockAds`.
pub const BLOCK_LIST_BYTES: u64 = 64 << 20;
/// Spans that wait for their export; further ones are dropped.
pub const SPANS_WAITING: usize = 4096;
/// Spans per export.
pub const SPANS_PER_EXPORT: usize = 512;
/// Time between two exports of spans.
pub const SPAN_EXPORT_INTERVAL: Duration = Duration::from_secs(5);
/// Time between two exports of metrics.
pub const METRICS_EXPORT_INTERVAL: Duration = Duration::from_secs(60);
/// Time for an export.
pub const TELEMETRY_SEND_TIME: Duration = Duration::from_secs(10);
/// Time for the last metrics, and for the last spans, when the server stops.
pub const TELEMETRY_STOP_TIME: Duration = Duration::from_secs(3);
/// Bytes that are read of a collector's response.
pub const COLLECTOR_RESPONSE_BYTES: u64 = 64 << 10;
