//! Scrapes one page: reads it from the cache, or fetches it over HTTP or with the browser, and converts it
//! (off the async threads unless it is small). Which pages are scraped is decided elsewhere.

mod visit;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_browser::Blocker;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::billing;
use harvestman_core::cache::{self, CacheKey};
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{ScrapeId, TeamId};
use harvestman_core::pii::Redactor;
use harvestman_core::scrape::{RawPage, RenderedPage, file_request, needs_browser, prepare, prepare_file};
use harvestman_fetch::{CookieJar, FetchRequest, Fetcher};
use harvestman_store::{CachedPage, StoreError};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::browser_pages::{BrowserPage, BrowserPages, PageCaptures};
use crate::conversions::Conversions;
use crate::error::{ScrapeFailure, internal_error};
use crate::host_memory::HostMemory;
use crate::llm::Llm;
use crate::metrics::Metrics;
use crate::page_cache::PageCache;
use crate::profiles::OpenProfile;
use crate::proxies::{Proxies, ProxyClass, Routes};
use crate::site_response::SiteResponse;
use crate::slots::SlotOwner;
use crate::team_shares::TeamShares;
use crate::text_recognition::TextRecognition;
use crate::turn::Turn;
use crate::{clock, limits, model_formats, redaction};

/// Fetches and converts pages. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Scraper {
    fetcher: Fetcher,
    proxies: Proxies,
    blocker: Blocker,
    browser: Option<BrowserPages>,
    conversions: Conversions,
    files: TextRecognition,
    /// Bodies read from the cache.
    copies: TeamShares,
    /// Bytes of pages that wait for the browser.
    waiting_pages: TeamShares,
    llm: Option<Llm>,
    memory: Arc<HostMemory>,
    metrics: Metrics,
}

/// What a scraper works with.
pub(crate) struct ScraperParts {
    pub(crate) fetcher: Fetcher,
    pub(crate) proxies: Proxies,
    pub(crate) blocker: Blocker,
    pub(crate) browser: Option<BrowserPages>,
    pub(crate) files: TextRecognition,
    pub(crate) llm: Option<Llm>,
    pub(crate) metrics: Metrics,
}

/// The page to scrape, and how to scrape it.
#[derive(Clone, Copy)]
pub(crate) struct Target<'u> {
    pub(crate) url: &'u Url,
    /// URL to try if the connection to `url` fails: a URL given without a scheme is tried over https first
    /// (docs/API.md section 3).
    pub(crate) fallback: Option<&'u Url>,
    pub(crate) id: ScrapeId,
    pub(crate) options: &'u Arc<ScrapeOptions>,
    /// Profile that the browser starts with.
    pub(crate) profile: Option<&'u OpenProfile>,
    pub(crate) cache: &'u PageCache,
    pub(crate) jar: &'u CookieJar,
    pub(crate) routes: &'u Routes,
    /// The class of proxies that the page is fetched with.
    pub(crate) class: ProxyClass,
    /// The page's slot.
    pub(crate) turn: &'u Turn,
    /// Whether the language model fills the formats that need one, if there is a model.
    pub(crate) uses_model: bool,
}

/// What a response is converted for.
#[derive(Clone, Copy)]
pub(crate) struct Conversion<'u> {
    /// URL that the caller requested.
    pub(crate) requested: &'u Url,
    pub(crate) options: &'u Arc<ScrapeOptions>,
    pub(crate) id: ScrapeId,
    /// Whose file readers are used.
    pub(crate) owner: SlotOwner,
}

impl Target<'_> {
    /// Returns the conversion of a response for this page; `requested` is its URL or its fallback.
    fn conversion<'u>(&'u self, requested: &'u Url) -> Conversion<'u> {
        Conversion {
            requested,
            options: self.options,
            id: self.id,
            owner: self.turn.owner(),
        }
    }
}

/// A scraped page.
#[derive(Debug)]
pub(crate) struct ScrapedPage {
    pub(crate) response: SiteResponse,
    pub(crate) rendered: RenderedPage,
    pub(crate) captures: PageCaptures,
    /// Removes personal data, if the options ask for it.
    pub(crate) redactor: Option<Redactor>,
}

/// A fetched page, before conversion.
struct FetchResult {
    response: SiteResponse,
    captures: PageCaptures,
    is_rendered: bool,
}

