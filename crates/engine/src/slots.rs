//! Team concurrency: how many pages of one team are in flight at once, over all of its jobs, and how
//! many of all teams. A free slot goes to the team that has the fewest taken, within it to the job
//! that has the fewest, and among equals to whoever asked first: nobody starves, however many jobs
//! or however slow pages another has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::ids::{JobId, TeamId};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::limits;

/// All teams' slots. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    per_team: usize,
    state: Arc<Mutex<Shares<oneshot::Sender<Slot>>>>,
}

/// One page in flight; returned when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    team: TeamId,
    job: JobId,
}

/// A slot that was asked for. When this is dropped the slot goes to another.
#[derive(Debug)]
pub(crate) struct Asked {
    at: Instant,
    answer: oneshot::Receiver<Slot>,
}

/// The wait for a slot; none when one was free at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued(Option<Duration>);

impl Queued {
    /// Says in a document whether it had to wait for the team's other pages.
    pub(crate) fn note(self, metadata: &mut Metadata) {
        metadata.concurrency_limited = Some(self.0.is_some());
        metadata.concurrency_queue_duration_ms = self
            .0
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
}

impl Slots {
    pub(crate) fn new(per_team: usize) -> Self {
        let per_team = per_team.max(1);
        Self {
            per_team,
            state: Arc::new(Mutex::new(Shares::new(
                per_team,
                limits::PAGES_IN_FLIGHT.max(per_team),
            ))),
        }
    }

    /// Slots that each team has.
    pub(crate) fn per_team(&self) -> usize {
        self.per_team
    }

    /// Slots of the team that are taken now.
    pub(crate) fn taken(&self, team: TeamId) -> usize {
        self.state().taken(team)
    }

    /// Asks for a slot for a page of this job.
    pub(crate) fn ask(&self, team: TeamId, job: JobId) -> Asked {
        let (tell, answer) = oneshot::channel();
        self.state().wait(team, job, tell);
        self.hand_out();
        Asked {
            at: Instant::now(),
            answer,
        }
    }

    /// A slot for a page of this job, and how long it was waited for.
    pub(crate) async fn take(&self, team: TeamId, job: JobId) -> (Slot, Queued) {
        let mut asked = self.ask(team, job);
        match asked.at_once() {
            Some(taken) => taken,
            None => asked.await_slot().await,
        }
    }

    /// Gives what is free to those who wait.
    fn hand_out(&self) {
        // Outside the lock: a slot that nobody takes any more comes back by being dropped.
        while let Some((team, job, tell)) = { self.state().next(oneshot::Sender::is_closed) } {
            let slots = self.clone();
            let _ = tell.send(Slot { slots, team, job });
        }
    }

    fn state(&self) -> MutexGuard<'_, Shares<oneshot::Sender<Slot>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.state().give_back(self.team, self.job);
        self.slots.hand_out();
    }
}

impl Asked {
    /// The slot, if it is there already; to be called right after asking.
    pub(crate) fn at_once(&mut self) -> Option<(Slot, Queued)> {
        self.answer.try_recv().ok().map(|slot| (slot, Queued(None)))
    }

    /// The slot, when it is there, and how long that took. May be dropped and called again.
    pub(crate) async fn await_slot(&mut self) -> (Slot, Queued) {
        let slot = (&mut self.answer)
            .await
            .expect("who waits stays in the list until a slot is sent");
        (slot, Queued(Some(self.at.elapsed())))
    }
}

/// Who has and who waits; `W` is how a waiter is told.
#[derive(Debug)]
struct Shares<W> {
    per_team: usize,
    in_all: usize,
    taken: usize,
    handed_out: u64,
    teams: HashMap<TeamId, Team<W>>,
}

#[derive(Debug)]
struct Team<W> {
    taken: usize,
    /// Slots by job; none is 0.
    jobs: HashMap<JobId, usize>,
    /// In order of asking.
    waiting: Vec<(JobId, W)>,
    /// When it got its last slot, counted in slots handed out.
    served: u64,
}

impl<W> Default for Team<W> {
    fn default() -> Self {
        Self {
            taken: 0,
            jobs: HashMap::new(),
            waiting: Vec::new(),
            served: 0,
        }
    }
}

impl<W> Shares<W> {
    fn new(per_team: usize, in_all: usize) -> Self {
        Self {
            per_team,
            in_all,
            taken: 0,
            handed_out: 0,
            teams: HashMap::new(),
        }
    }

    fn taken(&self, team: TeamId) -> usize {
        self.teams.get(&team).map_or(0, |team| team.taken)
    }

    fn wait(&mut self, team: TeamId, job: JobId, waiter: W) {
        self.teams.entry(team).or_default().waiting.push((job, waiter));
    }

    fn give_back(&mut self, id: TeamId, job: JobId) {
        let Some(team) = self.teams.get_mut(&id) else {
            return;
        };
        self.taken -= 1;
        team.taken -= 1;
        if let Some(of_job) = team.jobs.get_mut(&job) {
            *of_job -= 1;
            if *of_job == 0 {
                team.jobs.remove(&job);
            }
        }
        if team.taken == 0 && team.waiting.is_empty() {
            self.teams.remove(&id);
        }
    }

    /// Hands the next free slot out; whoever is `gone` needs none.
    fn next(&mut self, gone: impl Fn(&W) -> bool) -> Option<(TeamId, JobId, W)> {
        loop {
            let may_take = |team: &Team<W>| !team.waiting.is_empty() && team.taken < self.per_team;
            let (&id, team) = self
                .teams
                .iter_mut()
                .filter(|(_, team)| self.taken < self.in_all && may_take(team))
                .min_by_key(|(_, team)| (team.taken, team.served))?;
            let of_job = |job: &JobId| team.jobs.get(job).copied().unwrap_or(0);
            // Of equals the first is the one who asked first.
            let place = (0..team.waiting.len()).min_by_key(|place| of_job(&team.waiting[*place].0))?;
            let (job, waiter) = team.waiting.remove(place);
            if gone(&waiter) {
                continue;
            }
            self.taken += 1;
            self.handed_out += 1;
            team.taken += 1;
            team.served = self.handed_out;
            *team.jobs.entry(job).or_default() += 1;
            return Some((id, job, waiter));
        }
    }
}

#[cfg(test)]
mod tests;
