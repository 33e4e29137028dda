//! Starts and stops the engine.

use std::sync::Arc;

use harvestman_fetch::Fetcher;
use harvestman_store::Store;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::browser_pages::BrowserPages;
use crate::budget::Budget;
use crate::changes::JobChanges;
use crate::context::{Context, Engine, EngineConfig};
use crate::driver_signals::DriverSignals;
use crate::file_reader::FileReader;
use crate::holdings::Holdings;
use crate::host_turns::HostPauses;
use crate::profiles::Profiles;
use crate::scraper::{Scraper, ScraperParts};
use crate::sessions::{self, registry::Sessions};
use crate::slots::Slots;
use crate::team_shares::TeamShares;
use crate::text_recognition::TextRecognition;
use crate::{borrowing, clock, due_work, expiry, limits, lost_texts, monitors, scheduler, watch, webhooks};

impl Engine {
    /// Starts the loops that drive stored jobs. Jobs that were running continue.
    pub fn start(
        config: EngineConfig,
        store: Store,
        fetcher: Fetcher,
        browser: Option<BrowserPages>,
    ) -> Engine {
        let live = browser.as_ref().map(|browser| browser.live().clone());
        let holdings = Holdings::new(store.shared_limits());
        let slots = Slots::new(
            config.plans.clone(),
            holdings.clone(),
            config.browser_pages,
            config.node_pages,
        );
        let stop = CancellationToken::new();
        let reader = FileReader::new(config.file_reader.clone(), config.cores);
        let parts = ScraperParts {
            fetcher,
            proxies: config.proxies.clone(),
            blocker: config.blocker.clone(),
            browser,
            files: TextRecognition::new(reader, config.recognizer.clone(), config.cores),
            llm: config.llm.clone(),
            metrics: slots.metrics().clone(),
        };
        let context = Arc::new(Context {
            scraper: Scraper::new(parts, config.cores),
            slots,
            budget: Budget::new(config.plans.clone(), store.clone(), holdings.clone()),
            sessions: Sessions::new(live, config.plans.clone(), holdings.clone()),
            holdings,
            host_pauses: HostPauses::default(),
            profiles: Profiles::default(),
            maps: TeamShares::new(limits::MAPS_AT_ONCE),
            sitemaps: Arc::new(Semaphore::new(config.cores.max(1))),
            changes: JobChanges::default(),
            driver_signals: DriverSignals::default(),
            node: clock::new_job_id().to_string(),
            new_work: Notify::new(),
            new_checks: Notify::new(),
            outbox: Notify::new(),
            hand_over: stop.child_token(),
            stop,
            loops: Mutex::default(),
            config,
            store,
        });
        let loops = vec![
            tokio::spawn(scheduler::run(context.clone(), context.hand_over.clone())),
            tokio::spawn(monitors::run(context.clone(), context.hand_over.clone())),
            tokio::spawn(due_work::run(context.clone(), context.stop.clone())),
            tokio::spawn(watch::run(context.clone(), context.stop.clone())),
            tokio::spawn(borrowing::run(context.clone(), context.stop.clone())),
            tokio::spawn(webhooks::run(context.clone(), context.stop.clone())),
            tokio::spawn(expiry::run(context.clone(), context.stop.clone())),
            tokio::spawn(lost_texts::run(context.clone(), context.stop.clone())),
            tokio::spawn(sessions::run(context.clone(), context.stop.clone())),
        ];
        *context.loops.lock() = loops;
        Engine { context }
    }

    /// Hands the jobs that this node drives over to other nodes at once, and takes no further ones. Without other nodes
    /// they continue until [`Engine::shutdown`].
    pub fn hand_over(&self) {
        if self.context.store.is_shared() {
            self.context.hand_over.cancel();
        }
    }

    /// Shuts down: starts nothing new, drops pages in flight, releases shards, ends browser sessions.
    pub async fn shutdown(&self) {
        self.context.stop.cancel();
        let loops = std::mem::take(&mut *self.context.loops.lock());
        let ending = async {
            for handle in loops {
                let _ = handle.await;
            }
        };
        tokio::join!(ending, self.context.end_sessions());
        self.context.scraper.stop().await;
    }
}
