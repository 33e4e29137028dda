//! Search providers of the operator: one client, several protocols. A protocol says what to send and reads what comes
//! back; it never connects. Keys and queries are never logged.

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
use crate::answer::retry_after_ms;
use crate::limits;
use crate::works::Works;

/// Which protocol a provider speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchProvider {
    /// A SearXNG instance with JSON output.
    Searxng,
    /// Google's results by Serper, or what speaks like it.
    Serper,
    /// Brave Search, or what speaks like it.
    Brave,
}

/// Where the provider is.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchConfig {
    /// What it speaks.
    pub provider: SearchProvider,
    /// Its base address.
    pub url: Url,
    /// Sent as the protocol wants it.
    pub api_key: Option<String>,
}

/// Keys are shown to nobody.
impl Debug for SearchConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchConfig")
            .field("provider", &self.provider)
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

/// A client of one provider; cheap to clone.
#[derive(Clone)]
pub struct Search {
    fetcher: Fetcher,
    protocol: Arc<dyn Protocol>,
    works: Works,
}

impl Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").finish_non_exhaustive()
    }
}

/// What is asked of a provider.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Ask {
    pub(super) kind: SourceKind,
    /// In the notation of search engines, domains included.
    pub(super) query: String,
    /// Results wanted.
    pub(super) count: usize,
    /// The time filter as it was given, and as it was read.
    pub(super) tbs: Option<String>,
    pub(super) window: Window,
    pub(super) country: String,
    pub(super) location: Option<String>,
    pub(super) safe: Option<bool>,
}

impl Ask {
    /// The query with the place in it, for protocols without a field for that.
    pub(super) fn query_with_place(&self) -> String {
        match &self.location {
            Some(place) => format!("{} {place}", self.query),
            None => self.query.clone(),
        }
    }
}

/// A result in whatever protocol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hit {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) description: String,
    /// As the provider writes it.
    pub(super) date: Option<String>,
    pub(super) image_url: Option<String>,
    /// Width and height in pixels; 0 where unknown.
    pub(super) image_size: (u64, u64),
}

impl Hit {
    /// Two hits of the same address, and for pictures of the same picture, are one.
    pub(super) fn identity(&self) -> String {
        let exact = Identity {
            ignore_query: false,
            merge_similar: true,
        };
        let address = Url::parse(&self.url).map_or_else(|_| self.url.clone(), |url| normal_form(&url, exact));
        format!("{address} {}", self.image_url.as_deref().unwrap_or_default())
    }

    /// `2026-01-31`, where the date is written so.
    pub(super) fn day(&self) -> Option<&str> {
        let day = self.date.as_deref()?.get(..10)?;
        let is_day = day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        is_day.then_some(day)
    }
}

/// How a provider is spoken to.
pub(super) trait Protocol: Send + Sync {
    /// The request for one page of results, from 0 on.
    fn request(&self, ask: &Ask, page: usize, deadline: Instant) -> FetchRequest;

    /// The results of an answer; the error says what is wrong with it.
    fn read(&self, kind: SourceKind, answer: &Value) -> Result<Vec<Hit>, String>;

    /// Results that one page has, at most.
    fn page_size(&self, kind: SourceKind) -> usize;
}

/// Why a provider gave no results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum SearchError {
    #[error("the search provider did not answer in time")]
    Timeout,
    #[error("the search provider cannot be reached: {0}")]
    Unreachable(String),
    #[error("the search provider answered {0}")]
    Refused(u16),
    #[error("the search provider gave an answer that cannot be read: {0}")]
    Unreadable(String),
}

impl Search {
    /// A provider behind `fetcher`, which must be allowed to reach it.
    pub fn new(fetcher: Fetcher, config: SearchConfig) -> Search {
        let protocol: Arc<dyn Protocol> = match config.provider {
            SearchProvider::Searxng => Arc::new(Searxng::new(config)),
            SearchProvider::Serper => Arc::new(Serper::new(config)),
            SearchProvider::Brave => Arc::new(Brave::new(config)),
        };
        Search {
            fetcher,
            protocol,
            works: Works::default(),
        }
    }

    /// Whether it answered when it was last asked.
    pub(crate) fn works(&self) -> bool {
        self.works.get()
    }

    /// Pages of results that are asked for at most; some more than are needed, since results may be left out.
    pub(super) fn pages(&self, ask: &Ask) -> usize {
        let needed = ask.count.div_ceil(self.protocol.page_size(ask.kind).max(1));
        (needed + limits::SEARCH_SPARE_PAGES).min(limits::SEARCH_PAGES)
    }

    /// One page of results. A provider that wants a short pause gets it, once.
    pub(super) async fn ask(
        &self,
        ask: &Ask,
        page: usize,
        deadline: Instant,
    ) -> Result<Vec<Hit>, SearchError> {
        let hits = self.attempt(ask, page, deadline).await;
        // A caller may have given it too little time.
        if hits != Err(SearchError::Timeout) {
            self.works.note(hits.is_ok());
        }
        hits
    }

    async fn attempt(&self, ask: &Ask, page: usize, deadline: Instant) -> Result<Vec<Hit>, SearchError> {
        let mut repeated = false;
        loop {
            let mut request = self.protocol.request(ask, page, deadline);
            request.max_body_bytes = limits::SEARCH_ANSWER_BYTES;
            request
                .headers
                .push(("Accept".to_owned(), "application/json".to_owned()));
            let answer = match self.fetcher.fetch(request).await {
                Ok(answer) => answer,
                Err(FetchError::Connect { .. } | FetchError::Reset { .. }) if !repeated => {
                    repeated = true;
                    continue;
                }
                Err(FetchError::Timeout) => return Err(SearchError::Timeout),
                Err(error) => return Err(SearchError::Unreachable(error.to_string())),
            };
            if (200..300).contains(&answer.status) {
                let body: Value = serde_json::from_slice(&answer.body)
                    .map_err(|error| SearchError::Unreadable(error.to_string()))?;
                return self
                    .protocol
                    .read(ask.kind, &body)
                    .map_err(SearchError::Unreadable);
            }
            let wait = retry_after_ms(&answer.headers, SystemTime::now())
                .map_or(limits::SEARCH_RETRY, std::time::Duration::from_millis);
            let passing = matches!(answer.status, 429 | 500..=599);
            if repeated || !passing || wait > limits::SEARCH_RETRY_MAX || Instant::now() + wait >= deadline {
                return Err(SearchError::Refused(answer.status));
            }
            repeated = true;
            tokio::time::sleep(wait).await;
        }
    }
}

/// A text of an answer, without markup.
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

/// A text that may be missing.
pub(super) fn maybe(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The list below this name.
pub(super) fn list<'v>(answer: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match &answer[name] {
        Value::Array(list) => Ok(list),
        Value::Null if answer.is_object() => Ok(&[]),
        _ => Err(format!("`{name}` is no list")),
    }
}
