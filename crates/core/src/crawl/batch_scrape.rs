//! The pages of a batch scrape. The caller listed each of them, so nothing is discovered, robots.txt is
//! not consulted, and a redirect yields a document wherever it ends.

use std::collections::HashSet;

use url::Url;

use crate::api::crawl::{CrawlRequest, SitemapMode};
use crate::api::error::ApiError;
use crate::api::url_field::TargetUrl;
use crate::crawl::batch::{Offer, Snapshot, Source};
use crate::crawl::{Crawl, Policy};
use crate::frontier::Entry;
use crate::host::HostKey;
use crate::url_key::{Identity, UrlKey};

/// Two listed URLs are one page when they differ only by their fragment.
const IDENTITY: Identity = Identity {
    ignore_query: false,
    merge_similar: false,
};

/// Returns the offers of a batch of these URLs: each page once, in the order given.
pub fn offers(urls: Vec<TargetUrl>) -> Vec<Offer> {
    let mut seen = HashSet::with_capacity(urls.len());
    urls.into_iter()
        .filter_map(|target| {
            let key = UrlKey::of(&target.url, IDENTITY);
            seen.insert(key).then(|| Offer {
                key,
                host: HostKey::of(&target.url),
                depth: 0,
                source: if target.scheme_guessed {
                    Source::Guessed
                } else {
                    Source::Given
                },
                url: target.url,
                found_on: None,
            })
        })
        .collect()
}

/// Returns the same URL with `http` if `https` was a guess.
pub(super) fn fallback(entry: &Entry) -> Option<Url> {
    let mut url = entry.url.clone();
    (entry.source == Source::Guessed && url.set_scheme("http").is_ok()).then_some(url)
}

impl Crawl {
    /// Restores a batch scrape from the store. `first` is the URL that represents the batch. It ends
    /// when every page is settled, and no page, failed or not, makes the job fail. Its concurrency is
    /// shared among the hosts, so that a slow host does not hold up the others.
    ///
    /// # Errors
    /// Never fails for a URL that passed validation.
    pub fn restore_batch_scrape(
        first: &Url,
        max_concurrency: Option<u32>,
        policy: Policy,
        snapshot: Snapshot,
    ) -> Result<Crawl, ApiError> {
        let request = CrawlRequest {
            sitemap: SitemapMode::Skip,
            ignore_robots_txt: true,
            max_concurrency,
            ..CrawlRequest::new(first.clone())
        };
        Self::resume(&request, policy, snapshot, true)
    }
}
