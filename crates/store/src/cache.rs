//! Entries of the page cache: fetched responses, stored for later requests of the same team.

use harvestman_core::cache::CacheKey;
use harvestman_core::ids::TeamId;
use harvestman_core::search::PageText;
use harvestman_core::time::Timestamp;

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
