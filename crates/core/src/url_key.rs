//! Normalized URL identity (docs/API.md section 5 rule 1) and link resolution. Whether a URL may be fetched
//! is decided by [`crate::scope`] and the fetcher.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use url::{Host, Url};

use crate::crawl::limits::URL_MAX_BYTES;

/// Identity of a page within a job: the first 128 bits of the SHA-256 of the URL's normal form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub u128);

impl fmt::Debug for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UrlKey({:032x})", self.0)
    }
}

/// Which URLs of a job count as the same page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// `ignoreQueryParameters`: ignore the query.
    pub ignore_query: bool,
    /// `deduplicateSimilarURLs`: ignore http/https, a leading `www.`, trailing slashes and final
    /// `index.html` or `index.php` segments.
    pub merge_similar: bool,
}

impl Default for Identity {
    /// Returns the API's default: the query counts, similar URLs are merged.
    fn default() -> Self {
        Self {
            ignore_query: false,
            merge_similar: true,
        }
    }
}

impl Serialize for UrlKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for UrlKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

impl UrlKey {
    /// Computes the identity of `url`.
    pub fn of(url: &Url, identity: Identity) -> Self {
        let digest = Sha256::digest(normal_form(url, identity).as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self::from_bytes(bytes)
    }

    /// Returns the key as stored: 16 bytes, big-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Restores a key from [`UrlKey::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// Returns the normal form that is hashed. [`Url`] has already lower-cased scheme and host, removed
/// default ports and resolved dot segments; this omits fragment and credentials. With
/// `merge_similar` it starts with `//` because the scheme does not count.
pub fn normal_form(url: &Url, identity: Identity) -> String {
    let mut text = String::with_capacity(url.as_str().len());
    let host = url.host_str().unwrap_or_default();
    if identity.merge_similar {
        text.push_str("//");
        text.push_str(bare_host(url));
    } else {
        text.push_str(url.scheme());
        text.push_str("://");
        text.push_str(host);
    }
    if let Some(port) = url.port() {
        text.push(':');
        text.push_str(&port.to_string());
    }
    text.push_str(if identity.merge_similar {
        without_index(url.path())
    } else {
        url.path()
    });
    if let (false, Some(query)) = (identity.ignore_query, url.query()) {
        text.push('?');
        text.push_str(query);
    }
    text
}

/// Returns the host without a leading `www.`.
pub fn bare_host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    match url.host() {
        Some(Host::Domain(_)) => host
            .strip_prefix("www.")
            .filter(|rest| !rest.is_empty())
            .unwrap_or(host),
        _ => host,
    }
}

/// Strips all trailing slashes and index files, so that similarity is transitive.
fn without_index(mut path: &str) -> &str {
    loop {
        let shorter = path.trim_end_matches('/');
        let shorter = ["/index.html", "/index.php"]
            .iter()
            .find_map(|index| shorter.strip_suffix(index))
            .unwrap_or(shorter);
        if shorter.len() == path.len() {
            return path;
        }
        path = shorter;
    }
}

/// Resolves `href` as found on `base` by the WHATWG URL rules and removes the fragment. Returns `None`
/// if the link must be skipped: not http or https, invalid, or longer than 8192 bytes.
pub fn resolve_link(base: &Url, href: &str) -> Option<Url> {
    if href.len() > URL_MAX_BYTES {
        return None;
    }
    let mut url = base.join(&with_two_slashes(href)).ok()?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.as_str().len() > URL_MAX_BYTES {
        return None;
    }
    url.set_fragment(None);
    Some(url)
}

/// Collapses more than two leading slashes or backslashes, which start a host (WHATWG "special authority
/// ignore slashes state"); `Url::join` handles this only for absolute URLs.
fn with_two_slashes(href: &str) -> Cow<'_, str> {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let slashes = href.trim_start_matches(|c: char| c <= ' ');
    let host = slashes.trim_start_matches(|c: char| is_slash(c) || matches!(c, '\t' | '\n' | '\r'));
    if slashes[..slashes.len() - host.len()]
        .chars()
        .filter(|c| is_slash(*c))
        .count()
        > 2
    {
        Cow::Owned(format!("//{host}"))
    } else {
        Cow::Borrowed(href)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(identity: Identity, a: &str, b: &str) -> bool {
        let key = |text: &str| UrlKey::of(&Url::parse(text).unwrap(), identity);
        key(a) == key(b)
    }

    #[test]
    fn similar_urls_are_one_page_by_default() {
        let default = Identity::default();
        for (a, b) in [
            ("http://site.test/", "https://site.test"),
            ("http://site.test/", "http://www.site.test/"),
            ("http://site.test/t", "http://site.test/t/"),
            ("http://site.test/t/index.html", "https://www.site.test/t"),
            ("http://site.test/index.php?a=1", "http://site.test/?a=1"),
            ("http://site.test/a/./b/../c#x", "http://SITE.test:80/a/c"),
            ("http://site.test/a/index.php/index.html/", "http://site.test/a"),
        ] {
            assert!(same(default, a, b), "{a} {b}");
        }
        for (a, b) in [
            ("http://site.test/a?x=1", "http://site.test/a?x=2"),
            ("http://site.test/a?", "http://site.test/a?x"),
            ("http://site.test/A", "http://site.test/a"),
            ("http://site.test/myindex.html", "http://site.test/my"),
            ("http://site.test:8080/", "http://site.test/"),
            ("http://docs.site.test/", "http://site.test/"),
        ] {
            assert!(!same(default, a, b), "{a} {b}");
        }
    }

    #[test]
    fn without_merging_similar_urls_are_different_pages() {
        let exact = Identity {
            ignore_query: false,
            merge_similar: false,
        };
        assert!(same(exact, "http://site.test", "HTTP://site.test:80/#a"));
        assert!(!same(exact, "http://site.test/", "https://site.test/"));
        assert!(!same(exact, "http://site.test/t", "http://site.test/t/"));
        assert!(!same(exact, "http://www.site.test/t", "http://site.test/t"));
    }

    #[test]
    fn the_query_can_be_ignored() {
        let ignore = Identity {
            ignore_query: true,
            merge_similar: true,
        };
        assert!(same(ignore, "http://site.test/list?p=1", "http://site.test/list"));
        assert!(same(
            ignore, "http://site.test/list/?p=1", "http://site.test/list?q"
        ));
    }

    #[test]
    fn keys_survive_the_conversion_to_bytes() {
        let key = UrlKey::of(&Url::parse("http://site.test/").unwrap(), Identity::default());
        assert_eq!(UrlKey::from_bytes(key.to_bytes()), key);
    }
}
