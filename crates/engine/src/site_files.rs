//! robots.txt and sitemaps: fetched with their own size limits, parsed off the async threads. Sitemaps are
//! cached in the page cache, robots.txt never is.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use harvestman_core::api::map::MapRequest;
use harvestman_core::cache::{Ages, CacheKey, wanted_sitemap_ages};
use harvestman_core::crawl::{FetchFailure, RobotsOutcome};
use harvestman_core::host::HostKey;
use harvestman_core::limits::SITEMAP_CACHE_MS;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_fetch::{FetchError, FetchRequest, FetchResponse, Fetcher};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use crate::context::Context;
use crate::page_cache::PageCache;
use crate::page_visit::PageVisits;
use crate::proxies::Routes;
use crate::site_response::SiteResponse;
use crate::{clock, limits};

/// Fetches robots.txt and sitemaps for one job or request.
#[derive(Clone)]
pub(crate) struct SiteFiles {
    fetcher: Fetcher,
    routes: Arc<Routes>,
    /// Permits, shared by all jobs, for unpacking and parsing sitemaps: a small file may unpack to a large
    /// one.
    permits: Arc<Semaphore>,
    cache: PageCache,
    /// Accepted ages of cached sitemaps; `None` disables reading the cache.
    cached_ages: Option<Ages>,
    /// Whether to cache sitemaps.
    store_in_cache: bool,
    /// Fetch nothing; use only the cache.
    cache_only: bool,
    /// Whether TLS certificates are verified.
    verify_tls: bool,
    /// Request headers for one host only: they may contain secrets.
    headers: Option<(HostKey, Vec<(String, String)>)>,
}

impl SiteFiles {
    /// Creates the fetcher of a job that scrapes its pages with these options.
    pub(crate) fn of_job(context: &Context, visits: &PageVisits) -> Self {
        let options = visits.options();
        Self {
            routes: visits.routes().clone(),
            fetcher: context.scraper.fetcher().clone(),
            permits: context.sitemaps.clone(),
            cache: visits.cache().clone(),
            cached_ages: wanted_sitemap_ages(options),
            store_in_cache: options.stores_in_cache(),
            cache_only: options.cache_only(),
            verify_tls: options.verify_tls(),
            headers: None,
        }
    }

    /// Creates the fetcher of a map. The map's headers are sent to its own host only.
    pub(crate) fn of_map(
        context: &Context,
        routes: Arc<Routes>,
        cache: PageCache,
        request: &MapRequest,
    ) -> Self {
        let plain = request.headers.is_empty();
        let headers = || request.headers.clone().into_iter().collect();
        Self {
            routes,
            fetcher: context.scraper.fetcher().clone(),
            permits: context.sitemaps.clone(),
            cache,
            cached_ages: (plain && !request.ignore_cache).then_some(Ages {
                min_ms: 0,
                max_ms: SITEMAP_CACHE_MS,
            }),
            store_in_cache: plain,
            cache_only: false,
            // As for a page with these headers and no other options.
            verify_tls: !plain,
            headers: (!plain).then(|| (HostKey::of(&request.url.url), headers())),
        }
    }

    /// Returns whether certificates must be valid.
    pub(crate) fn verifies_tls(&self) -> bool {
        self.verify_tls
    }

