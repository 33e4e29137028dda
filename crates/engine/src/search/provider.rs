//! Search providers of the operator: one client, several protocols. A protocol builds requests and parses
//! responses; it never connects. Keys and queries are never logged.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use harvestman_core::api::search::SourceKind;
use harvestman_core::search::Window;
use harvestman_core::url_key::{Identity, normal_form};
use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::brave::Brave;
use super::searxng::Searxng;
use super::serper::Serper;
use crate::health::Health;
use crate::limits;
use crate::site_response::retry_after_ms;

/// The protocol of a search provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchProvider {
    /// A SearXNG instance with JSON output.
    Searxng,
    /// Google's results from Serper, or a compatible API.
    Serper,
    /// Brave Search, or a compatible API.
    Brave,
}

/// Connection settings of the search provider.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchConfig {
    /// Protocol of the provider.
    pub provider: SearchProvider,
    /// Base URL.
    pub url: Url,
    /// API key, sent in the way that the protocol defines.
    pub api_key: Option<String>,
}

/// Omits the API key.
impl Debug for SearchConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchConfig")
            .field("provider", &self.provider)
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

/// A client of one provider. Cheap to clone.
#[derive(Clone)]
pub struct Search {
    fetcher: Fetcher,
    protocol: Arc<dyn Protocol>,
    health: Health,
}

impl Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").finish_non_exhaustive()
    }
}

/// A query to a provider.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ProviderQuery {
    pub(super) kind: SourceKind,
    /// Query in search engine syntax, including domain filters.
    pub(super) query: String,
    /// Number of results wanted.
    pub(super) count: usize,
    /// The time filter as given; `window` is its parsed form.
    pub(super) tbs: Option<String>,
    pub(super) window: Window,
    pub(super) country: String,
    pub(super) location: Option<String>,
    pub(super) safe: Option<bool>,
}

impl ProviderQuery {
    /// Returns the query with the location appended, for protocols without a field for it.
    pub(super) fn query_with_location(&self) -> String {
        match &self.location {
            Some(location) => format!("{} {location}", self.query),
            None => self.query.clone(),
        }
    }
}

/// A search result, independent of the protocol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hit {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) description: String,
    /// The date as the provider writes it.
    pub(super) date: Option<String>,
    pub(super) image_url: Option<String>,
    /// Width and height in pixels; 0 if unknown.
    pub(super) image_size: (u64, u64),
}

impl Hit {
    /// Returns a key that is equal for duplicates: same URL and, for images, same image.
    pub(super) fn identity(&self) -> String {
        let exact = Identity {
            ignore_query: false,
            merge_similar: true,
        };
        let address = Url::parse(&self.url).map_or_else(|_| self.url.clone(), |url| normal_form(&url, exact));
        format!("{address} {}", self.image_url.as_deref().unwrap_or_default())
    }

    /// Returns the day as `2026-01-31`, if the date has that format.
    pub(super) fn day(&self) -> Option<&str> {
        let day = self.date.as_deref()?.get(..10)?;
        let is_day = day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        is_day.then_some(day)
    }
}

/// The protocol of a search provider.
pub(super) trait Protocol: Send + Sync {
    /// Returns the request for one page of results, counted from 0.
    fn request(&self, query: &ProviderQuery, page: usize, deadline: Instant) -> FetchRequest;

    /// Parses the results of a response. The error says what is wrong with it.
    fn parse(&self, kind: SourceKind, response: &Value) -> Result<Vec<Hit>, String>;

    /// Returns the maximum number of results per page.
    fn page_size(&self, kind: SourceKind) -> usize;
}

/// Why a provider returned no results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum SearchError {
    #[error("the search provider did not answer in time")]
    Timeout,
    #[error("cannot reach the search provider: {0}")]
    Unreachable(String),
    #[error("the search provider returned status {0}")]
    Status(u16),
    #[error("cannot read the search provider's response: {0}")]
    Unreadable(String),
}

impl Search {
    /// Creates a client that sends its requests through `fetcher`, which must be allowed to reach the
    /// provider.
    pub fn new(fetcher: Fetcher, config: SearchConfig) -> Search {
        let protocol: Arc<dyn Protocol> = match config.provider {
            SearchProvider::Searxng => Arc::new(Searxng::new(config)),
            SearchProvider::Serper => Arc::new(Serper::new(config)),
            SearchProvider::Brave => Arc::new(Brave::new(config)),
        };
        Search {
            fetcher,
            protocol,
            health: Health::default(),
        }
    }

    /// Returns whether the last request succeeded.
    pub(crate) fn is_healthy(&self) -> bool {
        self.health.is_healthy()
    }

    /// Returns the maximum number of result pages to request; a few more than needed, because results may be
    /// filtered.
    pub(super) fn pages(&self, query: &ProviderQuery) -> usize {
        let needed = query.count.div_ceil(self.protocol.page_size(query.kind).max(1));
        (needed + limits::SEARCH_SPARE_PAGES).min(limits::SEARCH_PAGES)
    }

    /// Returns one page of results. Retries once if the provider asks for a short wait.
    pub(super) async fn fetch_page(
        &self,
        query: &ProviderQuery,
        page: usize,
        deadline: Instant,
    ) -> Result<Vec<Hit>, SearchError> {
        let hits = self.attempt(query, page, deadline).await;
        // A timeout may be the client's fault, so it says nothing about the provider.
        if hits != Err(SearchError::Timeout) {
            self.health.record(hits.is_ok());
        }
        hits
    }

    async fn attempt(
        &self,
        query: &ProviderQuery,
        page: usize,
        deadline: Instant,
    ) -> Result<Vec<Hit>, SearchError> {
        let mut has_retried = false;
        loop {
            let mut request = self.protocol.request(query, page, deadline);
            request.max_body_bytes = limits::SEARCH_RESPONSE_BYTES;
            request
                .headers
                .push(("Accept".to_owned(), "application/json".to_owned()));
            let response = match self.fetcher.fetch(request).await {
                Ok(response) => response,
                Err(FetchError::Connect { .. } | FetchError::Reset { .. }) if !has_retried => {
                    has_retried = true;
                    continue;
                }
                Err(FetchError::Timeout) => return Err(SearchError::Timeout),
                Err(error) => return Err(SearchError::Unreachable(error.to_string())),
            };
            if (200..300).contains(&response.status) {
                let body: Value = serde_json::from_slice(&response.body)
                    .map_err(|error| SearchError::Unreadable(error.to_string()))?;
                return self
                    .protocol
                    .parse(query.kind, &body)
                    .map_err(SearchError::Unreadable);
            }
            let wait = retry_after_ms(&response.headers, SystemTime::now())
                .map_or(limits::SEARCH_RETRY, std::time::Duration::from_millis);
            let transient = matches!(response.status, 429 | 500..=599);
            if has_retried
                || !transient
                || wait > limits::SEARCH_RETRY_MAX
                || Instant::now() + wait >= deadline
            {
                return Err(SearchError::Status(response.status));
            }
            has_retried = true;
            tokio::time::sleep(wait).await;
        }
    }
}

/// Returns a text without markup.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for c in value.as_str().unwrap_or_default().chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text, if it is present and not empty.
pub(super) fn optional_text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the list in this field; empty if the field is missing.
pub(super) fn list<'v>(response: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match &response[name] {
        Value::Array(list) => Ok(list),
        Value::Null if response.is_object() => Ok(&[]),
        _ => Err(format!("`{name}` is not a list")),
    }
}
