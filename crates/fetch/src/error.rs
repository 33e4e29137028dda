//! What can go wrong with a fetch, with the sentence for the caller.
//!
//! No text names a resolved address, so that an answer never tells how a private network looks.

use harvestman_core::api::error::ErrorCode;

/// A fetch that gave no complete answer. `Display` is the sentence for the caller.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The request itself cannot be sent.
    #[error("the request cannot be sent: {0}")]
    InvalidRequest(String),
    /// The name does not resolve.
    #[error("the host name {host} could not be resolved{}", why_unresolved(.passing))]
    Dns {
        /// The name.
        host: String,
        /// The name servers failed; the name may exist.
        passing: bool,
    },
    /// The target is not a public address and not among the operator's exceptions.
    #[error(
        "{host} is a private, loopback, link-local or otherwise reserved address; such targets are not allowed here"
    )]
    Unsafe {
        /// The host as it was asked for.
        host: String,
    },
    /// The deadline passed.
    #[error("the page was not loaded in the time given; raise `timeout` or try again later")]
    Timeout,
    /// Certificate or handshake are not acceptable.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host as it was asked for.
        host: String,
        /// What the handshake said.
        reason: String,
    },
    /// No connection could be opened.
    #[error("no connection to {host}: {reason}")]
    Connect {
        /// The host as it was asked for.
        host: String,
        /// What the system said.
        reason: String,
    },
    /// The connection broke before the answer was complete.
    #[error("{host} closed the connection before its answer was complete")]
    Reset {
        /// The host as it was asked for.
        host: String,
    },
    /// The body is longer than the cap.
    #[error("the answer is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The cap, in decompressed bytes.
        limit_bytes: u64,
    },
    /// More redirects than the request allows.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// The number that was allowed.
        limit: u32,
    },
    /// A redirect led back to where it came from.
    #[error("the redirects go round in a circle at {url}")]
    RedirectLoop {
        /// The address seen for the second time.
        url: String,
    },
    /// A redirect to something that cannot be followed.
    #[error("{host} redirects to an address that cannot be followed: {reason}")]
    BadRedirect {
        /// The host that redirects.
        host: String,
        /// Why not.
        reason: String,
    },
    /// The answer breaks the rules of HTTP or a limit on its form.
    #[error("{host} sent an answer that cannot be read: {reason}")]
    Protocol {
        /// The host as it was asked for.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The fetcher cannot be built from its configuration.
    #[error("{0}")]
    Config(String),
}

impl FetchError {
    /// The machine code that a caller of the API sees.
    pub fn code(&self) -> ErrorCode {
        match self {
            FetchError::InvalidRequest(_) => ErrorCode::BadRequest,
            FetchError::Dns { .. } => ErrorCode::DnsResolution,
            FetchError::Unsafe { .. } => ErrorCode::UnsafeTarget,
            FetchError::Timeout => ErrorCode::ScrapeTimeout,
            FetchError::Tls { .. } => ErrorCode::SslError,
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

    /// Whether the same request may succeed a little later.
    pub fn passing(&self) -> bool {
        match self {
            FetchError::Timeout | FetchError::Connect { .. } | FetchError::Reset { .. } => true,
            FetchError::Dns { passing, .. } => *passing,
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

    /// The host, when it is one that cannot be talked to at all: no address, no connection or no
    /// handshake, or it hangs up at once. After redirects that need not be the host asked first.
    pub fn unreachable_host(&self) -> Option<&str> {
        match self {
            FetchError::Dns { host, .. }
            | FetchError::Unsafe { host }
            | FetchError::Tls { host, .. }
            | FetchError::Connect { host, .. }
            | FetchError::Reset { host } => Some(host),
            _ => None,
        }
    }

    /// Whether no connection carried the request: another scheme may do better.
    pub fn before_answer(&self) -> bool {
        matches!(
            self,
            FetchError::Connect { .. } | FetchError::Tls { .. } | FetchError::Reset { .. }
        )
    }
}

fn why_unresolved(passing: &bool) -> &'static str {
    if *passing {
        " (the name servers gave no answer)"
    } else {
        ""
    }
}
