//! Team concurrency: limits the pages in flight per team (across all of its jobs), per key, and across all teams.
//! Pages over HTTP and pages in the browser are counted separately, so that neither waits for the other. A free slot
//! goes to the team with the fewest slots in use, then to its job with the fewest, then to the page that has waited
//! longest: no job starves, however many jobs or slow pages another one has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_store::Lease;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::holdings::{Holdings, Need, Pages, Subject};
use crate::limits;
use crate::metrics::Metrics;
use crate::plans::{Limits, Plans};

/// The slots of all teams. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    kinds: Arc<[Mutex<Shares<oneshot::Sender<Slot>>>; 2]>,
    holdings: Holdings,
    metrics: Metrics,
}

/// The owner of a page: team, key and job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotOwner {
    pub(crate) team: TeamId,
    /// `None` in open mode.
    pub(crate) key: Option<KeyId>,
    pub(crate) job: JobId,
}

impl SlotOwner {
    /// Returns the owner of the pages of a leased job.
    pub(crate) fn of(lease: &Lease) -> Self {
        Self {
            team: lease.team,
            key: lease.key,
            job: lease.job,
        }
    }
}

/// One page in flight; released on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    kind: SlotKind,
    owner: SlotOwner,
}

/// A request for a slot. If it is dropped, the slot goes to the next waiter.
#[derive(Debug)]
pub(crate) struct SlotRequest {
    requested_at: Instant,
    receiver: oneshot::Receiver<Slot>,
}

/// The wait for a slot; `None` if one was free at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueTime(Option<Duration>);

impl QueueTime {
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
    pub(crate) fn record_in(self, metadata: &mut Metadata) {
        metadata.concurrency_limited = Some(self.0.is_some());
        metadata.concurrency_queue_duration_ms = self
            .0
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
}

impl Slots {
    /// Creates the slots of all teams. `browser_pages` and `node_pages` are the numbers of browser and HTTP slots
    /// across all teams.
    pub(crate) fn new(
        plans: Plans,
        holdings: Holdings,
        browser_pages: usize,
        node_pages: Option<usize>,
    ) -> Self {
        let plain = node_pages.unwrap_or_else(|| limits::PAGES_IN_FLIGHT.max(plans.highest_concurrency()));
        let shares = |kind, total| Mutex::new(Shares::new(plans.clone(), holdings.clone(), kind, total));
        Self {
            kinds: Arc::new([
                shares(SlotKind::Plain, plain),
                shares(SlotKind::Browser, browser_pages.max(1)),
            ]),
            holdings,
            metrics: Metrics::default(),
        }
    }

    /// Returns the number of slots of both kinds that the team has in use.
    pub(crate) fn in_use(&self, team: TeamId) -> usize {
        let kinds = [SlotKind::Plain, SlotKind::Browser];
        kinds.into_iter().map(|kind| self.state(kind).in_use(team)).sum()
    }

    /// Returns the number of slots of a kind in use across all teams.
    pub(crate) fn in_use_in_all_teams(&self, kind: SlotKind) -> usize {
        self.state(kind).in_use
    }

    /// Returns the metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Requests a slot for a page.
    pub(crate) fn request(&self, owner: SlotOwner, kind: SlotKind) -> SlotRequest {
        let (sender, receiver) = oneshot::channel();
        self.state(kind).enqueue(owner, sender);
        self.assign_free(kind);
        if self.holdings.limits().is_some() && self.state(kind).waits(owner.team) {
            self.holdings.wake();
        }
        SlotRequest {
            requested_at: Instant::now(),
            receiver,
        }
    }

    /// Waits for a slot for a page. Also returns how long that took.
    pub(crate) async fn acquire(&self, owner: SlotOwner, kind: SlotKind) -> (Slot, QueueTime) {
        let mut request = self.request(owner, kind);
        match request.try_slot() {
            Some(slot) => slot,
            None => request.wait().await,
        }
    }