impl Scraper {
    pub(crate) fn new(parts: ScraperParts, cores: usize) -> Self {
        let ScraperParts {
            fetcher,
            proxies,
            blocker,
            browser,
            files,
            llm,
            metrics,
        } = parts;
        Self {
            fetcher,
            proxies,
            blocker,
            browser,
            conversions: Conversions::new(cores),
            copies: TeamShares::new(cores.max(1) * limits::COPIES_PER_CORE),
            waiting_pages: TeamShares::new(limits::WAITING_PAGES_BYTES),
            files,
            llm,
            memory: Arc::default(),
            metrics,
        }
    }

    pub(crate) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    pub(crate) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    pub(crate) fn browser(&self) -> Option<&BrowserPages> {
        self.browser.as_ref()
    }

    pub(crate) fn conversions(&self) -> &Conversions {
        &self.conversions
    }

    /// Returns the kind of slot that a page with these options needs first.
    pub(crate) fn first_slot(&self, options: &ScrapeOptions) -> SlotKind {
        if self.browser.is_some() && needs_browser(options) {
            SlotKind::Browser
        } else {
            SlotKind::Plain
        }
    }

    /// Stops the browser.
    pub(crate) async fn stop(&self) {
        if let Some(browser) = &self.browser {
            browser.stop().await;
        }
    }

    /// Scrapes one page, from the cache, over HTTP or with the browser, in the formats that the options ask
    /// for.
    pub(crate) async fn scrape(
        &self,
        target: Target<'_>,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let mut scraped = self.scrape_without_model(&target, deadline).await?;
        target.turn.complete();
        target.turn.release_browser();
        let deadline = target.turn.extended(deadline);
        self.complete(&mut scraped, target.options, target.uses_model, deadline)
            .await?;
        Ok(scraped)
    }

    /// Removes names of people and places if the options ask for it, and fills the formats that need the
    /// language model, if there is one.
    ///
    /// # Errors
    /// If redacting fails: then nothing may be returned.
    async fn complete(
        &self,
        scraped: &mut ScrapedPage,
        options: &ScrapeOptions,
        uses_model: bool,
        deadline: Instant,
    ) -> Result<(), ScrapeFailure> {
        let ScrapedPage {
            rendered, redactor, ..
        } = scraped;
        if let Some(redactor) = redactor {
            let finding = redaction::find_names(self.llm.as_ref(), redactor, rendered, deadline);
            finding.boxed().await;
        }
        if self.llm.is_some() {
            redact(scraped).await?;
        }
        if let Some(llm) = &self.llm {
            let rendered = &mut scraped.rendered;
            match uses_model {
                true => {
                    let filling = model_formats::fill(llm, rendered, options, deadline);
                    filling.boxed().await;
                }
                false => rendered.without_model(options),
            }
            redact(scraped).await?;
        }
        Ok(())
    }

    /// Scrapes a page, except for the formats that need the language model.
    async fn scrape_without_model(
        &self,
        target: &Target<'_>,
        first_deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let Target {
            options, cache, turn, ..
        } = *target;
        let mut deadline = turn.extended(first_deadline);
        if let Some(ages) = cache::wanted_ages(options) {
            let share = timeout_at(deadline, self.copies.take_one(cache.team())).await;
            let _share = share.map_err(|_| ScrapeFailure::timeout())?;
            for url in std::iter::once(target.url).chain(target.fallback) {
                let key = CacheKey::of_page(url, options);
                let read = || cache.copy(key, ages, options.cache_only());
                let reading = turn.on_store(StoreError::is_transient, read);
                let copy = match turn.is_of_job() {
                    true => reading.await,
                    false => timeout_at(deadline, reading)
                        .await
                        .map_err(|_| ScrapeFailure::timeout())?,
                };
                deadline = turn.extended(first_deadline);
                if let Some(response) = copy? {
                    let conversion = target.conversion(url);
                    let mut scraped = self.render(conversion, response, deadline).await?;
                    scraped.set_proxy_used(target.routes.proxy_used(target.class));
                    scraped.warn_of_placeholder(options, self.browser.is_some());
                    return Ok(scraped);
                }
            }
        }
        if let Some(refusal) = cache::cache_only_error(options) {
            return Err(ScrapeFailure::permanent(refusal));
        }
        let (url, mut scraped) = self.visit_unblocked(*target, deadline).await?;
        scraped.warn_of_placeholder(options, self.browser.is_some());
        // A cached placeholder would hide the real page until the copy expires.
        let is_whole = scraped.response.incomplete.is_none() && scraped.placeholder().is_none();
        if cache::is_cacheable(options, scraped.response.status) && is_whole {
            let key = CacheKey::of_page(url, options);
            cache
                .store_page(key, &scraped.response, &scraped.rendered.document)
                .await;
        }
        Ok(scraped)
    }

