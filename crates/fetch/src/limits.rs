//! Every limit of a fetch, by name.

use std::time::Duration;

/// Decompressed bytes of one body, unless the request says otherwise.
pub const MAX_BODY_BYTES: u64 = 50 * 1024 * 1024;
/// Redirects followed, unless the request says otherwise.
pub const MAX_REDIRECTS: u32 = 20;
/// Characters of a URL, also of one in `Location`.
pub const MAX_URL_CHARS: usize = 8192;
/// Time to open a TCP connection, over all addresses of a host.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Head start of one address before the next one of the host is tried beside it.
pub const ADDRESS_HEAD_START: Duration = Duration::from_millis(250);
/// Addresses of one host that are tried.
pub const MAX_ADDRESSES_TRIED: usize = 8;
/// Addresses of one host that are looked at; more are an error, since every answer must be checked.
pub const MAX_ADDRESSES: usize = 256;
/// Header fields of an answer.
pub const MAX_RESPONSE_HEADERS: usize = 256;
/// Bytes of the head of an answer.
pub const MAX_RESPONSE_HEADER_BYTES: usize = 256 * 1024;
/// Interim (1xx) answers before the real one.
pub const MAX_INTERIM_ANSWERS: usize = 16;
/// Header fields that a caller may add.
pub const MAX_REQUEST_HEADERS: usize = 64;
/// Bytes of names and values of the fields that a caller may add.
pub const MAX_REQUEST_HEADER_BYTES: usize = 16 * 1024;
/// Content codings stacked on one body.
pub const MAX_CODINGS: usize = 2;
/// Base-2 logarithm of the largest window of a zstd or br stream (8 MiB).
pub const MAX_WINDOW_LOG: u32 = 23;
/// Compressed bytes read beyond the cap of the decompressed body, for framing that adds no content.
pub const WIRE_SLACK_BYTES: u64 = 1024 * 1024;
/// Bytes read and thrown away so that a connection can be used again.
pub const MAX_DRAIN_BYTES: usize = 64 * 1024;
/// Cookies kept per domain in one jar.
pub const MAX_COOKIES_PER_HOST: usize = 50;
/// Cookies kept in one jar.
pub const MAX_COOKIES: usize = 3000;
/// Bytes of name, value and attributes of one cookie.
pub const MAX_COOKIE_BYTES: usize = 4096;
/// Bytes of all bodies in flight, unless the configuration says otherwise.
pub const BODY_BUDGET_BYTES: u64 = 512 * 1024 * 1024;
/// What every body reserves before its first byte; a larger one reserves up to its cap at once.
pub const FIRST_RESERVATION_BYTES: u64 = 512 * 1024;
/// Idle connections kept per origin: as many as a team has pages in flight by default.
pub const MAX_IDLE_PER_ORIGIN: usize = 64;
/// Idle connections kept in all.
pub const MAX_IDLE: usize = 512;
/// How long an idle connection is kept.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections that one request is sent on, one after another, where sending it again does no harm.
pub const MAX_SENDS: usize = 3;
/// HTTP/2: streams on one connection at a time.
pub const H2_MAX_STREAMS: usize = 16;
/// HTTP/2: streams before the server says how many it takes.
pub const H2_INITIAL_STREAMS: usize = 1;
/// HTTP/2: bytes one stream may send ahead of the reader.
pub const H2_STREAM_WINDOW_BYTES: u32 = 512 * 1024;
/// HTTP/2: bytes one connection may send ahead of the readers: all streams may stand still at the same time.
pub const H2_CONNECTION_WINDOW_BYTES: u32 = H2_STREAM_WINDOW_BYTES * H2_MAX_STREAMS as u32;
/// HTTP/2: largest frame.
pub const H2_MAX_FRAME_BYTES: u32 = 16 * 1024;
/// HTTP/2: table of the header compression.
pub const H2_HEADER_TABLE_BYTES: u32 = 4096;
/// HTTP/2: streams reset by us that are remembered.
pub const H2_MAX_RESET_STREAMS: usize = 32;
/// HTTP/2: resets caused by the peer's faults before the connection is dropped.
pub const H2_MAX_FAULT_RESETS: usize = 64;
/// Time to resolve one name, over all name servers and attempts.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// DNS: time for one question to one server; two rounds fit into [`RESOLVE_TIMEOUT`].
pub const DNS_TIMEOUT: Duration = Duration::from_secs(2);
/// DNS: rounds of questions before giving up.
pub const DNS_ATTEMPTS: usize = 2;
/// DNS: servers asked at a time.
pub const DNS_SERVERS_AT_ONCE: usize = 2;
/// DNS: answers kept.
pub const DNS_CACHE_ENTRIES: u64 = 8192;
/// DNS: longest time an answer is kept.
pub const DNS_MAX_TTL: Duration = Duration::from_secs(300);
/// DNS: longest time a refusal is kept.
pub const DNS_MAX_NEGATIVE_TTL: Duration = Duration::from_secs(30);
/// Browser's proxy: connections at a time; further ones wait.
pub const EGRESS_CONNECTIONS: usize = 1024;
/// Browser's proxy: time until the head of an answer.
pub const EGRESS_ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// Browser's proxy: wait before the next attempt when the system has no more descriptors.
pub const EGRESS_ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Browser's proxy: hosts whose last failure is remembered.
pub const EGRESS_FAILURES: usize = 1024;
