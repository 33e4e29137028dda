//! The rules of browser sessions (contract sections 6.11, 6.12, 11 and 17): how long one lives, which scrapes can be
//! continued, under which addresses a session is reached, and what a caller is told; and what a prompt in plain words
//! asks for, by rules. It opens no browser.

pub mod element;
pub mod steps;
mod words;

use std::time::Duration;

use crate::api::browser::BrowserRequest;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::interact::InteractRequest;
use crate::limits::{DEFAULT_INTERACT_IDLE_S, DEFAULT_INTERACT_TTL_S};
use crate::time::Timestamp;

/// How long a session may live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// In all.
    pub ttl: Duration,
    /// Without execution, debugging traffic or live-view input.
    pub idle: Duration,
}

impl Lifetime {
    /// Of the session that the first interact of a scrape makes.
    pub fn of_interact(request: &InteractRequest) -> Self {
        Self {
            ttl: Duration::from_secs(request.ttl.unwrap_or(DEFAULT_INTERACT_TTL_S)),
            idle: Duration::from_secs(request.activity_ttl.unwrap_or(DEFAULT_INTERACT_IDLE_S)),
        }
    }

    /// Of a session of its own; without an idle time it lives as long as it may.
    pub fn of_browser(request: &BrowserRequest) -> Self {
        Self {
            ttl: Duration::from_secs(request.ttl),
            idle: Duration::from_secs(request.activity_ttl.unwrap_or(request.ttl)),
        }
    }

    /// When a session ends unless something happens in it before.
    pub fn ends_at(self, created: Timestamp, last_activity: Timestamp) -> Timestamp {
        (created + self.ttl).min(last_activity + self.idle)
    }
}

/// Secrets that open a session from outside. They end with it.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Opens the debugging protocol.
    pub cdp: String,
    /// Open the live views, where there are any.
    pub views: Option<ViewTokens>,
}

/// Secrets of the live views.
#[derive(Clone, PartialEq, Eq)]
pub struct ViewTokens {
    /// Opens the view that only shows.
    pub view: String,
    /// Opens the view that takes input.
    pub control: String,
}

/// Where a session is reached. A live view that is not offered has an empty address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Addresses {
    /// WebSocket of the debugging protocol.
    pub cdp: String,
    /// Page that shows the browser.
    pub live_view: String,
    /// Page that shows the browser and takes input.
    pub interactive_live_view: String,
}

impl Tokens {
    /// The addresses below `base`, the server's address as the caller knows it.
    pub fn addresses(&self, base: &str) -> Addresses {
        let live =
            |token: Option<&String>| token.map_or_else(String::new, |token| format!("{base}/live/{token}"));
        let views = self.views.as_ref();
        Addresses {
            // `http` becomes `ws`, `https` becomes `wss`.
            cdp: format!("{}/cdp/{}", base.replacen("http", "ws", 1), self.cdp),
            live_view: live(views.map(|views| &views.view)),
            interactive_live_view: live(views.map(|views| &views.control)),
        }
    }
}

/// Secrets are shown to nobody, not even to the log.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

impl std::fmt::Debug for ViewTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ViewTokens")
    }
}

/// Why a session cannot be had or used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No scrape has this id.
    NoScrape,
    /// No session has this id, or none belongs to this scrape.
    NoSession,
    /// Another team's.
    OtherTeam,
    /// The session is over.
    Destroyed,
    /// The session already continues another scrape.
    Taken,
    /// The scrape cannot be done again, for this reason.
    NoReplay(String),
    /// The team has this many sessions already.
    TooMany(usize),
    /// The server has as many sessions as it may.
    Full,
    /// This many calls wait for the session already.
    TooBusy(usize),
    /// Another session or scrape will write to this profile.
    ProfileBusy(String),
}

/// When another session or call may be tried, in seconds.
const RETRY_AFTER_S: u32 = 5;

impl Refusal {
    /// A scrape whose request and result were not kept.
    pub fn zero_data_retention() -> Self {
        Self::NoReplay("it was made with zero data retention, so nothing of it was kept".to_owned())
    }

    /// A scrape whose result is gone.
    pub fn expired() -> Self {
        Self::NoReplay("it has expired; scrape the page again".to_owned())
    }

    /// A file that was sent to be converted.
    pub fn upload() -> Self {
        Self::NoReplay("it converted an uploaded file, which has no page to go on with".to_owned())
    }

    /// A scrape without a result yet.
    pub fn running() -> Self {
        Self::NoReplay("it still runs; try again when it has ended".to_owned())
    }

    /// A job that scrapes no pages of its own.
    pub fn no_page() -> Self {
        Self::NoReplay("it is not a page that was scraped".to_owned())
    }

