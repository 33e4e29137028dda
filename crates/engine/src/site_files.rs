//! robots.txt and sitemaps: fetched with their own caps, parsed off the async threads.

use std::io::Read;

use bytes::Bytes;
use harvestman_core::crawl::RobotsOutcome;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use tokio::time::Instant;
use url::Url;

use crate::limits;

/// Fetches a robots.txt. 4xx means that there is none; 5xx and no answer mean that nobody knows.
pub(crate) async fn robots(fetcher: &Fetcher, url: Url, agent: &str) -> RobotsOutcome {
    let mut request = FetchRequest::get(url, (Instant::now() + limits::SITE_FILE_TIMEOUT).into_std());
    request.max_body_bytes = limits::ROBOTS_BYTES;
    request.truncate = true;
    request.max_redirects = limits::ROBOTS_REDIRECTS;
    match fetcher.fetch(request).await {
        Ok(answer) if answer.status < 300 => RobotsOutcome::Found(Robots::parse(&answer.body, agent)),
        // RFC 9309 section 2.3.1.2: too many redirects count as unavailable, which allows all.
        Ok(answer) if answer.status < 500 => RobotsOutcome::Missing,
        Err(FetchError::TooManyRedirects { .. }) => RobotsOutcome::Missing,
        Ok(_) | Err(_) => RobotsOutcome::Unreachable,
    }
}

/// Fetches and parses one sitemap file; `None` when there is none or it is none.
pub(crate) async fn sitemap(fetcher: &Fetcher, url: Url) -> Option<Sitemap> {
    let mut request = FetchRequest::get(url, (Instant::now() + limits::SITE_FILE_TIMEOUT).into_std());
    request.max_body_bytes = limits::SITEMAP_BYTES;
    request.truncate = true;
    let answer = fetcher
        .fetch(request)
        .await
        .ok()
        .filter(|answer| answer.status < 300)?;
    let parse = move || Sitemap::parse(&gunzipped(answer.body)?, &answer.url);
    tokio::task::spawn_blocking(parse).await.ok().flatten()
}

/// `sitemap.xml.gz` comes as a gzip file, not as a coded answer.
fn gunzipped(body: Bytes) -> Option<Bytes> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Some(body);
    }
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(&body[..])
        .take(limits::SITEMAP_BYTES)
        .read_to_end(&mut text);
    // A damaged tail still leaves the entries before it.
    (read.is_ok() || !text.is_empty()).then(|| text.into())
}
