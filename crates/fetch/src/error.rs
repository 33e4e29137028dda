//! Errors of a fetch, with a message for the caller.
//!
//! Messages never contain a resolved address, so that they do not reveal the structure of a private network.

use harvestman_core::api::error::ErrorCode;

/// A fetch without a complete response. `Display` is the message for the caller.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The request is invalid.
    #[error("cannot send the request: {0}")]
    InvalidRequest(String),
    /// The host name does not resolve.
    #[error("cannot resolve host `{host}`: {}", why_unresolved(.transient))]
    Dns {
        /// The host name.
        host: String,
        /// Whether the name servers failed, so that the name may exist.
        transient: bool,
    },
    /// The target is not a public address, and the operator has not allowed it.
    #[error(
        "{host} is a private, loopback, link-local or otherwise reserved address; this server does not allow such \
         targets, unless its operator names them in HARVESTMAN_ALLOW_PRIVATE_HOSTS"
    )]
    Unsafe {
        /// The host as requested.
        host: String,
    },
    /// The deadline passed.
    #[error("the page did not load within `timeout`; raise `timeout` or try again later")]
    Timeout,
    /// The certificate or handshake was rejected.
    #[error("cannot open a secure connection to {host}: {reason}")]
    Tls {
        /// The host as requested.
        host: String,
        /// The error of the handshake.
        reason: String,
    },
    /// No connection could be opened.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// The host as requested.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// The operator's proxy did not connect to the target.
    #[error("cannot reach {host} through this server's proxy: {reason}")]
    Proxy {
        /// The host as requested.
        host: String,
        /// What the proxy did.
        reason: String,
        /// Whether no target is reachable through the proxy; otherwise the target may be the cause.
        at_fault: bool,
    },
    /// The connection closed before the response was complete.
    #[error("{host} closed the connection before the response was complete")]
    Reset {
        /// The host as requested.
        host: String,
    },
    /// The body took long, and the memory that it held was needed for others.
    #[error("{host} sent its response too slowly while this server was short of memory; try again later")]
    TooSlow {
        /// The host as requested.
        host: String,
    },
    /// The body exceeds the limit.
    #[error("the response is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit, in decompressed bytes.
        limit_bytes: u64,
    },
    /// The request exceeded its limit of redirects.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// The limit.
        limit: u32,
    },
    /// The redirects form a loop.
    #[error("redirect loop at {url}")]
    RedirectLoop {
        /// The URL that was reached twice.
        url: String,
    },
    /// A redirect to a URL that cannot be followed.
    #[error("{host} redirects to a URL that cannot be followed: {reason}")]
    BadRedirect {
        /// The redirecting host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The response violates HTTP or a limit on its form.
    #[error("{host} sent an invalid response: {reason}")]
    Protocol {
        /// The host as requested.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The configuration of the fetcher is invalid.
    #[error("{0}")]
    Config(String),
}

impl FetchError {
    /// Returns the error code of the API.
    pub fn code(&self) -> ErrorCode {
        match self {
            FetchError::InvalidRequest(_) => ErrorCode::BadRequest,
            FetchError::Dns { .. } => ErrorCode::DnsResolution,
            FetchError::Unsafe { .. } => ErrorCode::UnsafeTarget,
            FetchError::Timeout | FetchError::TooSlow { .. } => ErrorCode::ScrapeTimeout,
            FetchError::Tls { .. } => ErrorCode::SslError,
            FetchError::Proxy { .. } => ErrorCode::ProxyError,
            FetchError::Config(_) => ErrorCode::Unknown,
            FetchError::Connect { .. }
            | FetchError::Reset { .. }
            | FetchError::TooLarge { .. }
            | FetchError::TooManyRedirects { .. }
            | FetchError::RedirectLoop { .. }
            | FetchError::BadRedirect { .. }
            | FetchError::Protocol { .. } => ErrorCode::SiteError,
        }
    }

    /// Returns whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            FetchError::Timeout
            | FetchError::TooSlow { .. }
            | FetchError::Connect { .. }
            | FetchError::Proxy { .. }
            | FetchError::Reset { .. } => true,
            FetchError::Dns { transient, .. } => *transient,
            FetchError::InvalidRequest(_)
            | FetchError::Unsafe { .. }
            | FetchError::Tls { .. }
            | FetchError::TooLarge { .. }
            | FetchError::TooManyRedirects { .. }
            | FetchError::RedirectLoop { .. }
            | FetchError::BadRedirect { .. }
            | FetchError::Protocol { .. }
            | FetchError::Config(_) => false,
        }
    }

    /// Returns the host if it cannot be used at all: it has no address, no connection, no handshake, or
    /// closes at once. After redirects, it may differ from the requested host.
    pub fn unreachable_host(&self) -> Option<&str> {
        match self {
            FetchError::Dns { host, .. }
            | FetchError::Unsafe { host }
            | FetchError::Tls { host, .. }
            | FetchError::Connect { host, .. }
            | FetchError::Proxy { host, .. }
            | FetchError::Reset { host } => Some(host),
            _ => None,
        }
    }

    /// Returns whether no response arrived because of the connection, so that another scheme may work.
    pub fn is_before_response(&self) -> bool {
        matches!(
            self,
            FetchError::Connect { .. } | FetchError::Tls { .. } | FetchError::Reset { .. }
        )
    }
}

fn why_unresolved(transient: &bool) -> &'static str {
    if *transient {
        "the name servers did not respond"
    } else {
        "no such name"
    }
}
