//! The memory budget of all bodies in flight.
//!
//! When the budget is exhausted, a fetch waits instead of failing. Every body first reserves a small part; one that
//! grows beyond it reserves everything up to its maximum at once, from a second pool. No fetch waits for the second
//! pool while holding a part of it, so waiting fetches cannot deadlock.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits;

const UNIT_BYTES: u64 = 4096;

/// The two pools of the budget.
pub(crate) struct Budget {
    first: Arc<Semaphore>,
    rest: Arc<Semaphore>,
    first_units: u32,
    rest_units: u32,
}

impl Budget {
    /// Creates a budget of about `bytes`: half for first reservations, half for what large bodies need beyond them.
    pub(crate) fn new(bytes: u64) -> Budget {
        let half = units(bytes / 2).max(1);
        Budget {
            first: Arc::new(Semaphore::new(half as usize)),
            rest: Arc::new(Semaphore::new(half as usize)),
            first_units: units(limits::FIRST_RESERVATION_BYTES).min(half),
            rest_units: half,
        }
    }

    /// Makes the first reservation for a body of at most `cap_bytes`.
    pub(crate) async fn reserve(&self, cap_bytes: u64) -> Reservation {
        let wanted = units(cap_bytes).clamp(1, self.first_units);
        Reservation {
            first: acquire(&self.first, wanted).await,
            rest: None,
            cap_bytes,
        }
    }

    /// Extends the reservation to a body of `length_bytes`, waiting until the pool has room. A single reservation
    /// is at most the whole pool.
    pub(crate) async fn cover(&self, reservation: &mut Reservation, length_bytes: u64) {
        if reservation.rest.is_some() || length_bytes <= reservation.first.num_permits() as u64 * UNIT_BYTES {
            return;
        }
        let beyond = units(reservation.cap_bytes).saturating_sub(reservation.first.num_permits() as u32);
        reservation.rest = Some(acquire(&self.rest, beyond.clamp(1, self.rest_units)).await);
    }
}

async fn acquire(pool: &Arc<Semaphore>, units: u32) -> OwnedSemaphorePermit {
    pool.clone()
        .acquire_many_owned(units)
        .await
        .expect("the semaphores are never closed")
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES))
        .unwrap_or(u32::MAX)
        .min(Semaphore::MAX_PERMITS as u32)
}

/// The budget share of one body; released on drop.
pub(crate) struct Reservation {
    first: OwnedSemaphorePermit,
    rest: Option<OwnedSemaphorePermit>,
    cap_bytes: u64,
}

impl Reservation {
    /// Releases what a finished body of `length_bytes` does not need.
    pub(crate) fn shrink(&mut self, length_bytes: u64) {
        let needed = units(length_bytes) as usize;
        let kept_first = needed.min(self.first.num_permits());
        drop(self.first.split(self.first.num_permits() - kept_first));
        if let Some(rest) = &mut self.rest {
            let kept_rest = (needed - kept_first).min(rest.num_permits());
            drop(rest.split(rest.num_permits() - kept_rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn free(budget: &Budget) -> (usize, usize) {
        (budget.first.available_permits(), budget.rest.available_permits())
    }

    #[tokio::test]
    async fn a_body_reserves_what_it_needs_and_releases_it() {
        let budget = Budget::new(8 * MIB);
        let all = free(&budget);
        let mut one = budget.reserve(3 * MIB).await;
        budget.cover(&mut one, 100).await;
        assert_eq!(free(&budget).1, all.1);
        budget.cover(&mut one, 2 * MIB).await;
        assert!(free(&budget).1 < all.1);
        one.shrink(600 * 1024);
        let (first, rest) = free(&budget);
        assert_eq!((all.0 - first) + (all.1 - rest), 150);
        drop(one);
        assert_eq!(free(&budget), all);
    }

    #[tokio::test]
    async fn a_body_waits_when_the_budget_is_exhausted() {
        let budget = Budget::new(8 * MIB);
        let mut one = budget.reserve(50 * MIB).await;
        let mut two = budget.reserve(50 * MIB).await;
        budget.cover(&mut one, MIB).await;
        let mut waiting = Box::pin(budget.cover(&mut two, MIB));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(one);
        waiting.await;
    }
}
