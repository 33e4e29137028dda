//! The page cache of a team. It holds no rules: those are in the core.

use harvestman_core::api::page::Document;
use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::limits::MAP_KNOWN_MAX;
use harvestman_core::scope::site_of;
use harvestman_core::search::PageText;
use harvestman_store::{KnownPage, NewCachedPage, Store, StoreError};
use url::Url;

use crate::metrics::Metrics;
use crate::site_response::SiteResponse;
use crate::{clock, outage};

/// The cached responses of one team.
#[derive(Clone)]
pub(crate) struct PageCache {
    store: Store,
    team: TeamId,
    metrics: Metrics,
}

impl PageCache {
    pub(crate) fn new(store: Store, team: TeamId, metrics: Metrics) -> Self {
        Self { store, team, metrics }
    }

    /// Returns the team.
    pub(crate) fn team(&self) -> TeamId {
        self.team
    }

    /// Returns the cached copy under this key, if its age is within `ages`. With `cache_only`, waits while the store is
    /// unavailable, because a missing copy would end the page.
    pub(crate) async fn copy(
        &self,
        key: CacheKey,
        ages: Ages,
        cache_only: bool,
    ) -> Result<Option<SiteResponse>, StoreError> {
        let read = || self.store.cached_page(self.team, key, ages, clock::now());
        let may_retry = |error: &StoreError| cache_only && error.is_transient();
        let found = outage::retry(may_retry, read).await?;
        self.metrics.count_cache_lookup(found.is_some());
        found.map(SiteResponse::try_from).transpose()
    }

    /// Returns the known pages of this URL's site.
    pub(crate) async fn known_pages(&self, url: &Url) -> Result<Vec<(Url, KnownPage)>, StoreError> {
        let pages = self
            .store
            .known_pages(self.team, &site_of(url), MAP_KNOWN_MAX)
            .await?;
        let with_url = |page: KnownPage| Some((Url::parse(&page.url).ok()?, page));
        Ok(pages.into_iter().filter_map(with_url).collect())
    }

    /// Stores a page under this key with its title and description. Searches find it only if its Markdown is
    /// known.
    pub(crate) async fn store_page(&self, key: CacheKey, response: &SiteResponse, document: &Document) {
        let page = NewCachedPage {
            site: Some(site_of(&response.url)),
            title: document.metadata.title.clone(),
            description: document.metadata.description.clone(),
            text: text_of(&response.url, document),
            ..self.entry(key, response)
        };
        self.store.cache_page(page, response.body.clone()).await;
    }

    /// Stores a sitemap under this key.
    pub(crate) async fn store_sitemap(&self, key: CacheKey, response: &SiteResponse) {
        let body = response.body.clone();
        self.store.cache_page(self.entry(key, response), body).await;
    }

    fn entry(&self, key: CacheKey, response: &SiteResponse) -> NewCachedPage {
        NewCachedPage {
            team: self.team,
            key,
            site: None,
            url: response.url.to_string(),
            title: None,
            description: None,
            status: response.status,
            content_type: response.content_type.clone(),
            fetched_at: clock::now(),
            text: None,
        }
    }
}

/// Returns the text by which searches find a page, or `None` if its Markdown is not known.
pub(crate) fn text_of(url: &Url, document: &Document) -> Option<PageText> {
    let metadata = &document.metadata;
    let (title, description) = (metadata.title.as_deref(), metadata.description.as_deref());
    let markdown = document.markdown.as_ref()?;
    Some(PageText::of(url, title, description, markdown))
}
