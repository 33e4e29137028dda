//! Browsers that live on between requests: a process for each session, and one spare that is started ahead.
//!
//! [`LiveBrowsers`] starts and stops them; [`LiveBrowser`] is one. Whose session it is, how long it may live and
//! what it costs is not known here.

mod browser;
mod code;
mod pages;
pub(crate) mod storage;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;

use crate::error::BrowserError;
use crate::process::Process;
use crate::sandbox::{Launcher, Sandbox};
use crate::visitor::Visitor;
use crate::worker::{Languages, Programs, Worker};

pub use browser::LiveBrowser;
pub use storage::{OriginStorage, Storage};

/// Serves the egress proxy on a listener, which does not block, until the answer is dropped.
pub type ServeEgress = dyn Fn(TcpListener) -> Box<dyn Send + Sync> + Send + Sync;

/// Settings of live browsers.
#[derive(Clone)]
pub struct LiveConfig {
    /// Chromium or its headless shell.
    pub program: PathBuf,
    /// Folder of what a browser without a sandbox keeps; removed with it. No sandbox shows the folder around it.
    pub folder: PathBuf,
    /// Our name in the user agent, such as `Harvestman/1.0`.
    pub agent: String,
    /// How this machine keeps a browser and its code apart from everything else.
    pub sandbox: Sandbox,
    /// The program that is started within a sandbox first: the server's.
    pub init: PathBuf,
    /// Node.js for code; none: such code is refused.
    pub node: Option<PathBuf>,
    /// `node_modules` folders in which playwright-core is looked for before Node.js's own.
    pub node_modules: Vec<PathBuf>,
    /// A Python with playwright for code; none: such code is refused.
    pub python: Option<PathBuf>,
    /// Run code even where there is no sandbox.
    pub unsandboxed_code: bool,
    /// The only network of a browser.
    pub egress: Arc<ServeEgress>,
}

impl LiveConfig {
    fn private(&self) -> Vec<PathBuf> {
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        folder.parent().map(PathBuf::from).into_iter().collect()
    }
}

/// Starts live browsers; cheap to clone.
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

/// What is started ahead.
struct Spare {
    chromium: Chromium,
    /// For code in Node.js.
    worker: Option<Worker>,
}

/// A process with the proxy that is its network.
struct Chromium {
    process: Process,
    _egress: Option<Box<dyn Send + Sync>>,
}

impl LiveBrowsers {
    /// Browsers with these settings; nothing is started yet.
    pub fn new(config: LiveConfig) -> Self {
        let launcher = Launcher::start();
        let sandbox = match &config.sandbox {
            Sandbox::Bubblewrap(bubblewrap) => Some(bubblewrap.clone()),
            Sandbox::Off => None,
        };
        let programs = Programs {
            node: config.node.clone(),
            node_modules: config.node_modules.clone(),
            python: config.python.clone(),
        };
        let languages = Languages::new(
            launcher.clone(),
            config.init.clone(),
            config.folder.join("code"),
            config.private(),
            sandbox,
            config.unsandboxed_code,
            programs,
        );
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

    /// A browser with an empty page that is seen as the visitor of `visit`; another is started ahead meanwhile.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub async fn open(&self, visit: &ScrapeOptions) -> Result<LiveBrowser, BrowserError> {
        let spare = self.shared.spare().take();
        let opened = match spare {
            Some(spare) => self.visit(spare, visit).await,
            None => Err(BrowserError::Gone),
        };
        // What waited may have ended without a word.
        let opened = match opened {
            Err(BrowserError::Gone) => self.visit(self.shared.start().await?, visit).await,
            opened => opened,
        };
        tokio::spawn(self.shared.clone().start_spare());
        opened
    }

    async fn visit(&self, browser: Spare, visit: &ScrapeOptions) -> Result<LiveBrowser, BrowserError> {
        let Spare { chromium, worker } = browser;
        let visitor = Visitor::new(visit, None, &chromium.process.version, &self.shared.config.agent);
        LiveBrowser::open(chromium, worker, self.shared.languages.clone(), visitor).await
    }

    /// Whether code of this language can be run here.
    ///
    /// # Errors
    /// The operator has not configured the language, or nothing that keeps its code apart.
    pub async fn check(&self, language: Language) -> Result<(), BrowserError> {
        self.shared.languages.check(language).await
    }

    /// Ends the spare browser; no other is started ahead any more.
    pub async fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        let spare = self.shared.spare().take();
        if let Some(spare) = spare {
            spare.chromium.process.end().await;
            if let Some(worker) = spare.worker {
                worker.end().await;
            }
        }
    }
}

impl Shared {
    fn spare(&self) -> MutexGuard<'_, Option<Spare>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn start(&self) -> Result<Spare, BrowserError> {
        let worker = self.languages.start(Language::Node);
        let (chromium, worker) = tokio::join!(self.start_chromium(), worker);
        Ok(Spare {
            chromium: chromium?,
            // What is wrong is told to who wants to run code.
            worker: worker.ok(),
        })
    }

    async fn start_chromium(&self) -> Result<Chromium, BrowserError> {
        let config = &self.config;
        let mut egress = None;
        let process = match &config.sandbox {
            Sandbox::Bubblewrap(bubblewrap) => {
                let serve = |listener| egress = Some((config.egress)(listener));
                let private = config.private();
                let launcher = &self.launcher;
                Process::enclose(
                    &config.program,
                    bubblewrap,
                    launcher,
                    &config.init,
                    private,
                    serve,
                )
                .await?
            }
            Sandbox::Off => {
                let failed = |error: std::io::Error| BrowserError::Start(error.to_string());
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                let proxy = listener.local_addr().map_err(failed)?;
                egress = Some((config.egress)(listener));
                let name = format!("live-{}", self.started.fetch_add(1, Ordering::Relaxed));
                Process::start(&config.program, proxy, &config.folder, &name).await?
            }
        };
        Ok(Chromium {
            process,
            _egress: egress,
        })
    }

    async fn start_spare(self: Arc<Self>) {
        if self.spare().is_some() || self.stopped.load(Ordering::Acquire) {
            return;
        }
        match self.start().await {
            Ok(started) => {
                let mut spare = self.spare();
                // Checked under the lock, so that `stop` leaves none.
                if !self.stopped.load(Ordering::Acquire) {
                    spare.get_or_insert(started);
                }
            }
            Err(error) => tracing::warn!(%error, "no browser could be started ahead"),
        }
    }
}
