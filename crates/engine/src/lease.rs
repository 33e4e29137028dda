//! The lease of a job that this node works on: renewed while the work lasts; the work is dropped if the lease is
//! lost.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use harvestman_store::{Lease, StoreError};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::clock::Ticker;
use crate::context::Context;
use crate::{clock, limits};

/// Why work on a leased job stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeaseEnd {
    /// The job has ended.
    JobEnded,
    /// Another node owns the shard.
    Lost,
    /// The server is shutting down; the shard was released.
    Released,
    /// A task panicked, which is a bug. The shard is leased again when its lease expires, and its pages are fetched again.
    Panicked,
}

/// Notices forward steps of the wall clock, after which the leases of this node look expired until it renews them.
#[derive(Debug)]
pub(crate) struct ClockSteps {
    ticker: Ticker,
    renewed_at: Instant,
}

impl ClockSteps {
    pub(crate) fn new() -> Self {
        Self {
            ticker: Ticker::new(),
            renewed_at: Instant::now(),
        }
    }

    /// Returns false while leases that look expired may be those of this node, which knows whether it `holds` any.
    pub(crate) fn may_lease(&mut self, holds: bool) -> bool {
        if holds && clock::now().millis_since(self.ticker.now()) > limits::CLOCK_STEP_MS {
            self.renewed_at = Instant::now() + limits::HEARTBEAT * 2;
        }
        self.ticker = Ticker::new();
        Instant::now() >= self.renewed_at
    }
}

/// Runs the work of a leased job and renews the lease meanwhile, as [`while_renewed`].
pub(crate) async fn hold(
    context: &Context,
    lease: &Lease,
    work: impl Future<Output = Result<LeaseEnd, StoreError>>,
) -> Result<LeaseEnd, StoreError> {
    if cfg!(feature = "no-fence") {
        return work.await;
    }
    let renew = || context.store.renew(lease, clock::now(), limits::LEASE_MS);
    let worked = while_renewed(renew, work).await?;
    worked.unwrap_or(Ok(LeaseEnd::Lost))
}

/// Runs work under a lease of [`limits::LEASE_MS`] and renews the lease meanwhile: `renew` returns whether it still
/// exists. Drops the work and returns `None` when the lease is lost, or may have expired because the store did not renew
/// it in time.
///
/// # Errors
/// If the lease cannot be renewed for a reason that does not pass, or until it expires.
pub(crate) async fn while_renewed<T, R: Future<Output = Result<bool, StoreError>>>(
    renew: impl Fn() -> R,
    work: impl Future<Output = T>,
) -> Result<Option<T>, StoreError> {
    let end_of = |start: Instant| start + Duration::from_millis(limits::LEASE_MS) - limits::LEASE_MARGIN;
    let end = Mutex::new(end_of(Instant::now()));
    let current = || *end.lock();
    let renewing = async {
        let mut pause = limits::HEARTBEAT;
        loop {
            tokio::time::sleep(pause).await;
            let start = Instant::now();
            match timeout_at(current(), renew()).await {
                Ok(Ok(true)) => {
                    *end.lock() = end_of(start);
                    pause = limits::HEARTBEAT;
                }
                Ok(Ok(false)) | Err(_) => return Ok(None),
                Ok(Err(error)) if error.is_transient() && Instant::now() < current() => {
                    tracing::warn!(%error, "cannot renew a lease; retrying");
                    pause = limits::RENEW_RETRY;
                }
                Ok(Err(error)) => return Err(error),
            }
        }
    };
    // A process that was stopped for a while may learn of other events before its timers.
    let expired = poll_fn(|_| match Instant::now() < current() {
        true => Poll::Pending,
        false => Poll::Ready(()),
    });
    tokio::select! {
        biased;
        lost = renewing => lost,
        () = expired => Ok(None),
        worked = work => Ok(Some(worked)),
    }
}

#[cfg(test)]
mod tests {
    use harvestman_core::time::Timestamp;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_is_dropped_before_a_lease_that_cannot_be_renewed_expires() {
        let lease = Duration::from_millis(limits::LEASE_MS);
        let failing = || async { Err(StoreError::Transient("no connection".to_owned())) };
        let (start, work) = (Instant::now(), std::future::pending::<()>());
        assert!(while_renewed(failing, work).await.is_err());
        assert!(start.elapsed() < lease);
        let (start, work) = (Instant::now(), std::future::pending::<()>());
        assert_eq!(while_renewed(std::future::pending, work).await.unwrap(), None);
        assert!(start.elapsed() < lease);
        let work = tokio::time::sleep(lease * 3);
        let renewed = while_renewed(|| async { Ok(true) }, work).await;
        assert_eq!(renewed.unwrap(), Some(()));
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_step_of_the_clock_only_a_node_without_leases_takes_some() {
        let mut steps = ClockSteps::new();
        let earlier = Timestamp(clock::now().0 - 3_600_000);
        for (holds, may_lease) in [(false, true), (true, false)] {
            steps.ticker = Ticker::at(Instant::now(), earlier);
            assert_eq!(steps.may_lease(holds), may_lease);
        }
        assert!(!steps.may_lease(true));
        tokio::time::advance(limits::HEARTBEAT * 2).await;
        assert!(steps.may_lease(true));
    }
}
