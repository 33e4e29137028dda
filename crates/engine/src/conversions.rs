//! Permits for conversions, which keep a core busy each: as many as there are cores, whatever is in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Conversions {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    cores: usize,
}

/// A page that waits, for as long as it does.
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

    /// A permit for one conversion.
    pub(crate) async fn permit(&self) -> OwnedSemaphorePermit {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        let permit = self.permits.clone().acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    /// Pages that wait for a permit.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether conversions keep pages waiting, more than for a moment: as many wait as are converted.
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
    async fn no_more_are_converted_than_there_are_cores_and_who_waits_is_counted() {
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
