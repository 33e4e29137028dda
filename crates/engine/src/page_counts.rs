//! What pages took since the start of this process, over all teams, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters, and what is in flight now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageMetrics {
    /// Pages worked on that were never in the browser.
    pub plain_total: u64,
    /// Pages worked on that were opened in the browser.
    pub browser_total: u64,
    /// Pages that waited for a slot.
    pub waited_total: u64,
    /// Attempts at pages of jobs beyond the first.
    pub retried_total: u64,
    /// Pages in flight outside the browser.
    pub plain_in_flight: u64,
    /// Pages in the browser.
    pub browser_in_flight: u64,
    /// Pages that wait to be converted.
    pub waiting_for_conversion: u64,
}

/// The counters among them.
#[derive(Debug, Default)]
pub(crate) struct PageCounters {
    plain: AtomicU64,
    browser: AtomicU64,
    waited: AtomicU64,
    retried: AtomicU64,
}

impl PageCounters {
    /// A page was worked on.
    pub(crate) fn worked(&self, in_browser: bool, waited: bool) {
        let kind = if in_browser { &self.browser } else { &self.plain };
        kind.fetch_add(1, Ordering::Relaxed);
        self.waited.fetch_add(u64::from(waited), Ordering::Relaxed);
    }

    /// A page of a job is tried again.
    pub(crate) fn retried(&self) {
        self.retried.fetch_add(1, Ordering::Relaxed);
    }

    /// Their values; what is in flight is the caller's to fill in.
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
