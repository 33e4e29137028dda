//! Every bound of the server, in one place.

use std::time::Duration;

/// Largest JSON request body (contract section 1).
pub const BODY_BYTES: usize = 10 * 1024 * 1024;
/// Pages of one team fetched at once, by default (contract section 19).
pub const MAX_CONCURRENCY: usize = 64;
/// Part in which an answer is handed out whose documents are forgotten after the last one.
pub const TOLD_PART_BYTES: usize = 64 * 1024;
/// What a request with a file may have beside it: options and the heads of its parts.
pub const UPLOAD_SLACK_BYTES: usize = 1024 * 1024;
/// Requests with a file whose bytes are held at once; further ones wait.
pub const UPLOADS_AT_ONCE: usize = 16;
/// Longest that a file may take to arrive.
pub const UPLOAD_TIME: Duration = Duration::from_secs(300);
/// Characters of a file's name that are kept.
pub const FILE_NAME_CHARS: usize = 255;
/// What is still read, and thrown away, of a body above [`BODY_BYTES`], so that the caller sees the
/// answer instead of a reset.
pub const DRAIN_BYTES: usize = 64 * 1024 * 1024;
/// Time for that.
pub const DRAIN_TIME: Duration = Duration::from_secs(5);
/// Longest silence while a request body is read.
pub const BODY_SILENCE: Duration = Duration::from_secs(30);
/// Time for the head of a request, from the connection's or the request's first byte.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection without a request stays open.
pub const IDLE_TIME: Duration = Duration::from_secs(75);
/// How long an answer waits for a caller who does not read it.
pub const WRITE_SILENCE: Duration = Duration::from_secs(60);
/// Connections at once; further ones are told 503.
pub const MAX_CONNECTIONS: usize = 10_000;
/// Connections at once that are being told 503; further ones are closed.
pub const MAX_REFUSALS: usize = 256;
/// Time to tell a caller 503.
pub const REFUSAL_TIME: Duration = Duration::from_secs(2);
/// Pause after the system could not accept a connection (no descriptors left).
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Request heads of more bytes are refused; a read that goes a little beyond still counts.
pub const HEAD_BYTES: usize = 64 * 1024;
/// Longest `x-request-id` that is echoed.
pub const REQUEST_ID_CHARS: usize = 128;
/// Longest `x-idempotency-key`.
pub const IDEMPOTENCY_KEY_CHARS: usize = 256;
/// Longest API key that is looked up.
pub const API_KEY_CHARS: usize = 256;
/// Good keys of a team that makes its own.
pub const KEYS_PER_TEAM: usize = 1_000;
/// Last characters of a key that are kept, by which its owner knows it again.
pub const HINT_CHARS: usize = 4;
/// Of shorter keys none are.
pub const HINTED_KEY_CHARS: usize = 16;
/// How long the answer to "whose key is this" is remembered.
pub const PRINCIPAL_CACHE_TIME: Duration = Duration::from_secs(5);
/// Keys remembered at once.
pub const PRINCIPAL_CACHE_ENTRIES: usize = 10_000;
/// Time in which requests of a team are counted, where the operator bounds them.
pub const RATE_WINDOW: Duration = Duration::from_secs(60);
/// Teams and keys whose requests are counted before those are forgotten whose minute is over.
pub const RATE_WINDOWS: usize = 10_000;
/// Time in which a running server carries out what the operator wants.
pub const OPERATOR_TIME: Duration = Duration::from_secs(30);
/// How long a status request at the end of a running job is held for a new document.
pub const TAIL_HOLD: Duration = Duration::from_secs(1);
/// Documents read at once for a live socket.
pub const SOCKET_DOCUMENTS: u64 = 100;
/// Pause between two pings of a live socket.
pub const SOCKET_PING: Duration = Duration::from_secs(20);
/// Time for one message to a live socket.
pub const SOCKET_SEND: Duration = Duration::from_secs(30);
/// Pings in a row that nobody answers before a session's socket is given up.
pub const SOCKET_UNHEARD: u32 = 2;
/// Answers to a viewer's inputs on their way; further inputs wait.
pub const VIEW_REPLIES: usize = 16;
/// Longest token of a session that is looked up.
pub const TOKEN_CHARS: usize = 128;
/// Largest message that a live socket's caller may send (it has nothing to say).
pub const SOCKET_MESSAGE_BYTES: usize = 4 * 1024;
/// Longest reason in a close frame (RFC 6455 section 5.5: 125 bytes with the code).
pub const CLOSE_REASON_BYTES: usize = 123;
/// How long the sign-in code of a start is good.
pub const SIGN_IN_TIME: Duration = Duration::from_secs(600);
/// Largest number of jobs in the console's overview.
pub const OVERVIEW_JOBS: u64 = 100;
/// Browser sessions in the console's list.
pub const OVERVIEW_SESSIONS: usize = 50;
/// Pages of a job in one answer of the console's list of pages.
pub const PAGE_LINES: u64 = 2_000;
/// Pages of a job whose links are told.
pub const GRAPH_PAGES: u64 = 2_000;
/// Links that are told besides those that lead from the first page to every other.
pub const GRAPH_LINKS: usize = 10_000;
/// Jobs in the console's overview when not asked otherwise.
pub const OVERVIEW_JOBS_DEFAULT: u64 = 20;
/// Largest number of events in one answer of a delivery log.
pub const DELIVERIES: u64 = 100;
/// Events in one answer of a delivery log when not asked otherwise.
pub const DELIVERIES_DEFAULT: u64 = 50;
/// Time for the answer of a part of the server to `/ready`.
pub const READY_TIME: Duration = Duration::from_secs(5);
/// How long a start waits for the address and the folder of a server that was just killed.
pub const START_PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two attempts to take them.
pub const START_PAUSE: Duration = Duration::from_millis(25);
/// Time from the first signal to the end of the process.
pub const STOP_TIME: Duration = Duration::from_millis(9_500);
/// Time that requests being answered get of it before the engine stops.
pub const STOP_ANSWERS: Duration = Duration::from_secs(2);
/// Longest line that `convert` and `robots` read.
pub const LINE_BYTES: usize = 256 * 1024 * 1024;
/// Largest file that `convert` reads, and largest body of an archived response, decoded.
pub const FILE_BYTES: u64 = harvestman_core::limits::MAX_RESPONSE_BYTES;
/// Largest record of an archive that is read; larger ones are told and passed over.
pub const RECORD_BYTES: u64 = 2 * FILE_BYTES;
/// Largest head of an archived record or response.
pub const RECORD_HEAD_BYTES: usize = 64 * 1024;
/// Content codings that are taken off an archived response.
pub const RECORD_CODINGS: usize = 2;
/// Buffer of the brotli decoder.
pub const BROTLI_BUFFER_BYTES: usize = 4096;

