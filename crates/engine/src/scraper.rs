//! One page: take its bytes from the cache or fetch them, plainly or with the browser, convert them off
//! the async threads. It never decides what to fetch.

mod visit;

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::billing;
use harvestman_core::cache::{self, CacheKey};
use harvestman_core::crawl::{FetchFailure, FetchedPage, PageOutcome, SlotKind};
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, Rendered, file_request, needs_browser, prepare, prepare_file};
use harvestman_fetch::{CookieJar, FetchError, FetchRequest, Fetcher};
use harvestman_store::StoreError;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use crate::answer::Answer;
use crate::browser_pages::{BrowserPage, BrowserPages, Taken};
use crate::conversions::Conversions;
use crate::engine::unavailable;
use crate::file_reader::FileReader;
use crate::host_memory::HostMemory;
use crate::llm::Llm;
use crate::page_cache::PageCache;
use crate::profiles::OpenProfile;
use crate::turn::Turn;
use crate::{limits, model_formats};

/// Fetches and renders pages; cheap to clone.
#[derive(Clone)]
pub(crate) struct Scraper {
    fetcher: Fetcher,
    browser: Option<BrowserPages>,
    conversions: Conversions,
    files: FileReader,
    /// Places for bodies that come from the cache.
    copies: Arc<Semaphore>,
    llm: Option<Llm>,
    memory: Arc<HostMemory>,
}

/// Where a page is.
#[derive(Clone, Debug)]
pub(crate) struct Target<'u> {
    pub(crate) url: &'u Url,
    /// Where to try it when the connection to `url` fails: an address given without a scheme is tried
    /// as https first (contract section 3).
    pub(crate) fallback: Option<Url>,
    /// What the browser begins with.
    pub(crate) profile: Option<&'u OpenProfile>,
    /// Its slot.
    pub(crate) turn: &'u Turn,
}

/// A page that could not be had.
#[derive(Debug)]
pub(crate) struct ScrapeFailure {
    pub(crate) error: ApiError,
    /// Another attempt may help.
    pub(crate) passing: bool,
    /// The connection itself failed, so that another scheme may help.
    pub(crate) unreachable: bool,
}

/// A page as fetched and rendered.
#[derive(Debug)]
pub(crate) struct Scraped {
    pub(crate) answer: Answer,
    pub(crate) rendered: Rendered,
    pub(crate) taken: Taken,
}

/// What one fetch brought.
struct Fetched {
    answer: Answer,
    taken: Taken,
    by_browser: bool,
}

impl Scraper {
    pub(crate) fn new(
        fetcher: Fetcher,
        browser: Option<BrowserPages>,
        files: FileReader,
        llm: Option<Llm>,
        cores: usize,
    ) -> Self {
        Self {
            fetcher,
            browser,
            conversions: Conversions::new(cores),
            copies: Arc::new(Semaphore::new(cores.max(1) * limits::COPIES_PER_CORE)),
            files,
            llm,
            memory: Arc::default(),
        }
    }

    pub(crate) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    pub(crate) fn browser(&self) -> Option<&BrowserPages> {
        self.browser.as_ref()
    }

    pub(crate) fn conversions(&self) -> &Conversions {
        &self.conversions
    }

    /// What a page with these options needs first.
    pub(crate) fn first_slot(&self, options: &ScrapeOptions) -> SlotKind {
        if self.browser.is_some() && needs_browser(options) {
            SlotKind::Browser
        } else {
            SlotKind::Plain
        }
    }

    /// Ends the browser.
    pub(crate) async fn stop(&self) {
        if let Some(browser) = &self.browser {
            browser.stop().await;
        }
    }

    /// One page, from the cache, by plain HTTP or by the browser, converted to what the options ask for.
    pub(crate) async fn scrape(
        &self,
        target: Target<'_>,
        cache: &PageCache,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let turn = target.turn;
        let mut scraped = self.read(target, cache, options, id, jar, deadline).await?;
        turn.leave_browser();
        self.ask_model(&mut scraped, options, turn.moved(deadline)).await;
        Ok(scraped)
    }

