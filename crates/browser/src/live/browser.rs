//! One live browser: its pages, its storage, and the operations on it until it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::cdp::Connection;
use crate::commands::CommandState;
use crate::error::BrowserError;
use crate::files::{BrowserFiles, Download, FileLimits, Upload};
use crate::limits;
use crate::multiplexer::{CdpClient, CommandKind, Multiplexer};
use crate::page::Page;
use crate::process::Process;
use crate::screencast::screen::Screen;
use crate::storage::{self, Storage};
use crate::visit::visit;
use crate::visitor::Visitor;
use crate::worker::{Execution, Languages, Task, Worker};

use super::code::Code;
use super::commands;
use super::pages::Pages;
use super::{Chromium, LiveEgress};

/// A browser that lives until [`LiveBrowser::end`] or until its last clone is dropped. Cheap to clone.
#[derive(Clone)]
pub struct LiveBrowser {
    live: Arc<Live>,
}

/// The process and its proxy.
type Running = (Process, Box<dyn LiveEgress>);

struct Live {
    connection: Connection,
    pages: Arc<Pages>,
    chromium: Mutex<Option<Running>>,
    files: Arc<BrowserFiles>,
    ended: AtomicBool,
    last_used: Arc<Mutex<Instant>>,
    /// When the current page last responded.
    last_response: Mutex<Option<Instant>>,
    multiplexer: Multiplexer,
    screen: Arc<Screen>,
    /// The storage that was restored.
    restored: Mutex<Storage>,
    /// State of the browser commands.
    command_state: CommandState,
    code: Code,
}

impl LiveBrowser {
    pub(super) async fn open(
        chromium: Chromium,
        worker: Option<Worker>,
        languages: Arc<Languages>,
        visitor: Visitor,
        file_limits: FileLimits,
    ) -> Result<LiveBrowser, BrowserError> {
        let Chromium {
            process,
            downloads,
            egress,
        } = chromium;
        let connection = process.connection.clone();
        let (download_events, events) = mpsc::channel(limits::MAX_WAITING_EVENTS);
        let folders = languages.code_folders();
        let files = BrowserFiles::start(&connection, downloads, file_limits, folders, events).await?;
        let pages = Pages::track(&connection, visitor, download_events).await?;
        pages.first().await?;
        let last_used = Arc::new(Mutex::new(Instant::now()));
        let multiplexer = {
            let (last_used, pages) = (last_used.clone(), pages.clone());
            Multiplexer::new(connection.clone(), Some(files.clone()), move |command| {
                touch(&last_used);
                if command == CommandKind::Authentication {
                    pages.delegate_authentication();
                }
            })
        };
        let live = Arc::new(Live {
            connection,
            pages,
            chromium: Mutex::new(Some((process, egress))),
            ended: AtomicBool::new(false),
            last_used,
            last_response: Mutex::default(),
            multiplexer,
            screen: Arc::default(),
            restored: Mutex::default(),
            command_state: CommandState::default(),
            code: Code::new(languages, worker, files.clone()),
            files,
        });
        let browser = LiveBrowser { live };
        tokio::spawn(browser.clone().warm_up());
        Ok(browser)
    }

    /// Opens a URL in the current page as a scrape with these options would. The results of the actions are discarded.
    ///
    /// # Errors
    /// Any [`BrowserError`].
    pub async fn replay(
        &self,
        url: &Url,
        options: &ScrapeOptions,
        deadline: Instant,
    ) -> Result<(), BrowserError> {
        self.touch();
        let work = async {
            let page = self.page().await?;
            visit(&page, self.live.pages.visitor(), url, options, deadline).await
        };
        let result = timeout_at(deadline, work).await;
        self.touch();
        result.unwrap_or(Err(BrowserError::Timeout)).map(drop)
    }

    /// Runs code with the current page. An exception or a timeout also returns an [`Execution`].
    ///
    /// # Errors
    /// If nothing was run: there is no worker for the language, or the browser is gone.
    pub async fn run(
        &self,
        code: &str,
        language: Language,
        timeout: Duration,
    ) -> Result<Execution, BrowserError> {
        self.touch();
        // Detects a browser that is gone before any code runs.
        let mut page = self.page().await?;
        if self.has_crashed(&page).await {
            // The page may get the crash event only later.
            page.state().end_reason.get_or_insert(BrowserError::Crashed);
            page = self.page().await?;
        }
        if language == Language::Bash {
            return Ok(commands::run(self, code, Instant::now() + timeout).await);
        }
        let task = Task {
            code,
            target: page.target(),
            time: timeout,
        };
        let outcome = self.live.code.run(&self.live.multiplexer, language, task).await?;
        // If the code switched to another page, make that the current one; otherwise a page that it opened
        // may be current.
        if let Some(target) = outcome.target.filter(|target| target != page.target()) {
            self.live.pages.choose(&target);
        }
        if outcome.execution.killed {
            page.terminate_hanging_script(limits::STOPPED_PAGE_TIMEOUT).await;
        }
        self.touch();
        Ok(outcome.execution)
    }

    /// Returns whether the page's renderer has crashed without the browser having reported it yet. A page
    /// that responded within [`limits::ALIVE_TIME`] is not checked again.
    async fn has_crashed(&self, page: &Page) -> bool {
        let last_response = || self.live.last_response.lock();
        let now = Instant::now();
        if last_response().is_some_and(|at| now < at + limits::ALIVE_TIME) {
            return false;
        }
        let response_deadline = now + limits::DEAD_PAGE_TIMEOUT;
        let response = page
            .session()
            .call_until("Runtime.evaluate", json!({"expression": "0"}), response_deadline)
            .await;
        *last_response() = response.is_ok().then_some(now);
        matches!(response, Err(BrowserError::Crashed))
    }

