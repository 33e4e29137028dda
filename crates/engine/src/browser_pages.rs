//! Renders pages in the browser and returns each like a plain HTTP response; also starts the browsers of sessions.
//! Every browser connects through a local proxy that checks addresses.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use harvestman_browser::{
    ActionResults, Blocker, Browser, BrowserConfig, BrowserError, FileLimits, LiveBrowsers, LiveConfig,
    LiveEgress, Picture, RenderRequest, Sandbox, Storage,
};
use harvestman_core::api::branding::Branding;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_fetch::{Egress, Fetcher, Proxy};
use parking_lot::RwLock;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::error::{ScrapeFailure, internal_error};
use crate::health::Health;
use crate::profiles::OpenProfile;
use crate::proxies::{Fault, Proxies, Routes};
use crate::site_response::SiteResponse;

/// Renders pages in the browser. Cheap to clone.
#[derive(Clone)]
pub struct BrowserPages {
    browser: Browser,
    live: LiveBrowsers,
    /// The browser's network: direct, and through each proxy used so far.
    direct: Arc<Egress>,
    proxied: Arc<Mutex<HashMap<Arc<Proxy>, Arc<Egress>>>>,
    fetcher: Fetcher,
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
    /// Program that starts first inside a sandbox: the server's own executable.
    pub init: PathBuf,
    /// Node.js that runs the code of sessions.
    pub node: Option<PathBuf>,
    /// `node_modules` folders searched for playwright-core before Node.js's own.
    pub node_modules: Vec<PathBuf>,
    /// Python with playwright that runs the code of sessions.
    pub python: Option<PathBuf>,
    /// Run code even where no sandbox is available.
    pub unsandboxed_code: bool,
    /// Proxies of sessions.
    pub proxies: Proxies,
    /// Blocks requests to advertisers and trackers, for `blockAds`.
    pub blocker: Blocker,
    /// Limits of the files of one session.
    pub files: FileLimits,
}

/// What the browser captured besides the HTML.
#[derive(Debug, Default)]
pub(crate) struct PageCaptures {
    pub(crate) screenshot: Option<Picture>,
    pub(crate) branding: Option<Branding>,
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
            proxies,
            blocker,
            files,
        } = settings;
        let direct = Arc::new(Egress::start(fetcher.clone(), Arc::new(|| None)).await?);
        let of_sessions = fetcher.clone();
        let browser = Browser::new(BrowserConfig {
            program: program.clone(),
            folder: folder.clone(),
            proxy: direct.address(),
            agent: agent.clone(),
            pages,
            blocker: blocker.clone(),
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
            blocker,
            files,
            egress: Arc::new(
                move |listener| match session_egress(listener, of_sessions.clone(), &proxies) {
                    Ok(egress) => Box::new(egress),
                    Err(error) => {
                        tracing::error!(%error, "cannot start the proxy of a session's browser; the browser has no network");
                        Box::new(NoNetwork)
                    }
                },
            ),
        });
        Ok(BrowserPages {
            browser,
            live,
            direct,
            proxied: Arc::default(),
            fetcher,
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
        proxy: Option<Arc<Proxy>>,
        deadline: Instant,
    ) -> Result<BrowserPage, ScrapeFailure> {
        let is_proxied = proxy.is_some();
        let egress = self.egress(proxy).await.map_err(ScrapeFailure::permanent)?;
        let request = RenderRequest {
            url,
            options,
            proxy: is_proxied.then(|| egress.address()),
            storage: profile.map(|profile| &profile.storage),
            take_storage: profile.is_some_and(OpenProfile::saves),
            deadline,
        };
        let mut rendering = self.browser.render(request).await;
        if matches!(rendering, Err(BrowserError::Gone)) {
            tracing::warn!("the browser ended while it rendered a page; rendering it in a new one");
            rendering = self.browser.render(request).await;
        }
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
            Err(error) => return Err(failure(&egress, url, error)),
        };
        let response = rendering.content_type.contains("html").then(|| {
            let content_type = Some("text/html; charset=utf-8".to_owned());
            SiteResponse {
                consent_banner: rendering.consent_banner,
                blocked_requests: rendering.blocked_requests,
                ..SiteResponse::new(
                    rendering.url,
                    rendering.status,
                    content_type,
                    rendering.html.into(),
                )
            }
        });
        Ok(BrowserPage {
            response,
            captures: PageCaptures {
                screenshot: rendering.screenshot,
                branding: rendering.branding,
                steps: (!options.actions.is_empty()).then_some(rendering.steps),
                storage: rendering.storage,
            },
        })
    }

    /// Returns the browser's network through a proxy, or without one.
    async fn egress(&self, proxy: Option<Arc<Proxy>>) -> Result<Arc<Egress>, ApiError> {
        let Some(proxy) = proxy else {
            return Ok(self.direct.clone());
        };
        let mut proxied = self.proxied.lock().await;
        if let Some(egress) = proxied.get(&proxy) {
            return Ok(egress.clone());
        }
        let upstream = proxy.clone();
        let egress = Egress::start(self.fetcher.clone(), Arc::new(move || Some(upstream.clone()))).await;
        let egress = Arc::new(egress.map_err(internal_error)?);
        proxied.insert(proxy, egress.clone());
        Ok(egress)
    }

    pub(crate) async fn stop(&self) {
        self.browser.stop().await;
    }
}

/// The network of a session's browser. All its connections use one proxy while it is available.
struct SessionEgress {
    proxies: Proxies,
    routes: Arc<RwLock<Routes>>,
    _egress: Egress,
}

/// The network of a browser whose proxy could not be started.
struct NoNetwork;

impl LiveEgress for NoNetwork {
    fn route(&self, _options: &ScrapeOptions) {}
}

impl LiveEgress for SessionEgress {
    fn route(&self, options: &ScrapeOptions) {
        *self.routes.write() = Routes::new(&self.proxies, options);
    }
}

fn session_egress(listener: TcpListener, fetcher: Fetcher, proxies: &Proxies) -> io::Result<SessionEgress> {
    let routes = Routes::new(proxies, &ScrapeOptions::default());
    let routes = Arc::new(RwLock::new(routes));
    let current = routes.clone();
    let choose = move || current.read().session_proxy();
    Ok(SessionEgress {
        proxies: proxies.clone(),
        routes,
        _egress: Egress::from_listener(listener, fetcher, Arc::new(choose))?,
    })
}

/// Converts a browser error. The proxy knows better than the browser why a host is unreachable. An unreachable host
/// can also be why an action finds no element.
fn failure(egress: &Egress, url: &Url, error: BrowserError) -> ScrapeFailure {
    if matches!(
        error,
        BrowserError::Navigation { .. } | BrowserError::Action { .. }
    ) && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
        && let Some(known) = egress.failure(host, port)
    {
        return known.into();
    }
    ScrapeFailure {
        transient: error.is_transient(),
        unreachable: false,
        fault: match error {
            BrowserError::Navigation { .. } => Fault::Perhaps,
            _ => Fault::No,
        },
        error: ApiError::from(error),
    }
}
