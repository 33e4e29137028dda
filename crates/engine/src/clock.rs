//! Time and random ids: the two inputs that the core never reads itself.

use std::time::{SystemTime, UNIX_EPOCH};

use harvestman_core::ids::{JobId, ScrapeId};
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use harvestman_store::new_id;

/// Returns wall-clock time, for what is stored and shown.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the current calendar month (UTC).
pub(crate) fn this_month() -> Month {
    Month::of(now())
}

/// Returns a new job id. Ids created later sort later.
pub fn new_job_id() -> JobId {
    JobId(new_id())
}

/// Returns a new scrape id.
pub(crate) fn new_scrape_id() -> ScrapeId {
    ScrapeId(new_id())
}

/// Monotonic time as [`Timestamp`]s: read once from the wall clock, then advanced by the monotonic clock. It
/// paces crawls, so that a jump of the wall clock has no effect on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticker {
    started: tokio::time::Instant,
    anchor: Timestamp,
}

impl Ticker {
    pub(crate) fn new() -> Self {
        Self::at(tokio::time::Instant::now(), now())
    }

    /// Starts at this instant, when the wall clock showed `anchor`.
    pub(crate) fn at(started: tokio::time::Instant, anchor: Timestamp) -> Self {
        Self { started, anchor }
    }

    /// Returns the time of its start.
    pub(crate) fn started(&self) -> Timestamp {
        self.anchor
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.anchor + self.started.elapsed()
    }

    /// Returns the instant at which [`Ticker::now`] reaches `time`.
    pub(crate) fn instant(&self, time: Timestamp) -> tokio::time::Instant {
        self.started + std::time::Duration::from_millis(time.millis_since(self.anchor))
    }
}
