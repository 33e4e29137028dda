//! Pages by the browser: behind its own proxy with the address guard, answered like a plain fetch.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use harvestman_browser::{Browser, BrowserConfig, BrowserError, Picture, RenderRequest, Steps};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_fetch::{Egress, Fetcher};
use tokio::time::Instant;
use url::Url;

use crate::answer::Answer;
use crate::scraper::ScrapeFailure;

/// Renders pages; cheap to clone.
#[derive(Clone)]
pub struct BrowserPages {
    browser: Browser,
    egress: Arc<Egress>,
}

/// What the browser took beside the page itself.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) screenshot: Option<Picture>,
    /// Of the actions, when there were any.
    pub(crate) steps: Option<Steps>,
}

/// A page as the browser has it.
#[derive(Debug)]
pub(crate) struct BrowserPage {
    /// `None` for what is no HTML, which a browser only shows.
    pub(crate) answer: Option<Answer>,
    pub(crate) taken: Taken,
}

impl BrowserPages {
    /// Opens the proxy; the browser itself is started by the first page. `folder` holds its profiles, `agent` is our
    /// name in its user agent.
    ///
    /// # Errors
    /// When the proxy cannot listen.
    pub async fn start(
        fetcher: Fetcher,
        program: PathBuf,
        folder: PathBuf,
        agent: String,
        cores: usize,
    ) -> io::Result<BrowserPages> {
        let egress = Arc::new(Egress::start(fetcher).await?);
        let browser = Browser::new(BrowserConfig {
            program,
            folder,
            proxy: egress.address(),
            agent,
            cores,
        });
        Ok(BrowserPages { browser, egress })
    }

    pub(crate) async fn page(
        &self,
        url: &Url,
        options: &ScrapeOptions,
        deadline: Instant,
    ) -> Result<BrowserPage, ScrapeFailure> {
        let request = RenderRequest {
            url,
            options,
            deadline,
        };
        let rendering = match self.browser.render(request).await {
            Ok(rendering) => rendering,
            Err(BrowserError::Download) => {
                return Ok(BrowserPage {
                    answer: None,
                    taken: Taken::default(),
                });
            }
            Err(error) => return Err(self.failure(url, error)),
        };
        let answer = rendering.content_type.contains("html").then(|| Answer {
            url: rendering.url,
            status: rendering.status,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            body: rendering.html.into(),
            retry_after_ms: None,
            kept_since: None,
        });
        Ok(BrowserPage {
            answer,
            taken: Taken {
                screenshot: rendering.screenshot,
                steps: (!options.actions.is_empty()).then_some(rendering.steps),
            },
        })
    }

    /// The proxy knows better than the browser why a host could not be reached.
    fn failure(&self, url: &Url, error: BrowserError) -> ScrapeFailure {
        if matches!(error, BrowserError::Navigation { .. })
            && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
            && let Some(known) = self.egress.failure(host, port)
        {
            return known.into();
        }
        ScrapeFailure {
            passing: error.passing(),
            unreachable: false,
            error: ApiError::from(error),
        }
    }

    pub(crate) async fn stop(&self) {
        self.browser.stop().await;
    }
}
