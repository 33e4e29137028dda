//! One extract: reads its pages a few at a time, extracts what each has for the schema, and merges the
//! results in the order of the request.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::format::{Format, JsonFormat};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing;
use harvestman_core::crawl::FetchedPage;
use harvestman_core::extract::{Schema, merge};
use harvestman_core::scope::has_origin_of;
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::{JobKind, Lease};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::Url;

use super::progress::{Progress, TracedCall};
use super::{RunOutcome, agent_options, deadline, page_selection};
use crate::context::Context;
use crate::page_visit::PageVisits;
use crate::{clock, limits, search};

/// A running extract.
struct Extract<'a> {
    context: &'a Arc<Context>,
    lease: &'a Lease,
    request: ExtractRequest,
    deadline: Instant,
    progress: Progress<'a>,
    outcome: RunOutcome,
    /// Why the first page without data has none.
    unanswered: Option<String>,
}

/// Runs the extract of a lease.
///
/// # Errors
/// If the store fails.
pub(super) async fn run(context: &Arc<Context>, lease: &Lease) -> Result<RunOutcome, ApiError> {
    let request = ExtractRequest::from_json(lease.request.as_bytes())?;
    let mut outcome = RunOutcome::default();
    let model = request.agent.as_ref().and_then(|agent| agent.model.as_deref());
    if let Some(warning) = agent_options::ignored_model(context, "agent.model", model) {
        outcome.warn(warning);
    }
    if let Some(warning) = request.caller.warning() {
        outcome.warn(warning);
    }
    let progress = Progress::of(context, lease, true).await?;
    Ok(of_request(context, lease, request, progress, outcome).await)
}

/// Like [`run`], for a request that is not the lease's own. `outcome` has the warnings so far.
pub(super) async fn of_request(
    context: &Arc<Context>,
    lease: &Lease,
    request: ExtractRequest,
    progress: Progress<'_>,
    outcome: RunOutcome,
) -> RunOutcome {
    let mut extract = Extract {
        context,
        lease,
        deadline: deadline(request.timeout),
        request,
        progress,
        outcome,
        unanswered: None,
    };
    if let Err(error) = extract.run().await {
        extract.outcome.fail(error.message, error.code.as_str());
        extract.outcome.partial = Some(extract.progress.take_partial()).filter(|partial| !partial.is_null());
    }
    extract.outcome
}

