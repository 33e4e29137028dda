//! Every limit of a fetch.

use std::time::Duration;

/// Default maximum of decompressed bytes of one body.
pub const MAX_BODY_BYTES: u64 = 50 * 1024 * 1024;
/// Default maximum of redirects followed.
pub const MAX_REDIRECTS: u32 = 20;
/// Maximum characters of a URL, also in `Location`.
pub const MAX_URL_CHARS: usize = 8192;
/// Timeout for opening a TCP connection, over all addresses of a host.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a TLS handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for connecting to another server of the operator.
pub const FORWARD_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a proxy to open a tunnel to a target.
pub const PROXY_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum addresses of a target that are tried through a proxy, each with a new connection to the proxy.
pub const MAX_PROXIED_ADDRESSES: usize = 2;
/// Delay before the next address of a host is tried in parallel.
pub const ADDRESS_HEAD_START: Duration = Duration::from_millis(250);
/// Maximum addresses of a host that are dialed.
pub const MAX_ADDRESSES_TRIED: usize = 8;
/// Maximum resolved addresses of a host; more are an error because every address must be checked.
pub const MAX_ADDRESSES: usize = 256;
/// Maximum header fields of a response.
pub const MAX_RESPONSE_HEADERS: usize = 2048;
/// Maximum bytes of a response head.
pub const MAX_RESPONSE_HEADER_BYTES: usize = 256 * 1024;
/// Maximum interim (1xx) responses before the final one.
pub const MAX_INTERIM_RESPONSES: usize = 16;
/// Maximum header fields added by the caller.
pub const MAX_REQUEST_HEADERS: usize = 64;
/// Maximum bytes of names and values of the header fields added by the caller.
pub const MAX_REQUEST_HEADER_BYTES: usize = 16 * 1024;
/// Maximum content codings stacked on one body.
pub const MAX_CODINGS: usize = 2;
/// Base-2 logarithm of the maximum window of a zstd or br stream (8 MiB).
pub const MAX_WINDOW_LOG: u32 = 23;
/// Compressed bytes allowed beyond the limit of the decompressed body, for framing that adds no content.
pub const WIRE_SLACK_BYTES: u64 = 1024 * 1024;
/// Maximum bytes read and discarded so that a connection can be reused.
pub const MAX_DRAIN_BYTES: usize = 64 * 1024;
/// Maximum time for that.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum cookies per domain in one jar.
pub const MAX_COOKIES_PER_HOST: usize = 50;
/// Maximum cookies in one jar.
pub const MAX_COOKIES: usize = 3000;
/// Maximum bytes of name, value and attributes of one cookie.
pub const MAX_COOKIE_BYTES: usize = 4096;
/// Default memory budget of all bodies in flight, in bytes.
pub const BODY_BUDGET_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes that every body reserves before its first byte; a larger one reserves more as it grows.
pub const FIRST_RESERVATION_BYTES: u64 = 64 * 1024;
/// Size above which a body waits for other large bodies, in bytes.
pub const LARGE_BODY_BYTES: u64 = 1024 * 1024;
/// Bytes that all large bodies hold before the next one waits.
pub const LARGE_BODIES_BYTES: u64 = 12 * 1024 * 1024;
/// How long a large body waits for others. Long enough to convert a few pages of 10 MB; too short to slow down a host
/// that takes seconds for such a page.
pub const LARGE_BODY_WAIT: Duration = Duration::from_secs(1);
/// The same while a large body is being converted: it will be released soon.
pub const CONVERTED_BODY_WAIT: Duration = Duration::from_secs(10);
/// Time that a body above [`FIRST_RESERVATION_BYTES`] has before it must release its memory, if others wait for it.
pub const SLOW_BODY_TIME: Duration = Duration::from_secs(10);
/// Interval at which a body that waits for memory makes a slow one release its own.
pub const RECLAIM_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum idle connections per origin: as many as a team has pages in flight by default.
pub const MAX_IDLE_PER_ORIGIN: usize = 64;
/// Maximum idle connections in total.
pub const MAX_IDLE: usize = 512;
/// How long an idle connection is kept open.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum connections on which one request is tried in turn, where sending it again is safe.
pub const MAX_SENDS: usize = 3;
/// HTTP/2: maximum concurrent streams per connection.
pub const H2_MAX_STREAMS: usize = 16;
/// HTTP/2: concurrent streams before the server announces its limit.
pub const H2_INITIAL_STREAMS: usize = 1;
/// HTTP/2: bytes that one stream may send ahead of the reader.
pub const H2_STREAM_WINDOW_BYTES: u32 = 512 * 1024;
/// HTTP/2: bytes that one connection may send ahead of the readers. All streams may be blocked at the same time.
pub const H2_CONNECTION_WINDOW_BYTES: u32 = H2_STREAM_WINDOW_BYTES * H2_MAX_STREAMS as u32;
/// HTTP/2: maximum frame size.
pub const H2_MAX_FRAME_BYTES: u32 = 16 * 1024;
/// HTTP/2: size of the header compression table.
pub const H2_HEADER_TABLE_BYTES: u32 = 4096;
/// HTTP/2: maximum number of locally reset streams that are remembered.
pub const H2_MAX_RESET_STREAMS: usize = 32;
/// HTTP/2: maximum resets caused by protocol errors of the peer before the connection is closed.
pub const H2_MAX_FAULT_RESETS: usize = 64;
/// Timeout for resolving one name, over all name servers and attempts.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// DNS: timeout of one query to one server; two rounds fit into [`RESOLVE_TIMEOUT`].
pub const DNS_TIMEOUT: Duration = Duration::from_secs(2);
/// DNS: maximum rounds of queries.
pub const DNS_ATTEMPTS: usize = 2;
/// DNS: servers queried in parallel.
pub const DNS_SERVERS_AT_ONCE: usize = 2;
/// DNS: maximum cached responses.
pub const DNS_CACHE_ENTRIES: u64 = 8192;
/// DNS: maximum time that a response is cached.
pub const DNS_MAX_TTL: Duration = Duration::from_secs(300);
/// DNS: maximum time that a negative response is cached.
pub const DNS_MAX_NEGATIVE_TTL: Duration = Duration::from_secs(30);
/// Browser proxy: maximum concurrent connections; further ones wait.
pub const EGRESS_CONNECTIONS: usize = 1024;
/// Browser proxy: timeout for the head of a response.
pub const EGRESS_RESPONSE_TIMEOUT: Duration = Duration::from_secs(300);
/// Browser proxy: delay before `accept` is retried when the system is out of file descriptors.
pub const EGRESS_ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Browser proxy: maximum hosts whose last failure is remembered.
pub const EGRESS_FAILURES: usize = 1024;
