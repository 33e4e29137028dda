//! The memory budget of all bodies in flight.
//!
//! When the budget is exhausted, a fetch waits instead of failing. Every body first reserves a small part, from a pool
//! of its own, so that small bodies never wait for large ones. A larger body reserves more as it grows. Bodies that
//! wait for each other's memory do not deadlock: one at a time grows in a pool that is kept for this. A body that
//! takes long must release its memory when others wait, so that slow hosts block nobody.
//!
//! Large bodies that arrive faster than they are converted only fill the memory. Each waits a moment for those before
//! it to be released, and longer while one of these was read and is being converted. It waits for room for all of it if
//! its length is known, as two that grow would wait for each other.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::limits;

const UNIT_BYTES: u64 = 4096;

/// The pools of the budget.
pub(crate) struct Budget {
    first: Pool,
    growth: Pool,
    /// Used by the body that holds `turn`, while `growth` is exhausted.
    last: Pool,
    turn: Arc<Semaphore>,
    /// What large bodies hold together before the next one waits a moment.
    large: Pool,
    /// Bodies among these that were read and are being converted.
    converting: Arc<AtomicUsize>,
    /// Bodies that wait for memory.
    waiting: AtomicUsize,
    /// Wakes the body that has been too slow for longest.
    reclaim: Notify,
}

struct Pool {
    permits: Arc<Semaphore>,
    units: u32,
}

impl Pool {
    fn new(bytes: u64) -> Pool {
        let units = units(bytes).max(1);
        Pool {
            permits: Arc::new(Semaphore::new(units as usize)),
            units,
        }
    }

    /// Acquires units, at most the whole pool.
    async fn acquire(&self, units: u32) -> OwnedSemaphorePermit {
        acquire(&self.permits, units.min(self.units)).await
    }
}

impl Budget {
    /// Creates a budget of about `bytes`: a quarter for first reservations, the rest for what large bodies need beyond
    /// them.
    pub(crate) fn new(bytes: u64) -> Budget {
        let rest = bytes - bytes / 4;
        let last = limits::MAX_BODY_BYTES.min(rest / 2);
        Budget {
            first: Pool::new(bytes / 4),
            growth: Pool::new(rest - last),
            last: Pool::new(last),
            turn: Arc::new(Semaphore::new(1)),
            large: Pool::new(limits::LARGE_BODIES_BYTES),
            converting: Arc::default(),
            waiting: AtomicUsize::new(0),
            reclaim: Notify::new(),
        }
    }

    /// Makes the first reservation for a body, whose length may be known.
    pub(crate) async fn reserve(&self, length_bytes: Option<u64>) -> Reservation {
        let first = limits::FIRST_RESERVATION_BYTES;
        let wanted = units(length_bytes.map_or(first, |length| length.min(first))).max(1);
        Reservation {
            length_bytes,
            first: self.first.acquire(wanted).await,
            growth: None,
            last: None,
            turn: None,
            large: LargeShare::Held(None),
            waits_until: None,
            conversion: Conversion {
                count: self.converting.clone(),
                is_counted: false,
            },
            overdue_at: None,
        }
    }

    /// Extends the reservation to `bytes`, waiting until there is room.
    pub(crate) async fn cover(&self, reservation: &mut Reservation, bytes: u64) {
        let missing = units(bytes).saturating_sub(reservation.units());
        if missing == 0 {
            return;
        }
        let started = Instant::now();
        if bytes > limits::LARGE_BODY_BYTES {
            let wanted = reservation.length_bytes.unwrap_or(0).max(bytes);
            let end = Instant::now() + limits::CONVERTED_BODY_WAIT;
            let end = reservation.waits_until.map_or(end, |time| time.min(end));
            self.wait_for_large_bodies(&mut reservation.large, wanted, end)
                .await;
        }
        self.grow(reservation, missing).await;
        // Time in which a body waited for memory does not count against it.
        reservation.overdue_at = Some(match reservation.overdue_at {
            Some(time) => time + started.elapsed(),
            None => Instant::now() + limits::SLOW_BODY_TIME,
        });
    }

    /// Waits until the large bodies together need no more than [`limits::LARGE_BODIES_BYTES`], but only a moment, or
    /// until `end` while one of them is being converted.
    async fn wait_for_large_bodies(&self, share: &mut LargeShare, bytes: u64, end: Instant) {
        let LargeShare::Held(held) = share else { return };
        let missing = units(bytes).min(self.large.units) - units_in(held.as_ref());
        let mut room = pin!(self.large.acquire(missing));
        loop {
            let moment = (Instant::now() + limits::LARGE_BODY_WAIT).min(end);
            match timeout_at(moment, &mut room).await {
                Ok(more) => return add(held, more),
                Err(_) if Instant::now() < end && self.converting.load(Ordering::Relaxed) > 0 => {}
                Err(_) => break,
            }
        }
        *share = LargeShare::TimedOut;
    }

