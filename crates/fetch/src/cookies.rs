//! The cookie jar of one scrape or one crawl.
//!
//! A jar is never shared between callers. Cookies live as long as the jar: an expiry in the past removes a cookie, an
//! expiry in the future is ignored.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use harvestman_core::scope::registrable_domain;
use http::HeaderMap;
use http::header::SET_COOKIE;
use parking_lot::Mutex;
use url::{Host, Url};

use crate::limits;

/// A cookie jar; clones share the same cookies.
#[derive(Clone, Debug, Default)]
pub struct CookieJar {
    cookies: Arc<Mutex<VecDeque<Cookie>>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
}

impl CookieJar {
    /// Creates an empty jar.
    pub fn new() -> CookieJar {
        CookieJar::default()
    }

    /// Stores the cookies set by a response from `url`. Ignores malformed, foreign and oversized ones.
    pub fn store(&self, url: &Url, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock();
        for value in headers.get_all(SET_COOKIE) {
            let Some((cookie, removed)) = value.to_str().ok().and_then(|text| Cookie::parse(text, url))
            else {
                continue;
            };
            let replaces_secure = |old: &Cookie| old.secure && old.has_same_scope(&cookie);
            // RFC 6265bis, 5.7: only a secure origin replaces a secure cookie.
            if url.scheme() != "https" && cookies.iter().any(replaces_secure) {
                continue;
            }
            cookies.retain(|old| !old.has_same_scope(&cookie));
            if removed {
                continue;
            }
            let same_host = cookies.iter().filter(|old| old.domain == cookie.domain).count();
            if same_host >= limits::MAX_COOKIES_PER_HOST {
                let oldest = cookies.iter().position(|old| old.domain == cookie.domain);
                oldest.and_then(|at| cookies.remove(at));
            }
            if cookies.len() >= limits::MAX_COOKIES {
                cookies.pop_front();
            }
            cookies.push_back(cookie);
        }
    }

    /// Returns the `Cookie` header for a request to `url`, or `None` if there is no cookie for it.
    pub fn header(&self, url: &Url) -> Option<String> {
        let cookies = self.cookies.lock();
        let mut found: Vec<&Cookie> = cookies.iter().filter(|cookie| cookie.belongs_to(url)).collect();
        // Longer paths first; the stable sort keeps the order of arrival otherwise (RFC 6265, 5.4).
        found.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> = found
            .iter()
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

impl Cookie {
    /// Parses a `Set-Cookie` value. Also returns whether it removes the cookie.
    fn parse(text: &str, url: &Url) -> Option<(Cookie, bool)> {
        if text.len() > limits::MAX_COOKIE_BYTES
            || text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
        {
            return None;
        }
        let mut parts = text.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let host = url.host_str()?;
        if name.is_empty() {
            return None;
        }
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host.to_owned(),
            host_only: true,
            path: default_path(url),
            secure: false,
        };
        let (mut expired, mut max_age) = (false, None);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => {
                    let domain = value.trim_start_matches('.').to_ascii_lowercase();
                    let is_name = matches!(url.host(), Some(Host::Domain(_)));
                    // A public suffix such as `co.uk` belongs to many sites (RFC 6265, 5.3).
                    cookie.host_only = !is_name || registrable_domain(&domain).is_none();
                    if domain != host && (cookie.host_only || !is_below(host, &domain)) {
                        return None;
                    }
                    cookie.domain = domain;
                }
                "path" if value.starts_with('/') => cookie.path = value.to_owned(),
                "secure" => cookie.secure = true,
                "max-age" => {
                    max_age = value
                        .parse::<i64>()
                        .ok()
                        .or_else(|| value.starts_with('-').then_some(-1))
                        .or(max_age);
                }
                "expires" => expired = is_past(value),
                _ => {}
            }
        }
        let over_tls = url.scheme() == "https";
        let bound = cookie.host_only && cookie.path == "/";
        let refused = (cookie.secure && !over_tls)
            || (cookie.name.starts_with("__Secure-") && !cookie.secure)
            || (cookie.name.starts_with("__Host-") && !(cookie.secure && bound));
        let removed = max_age.map_or(expired, |seconds| seconds <= 0);
        (!refused).then_some((cookie, removed))
    }

    fn has_same_scope(&self, other: &Cookie) -> bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
    }

    fn belongs_to(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host_fits = host == self.domain || (!self.host_only && is_below(host, &self.domain));
        let path = url.path();
        let path_fits = path
            .strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        host_fits && path_fits && (!self.secure || url.scheme() == "https")
    }
}

