//! Models of browser sessions: `/v2/browser` and `/v2/interact` (docs/API.md section 11).

use harvestman_derive::{Request, response};

use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::fields::wire;
use crate::api::interact::{EXECUTE_TIMEOUT, Language, timeout_ms};
use crate::api::location::{Location, Profile};
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_BROWSER_TTL_S, DEFAULT_EXECUTE_TIMEOUT_S, MAX_CODE_CHARS, MAX_SESSION_TTL_S, MIN_SESSION_IDLE_S,
    MIN_SESSION_TTL_S,
};
use crate::time::Timestamp;

/// Body of `POST /v2/browser`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(ignored("recordSession"))]
pub struct BrowserRequest {
    /// Lifetime of the session.
    #[field(
        bounds = MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S,
        default = DEFAULT_BROWSER_TTL_S,
        label = "Lifetime",
        unit = "seconds",
        example = "600"
    )]
    pub ttl: u64,
    /// Idle time after which the session ends. Default: its lifetime.
    #[field(
        bounds = MIN_SESSION_IDLE_S..=MAX_SESSION_TTL_S,
        label = "Idle time",
        unit = "seconds",
        example = "300"
    )]
    pub activity_ttl: Option<u64>,
    /// Offer live views.
    #[field(default = true, label = "Live view")]
    pub stream_web_view: bool,
    /// Block requests to advertisers and trackers.
    #[field(default = true, label = "Block ads")]
    pub block_ads: bool,
    /// Browser profile whose cookies and storage are used.
    #[field(label = "Profile", example = r#"{"name":"shop","saveChanges":false}"#)]
    pub profile: Option<Profile>,
    /// Country and languages of the visitor.
    #[field(label = "Location", example = r#"{"country":"DE","languages":["de"]}"#)]
    pub location: Location,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Body of `POST /v2/browser/{id}/execute`.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct ExecuteRequest {
    /// Code to run; `page` is the page of the session.
    #[field(required, bounds = 1..=MAX_CODE_CHARS, label = "Code", example = r#""await page.title()""#)]
    pub code: String,
    /// Language of the code.
    #[field(default = Language::Node, label = "Language")]
    pub language: Language,
    /// Time limit of the execution.
    #[field(
        bounds = EXECUTE_TIMEOUT,
        default = DEFAULT_EXECUTE_TIMEOUT_S,
        label = "Timeout",
        unit = "seconds",
        example = "30"
    )]
    pub timeout: f64,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl ExecuteRequest {
    /// Returns the time limit of the execution, ms.
    pub fn timeout_ms(&self) -> u64 {
        timeout_ms(self.timeout)
    }
}

/// Body of `POST /v2/browser/{id}/extend`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct ExtendRequest {
    /// Remaining lifetime of the session, from now. A session is never shortened.
    #[field(
        bounds = MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S,
        default = DEFAULT_BROWSER_TTL_S,
        label = "Lifetime",
        unit = "seconds",
        example = "600"
    )]
    pub ttl: u64,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(BrowserRequest, ExecuteRequest, ExtendRequest);

/// Response of `POST /v2/browser/{id}/extend`.
#[response(Eq, Default)]
pub struct SessionExtended {
    /// Always true.
    pub success: bool,
    /// Time at which the session ends at the latest.
    pub expires_at: Timestamp,
}

/// Response of `POST /v2/browser`.
#[response(Eq, Default)]
pub struct BrowserCreated {
    /// Always true.
    pub success: bool,
    /// Id of the session.
    pub id: String,
    /// WebSocket URL of the browser's debugging protocol.
    pub cdp_url: String,
    /// URL of the read-only live view.
    pub live_view_url: String,
    /// URL of the live view that accepts input.
    pub interactive_live_view_url: String,
    /// Time at which the session ends at the latest.
    pub expires_at: Timestamp,
}

wire_enum! {
    /// State of a session.
    SessionStatus {
        /// The session is running.
        Active = "active",
        /// The session has ended.
        Destroyed = "destroyed",
    }
}

/// Query parameters of `GET /v2/browser`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SessionsQuery {
    /// State of the sessions to return.
    pub status: Option<SessionStatus>,
}

impl SessionsQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            status: Query::parse(query).word("status")?,
        })
    }
}

/// Response of `GET /v2/browser`.
#[response(Eq, Default)]
pub struct BrowserSessions {
    /// Always true.
    pub success: bool,
    /// Sessions of the last 24 hours, newest first.
    pub sessions: Vec<BrowserSession>,
}

/// Browser session. All fields are always present; the URLs are empty once the session has ended.
#[response(Eq)]
pub struct BrowserSession {
    /// Id of the session.
    pub id: String,
    /// State of the session.
    pub status: SessionStatus,
    /// WebSocket URL of the browser's debugging protocol.
    #[serde(default)]
    pub cdp_url: String,
    /// URL of the read-only live view.
    #[serde(default)]
    pub live_view_url: String,
    /// URL of the live view that accepts input.
    #[serde(default)]
    pub interactive_live_view_url: String,
    /// Whether the session offers live views.
    #[serde(default)]
    pub stream_web_view: bool,
    /// Creation time of the session.
    pub created_at: Timestamp,
    /// Time of the last execution or input.
    pub last_activity: Timestamp,
}
