//! Batches prepared for the writer: lists of URLs as JSON arrays. This runs in the caller's task, so that the writer
//! task only writes.

use harvestman_core::crawl::{Batch, JobEnd, Offer, Source};
use harvestman_core::url_key::UrlKey;

use crate::error::StoreError;
use crate::limits;
use crate::prepared::blocking;
pub(crate) use crate::prepared::{PreparedUrl, PreparedVersion, json_text, prepare_urls, source_word};

/// A list of URLs as a JSON array, for a statement over `json_each`.
#[derive(Debug)]
pub(crate) struct UrlList {
    pub(crate) json: String,
    pub(crate) len: u64,
    /// Keys of the pages with the first link to each URL, 16 bytes each.
    pub(crate) pages: Vec<u8>,
}

/// See [`Batch`].
#[derive(Debug)]
pub(crate) struct PreparedBatch {
    pub(crate) number: u64,
    pub(crate) settled: Vec<PreparedUrl>,
    /// `[key, url, host, depth, source, page]` each; `page` is the 1-based offset of the page's key in
    /// `pages`.
    pub(crate) offers: UrlList,
    /// `[key]` each.
    pub(crate) aliases: UrlList,
    /// As `offers`, without page.
    pub(crate) robots_blocked: UrlList,
    pub(crate) warnings: Vec<String>,
    pub(crate) progress: String,
    pub(crate) end: Option<JobEnd>,
}

impl PreparedBatch {
    pub(crate) async fn of(batch: &Batch) -> Result<Self, StoreError> {
        let settled = prepare_urls(&batch.settled).await?;
        Ok(Self {
            number: batch.number,
            settled,
            offers: offers(&batch.offers)?,
            aliases: url_list(batch.aliases.iter().map(|key| [hex(*key)]))?,
            robots_blocked: url_list(batch.robots_blocked.iter().map(|(key, url)| {
                let source = source_word(Source::Link);
                (
                    hex(*key),
                    url.as_str(),
                    url.origin().ascii_serialization(),
                    0,
                    source,
                )
            }))?,
            warnings: batch.warnings.clone(),
            progress: json_text(&batch.progress)?,
            end: batch.end.clone(),
        })
    }
}

/// Splits the pages of a batch scrape into lists, one per statement.
pub(crate) async fn page_lists(pages: Vec<Offer>) -> Result<Vec<UrlList>, StoreError> {
    let work = move || pages.chunks(limits::PAGES_PER_STATEMENT).map(offers).collect();
    blocking(work).await?
}

fn offers(offers: &[Offer]) -> Result<UrlList, StoreError> {
    let mut pages = Vec::new();
    let list = url_list(offers.iter().map(|offer| {
        // URLs found on one page arrive together.
        let page = offer.found_on.map(|page| {
            let key = page.to_bytes();
            if !pages.ends_with(&key) {
                pages.extend(key);
            }
            pages.len() - key.len() + 1
        });
        let source = source_word(offer.source);
        (
            hex(offer.key),
            offer.url.as_str(),
            offer.host.as_str(),
            offer.depth,
            source,
            page,
        )
    }))?;
    Ok(UrlList { pages, ..list })
}

fn url_list(rows: impl ExactSizeIterator<Item = impl serde::Serialize>) -> Result<UrlList, StoreError> {
    let len = rows.len() as u64;
    let mut json = String::from("[");
    for row in rows {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&json_text(&row)?);
    }
    json.push(']');
    let pages = Vec::new();
    Ok(UrlList { json, len, pages })
}

fn hex(key: UrlKey) -> String {
    format!("{:032x}", key.0)
}
