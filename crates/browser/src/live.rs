//! Browsers that live on between requests: one process per session, and one spare that is started in advance.
//!
//! [`LiveBrowsers`] starts and stops them; [`LiveBrowser`] is one of them. The owner, lifetime and price of
//! sessions are defined elsewhere.

mod browser;
mod code;
mod commands;
mod pages;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;
use parking_lot::Mutex;

use crate::blocker::Blocker;
use crate::error::BrowserError;
use crate::files::{DownloadFolder, FileLimits};
use crate::process::{Process, Purpose, start_with_retries};
use crate::sandbox::{Launcher, Sandbox};
use crate::visitor::Visitor;
use crate::worker::{CodeConfig, Languages, Worker};

pub use browser::LiveBrowser;

/// Serves the egress proxy on a non-blocking listener until the returned value is dropped.
pub type ServeEgress = dyn Fn(TcpListener) -> Box<dyn LiveEgress> + Send + Sync;

/// The served egress proxy of one live browser.
pub trait LiveEgress: Send + Sync {
    /// Chooses how the browser reaches its sites, once a session with these options owns it.
    fn route(&self, options: &ScrapeOptions);
}

/// Settings of live browsers.
#[derive(Clone)]
pub struct LiveConfig {
    /// Path of Chromium or its headless shell.
    pub program: PathBuf,
    /// Folder for the files of browsers without a sandbox, removed with them. Its parent folder is hidden
    /// from sandboxes.
    pub folder: PathBuf,
    /// Product name for the user agent, such as `Harvestman/1.0`.
    pub agent: String,
    /// How this machine isolates a browser and its code.
    pub sandbox: Sandbox,
    /// Program that starts first within a sandbox: the server's own.
    pub init: PathBuf,
    /// Node.js for code; `None`: such code is rejected.
    pub node: Option<PathBuf>,
    /// `node_modules` folders searched for playwright-core before Node.js's own.
    pub node_modules: Vec<PathBuf>,
    /// Python with playwright for code; `None`: such code is rejected.
    pub python: Option<PathBuf>,
    /// Run code even where no sandbox is available.
    pub unsandboxed_code: bool,
    /// Blocks requests to advertisers and trackers, for `blockAds`.
    pub blocker: Blocker,
    /// Serves the proxy that is a browser's only network access.
    pub egress: Arc<ServeEgress>,
    /// Limits of the files of one browser.
    pub files: FileLimits,
}

impl LiveConfig {
    fn private_folders(&self) -> Vec<PathBuf> {
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        folder.parent().map(PathBuf::from).into_iter().collect()
    }
}

/// Starts live browsers. Cheap to clone.
#[derive(Clone)]
pub struct LiveBrowsers {
    shared: Arc<Shared>,
}

struct Shared {
    config: LiveConfig,
    launcher: Launcher,
    languages: Arc<Languages>,
    spare: Mutex<Option<Spare>>,
    started: AtomicU64,
    stopped: AtomicBool,
}

/// A browser and worker started in advance.
struct Spare {
    chromium: Chromium,
    /// Worker for Node.js.
    worker: Option<Worker>,
}

/// A browser process with its proxy.
struct Chromium {
    process: Process,
    downloads: DownloadFolder,
    egress: Box<dyn LiveEgress>,
}

impl LiveBrowsers {
    /// Creates the starter with these settings; nothing is started yet.
    pub fn new(config: LiveConfig) -> Self {
        let launcher = Launcher::start(&config.init);
        let code = CodeConfig {
            sandbox: match &config.sandbox {
                Sandbox::Bubblewrap(bubblewrap) => Some(bubblewrap.clone()),
                Sandbox::Off => None,
            },
            unsandboxed: config.unsandboxed_code,
            folder: config.folder.join("code"),
            private: config.private_folders(),
            files_bytes: config.files.total_bytes,
            node: config.node.clone(),
            node_modules: config.node_modules.clone(),
            python: config.python.clone(),
        };
        let languages = Languages::new(launcher.clone(), code);
        let shared = Arc::new(Shared {
            config,
            launcher,
            languages: Arc::new(languages),
            spare: Mutex::default(),
            started: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        });
        Self { shared }
    }

