//! The limits that all nodes of a database share, as the rest of the server uses them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::share::{Demand, Holding, RateGrant};

/// The shared limits of a database; only a store that other nodes use has them.
#[derive(Clone, Debug)]
pub struct SharedLimits(pub(crate) Arc<Postgres>);

impl SharedLimits {
    /// Returns what this node holds of each limit after giving back what it no longer wants and borrowing what is
    /// free and due to it. The units held across all living nodes never exceed the limit.
    pub async fn borrow(&self, demands: &[Demand]) -> Result<Vec<Holding>, StoreError> {
        self.0.borrow_units(demands.to_vec()).await
    }

    /// Returns which of these limits other nodes wait for.
    pub async fn awaited(&self, subjects: &[String]) -> Result<Vec<String>, StoreError> {
        self.0.awaited_units(subjects).await
    }

    /// Takes up to `wanted` requests of a limit per minute. A window of one minute begins with its first request.
    pub async fn take_requests(
        &self,
        subject: String,
        limit: u32,
        wanted: u32,
    ) -> Result<RateGrant, StoreError> {
        self.0.take_requests(subject, limit, wanted).await
    }

    /// Reserves the next start of a request to a host, `delay` after the previous one across all nodes. Returns how
    /// long to wait for it.
    pub async fn reserve_start(&self, host: String, delay: Duration) -> Result<Duration, StoreError> {
        self.0.reserve_start(host, delay).await
    }

    /// Pauses the requests of all nodes to a host.
    pub async fn pause_host(&self, host: String, pause: Duration) -> Result<(), StoreError> {
        self.0.pause_host(host, pause).await
    }

    /// Returns the hosts that are paused, and for how long.
    pub async fn paused_hosts(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        self.0.paused_hosts().await
    }

    /// Returns whether this node counts as living, and so keeps what it holds.
    pub fn holds(&self) -> bool {
        let (until, _) = self.0.reports().state();
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Returns how often this node did not report itself in time. Each time, it lost what it held.
    pub fn losses(&self) -> u64 {
        self.0.reports().state().1
    }
}
