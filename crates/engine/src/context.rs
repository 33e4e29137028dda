//! What all parts of the engine work with: settings, store, scraper, limits and the state of this process. Data
//! only: each operation is next to its feature, in an `impl` of [`Engine`] or [`Context`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use harvestman_browser::Blocker;
use harvestman_core::api::crawl::EnabledOptions;
use harvestman_core::interact::TokenKey;
use harvestman_store::Store;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::budget::Budget;
use crate::changes::JobChanges;
use crate::driver_signals::DriverSignals;
use crate::holdings::Holdings;
use crate::host_turns::HostPauses;
use crate::llm::Llm;
use crate::plans::Plans;
use crate::profiles::Profiles;
use crate::proxies::Proxies;
use crate::scraper::Scraper;
use crate::search::provider::Search;
use crate::sessions::registry::Sessions;
use crate::slots::Slots;
use crate::team_shares::TeamShares;
use crate::text_recognition::RecognizerConfig;

/// Settings made by the operator.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Product token matched against robots.txt groups.
    pub robots_agent: String,
    /// Limits of each team.
    pub plans: Plans,
    /// The language model. Without one, prompts are read as plain steps and data comes from what pages state.
    pub llm: Option<Llm>,
    /// The search provider. Without one, searches use the team's own cached pages.
    pub search: Option<Search>,
    /// Proxies for the pages of sites.
    pub proxies: Proxies,
    /// Blocks requests to advertisers and trackers, for `blockAds`.
    pub blocker: Blocker,
    /// Options that only the operator can enable.
    pub enabled: EnabledOptions,
    /// Number of pages converted at once.
    pub cores: usize,
    /// Number of browser pages open at once, across all teams.
    pub browser_pages: usize,
    /// Number of HTTP pages in flight at once, across all teams; `None` for [`crate::limits::PAGES_IN_FLIGHT`] or the
    /// largest limit of a team, whichever is higher.
    pub node_pages: Option<usize>,
    /// How long results stay available after the end of a job.
    pub retention: Duration,
    /// Secret that signs webhooks; `None` omits the signature.
    pub webhook_secret: Option<String>,
    /// Pauses before the second, third, ... attempt of a webhook delivery.
    pub webhook_retries: Vec<Duration>,
    /// Further header names that carry the signature.
    pub webhook_signature_aliases: Vec<String>,
    /// Program that reads files when called with [`crate::READ_FILE_COMMAND`].
    pub file_reader: PathBuf,
    /// Creates the tokens of browser sessions; the same on all nodes of a cluster.
    pub token_key: TokenKey,
    /// Recognizes text in images. Without it, scanned pages have no text.
    pub recognizer: Option<RecognizerConfig>,
}

/// Runs jobs. Cheap to clone; stopped by [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    pub(crate) context: Arc<Context>,
}

/// What all parts of the engine share.
pub(crate) struct Context {
    pub(crate) config: EngineConfig,
    pub(crate) store: Store,
    pub(crate) scraper: Scraper,
    pub(crate) slots: Slots,
    pub(crate) holdings: Holdings,
    pub(crate) host_pauses: HostPauses,
    pub(crate) budget: Budget,
    pub(crate) sessions: Sessions,
    pub(crate) profiles: Profiles,
    /// Permits for maps, which hold many URLs in memory.
    pub(crate) maps: TeamShares,
    /// Permits for reading sitemaps.
    pub(crate) sitemaps: Arc<Semaphore>,
    pub(crate) changes: JobChanges,
    pub(crate) driver_signals: DriverSignals,
    /// Identifies this process among others that use the same store.
    pub(crate) node: String,
    /// Notified when a shard may be free.
    pub(crate) new_work: Notify,
    /// Notified when a check of a monitor may be due.
    pub(crate) new_checks: Notify,
    /// Notified when a webhook event may be due.
    pub(crate) outbox: Notify,
    /// Ends the work on leased jobs; a child of `stop`.
    pub(crate) hand_over: CancellationToken,
    pub(crate) stop: CancellationToken,
    pub(crate) loops: Mutex<Vec<JoinHandle<()>>>,
}