    /// A page of a job that could not be had.
    pub fn failed_page() -> Self {
        Self::NoReplay("the page could not be had; scrape it again".to_owned())
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (code, message) = match refusal {
            Refusal::NoScrape => (
                ErrorCode::NotFound,
                "no scrape has this id; use `metadata.scrapeId` of a document".to_owned(),
            ),
            Refusal::NoSession => (
                ErrorCode::NotFound,
                "there is no such browser session; it may have ended".to_owned(),
            ),
            Refusal::OtherTeam => (ErrorCode::Forbidden, "this belongs to another team".to_owned()),
            Refusal::Destroyed => (
                ErrorCode::SessionDestroyed,
                "the browser session is over; scrape the page again, or open another browser".to_owned(),
            ),
            Refusal::Taken => (
                ErrorCode::Conflict,
                "the browser session already continues another scrape".to_owned(),
            ),
            Refusal::NoReplay(why) => (
                ErrorCode::ReplayUnavailable,
                format!("the scrape cannot be continued: {why}"),
            ),
            Refusal::TooMany(most) => (
                ErrorCode::ConcurrencyLimited,
                format!(
                    "the team has {most} browser sessions, and may not have more; end one, or try again later"
                ),
            ),
            Refusal::Full => (
                ErrorCode::ConcurrencyLimited,
                "the server has as many browser sessions as it may; try again later".to_owned(),
            ),
            Refusal::TooBusy(most) => (
                ErrorCode::ConcurrencyLimited,
                format!("{most} calls wait for this browser session already; try again when they are done"),
            ),
            Refusal::ProfileBusy(name) => (
                ErrorCode::ProfileBusy,
                format!(
                    "another session or scrape writes to the profile `{name}`; wait for its end, or send `saveChanges: false`"
                ),
            ),
        };
        let mut error = ApiError::new(code, message);
        if code == ErrorCode::ConcurrencyLimited {
            error.retry_after_s = Some(RETRY_AFTER_S);
        }
        error
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
    fn a_session_ends_after_its_time_or_when_nothing_happens() {
        let interact =
            |body: &str| Lifetime::of_interact(&InteractRequest::from_json(body.as_bytes()).unwrap());
        let usual = interact(r#"{"code":"1"}"#);
        assert_eq!(
            [0, 100, 299, 300, 599].map(|at| ends(usual, at)),
            [300, 400, 599, 600, 600]
        );
        let given = interact(r#"{"code":"1","ttl":60,"activityTtl":3600}"#);
        assert_eq!(ends(given, 0), 60);

        let browser = |body: &str| Lifetime::of_browser(&BrowserRequest::from_json(body.as_bytes()).unwrap());
        assert_eq!(ends(browser("{}"), 0), 300);
        assert_eq!(ends(browser(r#"{"ttl":600}"#), 0), 600);
        assert_eq!(ends(browser(r#"{"ttl":600,"activityTtl":10}"#), 5), 15);
    }

    #[test]
    fn a_session_is_reached_under_the_address_that_the_caller_used() {
        let views = ViewTokens {
            view: "v".to_owned(),
            control: "i".to_owned(),
        };
        let mut tokens = Tokens {
            cdp: "c".to_owned(),
            views: Some(views),
        };
        let addresses = tokens.addresses("https://http.example/x");
        assert_eq!(addresses.cdp, "wss://http.example/x/cdp/c");
        assert_eq!(addresses.live_view, "https://http.example/x/live/v");
        assert_eq!(addresses.interactive_live_view, "https://http.example/x/live/i");
        assert!(!format!("{tokens:?}").contains('c'));
        tokens.views = None;
        let addresses = tokens.addresses("http://127.0.0.1:3002");
        assert_eq!(addresses.cdp, "ws://127.0.0.1:3002/cdp/c");
        assert_eq!(
            (addresses.live_view, addresses.interactive_live_view),
            (String::new(), String::new())
        );
    }

    #[test]
    fn every_refusal_has_the_status_of_the_contract() {
        let check = |refusal: Refusal, status, code| {
            let error = ApiError::from(refusal.clone());
            assert_eq!(
                (error.status(), error.code.as_str()),
                (status, code),
                "{refusal:?}"
            );
            assert_eq!(error.retry_after_s.is_some(), status == 429, "{refusal:?}");
        };
        check(Refusal::NoScrape, 404, "NOT_FOUND");
        check(Refusal::NoSession, 404, "NOT_FOUND");
        check(Refusal::OtherTeam, 403, "FORBIDDEN");
        check(Refusal::Destroyed, 410, "SESSION_DESTROYED");
        check(Refusal::Taken, 409, "CONFLICT");
        check(Refusal::expired(), 409, "REPLAY_UNAVAILABLE");
        check(Refusal::upload(), 409, "REPLAY_UNAVAILABLE");
        check(Refusal::TooMany(2), 429, "CONCURRENCY_LIMITED");
        check(Refusal::Full, 429, "CONCURRENCY_LIMITED");
        check(Refusal::TooBusy(16), 429, "CONCURRENCY_LIMITED");
        check(Refusal::ProfileBusy("shop".to_owned()), 409, "PROFILE_BUSY");
    }
}
