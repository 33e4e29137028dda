//! Errors of the API (docs/API.md section 2): the error codes with their HTTP statuses, and the error body.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $status:literal;)*) => {
        /// Machine-readable code of an error, as SDKs match on it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $name,)*
        }

        impl ErrorCode {
            /// All error codes.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$name),*];

            /// Returns the code as it is sent.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $text,)* }
            }

            /// Returns the HTTP status of the code.
            pub fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status,)* }
            }

            /// Returns one sentence that says when the code is sent.
            pub fn summary(self) -> &'static str {
                match self { $(ErrorCode::$name => concat!($($doc),+).trim_ascii(),)* }
            }

            /// Parses a code as returned by [`ErrorCode::as_str`].
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(ErrorCode::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// A field is missing, of the wrong type, out of bounds or unknown.
    BadRequest = "BAD_REQUEST", 400;
    /// The body is not JSON.
    InvalidJson = "BAD_REQUEST_INVALID_JSON", 400;
    /// The host name of the target does not resolve.
    DnsResolution = "SCRAPE_DNS_RESOLUTION_ERROR", 400;
    /// The request has actions, but no browser is configured.
    ActionsNotSupported = "SCRAPE_ACTIONS_NOT_SUPPORTED", 400;
    /// The target is a file type that cannot be converted.
    UnsupportedFile = "SCRAPE_UNSUPPORTED_FILE_ERROR", 400;
    /// The request has an option that is not allowed for uploads.
    ParseUnsupportedOptions = "PARSE_UNSUPPORTED_OPTIONS", 400;
    /// The API key is missing or unknown.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The team does not have enough credits.
    InsufficientCredits = "INSUFFICIENT_CREDITS", 402;
    /// The resource belongs to another team, or the operator has not enabled an option.
    Forbidden = "FORBIDDEN", 403;
    /// The target is a private, loopback or link-local address.
    UnsafeTarget = "UNSAFE_TARGET", 403;
    /// The path or job is unknown, or the job has expired or belongs to another team.
    NotFound = "NOT_FOUND", 404;
    /// The request has `minAge`, and the cache has no suitable copy.
    NoCachedData = "SCRAPE_NO_CACHED_DATA", 404;
    /// The request has `lockdown`, and the cache has no suitable copy.
    LockdownCacheMiss = "SCRAPE_LOCKDOWN_CACHE_MISS", 404;
    /// The path exists, but not with this method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The client sent the request too slowly.
    RequestTimeout = "REQUEST_TIMEOUT", 408;
    /// The timeout of the scrape expired.
    ScrapeTimeout = "SCRAPE_TIMEOUT", 408;
    /// The timeout of the map expired.
    MapTimeout = "MAP_TIMEOUT", 408;
    /// The timeout of the search expired.
    SearchTimeout = "SEARCH_TIMEOUT", 408;
    /// The state of the resource does not allow the operation.
    Conflict = "CONFLICT", 409;
    /// The idempotency key was used before with a different body.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", 409;
    /// The page context of the scrape is not stored.
    ReplayUnavailable = "REPLAY_UNAVAILABLE", 409;
    /// Another session is writing to the profile.
    ProfileBusy = "PROFILE_BUSY", 409;
    /// The session was destroyed before the interact request.
    SessionDestroyed = "SESSION_DESTROYED", 410;
    /// The body exceeds the size limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413;
    /// The request body has a `Content-Encoding`.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// The rate limit is exceeded.
    RateLimited = "RATE_LIMITED", 429;
    /// The concurrency limit is exceeded.
    ConcurrencyLimited = "CONCURRENCY_LIMITED", 429;
    /// The target could not be fetched.
    SiteError = "SCRAPE_SITE_ERROR", 500;
    /// The TLS connection to the target failed, or its certificate is invalid.
    SslError = "SCRAPE_SSL_ERROR", 500;
    /// Every way to fetch the target failed.
    AllEnginesFailed = "SCRAPE_ALL_ENGINES_FAILED", 500;
    /// A page action failed.
    ActionError = "SCRAPE_ACTION_ERROR", 500;
    /// The operator's proxy failed.
    ProxyError = "SCRAPE_PROXY_ERROR", 500;
    /// A PDF could not be read.
    PdfError = "SCRAPE_PDF_ERROR", 500;
    /// The map could not be created.
    MapFailed = "MAP_FAILED", 500;
    /// An internal error occurred.
    Unknown = "UNKNOWN_ERROR", 500;
    /// The server does not offer the requested path or option.
    NotSupported = "FEATURE_NOT_SUPPORTED", 501;
    /// The browser failed before anything was executed (interact only).
    BrowserError = "BROWSER_ERROR", 502;
    /// The agent failed before anything was executed (interact only).
    AgentError = "AGENT_ERROR", 502;
    /// The feature needs something that the operator has not configured.
    NotConfigured = "FEATURE_NOT_CONFIGURED", 503;
    /// The server temporarily cannot take more work.
    Unavailable = "SERVICE_UNAVAILABLE", 503;
    /// A crawled page redirected to a URL outside the scope of the crawl (only in error lists).
    OutOfScope = "OUT_OF_SCOPE", 400;
}

#[cfg(feature = "openapi")]
impl schemars::JsonSchema for ErrorCode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let codes: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        schemars::json_schema!({ "type": "string", "description": "Code of an error.", "enum": codes })
    }
}

/// Error response. Its body is `{"success":false,"error","code","details"?}`.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Error code; it determines the HTTP status.
    pub code: ErrorCode,
    /// Message for people: what is wrong and, where possible, what to do. Never empty.
    pub message: String,
    /// List of `{path, message}` for validation errors; other shapes where docs/API.md says so.
    pub details: Option<Value>,
    /// Value of `Retry-After`, seconds; set for status 429.
    pub retry_after_s: Option<u32>,
}

impl ApiError {
    /// Creates an error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
            retry_after_s: None,
        }
    }

    /// Creates the error of an invalid request.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// Creates the error of something that does not exist, or that the caller may not see.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Creates the error of a request that the current state does not allow.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    /// Creates the error of a defect or failure of the server itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unknown, message)
    }

    /// Returns the error with these details.
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.code.status()
    }

    /// Returns the JSON body.
    pub fn body(&self) -> Value {
        let mut body = json!({ "success": false, "error": self.message, "code": self.code.as_str() });
        if let Some(details) = &self.details {
            body["details"] = details.clone();
        }
        body
    }
}
