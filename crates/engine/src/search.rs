//! Searches: results of the operator's search provider, or of the pages that the team has cached, and their
//! documents if the request asks for scraping. The core decides which results match.

mod brave;
mod own_pages;
mod protocol;
pub(crate) mod provider;
mod searxng;
mod serper;

use std::collections::HashSet;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::format::{Format, FormatKind};
use harvestman_core::api::page::Document;
use harvestman_core::api::problem;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::api::search::{SearchRequest, SearchSource, SourceKind};
use harvestman_core::api::search_response::{
    ImageResult, NewsResult, SearchResponse, SearchResults, WebResult, scraped_fields,
};
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::search::{self as rules, Filter, Window};
use harvestman_store::{JobKind, NewJob, Principal};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::budget::CreditReservation;
use crate::context::{Context, Engine};
use crate::error::{is_outage, stopping};
use crate::jobs::new_job;
use crate::{clock, outage};

use protocol::{Hit, ProviderQuery};
use provider::{Search, SearchError};

/// Formats by which clients tell a scraped result from a bare one (docs/API.md section 9).
const DOCUMENT_FORMATS: [FormatKind; 8] = [
    FormatKind::Markdown,
    FormatKind::Html,
    FormatKind::RawHtml,
    FormatKind::Links,
    FormatKind::Screenshot,
    FormatKind::Summary,
    FormatKind::Json,
    FormatKind::ChangeTracking,
];

/// One search in progress.
struct SearchRun<'e> {
    context: &'e Context,
    team: TeamId,
    request: &'e SearchRequest,
    filter: Filter,
    deadline: Instant,
    warnings: Vec<String>,
}

/// Pages that a search found for another job, which pays for them.
pub(crate) struct FoundPages {
    /// Most relevant first.
    pub(crate) pages: Vec<WebResult>,
    pub(crate) warnings: Vec<String>,
    pub(crate) credits: u32,
}

/// Searches for pages on behalf of a leased job of the team. Tries again while the store is unavailable.
///
/// # Errors
/// 402, 408; 503 if the provider fails.
pub(crate) async fn search_pages(
    context: &Context,
    team: TeamId,
    job: JobId,
    request: &SearchRequest,
    deadline: Instant,
) -> Result<FoundPages, ApiError> {
    // A request to a provider has already been repeated.
    let may_retry = |error: &ApiError| context.config.search.is_none() && is_outage(error);
    let search = || search_once(context, team, job, request, deadline);
    outage::retry(may_retry, search).await
}

async fn search_once(
    context: &Context,
    team: TeamId,
    job: JobId,
    request: &SearchRequest,
    deadline: Instant,
) -> Result<FoundPages, ApiError> {
    let mut run = SearchRun::new(context, team, request);
    run.deadline = run.deadline.min(deadline);
    let reservation = outage::retry(is_outage, || run.reserve()).await?;
    let results = run.find_in_time().await?;
    let credits = search_credits(&results);
    reservation.spend(job, credits);
    Ok(FoundPages {
        pages: results.web.unwrap_or_default(),
        warnings: run.warnings,
        credits,
    })
}

/// Returns whether the team has cached pages that match.
///
/// # Errors
/// 503 if the store fails.
pub(crate) async fn has_own_pages(
    context: &Context,
    team: TeamId,
    request: &SearchRequest,
) -> Result<bool, ApiError> {
    let mut results = SearchResults::default();
    SearchRun::new(context, team, request)
        .own_pages(&mut results)
        .await?;
    Ok(count(&results) > 0)
}

impl Engine {
    /// Searches the web, or the team's cached pages if no provider is configured, and scrapes the results if
    /// requested. `base` is this server's URL as the client sees it, for links in documents.
    ///
    /// # Errors
    /// 402; 408 if nothing was found in time; 501 for unsupported categories; 503 if the provider fails or
    /// the request needs a provider and none is configured.
    pub async fn search(
        &self,
        principal: &Principal,
        request: &SearchRequest,
        base: &str,
    ) -> Result<SearchResponse, ApiError> {
        request.check_offered()?;
        if let Some(options) = request.scrapes() {
            self.check_options(options)
                .map_err(|error| problem::under("scrapeOptions", error))?;
        }
        let run = SearchRun::new(&self.context, principal.team, request);
        let reservation = run.reserve().await?;
        let context = &self.context;
        let call = NewJob {
            url: request.query.clone(),
            ..new_job(context, principal, JobKind::Search, request, &request.caller)?
        };
        let result = tokio::select! {
            result = run.respond(self, principal, base, call.id) => result,
            () = self.context.stop.cancelled() => Err(stopping()),
        };
        let end = result
            .as_ref()
            .map(|(_, credits)| *credits)
            .map_err(ApiError::clone);
        self.context.budget.record_call(reservation, call, end).await?;
        result.map(|(response, _)| response)
    }
}

