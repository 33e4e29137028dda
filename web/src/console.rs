//! State that every screen shares: API key, server health, running work, theme and toast. It only holds signals;
//! [`crate::sign_in`] polls the server and updates them. Components get their API client here.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::console::{ConsoleInfo, ConsoleSession};
use harvestman_core::api::crawl::ActiveCrawl;
use harvestman_core::api::health::Readiness;
use leptos::prelude::*;

use crate::browser;
use crate::limits::{RETRY_CHECK_MS, TOAST_MS};
use crate::theme::Theme;

/// Whether the console can make requests.
#[derive(Clone, PartialEq, Debug)]
pub enum Access {
    /// Not known yet.
    Checking,
    /// The server requires a key and there is none; with the error of an earlier attempt.
    SignedOut(Option<String>),
    /// There is a key, or the server needs none.
    Granted,
}

/// The shared signals. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct Console {
    /// Current API key; none in open mode.
    pub key: RwSignal<Option<String>>,
    /// Whether the console can make requests.
    pub access: RwSignal<Access>,
    /// Health of the server's parts; none before the first response.
    pub readiness: RwSignal<Option<Readiness>>,
    /// Version, limits and concurrency of the server.
    pub info: RwSignal<ConsoleInfo>,
    /// Number of the team's pages that wait for a slot.
    pub waiting: RwSignal<u64>,
    /// The last request to the server got no response.
    pub disconnected: RwSignal<bool>,
    /// Incremented when the server, the network or the user comes back, so that pending retries run at once.
    pub reconnects: RwSignal<u64>,
    /// Running crawls, newest first.
    pub active: RwSignal<Vec<ActiveCrawl>>,
    /// Live browser sessions, newest first.
    pub sessions: RwSignal<Vec<ConsoleSession>>,
    /// Color scheme.
    pub theme: RwSignal<Theme>,
    /// Incremented after every poll of the server; lists that stay current depend on it.
    pub polls: RwSignal<u64>,
    /// Whether the shortcuts dialog is open.
    pub shortcuts_open: RwSignal<bool>,
    /// Whether the command palette is open.
    pub palette_open: RwSignal<bool>,
    /// Whether a screen was shown before, so that the next one moves the focus to its heading.
    pub screen_shown: StoredValue<bool>,
    /// Id of the browser that the user opened last: nobody else has control of it.
    pub opened_session: StoredValue<String>,
    toast_text: RwSignal<String>,
    toast_visible: RwSignal<bool>,
    toast_generation: StoredValue<u64>,
}

impl Console {
    /// Creates the signals and provides them to every component below.
    pub fn provide() -> Self {
        let console = Self {
            key: RwSignal::new(None),
            access: RwSignal::new(Access::Checking),
            readiness: RwSignal::new(None),
            info: RwSignal::new(ConsoleInfo::default()),
            waiting: RwSignal::new(0),
            disconnected: RwSignal::new(false),
            reconnects: RwSignal::new(0),
            active: RwSignal::new(Vec::new()),
            sessions: RwSignal::new(Vec::new()),
            theme: RwSignal::new(Theme::from_storage()),
            polls: RwSignal::new(0),
            shortcuts_open: RwSignal::new(false),
            palette_open: RwSignal::new(false),
            screen_shown: StoredValue::new(false),
            opened_session: StoredValue::new(String::new()),
            toast_text: RwSignal::new(String::new()),
            toast_visible: RwSignal::new(false),
            toast_generation: StoredValue::new(0),
        };
        provide_context(console);
        console
    }

    /// Returns the shared signals.
    ///
    /// # Panics
    /// Panics outside of a component below [`Console::provide`].
    pub fn get() -> Self {
        expect_context()
    }

    /// Returns an API client with the current key.
    pub fn client(self) -> Client {
        Client::new(browser::origin(), self.key.get_untracked())
    }

    /// Shows a toast, which screen readers announce.
    pub fn notify(self, text: impl Into<String>) {
        self.toast_text.set(text.into());
        self.toast_visible.set(true);
        let generation = self.toast_generation.with_value(|generation| generation + 1);
        self.toast_generation.set_value(generation);
        leptos::task::spawn_local(async move {
            browser::sleep(TOAST_MS).await;
            if self.toast_generation.get_value() == generation {
                self.toast_visible.set(false);
            }
        });
    }

    /// Returns the text of the latest toast, and whether it is still visible.
    pub fn toast(self) -> (RwSignal<String>, RwSignal<bool>) {
        (self.toast_text, self.toast_visible)
    }

    /// Waits for `ms` milliseconds, or until [`Console::reconnects`] changes.
    pub async fn wait_for_retry(self, ms: u32) {
        let reconnects = self.reconnects.get_untracked();
        let until = browser::now_ms() + f64::from(ms);
        while self.reconnects.get_untracked() == reconnects {
            let left = until - browser::now_ms();
            if left <= 0.0 {
                break;
            }
            browser::sleep((left as u32).clamp(1, RETRY_CHECK_MS)).await;
        }
    }

    /// Handles an error that concerns every screen: a key that is no longer valid, or a server that does not respond. A
    /// late refusal of an earlier key concerns none.
    pub fn handle_error(self, error: &ClientError) {
        if self.key.with_untracked(|key| error.refuses(key.as_deref())) {
            self.access.set(Access::SignedOut(Some(error.to_string())));
        } else if matches!(error, ClientError::Network(_)) {
            self.disconnected.set(true);
        }
    }

    /// Handles an error and returns its text, for the screen that shows it.
    pub fn report(self, error: &ClientError) -> String {
        self.handle_error(error);
        error.to_string()
    }

    /// Handles an error and shows its text as a toast.
    pub fn notify_error(self, error: &ClientError) {
        self.notify(self.report(error));
    }
}

/// Shows the result of a poll. Data that is known stays: it is more useful than the error of a failed poll.
pub fn show_poll<T, E>(shown: RwSignal<Option<Result<T, E>>>, result: Result<T, E>)
where
    Result<T, E>: Send + Sync + 'static,
{
    let has_data = shown.try_with_untracked(|known| matches!(known, Some(Ok(_)))) == Some(true);
    if result.is_ok() || !has_data {
        shown.try_set(Some(result));
    }
}
