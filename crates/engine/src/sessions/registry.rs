//! The active sessions of this server: by id, by scrape and by token, and their number per team.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};
use harvestman_core::interact::SessionError;
use harvestman_core::time::Timestamp;

use super::TokenAccess;
use super::live::LiveSession;
use crate::limits;
use crate::plans::Plans;

/// All active sessions.
pub(crate) struct Registry {
    plans: Plans,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<SessionId, Arc<LiveSession>>,
    sessions_by_scrape: HashMap<ScrapeId, SessionId>,
    tokens: HashMap<String, (SessionId, TokenAccess)>,
    /// Number of browsers per team, including those being opened.
    browsers_by_team: HashMap<TeamId, usize>,
    opening_locks: HashMap<ScrapeId, Weak<tokio::sync::Mutex<()>>>,
    /// Ends that are not stored yet.
    unsettled: HashMap<SessionId, SessionEnd>,
    /// No session is added any more.
    closed: bool,
}

/// When a session ended, and when it was last used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionEnd {
    pub(crate) last_activity: Timestamp,
    pub(crate) at: Timestamp,
}

/// Permit for one browser of a team; released on drop.
pub(crate) struct SessionPermit {
    state: Arc<Mutex<State>>,
    team: TeamId,
}

impl Registry {
    pub(crate) fn new(plans: Plans) -> Self {
        Self {
            plans,
            state: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Returns a permit for a browser.
    ///
    /// # Errors
    /// 429 if the team or the server has reached its limit.
    pub(crate) fn permit(&self, team: TeamId) -> Result<SessionPermit, SessionError> {
        let mut state = self.state();
        let total: usize = state.browsers_by_team.values().sum();
        let in_use = state.browsers_by_team.get(&team).copied().unwrap_or_default();
        let limit = self.plans.of(team).max_sessions;
        if in_use >= limit {
            return Err(SessionError::TeamLimit(limit));
        }
        if total >= limits::SESSIONS_AT_ONCE {
            return Err(SessionError::ServerLimit);
        }
        state.browsers_by_team.insert(team, in_use + 1);
        Ok(SessionPermit {
            state: self.state.clone(),
            team,
        })
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

impl Drop for SessionPermit {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        if let Some(in_use) = state.browsers_by_team.get_mut(&self.team) {
            *in_use -= 1;
            if *in_use == 0 {
                state.browsers_by_team.remove(&self.team);
            }
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harvestman_store::new_id;

    use super::*;
    use crate::plans::Limits;

    fn with_limit(per_team: usize) -> Registry {
        Registry::new(Plans::new(Limits::at_once(per_team), BTreeMap::new()))
    }

    #[test]
    fn a_team_has_no_more_browsers_than_its_limit() {
        let registry = with_limit(2);
        let (team, other) = (TeamId(new_id()), TeamId(new_id()));
        let first = registry.permit(team).ok();
        let _second = registry.permit(team).ok();
        assert_eq!(registry.permit(team).err(), Some(SessionError::TeamLimit(2)));
        assert!(registry.permit(other).is_ok());
        drop(first);
        assert!(registry.permit(team).is_ok());

        let registry = with_limit(limits::SESSIONS_AT_ONCE);
        let all: Vec<_> = (0..limits::SESSIONS_AT_ONCE - 1)
            .map(|_| registry.permit(team))
            .collect();
        let last = registry.permit(other);
        assert_eq!(registry.permit(other).err(), Some(SessionError::ServerLimit));
        drop((all, last));
        assert!(registry.state().browsers_by_team.is_empty());
    }

    #[tokio::test]
    async fn first_calls_of_a_scrape_are_serialized() {
        let registry = with_limit(1);
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