/// Returns whether a date is in the past, also in the form of old servers: `Thu, 01-Jan-1970 00:00:01 GMT`.
fn is_past(date: &str) -> bool {
    httpdate::parse_http_date(date)
        .or_else(|_| httpdate::parse_http_date(&date.replace('-', " ")))
        .is_ok_and(|when| when <= SystemTime::now())
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(at) => url.path()[..at].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn store(jar: &CookieJar, from: &str, lines: &[&str]) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(SET_COOKIE, line.parse().unwrap());
        }
        jar.store(&url(from), &headers);
    }

    fn header_sent(from: &str, lines: &[&str], to: &str) -> Option<String> {
        let jar = CookieJar::new();
        store(&jar, from, lines);
        jar.header(&url(to))
    }

    #[test]
    fn a_cookie_is_sent_to_its_host_and_path() {
        let check = |line: &str, to: &str| header_sent("http://a.example/dir/page", &[line], to).is_some();
        assert!(check("k=v", "http://a.example/dir/other"));
        assert!(check("k=v", "http://a.example/dir"));
        assert!(!check("k=v", "http://a.example/directory"));
        assert!(!check("k=v", "http://a.example/"));
        assert!(check("k=v; Path=/", "http://a.example/"));
        assert!(!check("k=v; Path=/", "http://b.example/"));
        assert!(!check("k=v; Path=/", "http://sub.a.example/"));
        assert!(check("k=v; Path=/; Domain=.a.example", "http://sub.a.example/"));
        assert!(!check("k=v; Path=/; Domain=a.example", "http://xa.example/"));
        assert!(!check("k=v; Path=/; Domain=example", "http://b.example/"));
        assert!(!check("k=v; Path=/; Domain=b.example", "http://b.example/"));
        let below = |line: &str, to: &str| header_sent("http://a.shop.co.uk/", &[line], to).is_some();
        assert!(below("k=v; Domain=shop.co.uk", "http://b.shop.co.uk/"));
        assert!(!below("k=v; Domain=co.uk", "http://other.co.uk/"));
        assert!(!below("k=v; Domain=co.uk", "http://a.shop.co.uk/"));
        let of_suffix = |to: &str| header_sent("http://github.io/", &["k=v; Domain=github.io"], to).is_some();
        assert!(of_suffix("http://github.io/") && !of_suffix("http://other.github.io/"));
        assert!(!check("k=v; Path=/; Secure", "http://a.example/"));
    }

    #[test]
    fn only_a_secure_origin_replaces_a_secure_cookie() {
        let (secure, plain) = ("https://a.example/", "http://a.example/");
        let jar = CookieJar::new();
        store(&jar, secure, &["k=1; Secure"]);
        store(&jar, plain, &["k=2", "k=; Max-Age=0"]);
        assert_eq!(jar.header(&url(secure)).unwrap(), "k=1");
        store(&jar, secure, &["k=3"]);
        assert_eq!(jar.header(&url(plain)).unwrap(), "k=3");
    }

    #[test]
    fn later_values_replace_and_expired_ones_remove_a_cookie() {
        let from = "https://a.example/";
        assert_eq!(header_sent(from, &["k=1", "k=2"], from).unwrap(), "k=2");
        assert_eq!(header_sent(from, &["k=1", "k=; Max-Age=0"], from), None);
        for past in [
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Thu, 01-Jan-1970 00:00:01 GMT",
            "Thursday, 01-Jan-70 00:00:01 GMT",
        ] {
            let removal = format!("k=; Expires={past}");
            assert_eq!(header_sent(from, &["k=1", &removal], from), None);
        }
        assert_eq!(
            header_sent(
                from,
                &["k=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
                from
            )
            .unwrap(),
            "k=1"
        );
        assert_eq!(
            header_sent(from, &["a=1", "b=2; Path=/x", "c=3"], "https://a.example/x").unwrap(),
            "b=2; a=1; c=3"
        );
    }

    #[test]
    fn limits_and_prefixes_are_enforced() {
        let from = "https://a.example/";
        let many: Vec<String> = (0..60).map(|n| format!("k{n}=v")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let header = header_sent(from, &many, from).unwrap();
        assert_eq!(header.split("; ").count(), limits::MAX_COOKIES_PER_HOST);
        assert!(header.contains("k59=v") && !header.contains("k0=v"));
        assert_eq!(
            header_sent(
                from,
                &[&format!("k={}", "x".repeat(limits::MAX_COOKIE_BYTES))],
                from
            ),
            None
        );
        assert_eq!(
            header_sent(
                from,
                &["__Secure-k=v", "__Host-k=v; Secure; Path=/x", "=v", "novalue"],
                from
            ),
            None
        );
        assert!(header_sent(from, &["__Host-k=v; Secure; Path=/"], from).is_some());
    }

    #[test]
    fn ip_addresses_have_no_domain_cookies() {
        assert!(header_sent("http://127.0.0.1/", &["k=v; Domain=0.0.1"], "http://127.0.0.1/").is_none());
        assert!(
            header_sent(
                "http://127.0.0.1/",
                &["k=v; Domain=127.0.0.1"],
                "http://127.0.0.1/"
            )
            .is_some()
        );
    }
}