impl Extract<'_> {
    /// Reads the pages and merges their data into the outcome.
    ///
    /// # Errors
    /// If none of the pages can be read, the model answers for none of them, or the store fails.
    async fn run(&mut self) -> Result<(), ApiError> {
        if self
            .request
            .limit
            .is_some_and(|limit| limit > limits::EXTRACT_PAGES_MAX)
        {
            let max_pages = limits::EXTRACT_PAGES_MAX;
            self.outcome.warn(format!(
                "`limit` was reduced to {max_pages}, the maximum number of pages of one extract."
            ));
        }
        let schema = self.request.schema.clone().map(Schema::new);
        let mut urls = self.targets().await?;
        // A single page must have every required field; each of several pages may have a part.
        let part = match (&schema, urls.len()) {
            (Some(schema), 2..) => Some(schema.relaxed()),
            (Some(schema), _) if self.request.allow_external_links => Some(schema.relaxed()),
            _ => self.request.schema.clone(),
        };
        let options = self.options(part);
        let mut results = self.read(&mut urls, options).await?;
        if let Some(why) = self.unanswered.take() {
            let (empty, filled): (Vec<_>, Vec<_>) = results.iter().partition(|(_, value)| value.is_null());
            match (filled.is_empty(), &schema) {
                (true, None) => return Err(ApiError::new(ErrorCode::Unavailable, why)),
                (true, Some(_)) => self.outcome.warn(why),
                // What one page lacks, another one has.
                (false, _) => {
                    let urls: Vec<&str> = empty.iter().map(|(url, _)| url.as_str()).collect();
                    self.outcome.warn(format!("{}: {why}", urls.join(", ")));
                }
            }
        }
        if schema.is_none() {
            self.collect_words(&mut results);
        }
        let merged = merge::merge(results);
        self.outcome.data = Some(merged.value);
        if self.request.show_sources {
            self.outcome.sources = Some(merged.sources);
        }
        self.outcome.check(schema.as_ref());
        Ok(())
    }

    /// Turns the answers of several pages into lists if the model answered in words. Drops words if other pages have
    /// data.
    fn collect_words(&mut self, results: &mut [(String, Value)]) {
        let (words, data): (Vec<&Value>, Vec<&Value>) = results
            .iter()
            .map(|(_, value)| value)
            .filter(|value| !value.is_null())
            .partition(|value| value.is_string());
        let has_data = !data.is_empty();
        if words.len() + data.len() < 2 {
            return;
        }
        for (url, value) in results.iter_mut().filter(|(_, value)| value.is_string()) {
            *value = match has_data {
                true => Value::Null,
                false => Value::Array(vec![value.take()]),
            };
            if has_data {
                self.outcome.warn(format!(
                    "The answer for {url} was left out: it is text, not structured data."
                ));
            }
        }
    }

    fn limit(&self) -> u64 {
        self.request
            .limit
            .unwrap_or(limits::EXTRACT_PAGES)
            .min(limits::EXTRACT_PAGES_MAX)
    }

    /// Returns the pages to read, most relevant first. If a site cannot be mapped, its top page is read.
    async fn targets(&mut self) -> Result<VecDeque<TargetUrl>, ApiError> {
        let mut urls: VecDeque<TargetUrl> = VecDeque::new();
        let (sites, pages): (Vec<_>, Vec<_>) =
            self.request.urls.iter().cloned().partition(|one| one.whole_site);
        for page in pages {
            add_url(&mut urls, page.url);
        }
        for site in sites {
            let room = self.limit().saturating_sub(urls.len() as u64);
            if room == 0 {
                self.outcome.warn("Some sites were skipped: `limit` was reached.");
                break;
            }
            let below = page_selection::pages_below(
                self.context, self.lease, &self.request, &site, room, self.deadline,
            )
            .await;
            match below {
                Ok(pages) => {
                    self.outcome.spend(self.context, self.lease, billing::MAP_CREDITS);
                    pages.into_iter().for_each(|url| add_url(&mut urls, url.into()));
                }
                Err(error) => {
                    self.outcome.warn(format!(
                        "Cannot list the pages of {}: {}",
                        site.url.url, error.message
                    ));
                    add_url(&mut urls, site.url);
                }
            }
        }
        if self.request.enable_web_search || self.request.urls.is_empty() {
            self.search(&mut urls).await;
        }
        if urls.is_empty() {
            let why = self.outcome.warnings.join(" ");
            return Err(ApiError::bad_request(
                format!("no page to extract from; set `urls`. {why}")
                    .trim_end()
                    .to_owned(),
            ));
        }
        urls.truncate(usize::try_from(self.limit()).unwrap_or(usize::MAX));
        Ok(urls)
    }

    /// Adds the first search results, up to the page limit.
    async fn search(&mut self, urls: &mut VecDeque<TargetUrl>) {
        let request = &self.request;
        let Some(query) = page_selection::search_query(request.prompt.as_deref(), request.schema.as_ref())
        else {
            self.outcome
                .warn("The web search was skipped: neither `prompt` nor `schema` contains a search term.");
            return;
        };
        if self.limit() <= urls.len() as u64 {
            self.outcome
                .warn("The web search was skipped: `limit` was reached.");
            return;
        }
        let search = SearchRequest {
            highlights: false,
            ..page_selection::search_request(
                query,
                limits::EXTRACT_SEARCH_RESULTS,
                &request.scrape_options.location,
            )
        };
        match search::search_pages(
            self.context, self.lease.team, self.lease.job, &search, self.deadline,
        )
        .await
        {
            Ok(results) => {
                self.outcome.credits = self.outcome.credits.saturating_add(results.credits);
                for warning in results.warnings {
                    self.outcome.warn(format!("Search: {warning}"));
                }
                for page in results.pages {
                    if let Ok(url) = TargetUrl::parse(&page.url) {
                        add_url(urls, url);
                    }
                }
            }
            Err(error) => self
                .outcome
                .warn(format!("The web search failed: {}.", error.message)),
        }
    }

    /// Returns the options for each page: those of the request, with only the JSON format.
    fn options(&self, schema: Option<Map<String, Value>>) -> ScrapeOptions {
        let request = &self.request;
        let prompt = match (&request.prompt, &request.system_prompt) {
            (prompt, Some(system)) => {
                let prompt = prompt.as_deref().unwrap_or("Extract what the schema asks for.");
                Some(format!("{prompt}\n\nInstructions from the user: {system}"))
            }
            (prompt, None) => prompt.clone(),
        };
        ScrapeOptions {
            formats: vec![Format::Json(JsonFormat { schema, prompt })],
            ..request.scrape_options.clone()
        }
    }

    /// Reads the pages, a few at a time. Returns the results in the order of the URLs.
    async fn read(
        &mut self,
        urls: &mut VecDeque<TargetUrl>,
        options: ScrapeOptions,
    ) -> Result<Vec<(String, Value)>, ApiError> {
        let visits = PageVisits::of_run(self.context, self.lease, Arc::new(options));
        let mut known_urls: Vec<UrlKey> = urls.iter().map(key).collect();
        let mut results: Vec<(usize, String, Value)> = Vec::new();
        let mut reading = FuturesUnordered::new();
        let (mut next, mut failure) = (0, None);
        let limit = usize::try_from(self.limit()).unwrap_or(usize::MAX);
        loop {
            while reading.len() < limits::RUN_PAGES_AT_ONCE
                && Instant::now() < self.deadline
                && let Some(url) = urls.pop_front()
            {
                let (at, visits, deadline) = (next, &visits, self.deadline);
                let is_own_origin = self.names_origin_of(&url.url);
                next += 1;
                reading.push(async move {
                    let started_at = clock::now();
                    let read = visits.read(&url, is_own_origin, deadline).boxed().await;
                    (at, url, started_at, read)
                });
            }
            let Some((at, url, started_at, read)) = reading.next().await else {
                break;
            };
            let result = match &read {
                Ok(page) => format!("status {}", page.status),
                Err(error) => format!("error: {}", error.message),
            };
            self.progress.add_call(TracedCall {
                id: &format!("page-{at}"),
                tool: "scrape",
                parameters: json!({ "url": url.url }),
                started_at,
                result: &result,
                page: None,
            });
            match read {
                Ok(page) => {
                    for link in self.external_links(&page) {
                        if known_urls.len() < limit && !known_urls.contains(&key(&link)) {
                            known_urls.push(key(&link));
                            urls.push_back(link);
                        }
                    }
                    let (url, data) = (page.final_url.to_string(), self.take_data(page));
                    self.progress.add_data(&url, data.clone());
                    results.push((at, url, data));
                }
                Err(error) => {
                    self.outcome
                        .warn(format!("Cannot read {}: {}", url.url, error.message));
                    failure.get_or_insert(error);
                }
            }
            self.progress.store_sometimes(&self.outcome.warnings).await?;
        }
        drop(reading);
        if self.lease.kind == JobKind::Agent {
            self.progress.store(&self.outcome.warnings, None).await?;
        }
        if !urls.is_empty() {
            self.outcome
                .warn("Some pages were not read: the timeout was reached.");
        }
        match failure {
            Some(error) if results.is_empty() => return Err(error),
            _ if results.is_empty() => return Err(crate::error::ScrapeFailure::timeout().error),
            _ => {}
        }
        results.sort_by_key(|(at, ..)| *at);
        Ok(results.into_iter().map(|(_, url, value)| (url, value)).collect())
    }

    /// Returns the links of a page to other sites, if they are to be read too.
    fn external_links(&self, page: &FetchedPage) -> Vec<TargetUrl> {
        let request = &self.request;
        if !request.allow_external_links {
            return Vec::new();
        }
        let query = page_selection::ranking_query(request.prompt.as_deref(), request.schema.as_ref());
        let query = query.as_deref().unwrap_or_default();
        let links = page_selection::external_links(&page.final_url, &page.links, query);
        links.into_iter().map(TargetUrl::from).collect()
    }

    /// Returns whether the caller named the origin of a page.
    fn names_origin_of(&self, page: &Url) -> bool {
        let named = &self.request.urls;
        named.iter().any(|target| has_origin_of(page, &target.url.url))
    }

    /// Adds the page to the totals and returns its data.
    fn take_data(&mut self, page: FetchedPage) -> Value {
        self.outcome.credits = self.outcome.credits.saturating_add(page.credits);
        self.outcome.pages += 1;
        if let Some(status) = page.document.metadata.status_code.filter(|status| *status >= 400) {
            self.outcome
                .warn(format!("{} returned status {status}.", page.final_url));
            return Value::Null;
        }
        let Document { json, warning, .. } = *page.document;
        let data = json.unwrap_or_default();
        match warning {
            Some(warning) if data.is_null() => _ = self.unanswered.get_or_insert(warning),
            Some(warning) => self.outcome.warn(warning),
            None => {}
        }
        data
    }
}

fn add_url(urls: &mut VecDeque<TargetUrl>, url: TargetUrl) {
    if urls.iter().all(|known| key(known) != key(&url)) {
        urls.push_back(url);
    }
}

fn key(url: &TargetUrl) -> UrlKey {
    UrlKey::of(&url.url, Identity::default())
}
