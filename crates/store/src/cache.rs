//! Fetched answers as they are kept for later requests of the same team.

use harvestman_core::cache::CacheKey;
use harvestman_core::ids::TeamId;
use harvestman_core::search::PageText;
use harvestman_core::time::Timestamp;

/// An answer to be kept, beside its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCachedPage {
    /// Whose.
    pub team: TeamId,
    /// What it answers.
    pub key: CacheKey,
    /// Whose known pages it joins, see [`harvestman_core::scope::site_of`]. `None` for a sitemap,
    /// which is no page.
    pub site: Option<String>,
    /// Where it came from, after redirects.
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
    /// What searches find it by; `None` leaves it as it was found before, if at all.
    pub text: Option<PageText>,
}

/// A kept answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CachedPage {
    /// Where it came from, after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: Option<String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// The bytes.
    pub body: Vec<u8>,
}

/// A page that a team has met before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownPage {
    /// Its address, after redirects.
    pub url: String,
    /// Title, when it has one.
    pub title: Option<String>,
    /// Description, when it has one.
    pub description: Option<String>,
}