    async fn grow(&self, reservation: &mut Reservation, missing: u32) {
        let _waiting = Waiting::new(&self.waiting);
        if reservation.turn.is_none() {
            let turn = tokio::select! {
                biased;
                more = self.growth.acquire(missing) => return add(&mut reservation.growth, more),
                turn = acquire(&self.turn, 1) => turn,
                never = self.reclaim_slowly() => match never {},
            };
            reservation.turn = Some(turn);
        }
        // A single body may need more than a small budget has.
        let held = units_in(reservation.last.as_ref());
        let wanted = missing.min(self.last.units.saturating_sub(held));
        tokio::select! {
            biased;
            more = self.last.acquire(wanted) => add(&mut reservation.last, more),
            never = self.reclaim_slowly() => match never {},
        }
    }

    /// Makes slow bodies release their memory, one after the other.
    async fn reclaim_slowly(&self) -> std::convert::Infallible {
        loop {
            self.reclaim.notify_one();
            sleep(limits::RECLAIM_INTERVAL).await;
        }
    }

    /// Completes when a body that is being read must release its memory.
    pub(crate) async fn reclaimed(&self, reservation: &Reservation) {
        let Some(overdue_at) = reservation.overdue_at else {
            return std::future::pending().await;
        };
        sleep_until(overdue_at).await;
        loop {
            self.reclaim.notified().await;
            if self.waiting.load(Ordering::Acquire) > 0 {
                return;
            }
        }
    }
}

/// Counts a body that waits for memory.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn acquire(permits: &Arc<Semaphore>, units: u32) -> OwnedSemaphorePermit {
    permits
        .clone()
        .acquire_many_owned(units)
        .await
        .expect("the semaphores are never closed")
}

fn add(held: &mut Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) {
    match held {
        Some(held) => held.merge(more),
        None => *held = Some(more),
    }
}

fn units_in(held: Option<&OwnedSemaphorePermit>) -> u32 {
    held.map_or(0, |held| held.num_permits() as u32)
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES))
        .unwrap_or(u32::MAX)
        .min(Semaphore::MAX_PERMITS as u32)
}

/// The budget share of one body; released on drop.
pub(crate) struct Reservation {
    length_bytes: Option<u64>,
    first: OwnedSemaphorePermit,
    growth: Option<OwnedSemaphorePermit>,
    last: Option<OwnedSemaphorePermit>,
    /// The right to use the last pool while the body is being read.
    turn: Option<OwnedSemaphorePermit>,
    large: LargeShare,
    /// When it waits for other large bodies no longer.
    waits_until: Option<Instant>,
    conversion: Conversion,
    /// When the body counts as slow; `None` before it grows beyond its first reservation.
    overdue_at: Option<Instant>,
}

/// Counts a large body that was read and is being converted, until it is dropped.
struct Conversion {
    count: Arc<AtomicUsize>,
    is_counted: bool,
}

