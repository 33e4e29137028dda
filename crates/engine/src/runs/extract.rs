//! One extract: reads its pages a few at a time, extracts what each has for the schema, and merges the
//! results in the order of the request.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::format::{Format, JsonFormat};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing;
use harvestman_core::extract::{Schema, merge};
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::Lease;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::pages::{Page, Pages};
use super::{Found, choose, deadline};
use crate::engine::Inner;
use crate::{limits, search};

/// A running extract.
struct Extract<'a> {
    inner: &'a Arc<Inner>,
    lease: &'a Lease,
    request: ExtractRequest,
    deadline: Instant,
    found: Found,
}

/// Runs the extract of a lease.
///
/// # Errors
/// If none of its pages can be read.
pub(super) async fn run(inner: &Arc<Inner>, lease: &Lease) -> Result<Found, ApiError> {
    let request = ExtractRequest::from_json(lease.request.as_bytes())?;
    of_request(inner, lease, request).await
}

/// Like [`run`], for a request that is not the lease's own.
pub(super) async fn of_request(
    inner: &Arc<Inner>,
    lease: &Lease,
    request: ExtractRequest,
) -> Result<Found, ApiError> {
    let extract = Extract {
        inner,
        lease,
        deadline: deadline(request.timeout),
        request,
        found: Found::default(),
    };
    extract.run().await
}

impl Extract<'_> {
    async fn run(mut self) -> Result<Found, ApiError> {
        if self
            .request
            .limit
            .is_some_and(|limit| limit > limits::EXTRACT_PAGES_MAX)
        {
            let most = limits::EXTRACT_PAGES_MAX;
            self.found.warn(format!(
                "`limit` was reduced to {most}, the maximum number of pages of one extract."
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
        let options = Arc::new(self.options(part));
        let results = self.read(&mut urls, &options).await?;
        let merged = merge::merge(results);
        self.found.data = Some(merged.value);
        if self.request.show_sources {
            self.found.sources = Some(merged.sources);
        }
        self.found.check(schema.as_ref());
        Ok(self.found)
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
            add(&mut urls, page.url);
        }
        for site in sites {
            let room = self.limit().saturating_sub(urls.len() as u64);
            if room == 0 {
                self.found.warn("Some sites were skipped: `limit` was reached.");
                break;
            }
            let below =
                choose::below(self.inner, self.lease, &self.request, &site, room, self.deadline).await;
            self.found.credits = self.found.credits.saturating_add(billing::MAP_CREDITS);
            match below {
                Ok(found) => found.into_iter().for_each(|url| add(&mut urls, url.into())),
                Err(error) => {
                    self.found.warn(format!(
                        "Cannot list the pages of {}: {}",
                        site.url.url, error.message
                    ));
                    add(&mut urls, site.url);
                }
            }
        }
        if self.request.enable_web_search {
            self.search(&mut urls).await;
        }
        if urls.is_empty() {
            let why = self.found.warnings.join(" ");
            return Err(ApiError::new(
                ErrorCode::BadRequest,
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
        let Some(words) = choose::question(request.prompt.as_deref(), request.schema.as_ref()) else {
            self.found
                .warn("The web search was skipped: neither `prompt` nor `schema` contains a search term.");
            return;
        };
        if self.limit() <= urls.len() as u64 {
            self.found
                .warn("The web search was skipped: `limit` was reached.");
            return;
        }
        let search = SearchRequest {
            highlights: false,
            ..choose::search(
                words,
                limits::EXTRACT_SEARCH_RESULTS,
                &request.scrape_options.location,
            )
        };
        match search::pages(self.inner, self.lease.team, &search, self.deadline).await {
            Ok(found) => {
                self.found.credits = self.found.credits.saturating_add(found.credits);
                for warning in found.warnings {
                    self.found.warn(format!("Search: {warning}"));
                }
                for page in found.pages {
                    if let Ok(url) = TargetUrl::parse(&page.url) {
                        add(urls, url);
                    }
                }
            }
            Err(error) => self
                .found
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
        options: &Arc<ScrapeOptions>,
    ) -> Result<Vec<(String, Value)>, ApiError> {
        let pages = Pages::new(self.inner, self.lease);
        let mut seen: Vec<UrlKey> = urls.iter().map(key).collect();
        let mut results: Vec<(usize, String, Value)> = Vec::new();
        let mut reading = FuturesUnordered::new();
        let (mut next, mut failure) = (0, None);
        let limit = usize::try_from(self.limit()).unwrap_or(usize::MAX);
        loop {
            while reading.len() < limits::RUN_PAGES_AT_ONCE
                && Instant::now() < self.deadline
                && let Some(url) = urls.pop_front()
            {
                let (at, pages, deadline) = (next, &pages, self.deadline);
                next += 1;
                reading.push(async move {
                    let read = pages.read(&url, options, deadline).await;
                    (at, url, read)
                });
            }
            let Some((at, url, read)) = reading.next().await else {
                break;
            };
            match read {
                Ok(page) => {
                    if self.request.allow_external_links {
                        let query =
                            choose::query(self.request.prompt.as_deref(), self.request.schema.as_ref());
                        for link in
                            choose::external(&page.url, &page.links, query.as_deref().unwrap_or_default())
                        {
                            let link = TargetUrl::from(link);
                            if seen.len() < limit && !seen.contains(&key(&link)) {
                                seen.push(key(&link));
                                urls.push_back(link);
                            }
                        }
                    }
                    results.push((at, page.url.to_string(), self.take(page)));
                }
                Err(error) => {
                    self.found
                        .warn(format!("Cannot read {}: {}", url.url, error.message));
                    failure.get_or_insert(error);
                }
            }
        }
        drop(reading);
        if !urls.is_empty() {
            self.found
                .warn("Some pages were not read: the timeout was reached.");
        }
        match failure {
            Some(error) if results.is_empty() => return Err(error),
            _ if results.is_empty() => return Err(crate::scraper::ScrapeFailure::timeout().error),
            _ => {}
        }
        results.sort_by_key(|(at, ..)| *at);
        Ok(results.into_iter().map(|(_, url, value)| (url, value)).collect())
    }

    /// Adds the page to the totals and returns its data.
    fn take(&mut self, page: Page) -> Value {
        let credits = match self.inner.config.llm {
            Some(_) => page.credits,
            None => billing::without_model(page.credits),
        };
        self.found.credits = self.found.credits.saturating_add(credits);
        self.found.pages += 1;
        if let Some(status) = page.document.metadata.status_code.filter(|status| *status >= 400) {
            self.found.warn(format!("{} returned status {status}.", page.url));
            return Value::Null;
        }
        if let Some(warning) = page.document.warning {
            self.found.warn(warning);
        }
        page.document.json.unwrap_or_default()
    }
}

fn add(urls: &mut VecDeque<TargetUrl>, url: TargetUrl) {
    if urls.iter().all(|known| key(known) != key(&url)) {
        urls.push_back(url);
    }
}

fn key(url: &TargetUrl) -> UrlKey {
    UrlKey::of(&url.url, Identity::default())
}