    /// Returns how many units of the shared limits the pages of each team need.
    pub(crate) fn needs(&self) -> Vec<Need> {
        let kinds = [SlotKind::Plain, SlotKind::Browser];
        kinds
            .into_iter()
            .flat_map(|kind| self.state(kind).needs())
            .collect()
    }

    /// Assigns slots to waiters after the units of this node have changed.
    pub(crate) fn assign_all(&self) {
        for kind in [SlotKind::Plain, SlotKind::Browser] {
            self.assign_free(kind);
        }
    }

    /// Assigns free slots to waiters.
    fn assign_free(&self, kind: SlotKind) {
        // Outside the lock: if the receiver is gone, the slot is dropped, which locks again.
        while let Some((owner, sender)) = { self.state(kind).assign_next(oneshot::Sender::is_closed) } {
            let slots = self.clone();
            let _ = sender.send(Slot { slots, kind, owner });
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
        self.slots.state(self.kind).release(self.owner);
        self.slots.assign_free(self.kind);
    }
}

impl SlotRequest {
    /// Returns the slot if it was free at once; call this right after requesting it.
    pub(crate) fn try_slot(&mut self) -> Option<(Slot, QueueTime)> {
        self.receiver.try_recv().ok().map(|slot| (slot, QueueTime(None)))
    }

    /// Waits for the slot and returns it with the wait. Cancel safe.
    pub(crate) async fn wait(&mut self) -> (Slot, QueueTime) {
        let slot = (&mut self.receiver)
            .await
            .expect("a waiter stays in the list until a slot is sent");
        (slot, QueueTime(Some(self.requested_at.elapsed())))
    }
}

/// Slots in use and waiters; `W` is the channel to a waiter.
#[derive(Debug)]
struct Shares<W> {
    plans: Plans,
    holdings: Holdings,
    kind: SlotKind,
    total: usize,
    in_use: usize,
    assigned: u64,
    teams: HashMap<TeamId, Team<W>>,
}

#[derive(Debug)]
struct Team<W> {
    in_use: usize,
    /// Slots in use by job; never 0.
    jobs: HashMap<JobId, usize>,
    /// Slots in use by key; never 0.
    keys: HashMap<KeyId, usize>,
    /// In order of arrival.
    waiting: Vec<(SlotOwner, W)>,
    /// Value of `assigned` when the team got its last slot.
    served: u64,
}

impl<W> Default for Team<W> {
    fn default() -> Self {
        Self {
            in_use: 0,
            jobs: HashMap::new(),
            keys: HashMap::new(),
            waiting: Vec::new(),
            served: 0,
        }
    }
}

/// What decides whether a team may have another slot.
struct Room<'a> {
    team: TeamId,
    pages: Pages,
    limits: Limits,
    holdings: &'a Holdings,
}

impl<W> Team<W> {
    /// Returns whether this key may have another slot.
    fn has_room(&self, key: Option<KeyId>, room: &Room<'_>) -> bool {
        let of_key = key.and_then(|key| self.keys.get(&key)).copied().unwrap_or(0);
        let units = |subject| usize::try_from(room.holdings.units(subject)).unwrap_or(usize::MAX);
        let kind = room.pages;
        self.in_use
            < room
                .limits
                .max_concurrency
                .max(1)
                .min(units(Subject::TeamPages(kind, room.team)))
            && room.limits.key_max_concurrency.is_none_or(|limit| {
                let held = key.map_or(usize::MAX, |key| units(Subject::KeyPages(kind, key)));
                of_key < limit.max(1).min(held)
            })
    }

    /// Returns the index of the next waiter: of those whose jobs have the fewest slots, the one that has waited
    /// longest.
    fn next_waiter(&self, room: &Room<'_>) -> Option<usize> {
        let of_job = |waiter_index: &usize| {
            self.jobs
                .get(&self.waiting[*waiter_index].0.job)
                .copied()
                .unwrap_or(0)
        };
        (0..self.waiting.len())
            .filter(|waiter_index| self.has_room(self.waiting[*waiter_index].0.key, room))
            .min_by_key(of_job)
    }
}

impl<W> Shares<W> {
    fn new(plans: Plans, holdings: Holdings, kind: SlotKind, total: usize) -> Self {
        Self {
            plans,
            holdings,
            kind,
            total,
            in_use: 0,
            assigned: 0,
            teams: HashMap::new(),
        }
    }