    /// Fetches with the browser if the options require it, otherwise over HTTP. What the browser cannot
    /// render as HTML is fetched over HTTP too.
    async fn fetch(
        &self,
        url: &Url,
        target: &Target<'_>,
        deadline: Instant,
    ) -> Result<FetchResult, ScrapeFailure> {
        let captures = match &self.browser {
            Some(browser) if needs_browser(target.options) => {
                let deadline = target.turn.acquire_browser(0, deadline).await?;
                let Target { options, profile, .. } = *target;
                let render = |proxy| browser.render(url, options, profile, proxy, deadline).boxed();
                let render = target.routes.attempt(target.class, url, render);
                match self.metrics.time_fetch(SlotKind::Browser, render).await? {
                    BrowserPage {
                        response: Some(response),
                        captures,
                    } => {
                        return Ok(FetchResult {
                            response,
                            captures,
                            is_rendered: true,
                        });
                    }
                    BrowserPage { captures, .. } => captures,
                }
            }
            _ => PageCaptures::default(),
        };
        let request = page_request(url, target, deadline);
        let fetch = target.routes.fetch(&self.fetcher, target.class, request);
        let result = self.metrics.time_fetch(SlotKind::Plain, fetch).await;
        result
            .map(|response| FetchResult {
                response: SiteResponse::from(response),
                captures,
                is_rendered: false,
            })
            .map_err(ScrapeFailure::from)
    }

    /// Converts a response to a document within the deadline. A file is read first.
    pub(crate) async fn convert(
        &self,
        conversion: Conversion<'_>,
        response: SiteResponse,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let mut scraped = self.render(conversion, response, deadline).await?;
        self.complete(&mut scraped, conversion.options, true, deadline)
            .await?;
        Ok(scraped)
    }

    /// Converts a cached copy with default options. Returns `None` if that fails, or is not done at `deadline`.
    pub(crate) async fn convert_copy(
        &self,
        team: TeamId,
        copy: CachedPage,
        deadline: Instant,
    ) -> Option<Document> {
        let response = SiteResponse::try_from(copy).ok()?;
        let owner = SlotOwner::of_team(team, clock::new_job_id());
        let conversion = Conversion {
            requested: &response.url.clone(),
            options: &Arc::default(),
            id: ScrapeId::from(owner.job),
            owner,
        };
        let converted = self.convert(conversion, response, deadline).await;
        Some(*converted.ok()?.rendered.document)
    }

    async fn render(
        &self,
        conversion: Conversion<'_>,
        response: SiteResponse,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let Conversion {
            requested,
            options,
            id,
            owner,
        } = conversion;
        // An incomplete page is still usable; an incomplete file is damaged.
        if let Some(fault) = &response.incomplete
            && file_request(&raw_page(requested, &response), options).is_some()
        {
            return Err(fault.clone().into());
        }
        let (requested, options) = (requested.clone(), options.clone());
        let has_model = self.llm.is_some();
        let work = async {
            let file = match file_request(&raw_page(&requested, &response), &options) {
                Some(request) => {
                    let reading = self.files.read(owner, &request, &response.body, deadline);
                    let file = reading.boxed().await?;
                    Some((request, file))
                }
                None => None,
            };
            let permit = self.conversions.permit(response.body.len()).await;
            let metrics = self.metrics.clone();
            let is_small = file.is_none() && response.body.len() <= limits::CONVERTED_INLINE_BYTES;
            let convert = move || {
                let page = raw_page(&requested, &response);
                let rendered = metrics.time_conversion(|| match file {
                    Some((request, file)) => prepare_file(&page, &options, id, &request, file),
                    None => prepare(&page, &options, id),
                });
                drop(permit);
                let mut rendered = rendered?;
                if !has_model {
                    rendered.without_model(&options);
                }
                Ok(scraped_page(rendered, response, &options))
            };
            run_conversion(convert, is_small).await
        };
        match timeout_at(deadline, work).await {
            Ok(result) => result.map_err(ScrapeFailure::permanent),
            Err(_) => Err(ScrapeFailure::timeout()),
        }
    }
}