    /// Opens a browser with an empty page and the visitor settings of `options`; starts the next spare in the
    /// background.
    ///
    /// # Errors
    /// If the browser cannot be started.
    pub async fn open(&self, options: &ScrapeOptions) -> Result<LiveBrowser, BrowserError> {
        let spare = self.shared.spare.lock().take();
        let result = match spare {
            Some(spare) => self.open_in(spare, options).await,
            None => Err(BrowserError::Gone),
        };
        // The spare may have died unnoticed.
        let result = match result {
            Err(BrowserError::Gone) => self.open_in(self.shared.start().await?, options).await,
            result => result,
        };
        tokio::spawn(self.shared.clone().start_spare());
        result
    }

    async fn open_in(&self, browser: Spare, options: &ScrapeOptions) -> Result<LiveBrowser, BrowserError> {
        let Spare { chromium, worker } = browser;
        chromium.egress.route(options);
        let LiveConfig { agent, blocker, .. } = &self.shared.config;
        if options.block_ads {
            blocker.prepare().await;
        }
        let visitor = Visitor::new(options, None, &chromium.process.version, agent, blocker);
        let (languages, files) = (self.shared.languages.clone(), self.shared.config.files);
        LiveBrowser::open(chromium, worker, languages, visitor, files).await
    }

    /// Checks that code of this language can be run here.
    ///
    /// # Errors
    /// If the operator has not configured the language, or no sandbox is available.
    pub async fn check(&self, language: Language) -> Result<(), BrowserError> {
        self.shared.languages.check(language).await
    }

    /// Ends the spare browser and starts no more spares.
    pub async fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        let spare = self.shared.spare.lock().take();
        if let Some(spare) = spare {
            spare.chromium.process.end().await;
            if let Some(worker) = spare.worker {
                worker.end().await;
            }
        }
    }
}

impl Shared {
    async fn start(&self) -> Result<Spare, BrowserError> {
        let worker = self.languages.start(Language::Node);
        let chromium = start_with_retries(|| self.start_chromium());
        let (chromium, worker) = tokio::join!(chromium, worker);
        Ok(Spare {
            chromium: chromium?,
            // The error is reported when code is run.
            worker: worker.ok(),
        })
    }

    async fn start_chromium(&self) -> Result<Chromium, BrowserError> {
        let config = &self.config;
        let (process, downloads, listener) = match &config.sandbox {
            Sandbox::Bubblewrap(bubblewrap) => {
                let (private, download_bytes) = (config.private_folders(), config.files.total_bytes);
                Process::start_sandboxed(
                    &config.program, bubblewrap, &self.launcher, private, download_bytes,
                )
                .await?
            }
            Sandbox::Off => {
                let failed = |error: std::io::Error| BrowserError::Start(error.to_string());
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                let proxy = listener.local_addr().map_err(failed)?;
                let name = format!("live-{}", self.started.fetch_add(1, Ordering::Relaxed));
                let process =
                    Process::start(&config.program, proxy, &config.folder, &name, Purpose::Session).await?;
                // Within the folder of its profile, which is removed with it.
                let folder = config.folder.join(&name).join("downloads");
                (
                    process,
                    DownloadFolder::create(&folder).map_err(failed)?,
                    listener,
                )
            }
        };
        Ok(Chromium {
            process,
            downloads,
            egress: (config.egress)(listener),
        })
    }

    async fn start_spare(self: Arc<Self>) {
        if self.spare.lock().is_some() || self.stopped.load(Ordering::Acquire) {
            return;
        }
        match self.start().await {
            Ok(started) => {
                let mut spare = self.spare.lock();
                // Checked under the lock, so that no spare is left after `stop`.
                if !self.stopped.load(Ordering::Acquire) {
                    spare.get_or_insert(started);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot start a spare browser"),
        }
    }
}