    fn waits(&self, team: TeamId) -> bool {
        self.teams.get(&team).is_some_and(|team| !team.waiting.is_empty())
    }

    /// Returns how many pages each team needs, and each of its keys that has a limit.
    fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        let mut add = |subject, in_use: usize, waiting: usize, limit: usize| {
            needs.push(Need {
                subject,
                in_use: in_use as u64,
                wanted: (in_use + waiting).min(limit) as u64,
                limit: limit as u64,
            });
        };
        for (id, team) in &self.teams {
            let limits = self.plans.of(*id);
            add(
                Subject::TeamPages(self.kind.into(), *id),
                team.in_use,
                team.waiting.len(),
                limits.max_concurrency.max(1),
            );
            let Some(limit) = limits.key_max_concurrency else {
                continue;
            };
            let mut keys: HashMap<KeyId, usize> = team.keys.keys().map(|key| (*key, 0)).collect();
            for key in team.waiting.iter().filter_map(|(owner, _)| owner.key) {
                *keys.entry(key).or_default() += 1;
            }
            for (key, waiting) in keys {
                let in_use = team.keys.get(&key).copied().unwrap_or_default();
                add(
                    Subject::KeyPages(self.kind.into(), key),
                    in_use,
                    waiting,
                    limit.max(1),
                );
            }
        }
        needs
    }

    fn in_use(&self, team: TeamId) -> usize {
        self.teams.get(&team).map_or(0, |team| team.in_use)
    }

    fn enqueue(&mut self, owner: SlotOwner, waiter: W) {
        self.teams
            .entry(owner.team)
            .or_default()
            .waiting
            .push((owner, waiter));
    }

    fn release(&mut self, owner: SlotOwner) {
        let Some(team) = self.teams.get_mut(&owner.team) else {
            return;
        };
        self.in_use -= 1;
        team.in_use -= 1;
        decrement(&mut team.jobs, owner.job);
        if let Some(key) = owner.key {
            decrement(&mut team.keys, key);
        }
        if team.in_use == 0 && team.waiting.is_empty() {
            self.teams.remove(&owner.team);
        }
    }

    /// Assigns the next free slot to a waiter and returns it; skips waiters that are `gone`.
    fn assign_next(&mut self, gone: impl Fn(&W) -> bool) -> Option<(SlotOwner, W)> {
        loop {
            let (plans, holdings, pages) = (&self.plans, &self.holdings, Pages::from(self.kind));
            let room = |team| Room {
                team,
                pages,
                limits: plans.of(team),
                holdings,
            };
            let can_assign = |id: TeamId, team: &Team<W>| {
                let room = room(id);
                team.waiting
                    .iter()
                    .any(|(owner, _)| team.has_room(owner.key, &room))
            };
            let (&id, team) = self
                .teams
                .iter_mut()
                .filter(|(id, team)| self.in_use < self.total && can_assign(**id, team))
                .min_by_key(|(_, team)| (team.in_use, team.served))?;
            let waiter_index = team.next_waiter(&room(id))?;
            let (owner, waiter) = team.waiting.remove(waiter_index);
            if gone(&waiter) {
                continue;
            }
            self.in_use += 1;
            self.assigned += 1;
            team.in_use += 1;
            team.served = self.assigned;
            *team.jobs.entry(owner.job).or_default() += 1;
            if let Some(key) = owner.key {
                *team.keys.entry(key).or_default() += 1;
            }
            return Some((owner, waiter));
        }
    }
}

/// Decrements a count; removes it at zero.
fn decrement<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests;
