//! What operators and the console read of the engine: the health of what it uses, pages in flight, limits.

use harvestman_core::crawl::{Limiter, SlotKind};
use harvestman_core::ids::JobId;
use harvestman_store::Store;

use crate::browser_pages::BrowserPages;
use crate::context::Engine;
use crate::llm::Llm;
use crate::page_metrics::PageMetrics;
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

    /// Returns page counters since the start, over all teams.
    pub fn page_metrics(&self) -> PageMetrics {
        let slots = &self.context.slots;
        PageMetrics {
            plain_in_flight: slots.in_use_in_all_teams(SlotKind::Plain) as u64,
            browser_in_flight: slots.in_use_in_all_teams(SlotKind::Browser) as u64,
            waiting_for_conversion: self.context.scraper.conversions().waiting() as u64,
            ..slots.counters().read()
        }
    }
}
