//! How many browsers a team, and all teams together, may have open.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::api::error::ApiError;
use harvestman_core::ids::TeamId;
use harvestman_core::interact::SessionError;
use parking_lot::Mutex;

use crate::holdings::{Holdings, Need, Subject};
use crate::limits;
use crate::plans::Plans;

/// Number of browsers per team, including those being opened.
type BrowsersByTeam = HashMap<TeamId, usize>;

/// The permits of all teams.
pub(crate) struct SessionPermits {
    plans: Plans,
    holdings: Holdings,
    browsers: Arc<Mutex<BrowsersByTeam>>,
}

/// Permit for one browser of a team; released on drop.
pub(crate) struct SessionPermit {
    browsers: Arc<Mutex<BrowsersByTeam>>,
    team: TeamId,
}

impl SessionPermits {
    pub(crate) fn new(plans: Plans, holdings: Holdings) -> Self {
        Self {
            plans,
            holdings,
            browsers: Arc::default(),
        }
    }

    /// Returns how many units of the shared limits the browsers of each team need.
    pub(crate) fn needs(&self) -> Vec<Need> {
        let teams: Vec<TeamId> = self.browsers.lock().keys().copied().collect();
        teams.into_iter().map(|team| self.need(team, 0)).collect()
    }

    fn need(&self, team: TeamId, more: u64) -> Need {
        let in_use = self.browsers.lock().get(&team).copied().unwrap_or_default() as u64;
        Need {
            subject: Subject::Sessions(team),
            in_use,
            wanted: in_use + more,
            limit: self.plans.of(team).max_sessions as u64,
        }
    }

    /// Returns a permit for a browser of the team.
    ///
    /// # Errors
    /// 429 if the team or the server has reached its limit; 503 if the store fails.
    pub(crate) async fn permit(&self, team: TeamId) -> Result<SessionPermit, ApiError> {
        match self.take(team) {
            Err(SessionError::TeamLimit(_)) if self.holdings.limits().is_some() => {}
            taken => return Ok(taken?),
        }
        loop {
            let mut in_use = 0;
            let need = || {
                let need = self.need(team, 1);
                in_use = need.in_use;
                need
            };
            let holding = self.holdings.exchange(Subject::Sessions(team), need).await?;
            match self.take(team) {
                // Another call took what this one borrowed.
                Err(SessionError::TeamLimit(_)) if holding.held > in_use => {}
                taken => return Ok(taken?),
            }
        }
    }

    fn take(&self, team: TeamId) -> Result<SessionPermit, SessionError> {
        let mut browsers = self.browsers.lock();
        let total: usize = browsers.values().sum();
        let in_use = browsers.get(&team).copied().unwrap_or_default();
        let limit = self.plans.of(team).max_sessions;
        let held = self.holdings.units(Subject::Sessions(team));
        if in_use >= limit || in_use as u64 >= held {
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
        let mut browsers = self.browsers.lock();
        if let Some(in_use) = browsers.get_mut(&self.team) {
            *in_use -= 1;
            if *in_use == 0 {
                browsers.remove(&self.team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harvestman_store::new_id;

    use super::*;
    use crate::plans::Limits;

    fn with_limit(per_team: usize) -> SessionPermits {
        SessionPermits::new(
            Plans::new(Limits::at_once(per_team), BTreeMap::new()),
            Holdings::new(None),
        )
    }

    #[test]
    fn a_team_has_no_more_browsers_than_its_limit() {
        let permits = with_limit(2);
        let (team, other) = (TeamId(new_id()), TeamId(new_id()));
        let first = permits.take(team).ok();
        let _second = permits.take(team).ok();
        assert_eq!(permits.take(team).err(), Some(SessionError::TeamLimit(2)));
        assert!(permits.take(other).is_ok());
        drop(first);
        assert!(permits.take(team).is_ok());

        let permits = with_limit(limits::SESSIONS_AT_ONCE);
        let all: Vec<_> = (0..limits::SESSIONS_AT_ONCE - 1)
            .map(|_| permits.take(team))
            .collect();
        let last = permits.take(other);
        assert_eq!(permits.take(other).err(), Some(SessionError::ServerLimit));
        drop((all, last));
        assert!(permits.browsers.lock().is_empty());
    }
}
