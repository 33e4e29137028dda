//! The active sessions of this server: by id, by scrape and by token.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use harvestman_browser::{LiveBrowser, LiveBrowsers};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::{ScrapeId, SessionId};
use harvestman_core::time::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::live::LiveSession;
use super::permits::SessionPermits;
use crate::holdings::{Holdings, Need};
use crate::plans::Plans;

/// Access to a session through one of its tokens.
#[derive(Clone)]
pub struct SessionHandle {
    /// The browser.
    pub browser: LiveBrowser,
    /// What the token allows.
    pub access: TokenAccess,
    /// Cancelled when the session ends.
    pub ended: CancellationToken,
}

/// What a session token allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenAccess {
    /// View the browser.
    View,
    /// View the browser and send input to it.
    Control,
    /// Use the Chrome DevTools Protocol.
    Cdp,
}

/// The sessions of this server.
pub(crate) struct Sessions {
    /// `None` if no browser is configured.
    pub(super) browsers: Option<LiveBrowsers>,
    pub(super) registry: Registry,
    pub(super) permits: SessionPermits,
}

impl Sessions {
    pub(crate) fn new(browsers: Option<LiveBrowsers>, plans: Plans, holdings: Holdings) -> Self {
        Self {
            browsers,
            registry: Registry::default(),
            permits: SessionPermits::new(plans, holdings),
        }
    }

    /// Returns how many units of the shared limits the sessions of each team need.
    pub(crate) fn permits_needed(&self) -> Vec<Need> {
        self.permits.needs()
    }

    /// Returns the number of open sessions.
    pub(crate) fn open_sessions(&self) -> usize {
        self.registry.all().len()
    }

    /// Returns the browsers of sessions.
    ///
    /// # Errors
    /// 503 if no browser is configured.
    pub(super) fn browsers(&self) -> Result<&LiveBrowsers, ApiError> {
        self.browsers.as_ref().ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotConfigured,
                "browser sessions need a browser, but none is configured on this server",
            )
        })
    }
}

/// All active sessions.
#[derive(Default)]
pub(crate) struct Registry(Mutex<State>);

#[derive(Default)]
struct State {
    sessions: HashMap<SessionId, Arc<LiveSession>>,
    sessions_by_scrape: HashMap<ScrapeId, SessionId>,
    tokens: HashMap<String, (SessionId, TokenAccess)>,
    opening_locks: HashMap<ScrapeId, Weak<tokio::sync::Mutex<()>>>,
    /// Ends that are not stored yet.
    unsettled: HashMap<SessionId, SessionEnd>,
    /// No more sessions are added.
    closed: bool,
    /// How often this node had lost what it held when it last compared its sessions with the store.
    losses: u64,
}

/// When a session ended, and when it was last used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionEnd {
    pub(crate) last_activity: Timestamp,
    pub(crate) at: Timestamp,
}

impl Registry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    /// Returns the lock that serializes opening the session of a scrape.
    pub(crate) fn opening_lock(&self, scrape: ScrapeId) -> Arc<tokio::sync::Mutex<()>> {
        let mut state = self.state();
        state.opening_locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = state.opening_locks.get(&scrape).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        state.opening_locks.insert(scrape, Arc::downgrade(&lock));
        lock
    }

    /// Adds a session; returns false during shutdown.
    pub(crate) fn add(&self, session: Arc<LiveSession>, scrape: Option<ScrapeId>) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        let id = session.id;
        let tokens = &session.tokens;
        let mut add_token = |token: &String, access| state.tokens.insert(token.clone(), (id, access));
        add_token(&tokens.cdp, TokenAccess::Cdp);
        if let Some(views) = &tokens.views {
            add_token(&views.view, TokenAccess::View);
            add_token(&views.control, TokenAccess::Control);
        }
        state.sessions_by_scrape.extend(scrape.map(|scrape| (scrape, id)));
        state.sessions.insert(id, session);
        true
    }

    /// Returns whether the session already continues a scrape.
    pub(crate) fn continues_a_scrape(&self, id: SessionId) -> bool {
        self.state()
            .sessions_by_scrape
            .values()
            .any(|session_id| *session_id == id)
    }

    /// Records that the session continues this scrape.
    pub(crate) fn bind(&self, id: SessionId, scrape: ScrapeId) {
        self.state().sessions_by_scrape.insert(scrape, id);
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<LiveSession>> {
        self.state().sessions.get(&id).cloned()
    }

    pub(crate) fn by_scrape(&self, scrape: ScrapeId) -> Option<Arc<LiveSession>> {
        let state = self.state();
        let id = state.sessions_by_scrape.get(&scrape)?;
        state.sessions.get(id).cloned()
    }

    pub(crate) fn by_token(&self, token: &str) -> Option<(Arc<LiveSession>, TokenAccess)> {
        let state = self.state();
        let (id, access) = state.tokens.get(token)?;
        let session = state.sessions.get(id)?;
        Some((session.clone(), *access))
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveSession>> {
        self.state().sessions.values().cloned().collect()
    }

    /// Removes a session and all its keys.
    pub(crate) fn remove(&self, id: SessionId) -> Option<Arc<LiveSession>> {
        let mut state = self.state();
        let session = state.sessions.remove(&id)?;
        state.tokens.retain(|_, (session_id, _)| *session_id != id);
        state.sessions_by_scrape.retain(|_, session_id| *session_id != id);
        Some(session)
    }

    /// Stops adding sessions.
    pub(crate) fn close(&self) {
        self.state().closed = true;
    }

    pub(crate) fn losses(&self) -> u64 {
        self.state().losses
    }

    pub(crate) fn set_losses(&self, losses: u64) {
        self.state().losses = losses;
    }

    /// Records an end that the store could not take.
    pub(crate) fn add_unsettled(&self, id: SessionId, end: SessionEnd) {
        self.state().unsettled.insert(id, end);
    }

    /// Takes an end that is not stored yet, to store it.
    pub(crate) fn take_unsettled(&self, id: SessionId) -> Option<SessionEnd> {
        self.state().unsettled.remove(&id)
    }

    /// Returns the sessions whose end is not stored yet.
    pub(crate) fn unsettled(&self) -> Vec<SessionId> {
        self.state().unsettled.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use harvestman_store::new_id;

    use super::*;

    #[tokio::test]
    async fn first_calls_of_a_scrape_are_serialized() {
        let registry = Registry::default();
        let scrape = ScrapeId(new_id());
        let lock = registry.opening_lock(scrape);
        let guard = lock.lock().await;
        assert!(registry.opening_lock(scrape).try_lock().is_err());
        assert!(registry.opening_lock(ScrapeId(new_id())).try_lock().is_ok());
        drop(guard);
        drop(lock);
        assert!(registry.opening_lock(scrape).try_lock().is_ok());
        assert_eq!(
            registry.state().opening_locks.len(),
            1,
            "finished calls leave no entry"
        );
    }
}
