//! Page counters since the start of this process, over all teams, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Page counters and gauges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageMetrics {
    /// Pages processed without the browser.
    pub plain_total: u64,
    /// Pages processed in the browser.
    pub browser_total: u64,
    /// Pages that waited for a slot.
    pub waited_total: u64,
    /// Retries of pages of jobs.
    pub retried_total: u64,
    /// Pages in flight outside the browser.
    pub plain_in_flight: u64,
    /// Pages in flight in the browser.
    pub browser_in_flight: u64,
    /// Pages that wait for a conversion permit.
    pub waiting_for_conversion: u64,
}

/// The counters of [`PageMetrics`].
#[derive(Debug, Default)]
pub(crate) struct PageCounters {
    plain: AtomicU64,
    browser: AtomicU64,
    waited: AtomicU64,
    retried: AtomicU64,
}

impl PageCounters {
    /// Counts a processed page.
    pub(crate) fn count_page(&self, in_browser: bool, waited: bool) {
        let kind = if in_browser { &self.browser } else { &self.plain };
        kind.fetch_add(1, Ordering::Relaxed);
        self.waited.fetch_add(u64::from(waited), Ordering::Relaxed);
    }

    /// Counts a retry of a page.
    pub(crate) fn count_retry(&self) {
        self.retried.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counters; the caller fills in the numbers of pages in flight.
    pub(crate) fn read(&self) -> PageMetrics {
        PageMetrics {
            plain_total: self.plain.load(Ordering::Relaxed),
            browser_total: self.browser.load(Ordering::Relaxed),
            waited_total: self.waited.load(Ordering::Relaxed),
            retried_total: self.retried.load(Ordering::Relaxed),
            ..PageMetrics::default()
        }
    }
}
