//! The response to one request to a site: fetched now, or read from the page cache.

use std::time::SystemTime;

use bytes::Bytes;
use harvestman_core::api::page::ConsentBanner;
use harvestman_core::scrape::refresh_target;
use harvestman_core::time::Timestamp;
use harvestman_fetch::{FetchError, FetchResponse};
use harvestman_store::{CachedPage, StoreError};
use http::HeaderMap;
use http::header::REFRESH;
use url::Url;

/// The parts of a site's response that scraping needs.
#[derive(Clone, Debug)]
pub(crate) struct SiteResponse {
    /// Final URL, after redirects.
    pub(crate) url: Url,
    pub(crate) status: u16,
    /// Value of the `Content-Type` header.
    pub(crate) content_type: Option<String>,
    pub(crate) body: Bytes,
    /// Target of the `Refresh` header, if it is a redirect.
    pub(crate) refresh: Option<Url>,
    /// Milliseconds that the site asks clients to wait (`Retry-After`).
    pub(crate) retry_after_ms: Option<u64>,
    /// When the response was fetched, if it comes from the cache.
    pub(crate) cached_at: Option<Timestamp>,
    /// What the browser did with a consent banner.
    pub(crate) consent_banner: Option<ConsentBanner>,
    /// Number of requests of the page that `blockAds` blocked.
    pub(crate) blocked_requests: u32,
    /// Why the body is incomplete, if it is.
    pub(crate) incomplete: Option<FetchError>,
}

impl SiteResponse {
    /// Returns a whole response that does not come from the cache.
    pub(crate) fn new(url: Url, status: u16, content_type: Option<String>, body: Bytes) -> Self {
        Self {
            url,
            status,
            content_type,
            body,
            refresh: None,
            retry_after_ms: None,
            cached_at: None,
            consent_banner: None,
            blocked_requests: 0,
            incomplete: None,
        }
    }
}

impl TryFrom<CachedPage> for SiteResponse {
    type Error = StoreError;

    fn try_from(page: CachedPage) -> Result<Self, StoreError> {
        let url = Url::parse(&page.url)
            .map_err(|error| StoreError::Unreadable(format!("URL of a cached page: {error}")))?;
        Ok(Self {
            cached_at: Some(page.fetched_at),
            ..Self::new(url, page.status, page.content_type, page.body.into())
        })
    }
}

impl From<FetchResponse> for SiteResponse {
    fn from(response: FetchResponse) -> Self {
        let content_type = response.content_type().map(str::to_owned);
        let refresh = response
            .headers
            .get(REFRESH)
            .and_then(|value| value.to_str().ok());
        Self {
            refresh: refresh.and_then(|value| refresh_target(value, &response.url)),
            retry_after_ms: retry_after_ms(&response.headers, SystemTime::now()),
            incomplete: response.incomplete,
            ..Self::new(response.url, response.status, content_type, response.body)
        }
    }
}

/// Returns the wait of a `Retry-After` header (RFC 9110 section 10.2.3) in milliseconds. A date is measured
/// from the response's own `Date` header, if any, so that a wrong clock on either side does not matter.
pub(crate) fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
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
