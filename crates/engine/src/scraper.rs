//! One page: fetch the bytes, convert them off the async threads. It never decides what to fetch.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::crawl::{FetchFailure, FetchedPage, PageOutcome};
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, Rendered, render};
use harvestman_fetch::{CookieJar, FetchError, FetchRequest, FetchResponse, Fetcher};
use http::HeaderMap;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use crate::limits;

/// Fetches and renders pages; cheap to clone.
#[derive(Clone)]
pub(crate) struct Scraper {
    fetcher: Fetcher,
    conversions: Arc<Semaphore>,
}

/// Where a page is.
#[derive(Clone, Debug)]
pub(crate) struct Target<'u> {
    pub(crate) url: &'u Url,
    /// Where to try it when the connection to `url` fails: an address given without a scheme is tried
    /// as https first (contract section 3).
    pub(crate) fallback: Option<Url>,
}

/// A page that could not be had.
#[derive(Debug)]
pub(crate) struct ScrapeFailure {
    pub(crate) error: ApiError,
    /// Another attempt may help.
    pub(crate) passing: bool,
    /// The connection itself failed, so that another scheme may help.
    pub(crate) unreachable: bool,
}

/// A page as fetched and rendered.
#[derive(Debug)]
pub(crate) struct Scraped {
    pub(crate) response: FetchResponse,
    pub(crate) rendered: Rendered,
}

impl Scraper {
    pub(crate) fn new(fetcher: Fetcher, cores: usize) -> Self {
        let conversions = Arc::new(Semaphore::new(cores.max(1) * limits::RENDERS_PER_CORE));
        Self { fetcher, conversions }
    }

    pub(crate) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// One page by plain HTTP, converted to what the options ask for.
    pub(crate) async fn scrape(
        &self,
        target: Target<'_>,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let result = self.scrape_at(target.url, options, id, jar, deadline).await;
        match (&result, target.fallback) {
            (Err(failure), Some(plain)) if failure.unreachable => self
                .scrape_at(&plain, options, id, jar, deadline)
                .await
                .or(result),
            _ => result,
        }
    }

    async fn scrape_at(
        &self,
        url: &Url,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let mut request = FetchRequest::get(url.clone(), deadline.into_std());
        request.headers = request_headers(options);
        request.verify_tls = options.verify_tls();
        request.max_body_bytes = limits::PAGE_BYTES;
        request.max_redirects = limits::PAGE_REDIRECTS;
        request.cookies = Some(jar.clone());
        let response = self.fetcher.fetch(request).await.map_err(ScrapeFailure::from)?;
        self.convert(url.clone(), response, options.clone(), id, deadline)
            .await
    }

    async fn convert(
        &self,
        requested: Url,
        response: FetchResponse,
        options: Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let work = async {
            let place = self
                .conversions
                .clone()
                .acquire_owned()
                .await
                .expect("the semaphore is never closed");
            tokio::task::spawn_blocking(move || {
                let page = RawPage {
                    requested: &requested,
                    url: &response.url,
                    status: response.status,
                    content_type: response.content_type(),
                    body: &response.body,
                };
                let rendered = render(&page, &options, id);
                drop(place);
                rendered.map(|rendered| Scraped { response, rendered })
            })
            .await
        };
        match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(result)) => result.map_err(ScrapeFailure::final_),
            Ok(Err(panic)) => {
                tracing::error!(%panic, "the conversion of a page failed");
                let error = ApiError::new(ErrorCode::Unknown, "the page could not be converted");
                Err(ScrapeFailure::final_(error))
            }
            Err(_) => Err(ScrapeFailure::timeout()),
        }
    }

    /// One page task of a crawl, as the core wants to hear of it.
    pub(crate) async fn page(
        &self,
        target: Target<'_>,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
    ) -> PageOutcome {
        let deadline = Instant::now() + Duration::from_millis(options.timeout);
        match self.scrape(target, options, id, jar, deadline).await {
            Ok(Scraped { response, rendered }) => PageOutcome::Page(Box::new(FetchedPage {
                retry_after_ms: retry_after_ms(&response.headers, SystemTime::now()),
                final_url: response.url,
                status: response.status,
                links: rendered.links,
                document: Box::new(rendered.document),
                credits: rendered.credits,
            })),
            Err(failure) => PageOutcome::Failed(FetchFailure {
                id,
                code: failure.error.code,
                message: failure.error.message,
                passing: failure.passing,
            }),
        }
    }
}

impl ScrapeFailure {
    fn final_(error: ApiError) -> Self {
        Self {
            error,
            passing: false,
            unreachable: false,
        }
    }

    pub(crate) fn timeout() -> Self {
        let error = ApiError::new(
            ErrorCode::ScrapeTimeout,
            "the page did not arrive within `timeout`; allow more time or try again later",
        );
        Self {
            error,
            passing: true,
            unreachable: false,
        }
    }
}

/// The caller's headers; the languages of `location` unless the caller said `Accept-Language`.
fn request_headers(options: &ScrapeOptions) -> Vec<(String, String)> {
    let mut headers: Vec<_> = options
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("accept-language"))
    {
        headers.push(("Accept-Language".to_owned(), options.location.accept_language()));
    }
    headers
}

/// `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date, which is measured from the answer's own
/// `Date` where it has one, so that a wrong clock does not matter.
fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let from = text("date").and_then(|date| httpdate::parse_http_date(date).ok());
    let wait = until.duration_since(from.unwrap_or(now)).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

impl From<FetchError> for ScrapeFailure {
    fn from(error: FetchError) -> Self {
        Self {
            unreachable: error.before_answer(),
            passing: error.passing(),
            error: ApiError::new(error.code(), error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, own_date, expected) in [
            ("7", None, Some(7_000)),
            (" 0 ", None, Some(0)),
            (date, None, Some(7_000)),
            (date, Some("Sun, 06 Nov 1994 08:49:35 GMT"), Some(2_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None, Some(7_000)),
            ("Sun Nov  6 08:49:37 1994", None, Some(7_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", None, Some(0)),
            (date, Some("yesterday"), Some(7_000)),
            ("soon", None, None),
            ("-1", None, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", value.parse().unwrap());
            if let Some(own_date) = own_date {
                headers.insert("date", own_date.parse().unwrap());
            }
            assert_eq!(retry_after_ms(&headers, now), expected, "{value}");
        }
        assert_eq!(retry_after_ms(&HeaderMap::new(), now), None);
    }
}