    /// Connects the worker that was started in advance.
    async fn warm_up(self) {
        if let Err(error) = self.live.code.warm_up(&self.live.multiplexer).await {
            tracing::debug!(%error, "cannot connect the spare worker");
        }
    }

    /// Returns when the browser was last used.
    pub fn last_used(&self) -> Instant {
        *self.live.last_used.lock()
    }

    /// Marks the browser as used now.
    pub fn touch(&self) {
        touch(&self.live.last_used);
    }

    /// Returns the next download that has ended; `None` at the end of the browser. Cancel safe.
    pub async fn next_download(&self) -> Option<Download> {
        self.live.files.next_download().await
    }

    /// Gives a file to the browser, for `upload` commands and for code, and returns its path for code.
    ///
    /// # Errors
    /// Which limit it exceeds, or that there is a file of this name.
    pub async fn add_upload(&self, name: &str, content_type: &str, bytes: Bytes) -> Result<String, String> {
        self.touch();
        let upload = Upload {
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            bytes,
        };
        self.live.files.add_upload(upload).await
    }

    /// Takes back a file that was given to the browser.
    pub fn remove_upload(&self, name: &str) {
        self.live.files.remove_upload(name);
    }

    /// Returns the path of an upload for code.
    pub fn upload_path(&self, name: &str) -> String {
        self.live.files.upload_path(name)
    }

    /// Connects an external client to the whole browser or to one of its pages. Its commands count as use of
    /// the browser.
    ///
    /// # Errors
    /// If there is no such page, there are too many clients, or the browser is gone.
    pub async fn client(&self, target: Option<&str>) -> Result<CdpClient, BrowserError> {
        self.live.multiplexer.client(target).await
    }

    /// Returns the contents of `/json/version`; `url` is the WebSocket URL of the browser.
    ///
    /// # Errors
    /// If the browser is gone.
    pub async fn cdp_version(&self, url: &str) -> Result<Value, BrowserError> {
        self.live.multiplexer.version(url).await
    }

    /// Returns the contents of `/json/list`: the pages, with WebSocket URLs below `url`.
    ///
    /// # Errors
    /// If the browser is gone.
    pub async fn cdp_targets(&self, url: &str) -> Result<Value, BrowserError> {
        self.live.multiplexer.targets(url).await
    }

    /// Returns whether the browser has ended, on request or unexpectedly.
    pub fn has_ended(&self) -> bool {
        self.live.ended.load(Ordering::Acquire) || self.live.connection.has_ended()
    }

    /// Returns the current cookies and storage, for a profile.
    ///
    /// # Errors
    /// If the browser is gone or does not respond.
    pub async fn storage(&self) -> Result<Storage, BrowserError> {
        let known = self.live.restored.lock().clone();
        let open = self.live.pages.all();
        let stand_in = self.live.pages.create_hidden().await?;
        storage::read(&self.live.connection, &open, stand_in, &known).await
    }

    /// Restores the cookies and storage of a profile. The current page is empty afterwards.
    ///
    /// # Errors
    /// If the browser is gone or does not respond.
    pub async fn restore(&self, storage: &Storage) -> Result<(), BrowserError> {
        let page = self.page().await?;
        storage::write(&page, storage).await?;
        *self.live.restored.lock() = storage.clone();
        Ok(())
    }

    /// Ends all processes of the browser and removes its files. Idempotent.
    pub async fn end(&self) {
        self.live.ended.store(true, Ordering::Release);
        let chromium = self.live.chromium.lock().take();
        self.live.code.end().await;
        if let Some((process, _egress)) = chromium {
            process.end().await;
        }
    }

    /// Returns the current page. A crashed page is reopened at its URL; if all pages are closed, an empty one
    /// is opened.
    pub(crate) async fn page(&self) -> Result<Arc<Page>, BrowserError> {
        if self.has_ended() {
            return Err(BrowserError::Gone);
        }
        let Some(page) = self.live.pages.current() else {
            return self.live.pages.create().await;
        };
        let (is_crashed, url) = {
            let state = page.state();
            (state.end_reason.is_some(), state.url.clone())
        };
        if !is_crashed {
            return Ok(page);
        }
        let new_page = self.live.pages.create().await?;
        page.close().await;
        if let Ok(url) = Url::parse(&url) {
            let deadline = Instant::now() + limits::LOAD_TIMEOUT;
            // If that fails, the empty page is still the best available.
            if let Err(error) = new_page.navigate(&url, deadline).await {
                tracing::debug!(%error, "cannot reopen a crashed page");
            }
        }
        Ok(new_page)
    }

    pub(crate) fn command_state(&self) -> &CommandState {
        &self.live.command_state
    }

    pub(crate) fn files(&self) -> &BrowserFiles {
        &self.live.files
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.live.connection
    }

    pub(crate) fn pages(&self) -> &Pages {
        &self.live.pages
    }

    pub(crate) fn screen(&self) -> &Arc<Screen> {
        &self.live.screen
    }
}

fn touch(last_used: &Mutex<Instant>) {
    *last_used.lock() = Instant::now();
}
