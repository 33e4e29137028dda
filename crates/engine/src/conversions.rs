//! Permits for conversions. Each conversion keeps a core busy, so there is one permit per core.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The conversion permits of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Conversions {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    cores: usize,
}

/// Counts a page as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Conversions {
    pub(crate) fn new(cores: usize) -> Self {
        let cores = cores.max(1);
        Self {
            permits: Arc::new(Semaphore::new(cores)),
            waiting: Arc::default(),
            cores,
        }
    }

    /// Waits for a permit for one conversion.
    pub(crate) async fn permit(&self) -> OwnedSemaphorePermit {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        let permit = self.permits.clone().acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    /// Returns the number of pages that wait for a permit.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns whether conversions are a bottleneck: at least as many pages wait as can be converted at once.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting() >= self.cores
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn conversions_are_limited_to_the_cores_and_waiting_pages_are_counted() {
        let conversions = Conversions::new(1);
        let held = conversions.permit().await;
        assert_eq!((conversions.waiting(), conversions.is_behind()), (0, false));
        let mut second = Box::pin(conversions.permit());
        assert!(futures_util::poll!(&mut second).is_pending());
        let mut third = Box::pin(conversions.permit());
        assert!(futures_util::poll!(&mut third).is_pending());
        assert_eq!((conversions.waiting(), conversions.is_behind()), (2, true));
        drop(third);
        drop(held);
        let _permit = second.await;
        assert_eq!(conversions.waiting(), 0);
    }
}
