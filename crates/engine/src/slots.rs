//! Team concurrency: how many pages of one team are in flight at once, over all of its jobs. Waiters
//! are served in order, so a job cannot starve another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::ids::TeamId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// All teams' slots.
#[derive(Debug)]
pub(crate) struct Slots {
    per_team: usize,
    teams: Mutex<HashMap<TeamId, Arc<Semaphore>>>,
}

/// One page in flight; returned when dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[allow(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// The wait for a slot; none when one was free at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued(Option<Duration>);

impl Queued {
    /// Whether there was a wait at all.
    pub(crate) fn waited(self) -> bool {
        self.0.is_some()
    }

    /// Says in a document whether it had to wait for the team's other pages.
    pub(crate) fn note(self, metadata: &mut Metadata) {
        metadata.concurrency_limited = Some(self.waited());
        metadata.concurrency_queue_duration_ms = self
            .0
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
}

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

    /// The next free slot, in order of asking, and how long it was waited for.
    pub(crate) async fn take(&self, team: TeamId) -> (Slot, Queued) {
        let semaphore = self.team(team);
        if let Ok(permit) = semaphore.clone().try_acquire_owned() {
            return (Slot(permit), Queued(None));
        }
        let asked = Instant::now();
        let permit = semaphore
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        (Slot(permit), Queued(Some(asked.elapsed())))
    }

    fn team(&self, team: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        teams
            .entry(team)
            .or_insert_with(|| Arc::new(Semaphore::new(self.per_team)))
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(number: u128) -> TeamId {
        TeamId(uuid::Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn waiters_are_served_in_order_and_say_that_they_waited() {
        let slots = Arc::new(Slots::new(1));
        let (held, queued) = slots.take(team(1)).await;
        assert!(!queued.waited());
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..3 {
            let (slots, tell) = (slots.clone(), tell.clone());
            tokio::spawn(async move {
                let (_slot, queued) = slots.take(team(1)).await;
                tell.send((number, queued.waited())).unwrap();
            });
            // The spawned task has to stand in the queue before the next one asks.
            tokio::task::yield_now().await;
        }
        assert_eq!(slots.taken(team(1)), 1);
        drop(held);
        for number in 0..3 {
            assert_eq!(told.recv().await, Some((number, true)));
        }
    }

    #[tokio::test]
    async fn teams_do_not_take_each_others_slots() {
        let slots = Slots::new(2);
        let _held = [slots.take(team(1)).await, slots.take(team(1)).await];
        let (_slot, queued) = slots.take(team(2)).await;
        assert!(!queued.waited());
        assert_eq!((slots.taken(team(1)), slots.taken(team(2))), (2, 1));
    }

    #[tokio::test]
    async fn a_wait_is_noted_in_the_document() {
        let mut metadata = Metadata::default();
        Queued(None).note(&mut metadata);
        assert_eq!(
            (
                metadata.concurrency_limited,
                metadata.concurrency_queue_duration_ms
            ),
            (Some(false), None)
        );
        Queued(Some(Duration::from_millis(12))).note(&mut metadata);
        assert_eq!(
            (
                metadata.concurrency_limited,
                metadata.concurrency_queue_duration_ms
            ),
            (Some(true), Some(12))
        );
    }
}
