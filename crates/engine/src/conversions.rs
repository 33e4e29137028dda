//! Permits for conversions. Each conversion keeps a core busy, so there is one permit per core. Large pages are
//! converted one at a time, because each takes several times its size in memory, and the next one waits a moment until
//! the documents of others are stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::limits;

/// The conversion permits of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Conversions {
    permits: Arc<Semaphore>,
    /// Permit for a large page.
    large: Arc<Semaphore>,
    /// Bytes of large documents that are not stored yet.
    unstored: watch::Sender<usize>,
    waiting: Arc<AtomicUsize>,
    cores: usize,
}

/// Permit for one conversion.
#[derive(Debug)]
pub(crate) struct ConversionPermit {
    _core: OwnedSemaphorePermit,
    _large: Option<OwnedSemaphorePermit>,
}

/// Counts a large document as not stored until it is dropped.
#[derive(Debug)]
pub(crate) struct UnstoredDocument {
    bytes: usize,
    unstored: watch::Sender<usize>,
}

/// Counts a page as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Conversions {
    pub(crate) fn new(cores: usize) -> Self {
        let cores = cores.max(1);
        Self {
            permits: Arc::new(Semaphore::new(cores)),
            large: Arc::new(Semaphore::new(1)),
            unstored: watch::Sender::new(0),
            waiting: Arc::default(),
            cores,
        }
    }

    /// Waits for a permit to convert a body of this size.
    pub(crate) async fn permit(&self, body_bytes: usize) -> ConversionPermit {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        // Taken first, so that a waiting large page does not occupy a core.
        let large = match body_bytes > limits::LARGE_PAGE_BYTES {
            true => {
                let large = acquire(&self.large).await;
                let mut unstored = self.unstored.subscribe();
                let stored = unstored.wait_for(|&bytes| bytes <= limits::UNSTORED_BYTES);
                let _ = timeout(limits::LARGE_DOCUMENT_WAIT, stored).await;
                Some(large)
            }
            false => None,
        };
        ConversionPermit {
            _core: acquire(&self.permits).await,
            _large: large,
        }
    }

    /// Counts a document of this size as not stored, if it is large.
    pub(crate) fn unstored(&self, bytes: usize) -> Option<UnstoredDocument> {
        if bytes <= limits::LARGE_PAGE_BYTES {
            return None;
        }
        self.unstored.send_modify(|unstored| *unstored += bytes);
        let unstored = self.unstored.clone();
        Some(UnstoredDocument { bytes, unstored })
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

async fn acquire(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = permits.clone().acquire_owned().await;
    permit.expect("the semaphore is never closed")
}

impl Drop for UnstoredDocument {
    fn drop(&mut self) {
        self.unstored.send_modify(|unstored| *unstored -= self.bytes);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn conversions_are_limited_to_the_cores_and_waiting_pages_are_counted() {
        let conversions = Conversions::new(1);
        let held = conversions.permit(1).await;
        assert_eq!((conversions.waiting(), conversions.is_behind()), (0, false));
        let mut second = Box::pin(conversions.permit(1));
        assert!(futures_util::poll!(&mut second).is_pending());
        let mut third = Box::pin(conversions.permit(1));
        assert!(futures_util::poll!(&mut third).is_pending());
        assert_eq!((conversions.waiting(), conversions.is_behind()), (2, true));
        drop(third);
        drop(held);
        let _permit = second.await;
        assert_eq!(conversions.waiting(), 0);
    }

    #[tokio::test]
    async fn large_pages_are_converted_one_at_a_time_beside_others() {
        let conversions = Conversions::new(3);
        let large = limits::LARGE_PAGE_BYTES + 1;
        let first = conversions.permit(large).await;
        let mut second = Box::pin(conversions.permit(large));
        assert!(futures_util::poll!(&mut second).is_pending());
        let _others = (conversions.permit(1).await, conversions.permit(1).await);
        drop(first);
        let _permit = second.await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_page_waits_a_moment_until_documents_are_stored() {
        let conversions = Conversions::new(3);
        let large = limits::LARGE_PAGE_BYTES + 1;
        let started = Instant::now();
        assert!(conversions.unstored(limits::LARGE_PAGE_BYTES).is_none());
        let _small = conversions.unstored(large);
        drop(conversions.permit(large).await);
        let document = conversions.unstored(limits::UNSTORED_BYTES);
        let mut waiting = Box::pin(conversions.permit(large));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(conversions.permit(1).await);
        drop(document);
        drop(waiting.await);
        assert_eq!(started.elapsed(), Duration::ZERO);

        let _document = conversions.unstored(limits::UNSTORED_BYTES);
        drop(conversions.permit(large).await);
        assert_eq!(started.elapsed(), limits::LARGE_DOCUMENT_WAIT);
    }
}
