//! Pages fetched with the browser, behind a proxy that guards addresses, returned like a plain HTTP response;
//! and the browsers of sessions, each behind a proxy of its own.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use harvestman_browser::{
    ActionResults, Browser, BrowserConfig, BrowserError, LiveBrowsers, LiveConfig, Picture, RenderRequest,
    Sandbox, Storage,
};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_fetch::{Egress, Fetcher};
use tokio::time::Instant;
use url::Url;

use crate::error::ScrapeFailure;
use crate::health::Health;
use crate::profiles::OpenProfile;
use crate::site_response::SiteResponse;

/// Renders pages in the browser. Cheap to clone.
#[derive(Clone)]
pub struct BrowserPages {
    browser: Browser,
    live: LiveBrowsers,
    egress: Arc<Egress>,
    /// Whether the browser program starts.
    health: Health,
}

/// Settings of the browsers.
#[derive(Clone, Debug)]
pub struct BrowserSettings {
    /// Path of Chromium or its headless shell.
    pub program: PathBuf,
    /// Folder for the profiles of browser processes.
    pub folder: PathBuf,
    /// Product name added to the browser's user agent.
    pub agent: String,
    /// Number of scraped pages open at once.
    pub pages: usize,
    /// Program that starts first within a sandbox: the server's own.
    pub init: PathBuf,
    /// Node.js that runs the code of sessions.
    pub node: Option<PathBuf>,
    /// `node_modules` folders searched for playwright-core before Node.js's own.
    pub node_modules: Vec<PathBuf>,
    /// Python with playwright that runs the code of sessions.
    pub python: Option<PathBuf>,
    /// Run code even where no sandbox is available.
    pub unsandboxed_code: bool,
}

/// What the browser captured besides the HTML.
#[derive(Debug, Default)]
pub(crate) struct PageCaptures {
    pub(crate) screenshot: Option<Picture>,
    /// Results of the actions, if the request has any.
    pub(crate) steps: Option<ActionResults>,
    /// Storage to save, if the request writes to a profile.
    pub(crate) storage: Option<Storage>,
}

/// A page as the browser rendered it.
#[derive(Debug)]
pub(crate) struct BrowserPage {
    /// `None` if the resource is not HTML: the browser only displays such a resource.
    pub(crate) response: Option<SiteResponse>,
    pub(crate) captures: PageCaptures,
}

impl BrowserPages {
    /// Starts the proxy. Browsers are started when they are first needed.
    ///
    /// # Errors
    /// If the proxy cannot listen.
    pub async fn start(fetcher: Fetcher, settings: BrowserSettings) -> io::Result<BrowserPages> {
        let BrowserSettings {
            program,
            folder,
            agent,
            pages,
            init,
            node,
            node_modules,
            python,
            unsandboxed_code,
        } = settings;
        let egress = Arc::new(Egress::start(fetcher.clone()).await?);
        let browser = Browser::new(BrowserConfig {
            program: program.clone(),
            folder: folder.clone(),
            proxy: egress.address(),
            agent: agent.clone(),
            pages,
        });
        let live = LiveBrowsers::new(LiveConfig {
            program,
            folder,
            agent,
            sandbox: Sandbox::detect().await,
            init,
            node,
            node_modules,
            python,
            unsandboxed_code,
            egress: Arc::new(
                move |listener| match Egress::from_listener(listener, fetcher.clone()) {
                    Ok(egress) => Box::new(egress),
                    Err(error) => {
                        tracing::error!(%error, "cannot start the proxy of a session's browser; the browser has no network");
                        Box::new(())
                    }
                },
            ),
        });
        Ok(BrowserPages {
            browser,
            live,
            egress,
            health: Health::default(),
        })
    }

    /// Returns the browsers of sessions.
    pub(crate) fn live(&self) -> &LiveBrowsers {
        &self.live
    }

    /// Returns whether the browser program starts, judged by the pages rendered so far.
    pub(crate) fn is_healthy(&self) -> bool {
        self.health.is_healthy()
    }

    pub(crate) async fn render(
        &self,
        url: &Url,
        options: &ScrapeOptions,
        profile: Option<&OpenProfile>,
        deadline: Instant,
    ) -> Result<BrowserPage, ScrapeFailure> {
        let request = RenderRequest {
            url,
            options,
            storage: profile.map(|profile| &profile.storage),
            take_storage: profile.is_some_and(OpenProfile::saves),
            deadline,
        };
        let rendering = self.browser.render(request).await;
        self.health
            .record(!matches!(rendering, Err(BrowserError::Start(_))));
        let rendering = match rendering {
            Ok(rendering) => rendering,
            Err(BrowserError::Download) => {
                return Ok(BrowserPage {
                    response: None,
                    captures: PageCaptures::default(),
                });
            }
            Err(error) => return Err(self.failure(url, error)),
        };
        let response = rendering.content_type.contains("html").then(|| {
            let content_type = Some("text/html; charset=utf-8".to_owned());
            SiteResponse::new(
                rendering.url,
                rendering.status,
                content_type,
                rendering.html.into(),
            )
        });
        Ok(BrowserPage {
            response,
            captures: PageCaptures {
                screenshot: rendering.screenshot,
                steps: (!options.actions.is_empty()).then_some(rendering.steps),
                storage: rendering.storage,
            },
        })
    }

    /// Converts a browser error. The proxy knows better than the browser why a host is unreachable, which can
    /// also be the reason that an action finds no element.
    fn failure(&self, url: &Url, error: BrowserError) -> ScrapeFailure {
        if matches!(
            error,
            BrowserError::Navigation { .. } | BrowserError::Action { .. }
        ) && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
            && let Some(known) = self.egress.failure(host, port)
        {
            return known.into();
        }
        ScrapeFailure {
            transient: error.is_transient(),
            unreachable: false,
            error: ApiError::from(error),
        }
    }

    pub(crate) async fn stop(&self) {
        self.browser.stop().await;
    }
}
