//! What a caller sees when something is wrong (docs/API.md section 2): one enum of codes, one table of
//! statuses, one body.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $status:literal;)*) => {
        /// Machine code of an error, as SDKs match on it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $name,)*
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$name),*];

            /// The code on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $text,)* }
            }

            /// HTTP status that goes with the code.
            pub fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status,)* }
            }

            /// Returns when it is sent: one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(ErrorCode::$name => concat!($($doc),+).trim_ascii(),)* }
            }

            /// Reads back what [`ErrorCode::as_str`] gave.
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
    /// Actions asked, no browser configured.
    ActionsNotSupported = "SCRAPE_ACTIONS_NOT_SUPPORTED", 400;
    /// The target is a file type that cannot be converted.
    UnsupportedFile = "SCRAPE_UNSUPPORTED_FILE_ERROR", 400;
    /// An option that uploads do not allow.
    ParseUnsupportedOptions = "PARSE_UNSUPPORTED_OPTIONS", 400;
    /// Key missing or unknown.
    Unauthorized = "UNAUTHORIZED", 401;
    /// Not enough credits.
    InsufficientCredits = "INSUFFICIENT_CREDITS", 402;
    /// Resource of another team, or an option that the operator has not enabled.
    Forbidden = "FORBIDDEN", 403;
    /// The target is a private, loopback or link-local address.
    UnsafeTarget = "UNSAFE_TARGET", 403;
    /// Unknown or expired job, job of another team, unknown path.
    NotFound = "NOT_FOUND", 404;
    /// `minAge` given and nothing suitable is cached.
    NoCachedData = "SCRAPE_NO_CACHED_DATA", 404;
    /// `lockdown` and nothing suitable is cached.
    LockdownCacheMiss = "SCRAPE_LOCKDOWN_CACHE_MISS", 404;
    /// Known path, other method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The caller was too slow in sending the request.
    RequestTimeout = "REQUEST_TIMEOUT", 408;
    /// The scrape's own timeout passed.
    ScrapeTimeout = "SCRAPE_TIMEOUT", 408;
    /// The map's own timeout passed.
    MapTimeout = "MAP_TIMEOUT", 408;
    /// The search's own timeout passed.
    SearchTimeout = "SEARCH_TIMEOUT", 408;
    /// State prevents the operation.
    Conflict = "CONFLICT", 409;
    /// The same idempotency key came with another body.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", 409;
    /// The page context of a scrape is not stored.
    ReplayUnavailable = "REPLAY_UNAVAILABLE", 409;
    /// Another session writes the profile.
    ProfileBusy = "PROFILE_BUSY", 409;
    /// Interact on a destroyed session.
    SessionDestroyed = "SESSION_DESTROYED", 410;
    /// Body above the size limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413;
    /// `Content-Encoding` on a request body.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// Rate limit exceeded.
    RateLimited = "RATE_LIMITED", 429;
    /// Concurrency limit exceeded.
    ConcurrencyLimited = "CONCURRENCY_LIMITED", 429;
    /// The target could not be fetched.
    SiteError = "SCRAPE_SITE_ERROR", 500;
    /// The target's certificate or TLS is not acceptable.
    SslError = "SCRAPE_SSL_ERROR", 500;
    /// Every way to fetch the target failed.
    AllEnginesFailed = "SCRAPE_ALL_ENGINES_FAILED", 500;
    /// A page action failed.
    ActionError = "SCRAPE_ACTION_ERROR", 500;
    /// The operator's proxy failed.
    ProxyError = "SCRAPE_PROXY_ERROR", 500;
    /// A PDF could not be read.
    PdfError = "SCRAPE_PDF_ERROR", 500;
    /// A map could not be made.
    MapFailed = "MAP_FAILED", 500;
    /// A fault of the server.
    Unknown = "UNKNOWN_ERROR", 500;
    /// A path that clients know and this server does not offer.
    NotSupported = "FEATURE_NOT_SUPPORTED", 501;
    /// The browser failed before anything ran (interact only).
    BrowserError = "BROWSER_ERROR", 502;
    /// The agent failed before anything ran (interact only).
    AgentError = "AGENT_ERROR", 502;
    /// The feature needs something that the operator has not configured.
    NotConfigured = "FEATURE_NOT_CONFIGURED", 503;
    /// The server cannot take more work for a passing reason.
    Unavailable = "SERVICE_UNAVAILABLE", 503;
    /// A crawled page redirected out of the crawl's scope (only in error lists).
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

/// An error answer. Its body is `{"success":false,"error","code","details"?}`.
#[derive(Clone, PartialEq, Debug)]
pub struct ApiError {
    /// Machine code; decides the HTTP status.
    pub code: ErrorCode,
    /// Human sentence: what was wrong and, where it can, what to do. Never empty.
    pub message: String,
    /// List of `{path, message}` for validation errors; other shapes where docs/API.md says so.
    pub details: Option<Value>,
    /// Seconds for `Retry-After`; set for 429.
    pub retry_after_s: Option<u32>,
}

impl ApiError {
    /// An error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
            retry_after_s: None,
        }
    }

    /// The same error with details.
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// HTTP status.
    pub fn status(&self) -> u16 {
        self.code.status()
    }

    /// JSON body.
    pub fn body(&self) -> Value {
        let mut body = json!({ "success": false, "error": self.message, "code": self.code.as_str() });
        if let Some(details) = &self.details {
            body["details"] = details.clone();
        }
        body
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