/// Runs a conversion in place if it is small, else on a thread for blocking work.
async fn run_conversion<C>(convert: C, is_small: bool) -> Result<ScrapedPage, ApiError>
where
    C: FnOnce() -> Result<ScrapedPage, ApiError> + Send + 'static,
{
    let converted = match is_small {
        true => std::panic::catch_unwind(AssertUnwindSafe(convert)).map_err(drop),
        false => tokio::task::spawn_blocking(convert).await.map_err(drop),
    };
    converted.unwrap_or_else(|()| {
        tracing::error!("converting a page panicked");
        Err(ApiError::new(
            ErrorCode::Unknown,
            "cannot convert the page; see the server log",
        ))
    })
}

/// Adds what is known of the response to a converted page, and redacts it if the options ask for it.
fn scraped_page(mut rendered: RenderedPage, response: SiteResponse, options: &ScrapeOptions) -> ScrapedPage {
    if let Some(fault) = &response.incomplete {
        rendered
            .document
            .warn(&format!("The page is incomplete: {fault}."));
    }
    let redactor = options.redact_pii.as_ref().map(Redactor::new);
    if let Some(redactor) = &redactor {
        rendered.redact(redactor);
    }
    let metadata = &mut rendered.document.metadata;
    if response.cached_at.is_some() {
        // A cached copy costs as much as one page, however many pages the file has.
        rendered.credits = billing::page(options, 1);
        metadata.credits_used = Some(rendered.credits);
    }
    metadata.consent_banner = response.consent_banner.or(metadata.consent_banner);
    metadata.blocked_requests = (response.blocked_requests > 0).then_some(response.blocked_requests);
    metadata.cached_at = response.cached_at;
    metadata.cache_state = cache::cache_state(options, response.cached_at).map(str::to_owned);
    ScrapedPage {
        response,
        rendered,
        captures: PageCaptures::default(),
        redactor,
    }
}

/// Removes personal data from a page, if the options ask for it.
///
/// # Errors
/// 500 if it cannot be done.
async fn redact(scraped: &mut ScrapedPage) -> Result<(), ScrapeFailure> {
    let Some(redactor) = scraped.redactor.clone() else {
        return Ok(());
    };
    let mut rendered = std::mem::take(&mut scraped.rendered);
    let work = move || {
        rendered.redact(&redactor);
        rendered
    };
    let redacting = tokio::task::spawn_blocking(work).await;
    scraped.rendered = redacting.map_err(|error| ScrapeFailure::permanent(internal_error(error)))?;
    Ok(())
}

/// Returns an HTTP request for a page.
fn page_request(url: &Url, target: &Target<'_>, deadline: Instant) -> FetchRequest {
    let mut request = FetchRequest::get(url.clone(), deadline.into_std());
    request.headers = request_headers(target.options);
    request.verify_tls = target.options.verify_tls();
    request.max_body_bytes = limits::PAGE_BYTES;
    request.max_redirects = limits::PAGE_REDIRECTS;
    request.keep_partial = true;
    request.cookies = Some(target.jar.clone());
    request
}

impl ScrapedPage {
    /// Returns the approximate memory of the page in bytes.
    fn memory_bytes(&self) -> usize {
        // The document contains about as much text as the body that it was made from.
        2 * self.response.body.len() + limits::SCRAPED_OVERHEAD_BYTES
    }
}

fn raw_page<'a>(requested: &'a Url, response: &'a SiteResponse) -> RawPage<'a> {
    RawPage {
        requested,
        url: &response.url,
        status: response.status,
        content_type: response.content_type.as_deref(),
        body: &response.body,
    }
}

/// Returns the request's headers, plus `Accept-Language` for the languages of `location` unless the request
/// sets it.
fn request_headers(options: &ScrapeOptions) -> Vec<(String, String)> {
    let mut headers: Vec<_> = options
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("accept-language"))
    {
        headers.push(("Accept-Language".to_owned(), options.location.accept_language()));
    }
    headers
}
