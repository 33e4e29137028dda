//! Team concurrency: limits the pages in flight per team (over all of its jobs), per key, and over all teams.
//! Pages over HTTP and pages in the browser are counted separately, so that neither waits for the other. A
//! free slot goes to the team with the fewest slots in use, within it to the job with the fewest, and among
//! equals to the longest waiting page: no job starves, however many jobs or slow pages another one has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, KeyId, TeamId};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::limits;
use crate::page_counts::PageCounters;
use crate::plans::{Limits, Plans};

/// The slots of all teams. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    kinds: Arc<[Mutex<Shares<oneshot::Sender<Slot>>>; 2]>,
    counters: Arc<PageCounters>,
}

/// The owner of a page: team, key and job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub(crate) team: TeamId,
    /// `None` in open mode.
    pub(crate) key: Option<KeyId>,
    pub(crate) job: JobId,
}

/// One page in flight; released on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    kind: SlotKind,
    of: Asker,
}

/// A request for a slot. If it is dropped, the slot goes to the next waiter.
#[derive(Debug)]
pub(crate) struct Asked {
    at: Instant,
    answer: oneshot::Receiver<Slot>,
}

/// The wait for a slot; `None` if one was free at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queued(Option<Duration>);

impl Queued {
    /// Creates a wait of this duration.
    pub(crate) fn of(wait: Duration) -> Self {
        Self(Some(wait))
    }

    /// Returns whether there was a wait.
    pub(crate) fn waited(self) -> bool {
        self.0.is_some()
    }

    /// Returns the sum of both waits.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(match (self.0, other.0) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        })
    }

    /// Records the wait in the metadata of a document.
    pub(crate) fn note(self, metadata: &mut Metadata) {
        metadata.concurrency_limited = Some(self.0.is_some());
        metadata.concurrency_queue_duration_ms = self
            .0
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
}

impl Slots {
    /// Creates the slots of all teams. `browser_pages` is the number of browser slots over all teams.
    pub(crate) fn new(plans: Plans, browser_pages: usize) -> Self {
        let plain = limits::PAGES_IN_FLIGHT.max(plans.most_concurrency());
        let shares = |in_all| Mutex::new(Shares::new(plans.clone(), in_all));
        Self {
            kinds: Arc::new([shares(plain), shares(browser_pages.max(1))]),
            counters: Arc::default(),
        }
    }

    /// Returns the number of slots of both kinds that the team has in use.
    pub(crate) fn taken(&self, team: TeamId) -> usize {
        let kinds = [SlotKind::Plain, SlotKind::Browser];
        kinds.into_iter().map(|kind| self.state(kind).taken(team)).sum()
    }

    /// Returns the number of slots of a kind in use over all teams.
    pub(crate) fn taken_in_all(&self, kind: SlotKind) -> usize {
        self.state(kind).taken
    }

    /// Returns the counters of processed pages.
    pub(crate) fn counters(&self) -> &PageCounters {
        &self.counters
    }

    /// Requests a slot for a page.
    pub(crate) fn ask(&self, asker: Asker, kind: SlotKind) -> Asked {
        let (tell, answer) = oneshot::channel();
        self.state(kind).wait(asker, tell);
        self.hand_out(kind);
        Asked {
            at: Instant::now(),
            answer,
        }
    }

    /// Waits for a slot for a page. Also returns how long that took.
    pub(crate) async fn take(&self, asker: Asker, kind: SlotKind) -> (Slot, Queued) {
        let mut asked = self.ask(asker, kind);
        match asked.at_once() {
            Some(taken) => taken,
            None => asked.await_slot().await,
        }
    }

    /// Assigns free slots to waiters.
    fn hand_out(&self, kind: SlotKind) {
        // Outside the lock: if the receiver is gone, the slot is dropped, which locks again.
        while let Some((of, tell)) = { self.state(kind).next(oneshot::Sender::is_closed) } {
            let slots = self.clone();
            let _ = tell.send(Slot { slots, kind, of });
        }
    }

    fn state(&self, kind: SlotKind) -> MutexGuard<'_, Shares<oneshot::Sender<Slot>>> {
        self.kinds[kind as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Returns the kind of the slot.
    pub(crate) fn kind(&self) -> SlotKind {
        self.kind
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.state(self.kind).give_back(self.of);
        self.slots.hand_out(self.kind);
    }
}

impl Asked {
    /// Returns the slot if it was free at once; call this right after requesting it.
    pub(crate) fn at_once(&mut self) -> Option<(Slot, Queued)> {
        self.answer.try_recv().ok().map(|slot| (slot, Queued(None)))
    }

