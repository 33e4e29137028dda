//! Entries of the page cache: fetched responses, stored for later requests of the same team.

use harvestman_core::cache::{Ages, CacheKey};
use harvestman_core::ids::TeamId;
use harvestman_core::search::{Candidate, PageText, Query, Window};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;

/// A response to cache, without its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCachedPage {
    /// The team that owns it.
    pub team: TeamId,
    /// Identifies the request that it is a response to.
    pub key: CacheKey,
    /// Site under which it is listed as a known page, see [`harvestman_core::scope::site_of`]. `None` for a
    /// sitemap, which is not a page.
    pub site: Option<String>,
    /// URL after redirects.
    pub url: String,
    /// Title of the page.
    pub title: Option<String>,
    /// Description of the page.
    pub description: Option<String>,
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Text for the search index; `None` leaves the indexed text unchanged.
    pub text: Option<PageText>,
}

/// A cached response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CachedPage {
    /// URL after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Body.
    pub body: Vec<u8>,
}

/// A cached page that is not in the full-text index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnindexedPage {
    /// Its number.
    pub id: i64,
    /// The team that owns it.
    pub team: TeamId,
    /// The response.
    pub page: CachedPage,
}

/// A page that the team has fetched before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownPage {
    /// URL after redirects.
    pub url: String,
    /// Title, when it has one.
    pub title: Option<String>,
    /// Description, when it has one.
    pub description: Option<String>,
}

operations! {
    /// The page cache.
    trait PageCache {
        /// Caches a response, replacing an older one; drops it if it is too large or there is no space.
        async fn cache_page(&self, page: NewCachedPage, body: impl AsRef<[u8]> + Send + 'static);

        /// Returns a cached response whose age is in this range.
        async fn cached_page(
            &self,
            team: TeamId,
            key: CacheKey,
            ages: Ages,
            now: Timestamp,
        ) -> Result<Option<CachedPage>, StoreError>;
    }
}

operations! {
    /// Cached pages, as they are listed and searched.
    trait CachedPages {
        /// Lists pages of a site that the team has in the cache, earliest cached first.
        async fn known_pages(
            &self,
            team: TeamId,
            site: &str,
            limit: usize,
        ) -> Result<Vec<KnownPage>, StoreError>;

        /// Returns the cached response of a search result.
        async fn cached_page_by_id(&self, team: TeamId, id: i64) -> Result<Option<CachedPage>, StoreError>;
    }
}

operations! {
    /// Full-text search in the page cache.
    trait Search {
        /// Searches the cached pages of the team: returns the `limit` pages from `window` whose words match the query
        /// best, in no particular order.
        async fn search_pages(
            &self,
            team: TeamId,
            query: &Query,
            hosts: &[&str],
            window: &Window,
            limit: u32,
        ) -> Result<Vec<Candidate>, StoreError>;

        /// Returns some cached pages that the last server had not indexed when it crashed. Call again after
        /// [`Store::index_page`](crate::Store::index_page) for each, until there are none.
        async fn unindexed_pages(&self, limit: u32) -> Result<Vec<UnindexedPage>, StoreError>;

        /// Indexes the text of such a page, unless it has been cached again since.
        async fn index_page(&self, id: i64, team: TeamId, text: PageText) -> Result<(), StoreError>;
    }
}
