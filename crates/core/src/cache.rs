//! The rules of the page cache (docs/API.md section 4.1): which requests it may answer, which responses
//! are cached, and when two requests share a cached copy. The cache holds fetched bytes, not the
//! formats made from them, so a request with any formats can be a hit. Storing and expiring copies is
//! up to the store.

use sha2::{Digest, Sha256};
use url::Url;

use crate::api::error::{ApiError, ErrorCode};
use crate::api::format::FormatKind;
use crate::api::options::{Proxy, ScrapeOptions};
use crate::limits::SITEMAP_CACHE_MS;
use crate::time::Timestamp;
use crate::url_key::{Identity, normal_form};

/// Identity of a cached response within a team: the first 128 bits of the SHA-256 of the URL and of
/// every option that changes the response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CacheKey(pub [u8; 16]);

impl CacheKey {
    /// Returns the key of a page request.
    pub fn of_page(url: &Url, options: &ScrapeOptions) -> Self {
        let proxy = match options.proxy {
            Proxy::Basic | Proxy::Auto => "basic",
            Proxy::Enhanced | Proxy::Stealth => "enhanced",
        };
        // A response from an unverified server must not serve a request that verifies certificates.
        let verified = url.scheme() == "https" && options.verify_tls();
        let parts = [
            "page",
            if verified { "verified" } else { "" },
            &options.location.country,
            &options.location.accept_language(),
            if options.mobile { "mobile" } else { "desktop" },
            proxy,
            &options.wait_for.to_string(),
        ];
        let fast_mode = options.fast_mode.then_some("fast mode");
        let ads = (!options.block_ads).then_some("ads");
        Self::of(url, parts.into_iter().chain(fast_mode).chain(ads))
    }

    /// Returns the key of a sitemap file, which is fetched without scrape options other than the one about
    /// certificates.
    pub fn of_site_file(url: &Url, verify_tls: bool) -> Self {
        let is_unverified = url.scheme() == "https" && !verify_tls;
        Self::of(
            url,
            std::iter::once("site file").chain(is_unverified.then_some("unverified")),
        )
    }

    fn of<'p>(url: &Url, parts: impl IntoIterator<Item = &'p str>) -> Self {
        let exact = Identity {
            ignore_query: false,
            merge_similar: false,
        };
        let mut hash = Sha256::new();
        hash.update(normal_form(url, exact));
        for part in parts {
            hash.update([0]);
            hash.update(part);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        Self(key)
    }
}

/// Range of ages that an acceptable copy may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ages {
    /// Minimum age in ms.
    pub min_ms: u64,
    /// Maximum age in ms.
    pub max_ms: u64,
}

impl Ages {
    /// Returns whether a copy fetched at `fetched_at` is in range.
    pub fn allow(&self, fetched_at: Timestamp, now: Timestamp) -> bool {
        let age = now.0.saturating_sub(fetched_at.0);
        (self.min_ms..=self.max_ms).contains(&age)
    }
}

/// Returns the ages of the copies that may serve a request, or `None` if no copy may. Headers, actions
/// and a profile can change the response, so a request with any of them never uses a copy; a
/// screenshot or branding needs the page itself.
pub fn wanted_ages(options: &ScrapeOptions) -> Option<Ages> {
    let plain = options.headers.is_empty()
        && options.actions.is_empty()
        && options.profile.is_none()
        && !options.wants(FormatKind::Screenshot)
        && !options.wants(FormatKind::Branding);
    let max_ms = options.max_age_ms();
    (plain && max_ms > 0).then(|| Ages {
        min_ms: options.min_age.unwrap_or(0),
        max_ms,
    })
}

/// Returns the ages of the sitemap copies that may serve a job with these scrape options: the same as
/// for a page, but without a minimum age and at most [`SITEMAP_CACHE_MS`] old.
pub fn wanted_sitemap_ages(options: &ScrapeOptions) -> Option<Ages> {
    wanted_ages(options).map(|ages| Ages {
        min_ms: 0,
        max_ms: ages.max_ms.min(SITEMAP_CACHE_MS),
    })
}

/// Returns whether a response to a request with these options is cached: the options allow it and the
/// status is below 400. The caller checks for zero data retention.
pub fn is_cacheable(options: &ScrapeOptions, status: u16) -> bool {
    options.stores_in_cache() && status < 400
}

/// Returns `metadata.cacheState`: `hit` for a copy cached at `cached_at`, `miss` for a fetched page,
/// and `None` when no copy would have been acceptable.
pub fn cache_state(options: &ScrapeOptions, cached_at: Option<Timestamp>) -> Option<&'static str> {
    match cached_at {
        Some(_) => Some("hit"),
        None => wanted_ages(options).map(|_| "miss"),
    }
}

