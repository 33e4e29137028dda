//! The shared browser: one process for all scrapes, with a browser context for each page.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harvestman_core::api::branding::Branding;
use harvestman_core::api::format::{Format, FormatKind, Screenshot};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::ConsentBanner;
use serde_json::json;
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::actions::ActionResults;
use crate::blocker::Blocker;
use crate::cdp::Connection;
use crate::error::BrowserError;
use crate::limits;
use crate::page::{Page, World};
use crate::picture::{self, Picture};
use crate::process::{Process, Purpose, start_with_retries};
use crate::storage::{self, Storage};
use crate::visit::{Visit, visit};
use crate::visitor::Visitor;

pub use crate::process::find_chromium;

/// JavaScript function that returns the colors, fonts and logo of a page, in the shape of [`Branding`].
const MEASURE_BRANDING: &str = include_str!("branding.js");

/// Settings of a browser.
#[derive(Clone, Debug)]
pub struct BrowserConfig {
    /// Path of Chromium or its headless shell.
    pub program: PathBuf,
    /// Folder for process profiles; each process creates its own and removes it.
    pub folder: PathBuf,
    /// The proxy, which is the browser's only network access.
    pub proxy: SocketAddr,
    /// Product name for the user agent, such as `Harvestman/1.0`.
    pub agent: String,
    /// Pages open at once; further ones wait.
    pub pages: usize,
    /// Blocks requests to advertisers and trackers, for `blockAds`.
    pub blocker: Blocker,
}

/// Renders pages. Cheap to clone. The process starts with the first page.
#[derive(Clone)]
pub struct Browser {
    shared: Arc<Shared>,
}

struct Shared {
    config: BrowserConfig,
    permits: Arc<Semaphore>,
    process: Mutex<Option<RunningProcess>>,
    process_count: AtomicU64,
}

struct RunningProcess {
    process: Process,
    pages: u32,
    /// Cloned for each page; `unused` ends when no clone is left.
    in_use: mpsc::Sender<()>,
    unused: mpsc::Receiver<()>,
}

/// What a page needs of the process that renders it.
struct PageProcess {
    connection: Connection,
    version: String,
    _in_use: mpsc::Sender<()>,
}

/// A page to render.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// URL of the page.
    pub url: &'a Url,
    /// Proxy of the page, on loopback; `None` uses the browser's own proxy.
    pub proxy: Option<SocketAddr>,
    /// Options for the visitor, waits, actions and screenshots.
    pub options: &'a ScrapeOptions,
    /// Cookies and storage to restore before the page is opened.
    pub storage: Option<&'a Storage>,
    /// Whether to return cookies and storage at the end.
    pub take_storage: bool,
    /// When rendering is abandoned.
    pub deadline: Instant,
}

/// A rendered page.
#[derive(Clone, PartialEq, Debug)]
pub struct Rendering {
    /// URL of the final document.
    pub url: Url,
    /// HTTP status of the final document.
    pub status: u16,
    /// Content type of the final document.
    pub content_type: String,
    /// HTML of the final document.
    pub html: String,
    /// The screenshot of the format `screenshot`.
    pub screenshot: Option<Picture>,
    /// Colors, fonts and logo of the page, for the format `branding`.
    pub branding: Option<Branding>,
    /// What `blockAds` did with a consent banner, if the page showed one.
    pub consent_banner: Option<ConsentBanner>,
    /// Number of requests that `blockAds` blocked.
    pub blocked_requests: u32,
    /// Results of the actions.
    pub steps: ActionResults,
    /// Cookies and storage, if requested.
    pub storage: Option<Storage>,
}

impl Browser {
    /// Creates a browser with these settings; the process starts later.
    pub fn new(config: BrowserConfig) -> Browser {
        let permits = config.pages.max(1);
        Browser {
            shared: Arc::new(Shared {
                config,
                permits: Arc::new(Semaphore::new(permits)),
                process: Mutex::default(),
                process_count: AtomicU64::new(0),
            }),
        }
    }

