//! Browser sessions: `/v2/browser` and `/v2/interact` (contract section 11).

use serde::{Deserialize, Serialize};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Wire, wire};
use crate::api::interact::{Language, read_timeout, timeout_ms};
use crate::api::location::{Location, Profile};
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_BROWSER_TTL_S, DEFAULT_EXECUTE_TIMEOUT_S, MAX_CODE_CHARS, MAX_SESSION_TTL_S, MIN_SESSION_IDLE_S,
    MIN_SESSION_TTL_S,
};
use crate::time::Timestamp;

/// Body of `POST /v2/browser`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrowserRequest {
    /// Lifetime, seconds.
    pub ttl: u64,
    /// Idle time after which it ends, seconds; absent: as long as it lives.
    pub activity_ttl: Option<u64>,
    /// Offer live views.
    pub stream_web_view: bool,
    /// Block advertisements and cookie banners.
    pub block_ads: bool,
    /// Browser profile.
    pub profile: Option<Profile>,
    /// Where the visitor seems to come from.
    pub location: Location,
    /// Who sent it.
    pub caller: Caller,
}

impl Default for BrowserRequest {
    fn default() -> Self {
        Self {
            ttl: DEFAULT_BROWSER_TTL_S,
            activity_ttl: None,
            stream_web_view: true,
            block_ads: true,
            profile: None,
            location: Location::default(),
            caller: Caller::default(),
        }
    }
}

impl Wire for BrowserRequest {
    fn read(f: &mut Fields) -> Self {
        f.opt_bool("recordSession");
        Self {
            ttl: f.integer(
                "ttl",
                MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S,
                DEFAULT_BROWSER_TTL_S,
            ),
            activity_ttl: f.opt_integer("activityTtl", MIN_SESSION_IDLE_S..=MAX_SESSION_TTL_S),
            stream_web_view: f.bool("streamWebView", true),
            block_ads: f.bool("blockAds", true),
            profile: f.opt_object("profile", Profile::read),
            location: f.opt_object("location", Location::read).unwrap_or_default(),
            caller: Caller::read(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.differs("ttl", &self.ttl, &DEFAULT_BROWSER_TTL_S);
        body.some("activityTtl", &self.activity_ttl);
        body.differs("streamWebView", &self.stream_web_view, &true);
        body.differs("blockAds", &self.block_ads, &true);
        body.some("profile", &self.profile);
        body.differs("location", &self.location, &Location::default());
        self.caller.write(body);
    }
}

/// Body of `POST /v2/browser/{id}/execute`.
#[derive(Clone, PartialEq, Debug)]
pub struct ExecuteRequest {
    /// 1 to 100000 characters.
    pub code: String,
    /// Its language.
    pub language: Language,
    /// How long it may take, seconds.
    pub timeout: f64,
    /// Who sent it.
    pub caller: Caller,
}

impl ExecuteRequest {
    /// How long it may take, ms.
    pub fn timeout_ms(&self) -> u64 {
        timeout_ms(self.timeout)
    }
}

impl Wire for ExecuteRequest {
    fn read(f: &mut Fields) -> Self {
        Self {
            code: f.string("code", 1..=MAX_CODE_CHARS),
            language: f.word("language", Language::Node),
            timeout: read_timeout(f),
            caller: Caller::read(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("code", &self.code);
        body.differs("language", &self.language, &Language::Node);
        body.differs("timeout", &self.timeout, &DEFAULT_EXECUTE_TIMEOUT_S);
        self.caller.write(body);
    }
}

wire!(BrowserRequest, ExecuteRequest);

/// Answer of `POST /v2/browser`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserCreated {
    /// Always true.
    pub success: bool,
    /// The session.
    pub id: String,
    /// WebSocket address of the browser's debugging protocol.
    pub cdp_url: String,
    /// Read-only live view.
    pub live_view_url: String,
    /// Live view that takes input.
    pub interactive_live_view_url: String,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

wire_enum! {
    /// State of a session.
    SessionStatus {
        /// Lives.
        Active = "active",
        /// Is over.
        Destroyed = "destroyed",
    }
}

/// Query of `GET /v2/browser`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SessionsQuery {
    /// Only sessions of this state.
    pub status: Option<SessionStatus>,
}

impl SessionsQuery {
    /// Reads a query string. Errors: 400.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            status: Query::parse(query).word("status")?,
        })
    }
}

/// Answer of `GET /v2/browser`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BrowserSessions {
    /// Always true.
    pub success: bool,
    /// Newest first, last 24 hours.
    pub sessions: Vec<BrowserSession>,
}

/// One session; all fields are always present, addresses are empty once it is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// The session.
    pub id: String,
    /// Its state.
    pub status: SessionStatus,
    /// WebSocket address of the browser's debugging protocol.
    #[serde(default)]
    pub cdp_url: String,
    /// Read-only live view.
    #[serde(default)]
    pub live_view_url: String,
    /// Live view that takes input.
    #[serde(default)]
    pub interactive_live_view_url: String,
    /// Offers live views.
    #[serde(default)]
    pub stream_web_view: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// Last execution or input.
    pub last_activity: Timestamp,
}
