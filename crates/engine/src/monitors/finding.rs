//! What a check finds: pages of its jobs, pages that are gone, search results.

use harvestman_core::api::page::Document;
use harvestman_core::ids::ScrapeId;
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::StoreError;
use url::Url;

/// What a check found.
pub(super) enum Finding {
    /// A stored document as JSON text.
    Page(String),
    /// A URL that could not be fetched, with the reason.
    Failed(String, String),
    /// A page that is gone.
    Missing(UrlKey, String, Option<ScrapeId>),
    /// A search result with title and description.
    Result(Url, String, String),
}

pub(super) struct FoundPage {
    pub(super) key: UrlKey,
    pub(super) url: String,
    pub(super) content: Content,
}

pub(super) enum Content {
    Document(Box<Document>),
    Failed(String),
    Missing(Option<ScrapeId>),
    Result { title: String, description: String },
}

impl Finding {
    pub(super) fn read(self) -> Result<FoundPage, StoreError> {
        let (key, url, content) = match self {
            Finding::Page(text) => {
                let document: Document = serde_json::from_str(&text).map_err(unreadable)?;
                let metadata = &document.metadata;
                let url = metadata.source_url.clone().or_else(|| metadata.url.clone());
                let url = url.unwrap_or_default();
                (key_of_text(&url), url, Content::Document(Box::new(document)))
            }
            Finding::Failed(url, error) => (key_of_text(&url), url, Content::Failed(error)),
            Finding::Missing(key, url, scrape) => (key, url, Content::Missing(scrape)),
            Finding::Result(url, title, description) => (
                key_of(&url),
                url.to_string(),
                Content::Result { title, description },
            ),
        };
        Ok(FoundPage { key, url, content })
    }
}

pub(super) fn key_of(url: &Url) -> UrlKey {
    UrlKey::of(url, Identity::default())
}

fn key_of_text(url: &str) -> UrlKey {
    Url::parse(url).map_or_else(|_| UrlKey::from_bytes([0; 16]), |url| key_of(&url))
}

pub(super) fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::Unreadable(error.to_string())
}