    /// Fills what is left to the language model, where there is one.
    async fn ask_model(&self, scraped: &mut Scraped, options: &ScrapeOptions, deadline: Instant) {
        if let Some(llm) = &self.llm {
            model_formats::fill(llm, &mut scraped.rendered, options, deadline).await;
        }
    }

    /// A page but for what is left to the language model.
    async fn read(
        &self,
        target: Target<'_>,
        cache: &PageCache,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        if let Some(ages) = cache::wanted_ages(options) {
            let place = self.copies.acquire().await;
            let _place = place.expect("the semaphore is never closed");
            for url in std::iter::once(target.url).chain(&target.fallback) {
                let copy = cache.copy(CacheKey::of_page(url, options), ages).await;
                if let Some(answer) = copy.map_err(ScrapeFailure::of_store)? {
                    let mut scraped = self.render(url, answer, options, id, deadline).await?;
                    scraped.warn_of_placeholder(self.browser.is_some());
                    return Ok(scraped);
                }
            }
        }
        if let Some(refusal) = cache::refusal(options) {
            return Err(ScrapeFailure::final_(refusal));
        }
        let (url, mut scraped) = self.visit(&target, options, id, jar, deadline).await?;
        scraped.warn_of_placeholder(self.browser.is_some());
        // A placeholder would hide the page for as long as the copy is used.
        let is_whole = scraped.answer.incomplete.is_none() && scraped.placeholder().is_none();
        if cache::keeps(options, scraped.answer.status) && is_whole {
            let key = CacheKey::of_page(url, options);
            cache
                .keep_page(key, &scraped.answer, &scraped.rendered.document)
                .await;
        }
        Ok(scraped)
    }