    /// Renders a page: opens it with the options' visitor settings, waits, runs the actions, and reads the
    /// results.
    ///
    /// # Errors
    /// Any [`BrowserError`]; the page is closed in any case.
    pub async fn render(&self, request: RenderRequest<'_>) -> Result<Rendering, BrowserError> {
        let work = async {
            let _permit = self
                .shared
                .permits
                .acquire()
                .await
                .expect("the semaphore is never closed");
            let prepare_blocker = async {
                if request.options.block_ads {
                    self.shared.config.blocker.prepare().await;
                }
            };
            let (connected, ()) = tokio::join!(self.shared.connect(), prepare_blocker);
            self.shared.render(&connected?, request).await
        };
        let result = timeout_at(request.deadline, work).await;
        let result = result.unwrap_or(Err(BrowserError::Timeout));
        if matches!(result, Err(BrowserError::Timeout)) {
            let shared = self.shared.clone();
            tokio::spawn(async move { shared.end_hung_process().await });
        }
        result
    }

    /// Ends the process; the next page starts a new one.
    pub async fn stop(&self) {
        self.shared.process.lock().await.take();
    }
}

impl Shared {
    /// Returns the running process; starts a new one if there is none, or it has ended or rendered too many
    /// pages.
    async fn connect(&self) -> Result<PageProcess, BrowserError> {
        let mut process_slot = self.process.lock().await;
        if let Some(running) = process_slot.as_mut()
            && running.process.is_alive()
        {
            if running.pages < limits::PAGES_PER_PROCESS {
                running.pages += 1;
                return Ok(running.for_page());
            }
            if let Some(old) = process_slot.take() {
                tokio::spawn(old.end_when_unused());
            }
        }
        *process_slot = None;
        let BrowserConfig {
            program,
            proxy,
            folder,
            ..
        } = &self.config;
        let process = start_with_retries(async || {
            let number = self.process_count.fetch_add(1, Ordering::Relaxed);
            Process::start(
                program,
                *proxy,
                folder,
                &format!("browser-{number}"),
                Purpose::Scrapes,
            )
            .await
        })
        .await?;
        let (in_use, unused) = mpsc::channel(1);
        let running = process_slot.insert(RunningProcess {
            process,
            pages: 1,
            in_use,
            unused,
        });
        Ok(running.for_page())
    }

    /// Ends the process if it does not respond, so that its pages fail at once and the next page starts a new one.
    async fn end_hung_process(&self) {
        let connection = match &*self.process.lock().await {
            Some(running) => running.process.connection.clone(),
            None => return,
        };
        // The browser itself responds, however busy its pages are.
        let response = connection.call("Browser.getVersion", json!({})).await;
        if !matches!(response, Err(BrowserError::Timeout)) {
            return;
        }
        let mut process_slot = self.process.lock().await;
        let is_same = |running: &mut RunningProcess| running.process.connection.is_same(&connection);
        let hung = process_slot.take_if(is_same);
        drop(process_slot);
        if let Some(hung) = hung {
            tracing::warn!("the browser does not respond; ending it");
            hung.process.end().await;
        }
    }

    async fn render(
        &self,
        process: &PageProcess,
        request: RenderRequest<'_>,
    ) -> Result<Rendering, BrowserError> {
        let screenshot_options = request.options.formats.iter().find_map(|format| match format {
            Format::Screenshot(screenshot_options) => Some(screenshot_options),
            _ => None,
        });
        let window = screenshot_options.and_then(|screenshot_options| screenshot_options.viewport);
        let BrowserConfig { agent, blocker, .. } = &self.config;
        let visitor = Visitor::new(request.options, window, &process.version, agent, blocker);
        let page = Arc::new(Page::open(&process.connection, &visitor, request.proxy).await?);
        render_page(&page, &visitor, screenshot_options, request).await
    }
}

