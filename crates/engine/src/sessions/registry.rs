//! The active sessions of this server: by id, by scrape and by token, and their number per team.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};
use harvestman_core::interact::SessionError;
use harvestman_core::time::Timestamp;

use super::DoorAccess;
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
    of_scrapes: HashMap<ScrapeId, SessionId>,
    tokens: HashMap<String, (SessionId, DoorAccess)>,
    /// Number of browsers per team, including those being opened.
    places: HashMap<TeamId, usize>,
    first_calls: HashMap<ScrapeId, Weak<tokio::sync::Mutex<()>>>,
    /// Ends that are not stored yet.
    unsettled: HashMap<SessionId, End>,
    /// No session is added any more.
    closed: bool,
}

/// When a session ended, and when it was last used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) last_activity: Timestamp,
    pub(crate) at: Timestamp,
}

/// Permit for one browser of a team; released on drop.
pub(crate) struct Place {
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
    pub(crate) fn place(&self, team: TeamId) -> Result<Place, SessionError> {
        let mut state = self.state();
        let of_all: usize = state.places.values().sum();
        let taken = state.places.get(&team).copied().unwrap_or_default();
        let most = self.plans.of(team).max_sessions;
        if taken >= most {
            return Err(SessionError::TeamLimit(most));
        }
        if of_all >= limits::SESSIONS_AT_ONCE {
            return Err(SessionError::ServerLimit);
        }
        state.places.insert(team, taken + 1);
        Ok(Place {
            state: self.state.clone(),
            team,
        })
    }

    /// Returns the lock that serializes opening the session of a scrape.
    pub(crate) fn first_call(&self, scrape: ScrapeId) -> Arc<tokio::sync::Mutex<()>> {
        let mut state = self.state();
        state.first_calls.retain(|_, call| call.strong_count() > 0);
        if let Some(call) = state.first_calls.get(&scrape).and_then(Weak::upgrade) {
            return call;
        }
        let call = Arc::default();
        state.first_calls.insert(scrape, Arc::downgrade(&call));
        call
    }

    /// Adds a session; returns false during shutdown.
    pub(crate) fn add(&self, session: Arc<LiveSession>, scrape: Option<ScrapeId>) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        let id = session.id;
        let tokens = &session.tokens;
        let mut door = |token: &String, access| state.tokens.insert(token.clone(), (id, access));
        door(&tokens.cdp, DoorAccess::Cdp);
        if let Some(views) = &tokens.views {
            door(&views.view, DoorAccess::View);
            door(&views.control, DoorAccess::Control);
        }
        state.of_scrapes.extend(scrape.map(|scrape| (scrape, id)));
        state.sessions.insert(id, session);
        true
    }

    /// Returns whether the session already continues a scrape.
    pub(crate) fn continues_one(&self, id: SessionId) -> bool {
        self.state().of_scrapes.values().any(|of| *of == id)
    }

    /// Records that the session continues this scrape.
    pub(crate) fn bind(&self, id: SessionId, scrape: ScrapeId) {
        self.state().of_scrapes.insert(scrape, id);
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<LiveSession>> {
        self.state().sessions.get(&id).cloned()
    }

    pub(crate) fn of_scrape(&self, scrape: ScrapeId) -> Option<Arc<LiveSession>> {
        let state = self.state();
        let id = state.of_scrapes.get(&scrape)?;
        state.sessions.get(id).cloned()
    }

    pub(crate) fn by_token(&self, token: &str) -> Option<(Arc<LiveSession>, DoorAccess)> {
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
        state.tokens.retain(|_, (of, _)| *of != id);
        state.of_scrapes.retain(|_, of| *of != id);
        Some(session)
    }

    /// Stops adding sessions.
    pub(crate) fn close(&self) {
        self.state().closed = true;
    }

    /// Records an end that the store could not take.
    pub(crate) fn owe(&self, id: SessionId, end: End) {
        self.state().unsettled.insert(id, end);
    }

    /// Takes an end that is not stored yet, to store it.
    pub(crate) fn take_owed(&self, id: SessionId) -> Option<End> {
        self.state().unsettled.remove(&id)
    }

    /// Returns the sessions whose end is not stored yet.
    pub(crate) fn owed(&self) -> Vec<SessionId> {
        self.state().unsettled.keys().copied().collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        if let Some(taken) = state.places.get_mut(&self.team) {
            *taken -= 1;
            if *taken == 0 {
                state.places.remove(&self.team);
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

    fn with_places(per_team: usize) -> Registry {
        Registry::new(Plans::new(Limits::at_once(per_team), BTreeMap::new()))
    }

    #[test]
    fn a_team_has_no_more_browsers_than_its_limit() {
        let registry = with_places(2);
        let (team, other) = (TeamId(new_id()), TeamId(new_id()));
        let first = registry.place(team).ok();
        let _second = registry.place(team).ok();
        assert_eq!(registry.place(team).err(), Some(SessionError::TeamLimit(2)));
        assert!(registry.place(other).is_ok());
        drop(first);
        assert!(registry.place(team).is_ok());

        let registry = with_places(limits::SESSIONS_AT_ONCE);
        let all: Vec<_> = (0..limits::SESSIONS_AT_ONCE - 1)
            .map(|_| registry.place(team))
            .collect();
        let last = registry.place(other);
        assert_eq!(registry.place(other).err(), Some(SessionError::ServerLimit));
        drop((all, last));
        assert!(registry.state().places.is_empty());
    }

    #[tokio::test]
    async fn first_calls_of_a_scrape_are_serialized() {
        let registry = with_places(1);
        let scrape = ScrapeId(new_id());
        let call = registry.first_call(scrape);
        let held = call.lock().await;
        assert!(registry.first_call(scrape).try_lock().is_err());
        assert!(registry.first_call(ScrapeId(new_id())).try_lock().is_ok());
        drop(held);
        drop(call);
        assert!(registry.first_call(scrape).try_lock().is_ok());
        assert_eq!(
            registry.state().first_calls.len(),
            1,
            "finished calls leave no entry"
        );
    }
}