    fn request(&self, url: Url) -> FetchRequest {
        let deadline = (Instant::now() + limits::SITE_FILE_TIMEOUT).into_std();
        let headers = match &self.headers {
            Some((host, headers)) if *host == HostKey::of(&url) => headers.clone(),
            _ => Vec::new(),
        };
        let mut request = FetchRequest::get(url, deadline);
        request.headers = headers;
        request.verify_tls = self.verify_tls;
        request.truncate = true;
        request
    }

    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        self.routes
            .fetch(&self.fetcher, self.routes.first(), request)
            .await
    }

    /// Fetches a robots.txt and parses the rules for this product token. 4xx means that there is none. 5xx
    /// and failed connections mean that the rules are unknown, unless the host itself is unreachable. In
    /// cache-only mode nothing is fetched, so there is nothing to disallow.
    pub(crate) async fn robots(&self, url: Url, agent: &str) -> RobotsOutcome {
        if self.cache_only {
            return RobotsOutcome::Missing;
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut request = self.request(url);
        request.max_body_bytes = limits::ROBOTS_BYTES;
        request.max_redirects = limits::ROBOTS_REDIRECTS;
        match self.fetch(request).await {
            Ok(response) if response.status < 300 => {
                RobotsOutcome::Found(Robots::parse(&response.body, agent))
            }
            Ok(response) if response.status < 500 => RobotsOutcome::Missing,
            // RFC 9309 section 2.3.1.2: too many redirects count as unavailable, which allows all.
            Err(FetchError::TooManyRedirects { .. } | FetchError::RedirectLoop { .. }) => {
                RobotsOutcome::Missing
            }
            Ok(response) => RobotsOutcome::Unreachable(format!("HTTP status {}", response.status)),
            Err(FetchError::Timeout) => {
                let seconds = limits::SITE_FILE_TIMEOUT.as_secs();
                RobotsOutcome::Unreachable(format!("no response within {seconds} s"))
            }
            Err(error) if error.unreachable_host() == Some(&host) => RobotsOutcome::HostError(FetchFailure {
                id: clock::new_scrape_id(),
                code: error.code(),
                message: error.to_string(),
                transient: error.is_transient(),
            }),
            Err(error) => RobotsOutcome::Unreachable(error.to_string()),
        }
    }

    /// Returns one sitemap, cached or fetched; `None` if there is none or it is not a sitemap.
    pub(crate) async fn sitemap(&self, url: Url) -> Option<Sitemap> {
        let key = CacheKey::of_site_file(&url, self.verify_tls);
        if let Some(ages) = self.cached_ages
            && let Ok(Some(copy)) = self.cache.copy(key, ages, self.cache_only).await
        {
            return self.parse_sitemap(&copy).await;
        }
        if self.cache_only {
            return None;
        }
        let mut request = self.request(url);
        request.max_body_bytes = limits::SITEMAP_BYTES;
        let response = self.fetch(request).await.ok();
        let response = response.filter(|response| response.status < 300)?;
        let store_in_cache = self.store_in_cache && !response.truncated;
        let response = SiteResponse::from(response);
        let sitemap = self.parse_sitemap(&response).await?;
        if store_in_cache {
            self.cache.store_sitemap(key, &response).await;
        }
        Some(sitemap)
    }

    async fn parse_sitemap(&self, response: &SiteResponse) -> Option<Sitemap> {
        let (body, url) = (response.body.clone(), response.url.clone());
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let parse = move || {
            let _permit = permit;
            Sitemap::parse(&gunzip(body)?, &url)
        };
        tokio::task::spawn_blocking(parse).await.ok().flatten()
    }
}

/// Unpacks a `sitemap.xml.gz`, which is a gzip file and not a response with a content encoding.
fn gunzip(body: Bytes) -> Option<Bytes> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Some(body);
    }
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(&body[..])
        .take(limits::SITEMAP_BYTES)
        .read_to_end(&mut text);
    // A damaged end still leaves the entries before it.
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
    fn gzip_files_are_unpacked_and_others_are_unchanged() {
        assert_eq!(gunzip(Bytes::from_static(b"<urlset/>")).unwrap(), "<urlset/>");
        assert_eq!(gunzip(gzip(b"<urlset/>").into()).unwrap(), "<urlset/>");
        assert_eq!(gunzip(Bytes::from_static(&[0x1f, 0x8b, 8, 0])), None);
    }

    #[test]
    fn a_damaged_end_keeps_the_entries_before_it() {
        let text: Vec<u8> = (0..50_000u32)
            .flat_map(|n| format!("https://a.test/{}\n", n * 7919).into_bytes())
            .collect();
        let mut packed = gzip(&text);
        packed.truncate(packed.len() / 2);
        let read = gunzip(packed.into()).unwrap();
        assert!(!read.is_empty() && text.starts_with(&read));
    }

    #[test]
    fn a_decompression_bomb_is_cut_at_the_limit() {
        let packed = gzip(&vec![
            b' ';
            3 * 1024 * 1024
                + usize::try_from(limits::SITEMAP_BYTES).unwrap()
        ]);
        assert_eq!(gunzip(packed.into()).unwrap().len() as u64, limits::SITEMAP_BYTES);
    }
}
