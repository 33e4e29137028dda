//! Team concurrency: limits the pages in flight per team (across all of its jobs), per key, and across all teams.
//! Pages over HTTP and pages in the browser are counted separately, so that neither waits for the other. A free slot
//! goes to the team with the fewest slots in use, then to its job with the fewest, then to the page that has waited
//! longest: no job starves, however many jobs or slow pages another one has.

mod shares;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_store::Lease;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::holdings::{Holdings, Need};
use crate::limits;
use crate::metrics::Metrics;
use crate::plans::{Limits, Plans};
use shares::Shares;

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
    /// Returns the owner of the pages of a job that belongs to no key.
    pub(crate) const fn of_team(team: TeamId, job: JobId) -> Self {
        Self { team, key: None, job }
    }

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

    /// Creates slots for other work than pages: `total` of them, which one team may use if no other waits.
    pub(crate) fn for_work(total: usize) -> Self {
        let plans = Plans::new(Limits::at_once(total), BTreeMap::new());
        Self::new(plans, Holdings::new(None), total, Some(total))
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
        self.kinds[kind as usize].lock()
    }
}

impl Slot {
    /// Returns the kind of the slot.
    pub(crate) fn kind(&self) -> SlotKind {
        self.kind
    }

    /// Returns the owner of the page.
    pub(crate) fn owner(&self) -> SlotOwner {
        self.owner
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

#[cfg(test)]
mod tests;
