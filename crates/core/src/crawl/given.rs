//! The pages of a batch scrape: each is asked for because the caller named it, so nothing is
//! discovered, robots.txt is not asked, and a redirect leads to a document wherever it ends.

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

/// Two given addresses are one page when they differ by their fragment alone.
const IDENTITY: Identity = Identity {
    ignore_query: false,
    merge_similar: false,
};

/// What a batch of these addresses offers to the store: each page once, in the order given.
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

/// The same address by plain http, where https was a guess.
pub(super) fn fallback(entry: &Entry) -> Option<Url> {
    let mut url = entry.url.clone();
    (entry.source == Source::Guessed && url.set_scheme("http").is_ok()).then_some(url)
}

impl Crawl {
    /// A batch scrape as the store remembers it. It ends when every page is settled, and no page,
    /// failed or not, decides about the job. `first` is the address that the batch is known by. The
    /// places are shared out among the hosts, so that a slow one does not keep the others waiting.
    /// Errors: none for an address that was read as one.
    pub fn of_given(
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
