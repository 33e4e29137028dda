//! How many browsers a team, and all teams together, may have open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harvestman_core::ids::TeamId;
use harvestman_core::interact::SessionError;

use crate::limits;
use crate::plans::Plans;

/// Number of browsers per team, including those being opened.
type BrowsersByTeam = HashMap<TeamId, usize>;

/// The permits of all teams.
pub(crate) struct SessionPermits {
    plans: Plans,
    browsers: Arc<Mutex<BrowsersByTeam>>,
}

/// Permit for one browser of a team; released on drop.
pub(crate) struct SessionPermit {
    browsers: Arc<Mutex<BrowsersByTeam>>,
    team: TeamId,
}

impl SessionPermits {
    pub(crate) fn new(plans: Plans) -> Self {
        let browsers = Arc::default();
        Self { plans, browsers }
    }

    /// Returns a permit for a browser of the team.
    ///
    /// # Errors
    /// 429 if the team or the server has reached its limit.
    pub(crate) fn permit(&self, team: TeamId) -> Result<SessionPermit, SessionError> {
        let mut browsers = locked(&self.browsers);
        let total: usize = browsers.values().sum();
        let in_use = browsers.get(&team).copied().unwrap_or_default();
        let limit = self.plans.of_this_node(team).max_sessions;
        if in_use >= limit {
            return Err(SessionError::TeamLimit(limit));
        }
        if total >= limits::SESSIONS_AT_ONCE {
            return Err(SessionError::ServerLimit);
        }
        browsers.insert(team, in_use + 1);
        Ok(SessionPermit {
            browsers: self.browsers.clone(),
            team,
        })
    }
}

impl Drop for SessionPermit {
    fn drop(&mut self) {
        let mut browsers = locked(&self.browsers);
        if let Some(in_use) = browsers.get_mut(&self.team) {
            *in_use -= 1;
            if *in_use == 0 {
                browsers.remove(&self.team);
            }
        }
    }
}

fn locked(browsers: &Mutex<BrowsersByTeam>) -> MutexGuard<'_, BrowsersByTeam> {
    browsers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harvestman_store::new_id;

    use super::*;
    use crate::plans::Limits;

    fn with_limit(per_team: usize) -> SessionPermits {
        SessionPermits::new(Plans::new(Limits::at_once(per_team), BTreeMap::new()))
    }

    #[test]
    fn a_team_has_no_more_browsers_than_its_limit() {
        let permits = with_limit(2);
        let (team, other) = (TeamId(new_id()), TeamId(new_id()));
        let first = permits.permit(team).ok();
        let _second = permits.permit(team).ok();
        assert_eq!(permits.permit(team).err(), Some(SessionError::TeamLimit(2)));
        assert!(permits.permit(other).is_ok());
        drop(first);
        assert!(permits.permit(team).is_ok());

        let permits = with_limit(limits::SESSIONS_AT_ONCE);
        let all: Vec<_> = (0..limits::SESSIONS_AT_ONCE - 1)
            .map(|_| permits.permit(team))
            .collect();
        let last = permits.permit(other);
        assert_eq!(permits.permit(other).err(), Some(SessionError::ServerLimit));
        drop((all, last));
        assert!(locked(&permits.browsers).is_empty());
    }
}