/// Folder of the browser's profiles, in the data folder.
pub const BROWSER_FOLDER: &str = "browser";
/// Folder in the data folder in which the operator may put playwright-core.
pub const NODE_MODULES_FOLDER: &str = "node_modules";
/// Smaller answers gain nothing by compression and stay as they are, bytes.
pub const COMPRESSED_BYTES: u64 = 512;
/// Time for one answer of a server that a command or tool speaks to; a scrape takes at most 5 minutes, and may wait.
pub const REMOTE_TIME: Duration = Duration::from_secs(1800);
/// Largest answer of such a server.
pub const REMOTE_ANSWER_BYTES: u64 = 256 * 1024 * 1024;
/// Documents of a job in one such answer.
pub const REMOTE_DOCUMENTS: u64 = 100;
/// Pause before such a server is asked again for a job that runs.
pub const REMOTE_LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Attempts to get the answer of such a server to a question about a job.
pub const REMOTE_ATTEMPTS: u32 = 8;
/// Pause after the first that failed; it grows by as much with each.
pub const REMOTE_PAUSE: Duration = Duration::from_secs(1);
/// Longest such pause, whatever the server asks for.
pub const REMOTE_LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Calls of tools that run at once for one caller; further messages wait.
pub const MCP_CALLS: usize = 32;
/// How long a tool waits for the end of a job before it answers with its id; callers give up after a minute.
pub const MCP_PATIENCE: Duration = Duration::from_secs(45);
/// Documents of a job in one answer of a tool, unless more are asked for.
pub const MCP_DOCUMENTS: u64 = 10;