    /// Waits for the slot and returns it with the wait. Cancel safe.
    pub(crate) async fn await_slot(&mut self) -> (Slot, Queued) {
        let slot = (&mut self.answer)
            .await
            .expect("a waiter stays in the list until a slot is sent");
        (slot, Queued(Some(self.at.elapsed())))
    }
}

/// Slots in use and waiters; `W` is the channel to a waiter.
#[derive(Debug)]
struct Shares<W> {
    plans: Plans,
    in_all: usize,
    taken: usize,
    handed_out: u64,
    teams: HashMap<TeamId, Team<W>>,
}

#[derive(Debug)]
struct Team<W> {
    taken: usize,
    /// Slots in use by job; never 0.
    jobs: HashMap<JobId, usize>,
    /// Slots in use by key; never 0.
    keys: HashMap<KeyId, usize>,
    /// In order of arrival.
    waiting: Vec<(Asker, W)>,
    /// Value of `handed_out` when the team got its last slot.
    served: u64,
}

impl<W> Default for Team<W> {
    fn default() -> Self {
        Self {
            taken: 0,
            jobs: HashMap::new(),
            keys: HashMap::new(),
            waiting: Vec::new(),
            served: 0,
        }
    }
}

impl<W> Team<W> {
    /// Returns whether this key may have another slot.
    fn has_room(&self, key: Option<KeyId>, limits: &Limits) -> bool {
        let of_key = key.and_then(|key| self.keys.get(&key)).copied().unwrap_or(0);
        self.taken < limits.max_concurrency.max(1)
            && limits.key_max_concurrency.is_none_or(|most| of_key < most.max(1))
    }

    /// Returns the index of the next waiter: of the job with the fewest slots, and among equals the longest
    /// waiting one.
    fn next_place(&self, limits: &Limits) -> Option<usize> {
        let of_job = |place: &usize| self.jobs.get(&self.waiting[*place].0.job).copied().unwrap_or(0);
        (0..self.waiting.len())
            .filter(|place| self.has_room(self.waiting[*place].0.key, limits))
            .min_by_key(of_job)
    }
}

impl<W> Shares<W> {
    fn new(plans: Plans, in_all: usize) -> Self {
        Self {
            plans,
            in_all,
            taken: 0,
            handed_out: 0,
            teams: HashMap::new(),
        }
    }

    fn taken(&self, team: TeamId) -> usize {
        self.teams.get(&team).map_or(0, |team| team.taken)
    }

    fn wait(&mut self, asker: Asker, waiter: W) {
        self.teams
            .entry(asker.team)
            .or_default()
            .waiting
            .push((asker, waiter));
    }

    fn give_back(&mut self, of: Asker) {
        let Some(team) = self.teams.get_mut(&of.team) else {
            return;
        };
        self.taken -= 1;
        team.taken -= 1;
        one_less(&mut team.jobs, of.job);
        if let Some(key) = of.key {
            one_less(&mut team.keys, key);
        }
        if team.taken == 0 && team.waiting.is_empty() {
            self.teams.remove(&of.team);
        }
    }

    /// Assigns the next free slot to a waiter and returns it; skips waiters that are `gone`.
    fn next(&mut self, gone: impl Fn(&W) -> bool) -> Option<(Asker, W)> {
        loop {
            let plans = &self.plans;
            let may_take = |id: TeamId, team: &Team<W>| {
                let limits = plans.of(id);
                team.waiting
                    .iter()
                    .any(|(asker, _)| team.has_room(asker.key, &limits))
            };
            let (&id, team) = self
                .teams
                .iter_mut()
                .filter(|(id, team)| self.taken < self.in_all && may_take(**id, team))
                .min_by_key(|(_, team)| (team.taken, team.served))?;
            let place = team.next_place(&plans.of(id))?;
            let (asker, waiter) = team.waiting.remove(place);
            if gone(&waiter) {
                continue;
            }
            self.taken += 1;
            self.handed_out += 1;
            team.taken += 1;
            team.served = self.handed_out;
            *team.jobs.entry(asker.job).or_default() += 1;
            if let Some(key) = asker.key {
                *team.keys.entry(key).or_default() += 1;
            }
            return Some((asker, waiter));
        }
    }
}

/// Decrements a count; removes it at zero.
fn one_less<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests;