    /// The page by the browser where only that will do, else by plain HTTP; what is no page by plain HTTP.
    async fn fetch(
        &self,
        url: &Url,
        target: &Target<'_>,
        options: &ScrapeOptions,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Fetched, ScrapeFailure> {
        let taken = match &self.browser {
            Some(browser) if needs_browser(options) => {
                let deadline = target.turn.browser(0, deadline).await?;
                match browser.page(url, options, target.profile, deadline).await? {
                    BrowserPage {
                        answer: Some(answer),
                        taken,
                    } => {
                        return Ok(Fetched {
                            answer,
                            taken,
                            by_browser: true,
                        });
                    }
                    BrowserPage { taken, .. } => taken,
                }
            }
            _ => Taken::default(),
        };
        let request = page_request(url, options, jar, deadline);
        let fetched = self.fetcher.fetch(request).await;
        fetched
            .map(|response| Fetched {
                answer: Answer::from(response),
                taken,
                by_browser: false,
            })
            .map_err(ScrapeFailure::from)
    }

    /// Makes a document of what was received, by the deadline. A file is read first.
    pub(crate) async fn convert(
        &self,
        requested: &Url,
        answer: Answer,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let mut scraped = self.render(requested, answer, options, id, deadline).await?;
        self.ask_model(&mut scraped, options, deadline).await;
        Ok(scraped)
    }

    async fn render(
        &self,
        requested: &Url,
        answer: Answer,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        // A part of a page is a page; a part of a file is damaged.
        if let Some(fault) = &answer.incomplete
            && file_request(&raw(requested, &answer), options).is_some()
        {
            return Err(fault.clone().into());
        }
        let (requested, options) = (requested.clone(), options.clone());
        let has_model = self.llm.is_some();
        let work = async {
            let file = match file_request(&raw(&requested, &answer), &options) {
                Some(request) => Some((request, self.files.read(&request, &answer.body).await?)),
                None => None,
            };
            let permit = self.conversions.permit().await;
            let converting = tokio::task::spawn_blocking(move || {
                let page = raw(&requested, &answer);
                let rendered = match file {
                    Some((request, file)) => prepare_file(&page, &options, id, &request, file),
                    None => prepare(&page, &options, id),
                };
                drop(permit);
                let mut rendered = rendered?;
                if !has_model {
                    rendered.without_model(&options);
                }
                if let Some(fault) = &answer.incomplete {
                    rendered
                        .document
                        .warn(&format!("The page is incomplete, its end is missing: {fault}."));
                }
                let metadata = &mut rendered.document.metadata;
                if answer.kept_since.is_some() {
                    // A copy costs what one page costs, however many pages the file has.
                    rendered.credits = billing::page(&options, 1);
                    metadata.credits_used = Some(rendered.credits);
                }
                metadata.cached_at = answer.kept_since;
                metadata.cache_state = cache::state(&options, answer.kept_since).map(str::to_owned);
                Ok(Scraped {
                    answer,
                    rendered,
                    taken: Taken::default(),
                })
            });
            converting.await.unwrap_or_else(|panic| {
                tracing::error!(%panic, "the conversion of a page failed");
                Err(ApiError::new(
                    ErrorCode::Unknown,
                    "the page could not be converted",
                ))
            })
        };
        match tokio::time::timeout_at(deadline, work).await {
            Ok(result) => result.map_err(ScrapeFailure::final_),
            Err(_) => Err(ScrapeFailure::timeout()),
        }
    }

    /// One page task of a crawl, as the core wants to hear of it, and what the browser took.
    pub(crate) async fn page(
        &self,
        target: Target<'_>,
        cache: &PageCache,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
    ) -> (PageOutcome, Taken) {
        let deadline = Instant::now() + Duration::from_millis(options.timeout);
        match self.scrape(target, cache, options, id, jar, deadline).await {
            Ok(Scraped {
                answer,
                rendered,
                taken,
            }) => {
                let page = PageOutcome::Page(Box::new(FetchedPage {
                    retry_after_ms: answer.retry_after_ms,
                    final_url: answer.url,
                    status: answer.status,
                    links: rendered.links,
                    document: Box::new(rendered.document),
                    credits: rendered.credits,
                }));
                (page, taken)
            }
            Err(failure) => {
                let failed = PageOutcome::Failed(FetchFailure {
                    id,
                    code: failure.error.code,
                    message: failure.error.message,
                    passing: failure.passing,
                });
                (failed, Taken::default())
            }
        }
    }
}

/// A plain request for a page.
fn page_request(url: &Url, options: &ScrapeOptions, jar: &CookieJar, deadline: Instant) -> FetchRequest {
    let mut request = FetchRequest::get(url.clone(), deadline.into_std());
    request.headers = request_headers(options);
    request.verify_tls = options.verify_tls();
    request.max_body_bytes = limits::PAGE_BYTES;
    request.max_redirects = limits::PAGE_REDIRECTS;
    request.keep_partial = true;
    request.cookies = Some(jar.clone());
    request
}

impl Scraped {
    /// About how much memory it holds.
    fn memory_bytes(&self) -> usize {
        // The document holds about as much text as the body that it was made of.
        2 * self.answer.body.len() + limits::SCRAPED_BYTES
    }
}

fn raw<'a>(requested: &'a Url, answer: &'a Answer) -> RawPage<'a> {
    RawPage {
        requested,
        url: &answer.url,
        status: answer.status,
        content_type: answer.content_type.as_deref(),
        body: &answer.body,
    }
}

impl ScrapeFailure {
    fn final_(error: ApiError) -> Self {
        Self {
            error,
            passing: false,
            unreachable: false,
        }
    }

    fn of_store(error: StoreError) -> Self {
        Self {
            error: unavailable(&error),
            passing: true,
            unreachable: false,
        }
    }

    pub(crate) fn timeout() -> Self {
        let error = ApiError::new(
            ErrorCode::ScrapeTimeout,
            "the page did not arrive within `timeout`; allow more time or try again later",
        );
        Self {
            error,
            passing: true,
            unreachable: false,
        }
    }
}

/// The caller's headers; the languages of `location` unless the caller said `Accept-Language`.
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

impl From<FetchError> for ScrapeFailure {
    fn from(error: FetchError) -> Self {
        Self {
            unreachable: error.before_answer(),
            passing: error.passing(),
            error: ApiError::new(error.code(), error.to_string()),
        }
    }
}
