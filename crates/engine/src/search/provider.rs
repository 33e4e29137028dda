//! Client of the operator's search provider. Keys and queries are never logged.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use harvestman_fetch::{FetchError, Fetcher};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::brave::Brave;
use super::protocol::{Hit, Protocol, ProviderQuery};
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

/// Why a provider returned no results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum SearchError {
    #[error("the search provider did not respond in time")]
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
        let SearchConfig {
            provider,
            url,
            api_key,
        } = config;
        let protocol: Arc<dyn Protocol> = match provider {
            SearchProvider::Searxng => Arc::new(Searxng::new(url, api_key)),
            SearchProvider::Serper => Arc::new(Serper { base: url, api_key }),
            SearchProvider::Brave => Arc::new(Brave { base: url, api_key }),
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