impl Drop for Conversion {
    fn drop(&mut self) {
        if self.is_counted {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What a body holds of the pool of large bodies.
enum LargeShare {
    Held(Option<OwnedSemaphorePermit>),
    /// The body waited once; it does not wait again.
    TimedOut,
}

impl Reservation {
    /// Leaves most of the time until `deadline` to the body itself: it waits for others in the first quarter only.
    pub(crate) fn with_deadline(self, deadline: Instant) -> Self {
        let now = Instant::now();
        Self {
            waits_until: Some(now + deadline.saturating_duration_since(now) / 4),
            ..self
        }
    }

    fn units(&self) -> u32 {
        let held = [Some(&self.first), self.growth.as_ref(), self.last.as_ref()];
        held.into_iter().map(units_in).sum()
    }

    /// Releases what a finished body of `length_bytes` does not need.
    pub(crate) fn shrink(&mut self, length_bytes: u64) {
        self.turn = None;
        if matches!(self.large, LargeShare::Held(Some(_))) && !self.conversion.is_counted {
            self.conversion.is_counted = true;
            self.conversion.count.fetch_add(1, Ordering::Relaxed);
        }
        let mut needed = units(length_bytes) as usize;
        for held in [Some(&mut self.first), self.growth.as_mut(), self.last.as_mut()] {
            let Some(held) = held else { continue };
            let kept = needed.min(held.num_permits());
            drop(held.split(held.num_permits() - kept));
            needed -= kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::poll;
    use tokio::time::timeout;

    use super::*;

    const MIB: u64 = 1024 * 1024;

    /// Returns the free units of all pools.
    fn free(budget: &Budget) -> usize {
        let pools = [&budget.first, &budget.growth, &budget.last];
        pools.iter().map(|pool| pool.permits.available_permits()).sum()
    }

    #[tokio::test]
    async fn a_body_reserves_what_it_needs_and_releases_it() {
        let budget = Budget::new(8 * MIB);
        let all = free(&budget);
        let mut body = budget.reserve(None).await;
        assert_eq!(all - free(&budget), 16);
        budget.cover(&mut body, 100).await;
        assert_eq!(all - free(&budget), 16);
        for bytes in [MIB, 2 * MIB, 5 * MIB] {
            budget.cover(&mut body, bytes).await;
            assert_eq!((all - free(&budget)) as u64, bytes / UNIT_BYTES);
        }
        body.shrink(600 * 1024);
        assert_eq!(all - free(&budget), 150);
        drop(body);
        assert_eq!(free(&budget), all);
    }

    #[tokio::test]
    async fn bodies_that_wait_for_each_other_finish_one_after_the_other() {
        let budget = Budget::new(8 * MIB);
        let mut bodies = Vec::new();
        for _ in 0..3 {
            let mut body = budget.reserve(None).await;
            budget.cover(&mut body, MIB).await;
            bodies.push(body);
        }
        let [mut one, mut two, three] = bodies.try_into().ok().unwrap();
        budget.cover(&mut one, 3 * MIB).await;
        let mut waiting = Box::pin(budget.cover(&mut two, 3 * MIB));
        assert!(poll!(&mut waiting).is_pending());
        // A body that was read keeps its memory but not its turn.
        one.shrink(3 * MIB);
        assert!(poll!(&mut waiting).is_pending());
        drop(one);
        waiting.await;
        drop(three);
    }

    #[tokio::test]
    async fn a_body_larger_than_the_budget_does_not_wait_for_itself() {
        let budget = Budget::new(4 * MIB);
        let mut body = budget.reserve(None).await;
        for mib in 1..=50 {
            budget.cover(&mut body, mib * MIB).await;
        }
        assert_eq!(budget.last.permits.available_permits(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_release_their_memory_when_others_wait() {
        let budget = Budget::new(8 * MIB);
        let mut slow = Vec::new();
        for _ in 0..2 {
            let mut body = budget.reserve(None).await;
            budget.cover(&mut body, 3 * MIB).await;
            slow.push(body);
        }
        sleep(limits::SLOW_BODY_TIME).await;
        let [mut one, mut two] = [&slow[0], &slow[1]].map(|body| Box::pin(budget.reclaimed(body)));
        sleep(limits::RECLAIM_INTERVAL).await;
        assert!(poll!(&mut one).is_pending() && poll!(&mut two).is_pending());
        let mut other = budget.reserve(None).await;
        let mut waiting = Box::pin(budget.cover(&mut other, MIB));
        assert!(poll!(&mut waiting).is_pending());
        one.await;
        assert!(poll!(&mut two).is_pending(), "one at a time");
        drop(two);
        slow.remove(0);
        waiting.await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_waits_a_moment_for_others_but_not_longer() {
        let budget = Budget::new(limits::BODY_BUDGET_BYTES);
        let mut bodies = Vec::new();
        for _ in 0..3 {
            bodies.push(budget.reserve(None).await);
        }
        let [mut one, mut two, mut three] = bodies.try_into().ok().unwrap();
        let started = Instant::now();
        budget.cover(&mut one, 8 * MIB).await;
        budget.cover(&mut two, MIB).await;
        assert_eq!(started.elapsed(), Duration::ZERO);
        {
            let mut waiting = Box::pin(budget.cover(&mut two, 8 * MIB));
            assert!(poll!(&mut waiting).is_pending());
            drop(one);
            waiting.await;
        }
        assert_eq!(started.elapsed(), Duration::ZERO);
        budget.cover(&mut three, 8 * MIB).await;
        assert_eq!(started.elapsed(), limits::LARGE_BODY_WAIT);
        budget.cover(&mut three, 50 * MIB).await;
        assert_eq!(started.elapsed(), limits::LARGE_BODY_WAIT, "it waits once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_waits_longer_for_one_that_is_being_converted() {
        let budget = Budget::new(limits::BODY_BUDGET_BYTES);
        let mut read = budget.reserve(None).await;
        budget.cover(&mut read, 8 * MIB).await;
        read.shrink(8 * MIB);
        let started = Instant::now();
        let mut next = budget.reserve(None).await;
        {
            let mut waiting = Box::pin(budget.cover(&mut next, 8 * MIB));
            assert!(timeout(limits::LARGE_BODY_WAIT * 3, &mut waiting).await.is_err());
            drop(read);
            waiting.await;
        }
        assert_eq!(started.elapsed(), limits::LARGE_BODY_WAIT * 3);

        next.shrink(8 * MIB);
        let started = Instant::now();
        let mut last = budget.reserve(None).await;
        budget.cover(&mut last, 8 * MIB).await;
        assert_eq!(started.elapsed(), limits::CONVERTED_BODY_WAIT, "it has an end");
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_of_known_length_do_not_wait_for_each_other() {
        let budget = Budget::new(limits::BODY_BUDGET_BYTES);
        let mut one = budget.reserve(Some(8 * MIB)).await;
        let mut two = budget.reserve(Some(8 * MIB)).await;
        let started = Instant::now();
        budget.cover(&mut one, 2 * MIB).await;
        {
            let mut waiting = Box::pin(budget.cover(&mut two, 2 * MIB));
            assert!(poll!(&mut waiting).is_pending());
            budget.cover(&mut one, 8 * MIB).await;
            drop(one);
            waiting.await;
        }
        budget.cover(&mut two, 8 * MIB).await;
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}