impl<'e> SearchRun<'e> {
    fn new(context: &'e Context, team: TeamId, request: &'e SearchRequest) -> Self {
        Self {
            context,
            team,
            request,
            filter: Filter::of(request),
            deadline: Instant::now() + Duration::from_millis(request.timeout),
            warnings: Vec::new(),
        }
    }

    /// Returns the response and the credits of the search itself.
    async fn respond(
        mut self,
        engine: &Engine,
        principal: &Principal,
        base: &str,
        id: JobId,
    ) -> Result<(SearchResponse, u32), ApiError> {
        let mut data = self.find_in_time().await?;
        let credits = search_credits(&data);
        let pages = match self.request.scrapes() {
            Some(_) => self.scrape(&mut data, engine, principal, base).await,
            None => 0,
        };
        if self.request.enterprise.iter().any(|kind| kind != "default") {
            self.warnings.push(rules::NO_ENTERPRISE.to_owned());
        }
        self.warnings.extend(self.request.caller.warning());
        if self.request.filter.is_some() {
            self.warnings.push(rules::NO_FILTER.to_owned());
        }
        let response = SearchResponse {
            success: true,
            id: Some(id),
            credits_used: u64::from(credits) + pages,
            data,
            warning: (!self.warnings.is_empty()).then(|| self.warnings.join(" ")),
        };
        Ok((response, credits))
    }

    async fn reserve(&self) -> Result<CreditReservation, ApiError> {
        let reserving = timeout_at(self.deadline, self.context.budget.reserve(self.team));
        reserving.await.map_err(|_| timeout_error())?
    }

    async fn find_in_time(&mut self) -> Result<SearchResults, ApiError> {
        let results = timeout_at(self.deadline, self.find());
        results.await.map_err(|_| timeout_error())?
    }

    async fn find(&mut self) -> Result<SearchResults, ApiError> {
        let mut results = SearchResults::default();
        let Some(search) = self.context.config.search.clone() else {
            if !self.request.wants(SourceKind::Web) {
                return Err(ApiError::new(ErrorCode::NotConfigured, rules::NEEDS_PROVIDER));
            }
            self.own_pages(&mut results).await?;
            return Ok(results);
        };
        let mut failures = Vec::new();
        for source in &self.request.sources {
            match self.hits(&search, source).await {
                Ok(hits) => self.add_results(&mut results, source.kind, hits),
                Err(error) => failures.push(error),
            }
        }
        // Results of some of the sources are better than an error.
        if let Some(error) = failures.first()
            && failures.len() == self.request.sources.len()
        {
            return Err(match error {
                SearchError::Timeout => timeout_error(),
                error => ApiError::new(ErrorCode::Unavailable, error.to_string()),
            });
        }
        for error in failures {
            self.warnings.push(format!("Some results are missing: {error}."));
        }
        if self.warnings.is_empty() && count(&results) == 0 {
            self.warnings.push(rules::NO_RESULTS.to_owned());
        }
        Ok(results)
    }

    /// Returns the requested number of results of one source, without duplicates.
    async fn hits(&self, search: &Search, source: &SearchSource) -> Result<Vec<Hit>, SearchError> {
        let request = self.request;
        let tbs = source.tbs.as_ref().or(request.tbs.as_ref());
        let provider_query = ProviderQuery {
            kind: source.kind,
            query: self.filter.add_to_query(&request.query),
            count: request.limit as usize,
            tbs: tbs.cloned(),
            window: tbs.map(|tbs| Window::of(tbs, clock::now())).unwrap_or_default(),
            country: request.country.clone(),
            location: source.location.clone().or_else(|| request.location.clone()),
            safe: request.safe,
        };
        let mut seen = HashSet::new();
        let mut hits: Vec<Hit> = Vec::new();
        for page in 0..search.pages(&provider_query) {
            let more = search.fetch_page(&provider_query, page, self.deadline).await?;
            let (known_hits, page_hits) = (hits.len(), more.len());
            hits.extend(more.into_iter().filter(|hit| {
                seen.insert(hit.identity())
                    && self.matches(hit)
                    && provider_query.window.allows_day(hit.day())
            }));
            let has_new = hits.len() > known_hits;
            if page_hits == 0 || hits.len() >= provider_query.count || (page > 0 && !has_new) {
                break;
            }
        }
        if provider_query.window.by_date {
            hits.sort_by(|one, next| next.day().cmp(&one.day()));
        }
        hits.truncate(provider_query.count);
        Ok(hits)
    }

