//! The rules of browser sessions (docs/API.md sections 6.11, 6.12, 11 and 17): lifetime, which scrapes can be
//! continued, session URLs and errors. [`steps`] parses prompts of plain step instructions, and [`element`] finds the
//! elements they refer to. The browser itself is not here.

pub mod element;
pub mod steps;
mod tokens;
mod words;

use std::time::Duration;

use crate::api::browser::BrowserRequest;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::interact::InteractRequest;
use crate::limits::{DEFAULT_INTERACT_IDLE_S, DEFAULT_INTERACT_TTL_S};
use crate::time::Timestamp;
pub use tokens::TokenKey;

/// Maximum lifetime of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// In total.
    pub ttl: Duration,
    /// Without execution, debugging traffic or live-view input.
    pub idle: Duration,
}

impl Lifetime {
    /// Returns the lifetime of a session that the first interact of a scrape creates.
    pub fn of_interact(request: &InteractRequest) -> Self {
        Self {
            ttl: Duration::from_secs(request.ttl.unwrap_or(DEFAULT_INTERACT_TTL_S)),
            idle: Duration::from_secs(request.activity_ttl.unwrap_or(DEFAULT_INTERACT_IDLE_S)),
        }
    }

    /// Returns the lifetime of a session created directly. The default idle timeout is `ttl`.
    pub fn of_browser(request: &BrowserRequest) -> Self {
        Self {
            ttl: Duration::from_secs(request.ttl),
            idle: Duration::from_secs(request.activity_ttl.unwrap_or(request.ttl)),
        }
    }

    /// Returns when a session ends unless there is further activity.
    pub fn ends_at(self, created: Timestamp, last_activity: Timestamp) -> Timestamp {
        (created + self.ttl).min(last_activity + self.idle)
    }
}

/// Secrets that grant external access to a session until it ends.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionTokens {
    /// Grants access to the debugging protocol.
    pub cdp: String,
    /// Grant access to the live views, if enabled.
    pub views: Option<ViewTokens>,
}

/// Secrets of the live views.
#[derive(Clone, PartialEq, Eq)]
pub struct ViewTokens {
    /// Grants access to the read-only view.
    pub view: String,
    /// Grants access to the interactive view.
    pub control: String,
}

/// URLs of a session. The URL of a live view that is not offered is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionUrls {
    /// WebSocket URL of the debugging protocol.
    pub cdp: String,
    /// Page with the read-only live view.
    pub live_view: String,
    /// Page with the interactive live view.
    pub interactive_live_view: String,
}

impl SessionTokens {
    /// Builds the URLs below `base`, the server's URL as seen by the caller.
    pub fn urls(&self, base: &str) -> SessionUrls {
        let live =
            |token: Option<&String>| token.map_or_else(String::new, |token| format!("{base}/live/{token}"));
        let views = self.views.as_ref();
        SessionUrls {
            // `http` becomes `ws`, `https` becomes `wss`.
            cdp: format!("{}/cdp/{}", base.replacen("http", "ws", 1), self.cdp),
            live_view: live(views.map(|views| &views.view)),
            interactive_live_view: live(views.map(|views| &views.control)),
        }
    }
}

/// Hides the secrets, also from logs.
impl std::fmt::Debug for SessionTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionTokens")
    }
}

impl std::fmt::Debug for ViewTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ViewTokens")
    }
}

/// Why a session cannot be opened or used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionError {
    /// No scrape has this id.
    NoScrape,
    /// No session has this id, or none belongs to this scrape.
    NoSession,
    /// It belongs to another team.
    OtherTeam,
    /// The session has ended.
    Destroyed,
    /// The session already continues another scrape.
    InUse,
    /// The scrape cannot be repeated, for this reason.
    NoReplay(String),
    /// The team is at its limit of this many sessions.
    TeamLimit(usize),
    /// The server is at its limit of sessions.
    ServerLimit,
    /// This many calls already wait for the session, which is the limit.
    CallLimit(usize),
    /// Another session or scrape has write access to this profile.
    ProfileBusy(String),
}

/// Seconds after which another session or call may be tried.
const RETRY_AFTER_S: u32 = 5;

impl SessionError {
    /// The scrape was not stored because of zero data retention.
    pub fn zero_data_retention() -> Self {
        Self::NoReplay("it was made with zero data retention, so it was not stored".to_owned())
    }

    /// The stored scrape has expired.
    pub fn expired() -> Self {
        Self::NoReplay("it has expired; scrape the page again".to_owned())
    }

    /// The scrape converted an uploaded file.
    pub fn upload() -> Self {
        Self::NoReplay("it converted an uploaded file, so there is no page to open".to_owned())
    }

    /// The stored headers or actions of the scrape were discarded.
    pub fn discarded() -> Self {
        Self::NoReplay(
            "the key that encrypted its headers and actions is lost; scrape the page again".to_owned(),
        )
    }

    /// The scrape is still running.
    pub fn running() -> Self {
        Self::NoReplay("it is still running; try again when it has completed".to_owned())
    }

    /// The job does not scrape a page.
    pub fn no_page() -> Self {
        Self::NoReplay("it is not a scraped page".to_owned())
    }