/// Returns the error for a request that only the cache may serve, or `None` if the page may be fetched.
pub fn cache_only_error(options: &ScrapeOptions) -> Option<ApiError> {
    if options.lockdown {
        Some(ApiError::new(
            ErrorCode::LockdownCacheMiss,
            "`lockdown` serves from the cache only, and the cache has no suitable copy of \
             this page; leave `lockdown` out to fetch it.",
        ))
    } else if options.min_age.is_some() {
        Some(ApiError::new(
            ErrorCode::NoCachedData,
            "`minAge` serves from the cache only, and the cache has no suitable copy of \
             this page; leave `minAge` out to fetch it.",
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn options(body: Value) -> ScrapeOptions {
        ScrapeOptions::from_json(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn options_that_change_the_response_change_the_key() {
        let key = |url: &str, body: Value| CacheKey::of_page(&Url::parse(url).unwrap(), &options(body));
        let plain = key("http://site.test/a", json!({}));
        for (url, same) in [
            ("http://SITE.test:80/b/../a#x", json!({})),
            (
                "http://site.test/a",
                json!({"formats": ["html", "links"], "onlyMainContent": false}),
            ),
            (
                "http://site.test/a",
                json!({"maxAge": 5, "timeout": 5000, "skipTlsVerification": false}),
            ),
            (
                "http://site.test/a",
                json!({"proxy": "basic", "location": {"country": "us"}}),
            ),
        ] {
            assert_eq!(key(url, same.clone()), plain, "{url} {same}");
        }
        for (url, other) in [
            ("https://site.test/a", json!({})),
            ("http://site.test/a/", json!({})),
            ("http://site.test/a?x", json!({})),
            ("http://www.site.test/a", json!({})),
            ("http://site.test/a", json!({"mobile": true})),
            ("http://site.test/a", json!({"proxy": "enhanced"})),
            ("http://site.test/a", json!({"waitFor": 5})),
            ("http://site.test/a", json!({"fastMode": true})),
            ("http://site.test/a", json!({"blockAds": false})),
            ("http://site.test/a", json!({"location": {"country": "GB"}})),
            ("http://site.test/a", json!({"location": {"languages": ["de"]}})),
        ] {
            assert_ne!(key(url, other.clone()), plain, "{url} {other}");
        }
        let verified = json!({"skipTlsVerification": false});
        assert_ne!(
            key("https://site.test/a", verified),
            key("https://site.test/a", json!({}))
        );
        let file = |url: &str, verify_tls| CacheKey::of_site_file(&Url::parse(url).unwrap(), verify_tls);
        assert_ne!(file("http://site.test/a", true), plain);
        assert_eq!(
            file("http://site.test/a", true),
            file("http://site.test/a", false)
        );
        assert_ne!(
            file("https://site.test/a", true),
            file("https://site.test/a", false)
        );
    }

    #[test]
    fn ages_follow_the_options() {
        const DAY: u64 = 86_400_000;
        let check = |body: Value, expected: Option<(u64, u64)>| {
            let ages = wanted_ages(&options(body.clone())).map(|ages| (ages.min_ms, ages.max_ms));
            assert_eq!(ages, expected, "{body}");
        };
        check(json!({}), Some((0, 2 * DAY)));
        check(json!({"maxAge": 5}), Some((0, 5)));
        check(json!({"maxAge": 0}), None);
        check(json!({"minAge": 7}), Some((7, 730 * DAY)));
        check(json!({"minAge": 7, "maxAge": 9}), Some((7, 9)));
        check(json!({"lockdown": true}), Some((0, 730 * DAY)));
        check(json!({"lockdown": true, "maxAge": 0}), None);
        check(json!({"storeInCache": false}), Some((0, 2 * DAY)));
        check(json!({"headers": {"a": "b"}}), None);
        check(json!({"profile": {"name": "a"}, "lockdown": true}), None);
        check(json!({"actions": [{"type": "scrape"}]}), None);
        check(json!({"formats": ["screenshot"]}), None);
        let tracking = json!(["markdown", "changeTracking"]);
        check(json!({"formats": tracking}), None);
        check(json!({"formats": tracking, "maxAge": 14_400_000}), None);

        let sitemap =
            |body: Value| wanted_sitemap_ages(&options(body)).map(|ages| (ages.min_ms, ages.max_ms));
        assert_eq!(sitemap(json!({})), Some((0, 2 * DAY)));
        assert_eq!(sitemap(json!({"minAge": 7})), Some((0, 7 * DAY)));
        assert_eq!(sitemap(json!({"maxAge": 0})), None);

        let ages = Ages {
            min_ms: 10,
            max_ms: 20,
        };
        let at = |age: u64| ages.allow(Timestamp(1_000 - age), Timestamp(1_000));
        assert_eq!([9, 10, 20, 21].map(at), [false, true, true, false]);
        let young = Ages { min_ms: 0, max_ms: 1 };
        assert!(young.allow(Timestamp(5), Timestamp(3)), "the clock was set back");
    }

    #[test]
    fn only_plain_successes_are_cached() {
        assert!(is_cacheable(&options(json!({})), 200) && is_cacheable(&options(json!({"maxAge": 0})), 203));
        assert!(!is_cacheable(&options(json!({})), 404) && !is_cacheable(&options(json!({})), 503));
        for body in [
            json!({"storeInCache": false}),
            json!({"headers": {"a": "b"}}),
            json!({"actions": [{"type": "scrape"}]}),
            json!({"profile": {"name": "a"}}),
        ] {
            assert!(!is_cacheable(&options(body.clone()), 200), "{body}");
        }
    }

    #[test]
    fn a_miss_is_an_error_only_when_nothing_may_be_fetched() {
        let code = |body: Value| cache_only_error(&options(body)).map(|error| error.code);
        assert_eq!(code(json!({})), None);
        assert_eq!(code(json!({"minAge": 0})), Some(ErrorCode::NoCachedData));
        let locked = Some(ErrorCode::LockdownCacheMiss);
        assert_eq!(code(json!({"lockdown": true})), locked);
        assert_eq!(code(json!({"lockdown": true, "minAge": 1})), locked);
    }
}