    /// Returns whether a result passes the domain and category filters, and is a valid URL if the request
    /// requires it.
    fn matches(&self, hit: &Hit) -> bool {
        match Url::parse(&hit.url) {
            Ok(url) if TargetUrl::parse(&hit.url).is_ok() => self.filter.allows(&url, None),
            _ => !self.request.ignore_invalid_urls,
        }
    }

    fn add_results(&self, results: &mut SearchResults, kind: SourceKind, hits: Vec<Hit>) {
        let numbered = (1..).zip(hits);
        match kind {
            SourceKind::Web => {
                let result = |(position, hit): (u64, Hit)| WebResult {
                    category: self.category(&hit.url),
                    url: hit.url,
                    title: hit.title,
                    description: hit.description,
                    position: Some(position),
                    ..WebResult::default()
                };
                results.web = Some(numbered.map(result).collect());
            }
            SourceKind::News => {
                let result = |(position, hit): (u64, Hit)| NewsResult {
                    title: hit.title,
                    url: hit.url,
                    snippet: hit.description,
                    date: hit.date.unwrap_or_default(),
                    image_url: hit.image_url,
                    position: Some(position),
                    ..NewsResult::default()
                };
                results.news = Some(numbered.map(result).collect());
            }
            SourceKind::Images => {
                let result = |(position, hit): (u64, Hit)| ImageResult {
                    title: hit.title,
                    image_url: hit.image_url.unwrap_or_default(),
                    image_width: hit.image_size.0,
                    image_height: hit.image_size.1,
                    url: hit.url,
                    position: Some(position),
                };
                results.images = Some(numbered.map(result).collect());
            }
        }
    }

    fn category(&self, url: &str) -> Option<String> {
        let category = self.filter.category(&Url::parse(url).ok()?, None);
        category.map(|category| category.to_string())
    }

    /// Scrapes web and news results within the timeout and returns the credits. Results that cannot be
    /// scraped stay as found.
    async fn scrape(
        &mut self,
        results: &mut SearchResults,
        engine: &Engine,
        principal: &Principal,
        base: &str,
    ) -> u64 {
        let web = results
            .web
            .iter_mut()
            .flatten()
            .map(|result| (result.url.clone(), &mut result.scraped, &mut result.description));
        let news = results
            .news
            .iter_mut()
            .flatten()
            .map(|result| (result.url.clone(), &mut result.scraped, &mut result.snippet));
        let request = self.request;
        let mut scrapes: FuturesUnordered<_> = web
            .chain(news)
            .map(|(url, fields, text)| async move {
                let document = scrape_result(engine, principal, request, base, &url).await;
                (document, fields, text)
            })
            .collect();
        let mut credits = 0;
        loop {
            match timeout_at(self.deadline, scrapes.next()).await {
                Ok(Some((Some(document), fields, text))) => {
                    credits += u64::from(document.metadata.credits_used.unwrap_or(0));
                    let passage = document.markdown.as_deref().filter(|_| request.highlights);
                    if let Some(found) = passage.and_then(|page| rules::passage(page, &request.query)) {
                        *text = found;
                    }
                    *fields = scraped_fields(&document);
                }
                Ok(Some((None, ..))) => {}
                Ok(None) => return credits,
                Err(_) => {
                    self.warnings.push(rules::SCRAPES_TIMED_OUT.to_owned());
                    return credits;
                }
            }
        }
    }
}

/// Scrapes the page of a result, with at least one of [`DOCUMENT_FORMATS`].
async fn scrape_result(
    engine: &Engine,
    principal: &Principal,
    request: &SearchRequest,
    base: &str,
    url: &str,
) -> Option<Document> {
    let mut options = request.scrapes()?.clone();
    if !DOCUMENT_FORMATS.iter().any(|kind| options.wants(*kind)) {
        options.formats.push(Format::Markdown);
    }
    let scrape = ScrapeRequest {
        options,
        caller: request.caller.without_services(),
        ..ScrapeRequest::new(TargetUrl::parse(url).ok()?)
    };
    match engine.scrape(principal, scrape, base).await {
        Ok(document) => Some(document),
        Err(error) => {
            tracing::debug!(url, code = error.code.as_str(), "cannot scrape a search result");
            None
        }
    }
}

/// Returns the number of results of all sources.
fn count(results: &SearchResults) -> usize {
    results.web.as_ref().map_or(0, Vec::len)
        + results.news.as_ref().map_or(0, Vec::len)
        + results.images.as_ref().map_or(0, Vec::len)
}

/// Returns the credits of a search, without the pages scraped for it.
fn search_credits(results: &SearchResults) -> u32 {
    u32::try_from(billing::search(count(results) as u64)).unwrap_or(u32::MAX)
}

fn timeout_error() -> ApiError {
    ApiError::new(
        ErrorCode::SearchTimeout,
        "the search did not finish within `timeout`; allow more time, or request fewer results",
    )
}
