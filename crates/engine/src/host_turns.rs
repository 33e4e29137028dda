//! Decides when a job of this node may request a host that other nodes request too: spaces the requests by `delay` or
//! `Crawl-delay`, and holds them while the host asks for a pause. The core paces the requests of one job.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harvestman_core::crawl::{FetchedPage, RobotsOutcome, limits as crawl_limits};
use harvestman_core::host::HostKey;
use harvestman_store::SharedLimits;
use parking_lot::Mutex;

use crate::limits;

/// Hosts that have requested a pause, as reported by any node. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostPauses(Arc<Mutex<HashMap<String, Instant>>>);

impl HostPauses {
    /// Replaces the known pauses.
    pub(crate) fn set(&self, hosts: Vec<(String, Duration)>) {
        let now = Instant::now();
        *self.0.lock() = hosts
            .into_iter()
            .map(|(host, pause)| (host, now + pause))
            .collect();
    }

    fn remaining(&self, host: &HostKey) -> Option<Duration> {
        let until = *self.0.lock().get(host.as_str())?;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}

/// The turns of one job. Cheap to clone. Without other nodes, every turn comes immediately.
#[derive(Clone, Debug)]
pub(crate) struct HostTurns {
    shared: Option<SharedLimits>,
    pauses: HostPauses,
    /// `delay` of the request, which replaces every `Crawl-delay`.
    delay: Option<Duration>,
    crawl_delays: Arc<Mutex<HashMap<HostKey, Duration>>>,
}

impl HostTurns {
    pub(crate) fn new(shared: Option<SharedLimits>, pauses: HostPauses, delay: Option<Duration>) -> Self {
        Self {
            shared,
            pauses,
            delay,
            crawl_delays: Arc::default(),
        }
    }

    /// Records the `Crawl-delay` of a host.
    pub(crate) fn learn(&self, host: &HostKey, robots: &RobotsOutcome) {
        if let RobotsOutcome::Found(robots) = robots
            && let Some(delay_ms) = robots.crawl_delay_ms()
            && self.shared.is_some()
        {
            let delay = Duration::from_millis(delay_ms);
            self.crawl_delays.lock().insert(host.clone(), delay);
        }
    }

    /// Returns whether requests to the host need a delay between them.
    pub(crate) fn has_delay(&self, host: &HostKey) -> bool {
        self.shared.is_some() && self.delay_of(host).is_some()
    }

    /// Waits until the host may be requested.
    pub(crate) async fn wait(&self, host: &HostKey) {
        let Some(shared) = &self.shared else { return };
        while let Some(left) = self.pauses.remaining(host) {
            tokio::time::sleep(left).await;
        }
        let Some(delay) = self.delay_of(host) else { return };
        loop {
            match shared.reserve_start(host.to_string(), delay).await {
                Ok(wait) => {
                    let turn = Instant::now() + wait;
                    tokio::time::sleep(wait).await;
                    // If the node was frozen past its turn, the current turn may belong to another request.
                    if turn.elapsed() < delay.max(limits::RENEW_RETRY) {
                        return;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot reserve the next request to a host; retrying");
                    tokio::time::sleep(limits::RENEW_RETRY).await;
                }
            }
        }
    }

    /// Reports to other nodes that a host has requested a pause, if the response of a page says so.
    pub(crate) async fn report(&self, host: &HostKey, page: &FetchedPage) {
        let pause_ms = match (page.status, page.retry_after_ms) {
            (429 | 503, Some(wait)) => wait.min(crawl_limits::RETRY_AFTER_MAX_MS),
            (429, None) => crawl_limits::BACKOFF_FIRST_MS,
            _ => return,
        };
        if let Some(shared) = &self.shared
            && let Err(error) = shared
                .pause_host(host.to_string(), Duration::from_millis(pause_ms))
                .await
        {
            tracing::debug!(%error, "cannot report that a host has requested a pause");
        }
    }

    fn delay_of(&self, host: &HostKey) -> Option<Duration> {
        self.delay.or_else(|| self.crawl_delays.lock().get(host).copied())
    }
}