impl RunningProcess {
    fn for_page(&self) -> PageProcess {
        PageProcess {
            connection: self.process.connection.clone(),
            version: self.process.version.clone(),
            _in_use: self.in_use.clone(),
        }
    }

    /// Ends the process when its last page has been rendered.
    async fn end_when_unused(mut self) {
        drop(self.in_use);
        // Nothing is ever sent.
        self.unused.recv().await;
        self.process.end().await;
    }
}

async fn render_page(
    page: &Arc<Page>,
    visitor: &Visitor,
    screenshot_options: Option<&Screenshot>,
    request: RenderRequest<'_>,
) -> Result<Rendering, BrowserError> {
    let deadline = request.deadline;
    if let Some(storage) = request.storage {
        storage::write(page, storage).await?;
    }
    let Visit {
        steps,
        consent_banner,
    } = visit(page, visitor, request.url, request.options, deadline).await?;
    let screenshot = match screenshot_options {
        Some(screenshot_options) => {
            // The window already has the requested size.
            let screenshot_options = Screenshot {
                viewport: None,
                ..screenshot_options.clone()
            };
            Some(picture::take(page, visitor, &screenshot_options, deadline).await?)
        }
        None => None,
    };
    let branding = match request.options.wants(FormatKind::Branding) {
        true => {
            let measure = format!("({MEASURE_BRANDING})()");
            Branding::from_measured(page.evaluate(&measure, World::Isolated, deadline).await?)
        }
        false => None,
    };
    let content = page.content(deadline).await?;
    let storage = match request.take_storage {
        true => {
            let known = request.storage.cloned().unwrap_or_default();
            Some(storage::read_page(page, &known).await?)
        }
        false => None,
    };
    let response = content.response;
    Ok(Rendering {
        url: Url::parse(&content.url).unwrap_or_else(|_| request.url.clone()),
        status: response.as_ref().map_or(200, |response| response.status),
        content_type: response.map_or_else(|| "text/html".to_owned(), |response| response.mime_type),
        html: content.html,
        screenshot,
        branding,
        consent_banner,
        blocked_requests: page.state().interception.blocked_requests,
        steps,
        storage,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_page_is_rendered_to_its_end_in_a_process_that_is_replaced_meanwhile() {
        let program = std::env::var_os("HARVESTMAN_CHROMIUM")
            .map(PathBuf::from)
            .or_else(find_chromium);
        let browser = Browser::new(BrowserConfig {
            program: program.unwrap(),
            folder: std::env::temp_dir().join(format!("harvestman-replaced-{}", std::process::id())),
            // Nothing listens there; the pages are in their URLs.
            proxy: SocketAddr::from(([127, 0, 0, 1], 9)),
            agent: "Harvestman/1.0".to_owned(),
            pages: 2,
            blocker: Blocker::default(),
        });
        let render = async |text: &str, wait_ms: u64| {
            let options = ScrapeOptions {
                wait_for: wait_ms,
                ..ScrapeOptions::default()
            };
            let url = Url::parse(&format!("data:text/html,<p>{text}")).unwrap();
            let request = RenderRequest {
                url: &url,
                proxy: None,
                options: &options,
                storage: None,
                take_storage: false,
                deadline: Instant::now() + Duration::from_secs(60),
            };
            browser.render(request).await.map(|rendering| rendering.html)
        };
        let replace = async {
            let started = || async { browser.shared.process.lock().await.is_some() };
            while !started().await {
                tokio::time::sleep(limits::POLL).await;
            }
            if let Some(running) = browser.shared.process.lock().await.as_mut() {
                running.pages = limits::PAGES_PER_PROCESS;
            }
            render("second", 0).await
        };
        let (first, second) = tokio::join!(render("first", 3000), replace);
        assert!(first.unwrap().contains("<p>first"));
        assert!(second.unwrap().contains("<p>second"));
        assert_eq!(browser.shared.process_count.load(Ordering::Relaxed), 2);
        browser.stop().await;
    }
}
