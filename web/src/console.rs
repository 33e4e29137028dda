//! What every screen shares: who is signed in, how the server is, which crawls run, and the voice of
//! the polite live region. Signals only; no request is made by a component without it.

use harvestman_client::{Client, ClientError, ConsoleInfo, ConsoleSession, Readiness};
use harvestman_core::api::crawl::ActiveCrawl;
use leptos::prelude::*;

use crate::browser;
use crate::limits::{REST_MS, TOAST_MS};
use crate::theme::Theme;

/// Whether requests can be made.
#[derive(Clone, PartialEq, Debug)]
pub enum Access {
    /// Not known yet.
    Checking,
    /// No key, and the server wants one; with what went wrong before, if anything did.
    SignedOut(Option<String>),
    /// A key, or a server without keys.
    In,
}

/// The shared signals. Copied into closures.
#[derive(Clone, Copy)]
pub struct Console {
    /// Key in use; none in open mode.
    pub key: RwSignal<Option<String>>,
    /// Whether requests can be made.
    pub access: RwSignal<Access>,
    /// Parts of the server; none before the first answer.
    pub readiness: RwSignal<Option<Readiness>>,
    /// Facts about the server.
    pub info: RwSignal<ConsoleInfo>,
    /// Pages of the team that wait for a slot.
    pub waiting: RwSignal<u64>,
    /// The server did not answer the last time.
    pub lost: RwSignal<bool>,
    /// Rises when the server, the network or the reader is back: what waits to try again tries now.
    pub back: RwSignal<u64>,
    /// Running crawls, newest first.
    pub active: RwSignal<Vec<ActiveCrawl>>,
    /// Live browsers, newest first.
    pub sessions: RwSignal<Vec<ConsoleSession>>,
    /// Colour scheme.
    pub theme: RwSignal<Theme>,
    /// Ticks with every look at the server; lists that want to stay fresh listen to it.
    pub pulse: RwSignal<u64>,
    /// The shortcuts dialog is open.
    pub help: RwSignal<bool>,
    /// The command palette is open.
    pub palette: RwSignal<bool>,
    /// A screen has been shown before, so that focus may move to the next one's heading.
    pub visited: StoredValue<bool>,
    said: RwSignal<String>,
    shown: RwSignal<bool>,
    turn: StoredValue<u64>,
}

impl Console {
    /// Makes the signals and gives them to every component below.
    pub fn provide() -> Self {
        let console = Self {
            key: RwSignal::new(None),
            access: RwSignal::new(Access::Checking),
            readiness: RwSignal::new(None),
            info: RwSignal::new(ConsoleInfo::default()),
            waiting: RwSignal::new(0),
            lost: RwSignal::new(false),
            back: RwSignal::new(0),
            active: RwSignal::new(Vec::new()),
            sessions: RwSignal::new(Vec::new()),
            theme: RwSignal::new(Theme::stored()),
            pulse: RwSignal::new(0),
            help: RwSignal::new(false),
            palette: RwSignal::new(false),
            visited: StoredValue::new(false),
            said: RwSignal::new(String::new()),
            shown: RwSignal::new(false),
            turn: StoredValue::new(0),
        };
        provide_context(console);
        console
    }

    /// The shared signals.
    pub fn get() -> Self {
        expect_context()
    }

    /// A client with the key in use.
    pub fn client(self) -> Client {
        Client::new(browser::origin(), self.key.get_untracked())
    }

    /// Says something to everyone: a toast, and the polite live region.
    pub fn say(self, text: impl Into<String>) {
        self.said.set(text.into());
        self.shown.set(true);
        let turn = self.turn.with_value(|turn| turn + 1);
        self.turn.set_value(turn);
        leptos::task::spawn_local(async move {
            browser::sleep(TOAST_MS).await;
            if self.turn.get_value() == turn {
                self.shown.set(false);
            }
        });
    }

    /// What was said last, and whether it is still shown.
    pub fn said(self) -> (RwSignal<String>, RwSignal<bool>) {
        (self.said, self.shown)
    }

    /// Waits, but no longer than until something is back.
    pub async fn rest(self, ms: u32) {
        let back = self.back.get_untracked();
        let until = browser::now_ms() + f64::from(ms);
        while self.back.get_untracked() == back {
            let left = until - browser::now_ms();
            if left <= 0.0 {
                break;
            }
            browser::sleep((left as u32).clamp(1, REST_MS)).await;
        }
    }

    /// Takes note of a failure that concerns every screen: a key that is not accepted any more, or a
    /// server that does not answer.
    pub fn note(self, error: &ClientError) {
        if error.is_unauthorized() {
            self.access.set(Access::SignedOut(Some(error.to_string())));
        } else if matches!(error, ClientError::Network(_)) {
            self.lost.set(true);
        }
    }
}