    /// The page of the job failed.
    pub fn failed_page() -> Self {
        Self::NoReplay("the page could not be fetched; scrape it again".to_owned())
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let (code, message) = match error {
            SessionError::NoScrape => (
                ErrorCode::NotFound,
                "no scrape has this id; use `metadata.scrapeId` of a document".to_owned(),
            ),
            SessionError::NoSession => (
                ErrorCode::NotFound,
                "no browser session has this id; it may have ended".to_owned(),
            ),
            SessionError::OtherTeam => (ErrorCode::Forbidden, "this belongs to another team".to_owned()),
            SessionError::Destroyed => (
                ErrorCode::SessionDestroyed,
                "the browser session has ended; scrape the page again or open a new session".to_owned(),
            ),
            SessionError::InUse => (
                ErrorCode::Conflict,
                "the browser session already continues another scrape".to_owned(),
            ),
            SessionError::NoReplay(why) => (
                ErrorCode::ReplayUnavailable,
                format!("the scrape cannot be continued: {why}"),
            ),
            SessionError::TeamLimit(most) => (
                ErrorCode::ConcurrencyLimited,
                format!(
                    "the team has reached its limit of {most} browser sessions; end one, or try again later"
                ),
            ),
            SessionError::ServerLimit => (
                ErrorCode::ConcurrencyLimited,
                "the server has reached its limit of browser sessions; try again later".to_owned(),
            ),
            SessionError::CallLimit(most) => (
                ErrorCode::ConcurrencyLimited,
                format!("{most} calls already wait for this browser session; try again when they are done"),
            ),
            SessionError::ProfileBusy(name) => (
                ErrorCode::ProfileBusy,
                format!(
                    "another session or scrape is writing to the profile `{name}`; wait until it ends, or send \
                     `saveChanges: false`"
                ),
            ),
        };
        let mut api_error = ApiError::new(code, message);
        if code == ErrorCode::ConcurrencyLimited {
            api_error.retry_after_s = Some(RETRY_AFTER_S);
        }
        api_error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(lifetime: Lifetime, last_activity_s: u64) -> u64 {
        let at = |seconds: u64| Timestamp(seconds * 1_000);
        lifetime.ends_at(at(1_000), at(1_000 + last_activity_s)).0 / 1_000 - 1_000
    }

    #[test]
    fn a_session_ends_after_its_ttl_or_idle_timeout() {
        let interact =
            |body: &str| Lifetime::of_interact(&InteractRequest::from_json(body.as_bytes()).unwrap());
        let default = interact(r#"{"code":"1"}"#);
        assert_eq!(
            [0, 100, 299, 300, 599].map(|at| ends(default, at)),
            [300, 400, 599, 600, 600]
        );
        let custom = interact(r#"{"code":"1","ttl":60,"activityTtl":3600}"#);
        assert_eq!(ends(custom, 0), 60);

        let browser = |body: &str| Lifetime::of_browser(&BrowserRequest::from_json(body.as_bytes()).unwrap());
        assert_eq!(ends(browser("{}"), 0), 300);
        assert_eq!(ends(browser(r#"{"ttl":600}"#), 0), 600);
        assert_eq!(ends(browser(r#"{"ttl":600,"activityTtl":10}"#), 5), 15);
    }

    #[test]
    fn session_urls_use_the_base_url_of_the_caller() {
        let views = ViewTokens {
            view: "v".to_owned(),
            control: "i".to_owned(),
        };
        let mut tokens = SessionTokens {
            cdp: "c".to_owned(),
            views: Some(views),
        };
        let urls = tokens.urls("https://http.example/x");
        assert_eq!(urls.cdp, "wss://http.example/x/cdp/c");
        assert_eq!(urls.live_view, "https://http.example/x/live/v");
        assert_eq!(urls.interactive_live_view, "https://http.example/x/live/i");
        assert!(!format!("{tokens:?}").contains('c'));
        tokens.views = None;
        let urls = tokens.urls("http://127.0.0.1:3002");
        assert_eq!(urls.cdp, "ws://127.0.0.1:3002/cdp/c");
        assert_eq!(
            (urls.live_view, urls.interactive_live_view),
            (String::new(), String::new())
        );
    }

    #[test]
    fn every_session_error_has_its_documented_status() {
        let check = |error: SessionError, status, code| {
            let error = ApiError::from(error.clone());
            assert_eq!((error.status(), error.code.as_str()), (status, code), "{error:?}");
            assert_eq!(error.retry_after_s.is_some(), status == 429, "{error:?}");
        };
        check(SessionError::NoScrape, 404, "NOT_FOUND");
        check(SessionError::NoSession, 404, "NOT_FOUND");
        check(SessionError::OtherTeam, 403, "FORBIDDEN");
        check(SessionError::Destroyed, 410, "SESSION_DESTROYED");
        check(SessionError::InUse, 409, "CONFLICT");
        check(SessionError::expired(), 409, "REPLAY_UNAVAILABLE");
        check(SessionError::upload(), 409, "REPLAY_UNAVAILABLE");
        check(SessionError::TeamLimit(2), 429, "CONCURRENCY_LIMITED");
        check(SessionError::ServerLimit, 429, "CONCURRENCY_LIMITED");
        check(SessionError::CallLimit(16), 429, "CONCURRENCY_LIMITED");
        check(SessionError::ProfileBusy("shop".to_owned()), 409, "PROFILE_BUSY");
    }
}
