//! robots.txt and sitemaps: fetched with their own caps, parsed off the async threads.

use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;
use harvestman_core::crawl::{FetchFailure, RobotsOutcome};
use harvestman_core::host::HostKey;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use tokio::time::Instant;
use url::Url;

use crate::{clock, limits};

/// Fetches robots.txt and sitemaps for one job or call.
#[derive(Clone)]
pub(crate) struct SiteFiles {
    fetcher: Fetcher,
    /// Fields for one host alone: they may hold secrets.
    headers: Option<(HostKey, Vec<(String, String)>)>,
}

impl SiteFiles {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self {
            fetcher,
            headers: None,
        }
    }

    /// Sends these fields to the host of `site`, and to no other.
    pub(crate) fn with_headers(mut self, site: &Url, headers: &BTreeMap<String, String>) -> Self {
        if !headers.is_empty() {
            self.headers = Some((HostKey::of(site), headers.clone().into_iter().collect()));
        }
        self
    }

    fn request(&self, url: Url) -> FetchRequest {
        let deadline = (Instant::now() + limits::SITE_FILE_TIMEOUT).into_std();
        let headers = match &self.headers {
            Some((host, headers)) if *host == HostKey::of(&url) => headers.clone(),
            _ => Vec::new(),
        };
        let mut request = FetchRequest::get(url, deadline);
        request.headers = headers;
        request.truncate = true;
        request
    }

    /// Fetches a robots.txt and what it says to this product token. 4xx means that there is none; 5xx
    /// and no answer mean that nobody knows, unless the host itself cannot be reached.
    pub(crate) async fn robots(&self, url: Url, agent: &str) -> RobotsOutcome {
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut request = self.request(url);
        request.max_body_bytes = limits::ROBOTS_BYTES;
        request.max_redirects = limits::ROBOTS_REDIRECTS;
        match self.fetcher.fetch(request).await {
            Ok(answer) if answer.status < 300 => RobotsOutcome::Found(Robots::parse(&answer.body, agent)),
            // RFC 9309 section 2.3.1.2: too many redirects count as unavailable, which allows all.
            Ok(answer) if answer.status < 500 => RobotsOutcome::Missing,
            Err(FetchError::TooManyRedirects { .. }) => RobotsOutcome::Missing,
            Ok(answer) => {
                RobotsOutcome::Unreachable(format!("it was answered with HTTP status {}", answer.status))
            }
            Err(FetchError::Timeout) => {
                let seconds = limits::SITE_FILE_TIMEOUT.as_secs();
                RobotsOutcome::Unreachable(format!("no answer came within {seconds} s"))
            }
            Err(error) if error.unreachable_host() == Some(&host) => RobotsOutcome::HostFault(FetchFailure {
                id: clock::new_scrape_id(),
                code: error.code(),
                message: error.to_string(),
                passing: error.passing(),
            }),
            Err(error) => RobotsOutcome::Unreachable(error.to_string()),
        }
    }

    /// Fetches and parses one sitemap file; `None` when there is none or it is none.
    pub(crate) async fn sitemap(&self, url: Url) -> Option<Sitemap> {
        let mut request = self.request(url);
        request.max_body_bytes = limits::SITEMAP_BYTES;
        let answer = self.fetcher.fetch(request).await.ok();
        let answer = answer.filter(|answer| answer.status < 300)?;
        let parse = move || Sitemap::parse(&gunzipped(answer.body)?, &answer.url);
        tokio::task::spawn_blocking(parse).await.ok().flatten()
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_files_are_unpacked_and_others_left_alone() {
        assert_eq!(gunzipped(Bytes::from_static(b"<urlset/>")).unwrap(), "<urlset/>");
        assert_eq!(gunzipped(gzip(b"<urlset/>").into()).unwrap(), "<urlset/>");
        assert_eq!(gunzipped(Bytes::from_static(&[0x1f, 0x8b, 8, 0])), None);
    }

    #[test]
    fn a_damaged_tail_keeps_the_entries_before_it() {
        let text: Vec<u8> = (0..50_000u32)
            .flat_map(|n| format!("https://a.test/{}\n", n * 7919).into_bytes())
            .collect();
        let mut packed = gzip(&text);
        packed.truncate(packed.len() / 2);
        let read = gunzipped(packed.into()).unwrap();
        assert!(!read.is_empty() && text.starts_with(&read));
    }

    #[test]
    fn a_bomb_stops_at_the_cap() {
        let packed = gzip(&vec![
            b' ';
            3 * 1024 * 1024
                + usize::try_from(limits::SITEMAP_BYTES).unwrap()
        ]);
        assert_eq!(
            gunzipped(packed.into()).unwrap().len() as u64,
            limits::SITEMAP_BYTES
        );
    }
}
