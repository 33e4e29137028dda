//! State of the engine for operators and the console: the health of its parts, pages in flight, limits.

use harvestman_core::api::console::Limiter;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::JobId;
use harvestman_store::{Store, StoreError};
use prometheus_client::registry::Registry;
use tokio::time::timeout;

use crate::browser_pages::BrowserPages;
use crate::context::{Context, Engine};
use crate::limits;
use crate::llm::Llm;
use crate::metrics::Gauges;
use crate::plans::Plans;
use crate::search::provider::Search;

impl Engine {
    /// Returns the store that the engine works on.
    pub fn store(&self) -> &Store {
        &self.context.store
    }

    /// Returns the limits of each team.
    pub fn plans(&self) -> &Plans {
        &self.context.config.plans
    }

    /// Returns whether the browser's program starts, judged by the pages rendered so far; `None` without a
    /// browser.
    pub fn browser_is_healthy(&self) -> Option<bool> {
        self.context.scraper.browser().map(BrowserPages::is_healthy)
    }

    /// Returns whether the last request to the language model succeeded; `None` without a model.
    pub fn model_is_healthy(&self) -> Option<bool> {
        self.context.config.llm.as_ref().map(Llm::is_healthy)
    }

    /// Returns whether the last request to the search provider succeeded; `None` without a provider.
    pub fn search_is_healthy(&self) -> Option<bool> {
        self.context.config.search.as_ref().map(Search::is_healthy)
    }

    /// Returns why no further page of a job starts now; `None` if nothing limits it or another node drives
    /// it.
    pub fn limiter(&self, job: JobId) -> Option<Limiter> {
        let limiter = self.context.driver_signals.limiter(job)?;
        let behind = self.context.scraper.conversions().is_behind();
        // Pages that wait for a conversion hold their slots, so conversion is the real limit.
        Some(match limiter {
            Limiter::Concurrency | Limiter::HostConcurrency if behind => Limiter::Conversion,
            limiter => limiter,
        })
    }

    /// Registers the engine's metrics.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.context.slots.metrics().register(registry);
        self.context.config.proxies.register(registry);
    }

    /// Updates the metrics that are read rather than counted. If the store does not respond soon, those of running jobs are
    /// left out.
    pub async fn refresh_metrics(&self) {
        let Context {
            slots,
            scraper,
            sessions,
            store,
            ..
        } = &*self.context;
        let running = timeout(limits::METRICS_TIMEOUT, store.running_jobs())
            .await
            .unwrap_or_else(|_| Err(StoreError::Transient("it does not respond".to_owned())))
            .inspect_err(|error| tracing::warn!(%error, "cannot read the running jobs for the metrics"))
            .ok();
        let gauges = Gauges {
            pages_in_flight: [SlotKind::Plain, SlotKind::Browser]
                .map(|kind| (kind, slots.in_use_in_all_teams(kind))),
            conversions_waiting: scraper.conversions().waiting(),
            browser_processes: harvestman_browser::running_processes(),
            browser_sessions: sessions.open_sessions(),
            running,
        };
        slots.metrics().set_gauges(&gauges);
        scraper.proxies().set_gauges();
    }
}
