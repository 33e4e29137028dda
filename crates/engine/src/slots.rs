//! Team concurrency: how many pages of one team are in flight at once, over all of its jobs. Waiters
//! are served in order, so a job cannot starve another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use harvestman_core::ids::TeamId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All teams' slots.
#[derive(Debug)]
pub(crate) struct Slots {
    per_team: usize,
    teams: Mutex<HashMap<TeamId, Arc<Semaphore>>>,
}

/// One page in flight; returned when dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[allow(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl Slots {
    pub(crate) fn new(per_team: usize) -> Self {
        Self {
            per_team: per_team.max(1),
            teams: Mutex::default(),
        }
    }

    /// Slots that each team has.
    pub(crate) fn per_team(&self) -> usize {
        self.per_team
    }

    /// Slots of the team that are taken now.
    pub(crate) fn taken(&self, team: TeamId) -> usize {
        self.per_team - self.team(team).available_permits()
    }

    /// A slot if one is free at once.
    pub(crate) fn try_take(&self, team: TeamId) -> Option<Slot> {
        self.team(team).try_acquire_owned().ok().map(Slot)
    }

    /// The next free slot, in order of asking.
    pub(crate) async fn take(&self, team: TeamId) -> Slot {
        let permit = self.team(team).acquire_owned().await;
        Slot(permit.expect("the semaphore is never closed"))
    }

    fn team(&self, team: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        teams
            .entry(team)
            .or_insert_with(|| Arc::new(Semaphore::new(self.per_team)))
            .clone()
    }
}
