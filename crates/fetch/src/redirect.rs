//! Redirects: the URL and content of the next hop. Pure; the fetcher checks and dials every hop again.

use std::collections::HashSet;

use bytes::Bytes;
use harvestman_core::api::options::PRIVATE_HEADERS;
use http::header::LOCATION;
use http::{HeaderMap, Method, header};
use url::Url;

use crate::error::FetchError;
use crate::limits;

/// One request in a chain of redirects.
pub(crate) struct Hop {
    /// Target of the request.
    pub(crate) url: Url,
    /// Its method.
    pub(crate) method: Method,
    /// The caller's header fields that still apply.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Bytes,
}

/// The chain of redirects so far.
pub(crate) struct RedirectChain {
    /// The redirecting URLs.
    pub(crate) redirects: Vec<Url>,
    visited: HashSet<(Url, Option<String>)>,
    limit: u32,
}

impl RedirectChain {
    /// Creates a chain of at most `limit` redirects.
    pub(crate) fn new(limit: u32) -> RedirectChain {
        RedirectChain {
            redirects: Vec::new(),
            visited: HashSet::new(),
            limit,
        }
    }

    /// Returns the `Location` of a redirect, or `None` if the response is final.
    pub(crate) fn target<'h>(&self, status: u16, headers: &'h HeaderMap) -> Option<&'h [u8]> {
        let redirects = matches!(status, 301 | 302 | 303 | 307 | 308);
        (redirects && self.limit > 0)
            .then(|| headers.get(LOCATION).map(|value| value.as_bytes()))
            .flatten()
    }

    /// Records a request to `url` with this `Cookie` header. The same URL with other cookies is not a loop.
    ///
    /// # Errors
    /// [`FetchError::RedirectLoop`] if the same request was sent before.
    pub(crate) fn enter(&mut self, url: &Url, cookies: Option<String>) -> Result<(), FetchError> {
        let mut without_fragment = url.clone();
        without_fragment.set_fragment(None);
        match self.visited.insert((without_fragment, cookies)) {
            true => Ok(()),
            false => Err(FetchError::RedirectLoop { url: url.to_string() }),
        }
    }

    /// Returns the next hop.
    pub(crate) fn follow(&mut self, hop: Hop, status: u16, location: &[u8]) -> Result<Hop, FetchError> {
        if self.redirects.len() >= self.limit as usize {
            return Err(FetchError::TooManyRedirects { limit: self.limit });
        }
        let url = next_url(&hop.url, location).map_err(|reason| FetchError::BadRedirect {
            host: hop.url.host_str().unwrap_or_default().to_owned(),
            reason: reason.to_owned(),
        })?;
        let Hop {
            url: from,
            mut method,
            mut headers,
            mut body,
        } = hop;
        let to_get = match status {
            303 => method != Method::HEAD,
            301 | 302 => method == Method::POST,
            _ => false,
        };
        if to_get {
            method = Method::GET;
            body = Bytes::new();
            for name in [
                header::CONTENT_TYPE,
                header::CONTENT_ENCODING,
                header::CONTENT_LANGUAGE,
            ] {
                headers.remove(name);
            }
        }
        if from.origin() != url.origin() {
            for name in PRIVATE_HEADERS {
                headers.remove(name);
            }
        }
        self.redirects.push(from);
        Ok(Hop {
            url,
            method,
            headers,
            body,
        })
    }
}

fn next_url(from: &Url, location: &[u8]) -> Result<Url, &'static str> {
    if location.len() > limits::MAX_URL_CHARS {
        return Err("the URL is too long");
    }
    // Many servers send unencoded UTF-8, some Latin-1.
    let text = match std::str::from_utf8(location) {
        Ok(text) => text.to_owned(),
        Err(_) => location.iter().copied().map(char::from).collect(),
    };
    let mut url = from.join(text.trim()).map_err(|_| "not a valid URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only http and https are followed");
    }
    if url.as_str().len() > limits::MAX_URL_CHARS {
        return Err("the URL is too long");
    }
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err("the URL has no host");
    }
    if url.fragment().is_none() {
        url.set_fragment(from.fragment());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(url: &str, method: Method) -> Hop {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "cookie", "content-type", "x-own"] {
            headers.insert(name, "v".parse().unwrap());
        }
        Hop {
            url: Url::parse(url).unwrap(),
            method,
            headers,
            body: Bytes::from_static(b"b"),
        }
    }

    fn follow(method: Method, status: u16, location: &str) -> Result<Hop, FetchError> {
        RedirectChain::new(20).follow(hop("http://a.example/x#f", method), status, location.as_bytes())
    }

    #[test]
    fn methods_change_as_in_browsers() {
        let cases = [
            (Method::POST, 301, Method::GET),
            (Method::POST, 302, Method::GET),
            (Method::POST, 303, Method::GET),
            (Method::PUT, 303, Method::GET),
            (Method::PUT, 302, Method::PUT),
            (Method::HEAD, 303, Method::HEAD),
            (Method::POST, 307, Method::POST),
            (Method::POST, 308, Method::POST),
        ];
        for (method, status, expected) in cases {
            let next = follow(method.clone(), status, "/y").unwrap();
            assert_eq!(next.method, expected, "{method} {status}");
            let kept = expected == method && method != Method::GET;
            assert_eq!(next.body.is_empty(), !kept, "{method} {status}");
            assert_eq!(
                next.headers.contains_key("content-type"),
                kept,
                "{method} {status}"
            );
        }
    }

    #[test]
    fn another_origin_does_not_get_private_headers() {
        for location in [
            "http://b.example/", "https://a.example/", "http://a.example:81/", "//sub.a.example/",
        ] {
            let next = follow(Method::GET, 302, location).unwrap();
            assert!(
                !next.headers.contains_key("authorization") && !next.headers.contains_key("cookie"),
                "{location}"
            );
            assert!(next.headers.contains_key("x-own"));
        }
        assert!(
            follow(Method::GET, 302, "/y")
                .unwrap()
                .headers
                .contains_key("authorization")
        );
    }

    #[test]
    fn only_http_is_followed() {
        for location in [
            "file:///etc/passwd", "data:text/plain,x", "javascript:1", "ftp://a.example/", "http://",
            "blob:x",
        ] {
            assert!(
                matches!(
                    follow(Method::GET, 302, location),
                    Err(FetchError::BadRedirect { .. })
                ),
                "{location}"
            );
        }
        assert_eq!(
            follow(Method::GET, 302, "y?z").unwrap().url.as_str(),
            "http://a.example/y?z#f"
        );
        assert_eq!(
            follow(Method::GET, 302, "http://u:p@b.example/#g")
                .unwrap()
                .url
                .as_str(),
            "http://b.example/#g"
        );
        assert!(follow(Method::GET, 302, &"x".repeat(limits::MAX_URL_CHARS)).is_err());
    }

    #[test]
    fn loops_and_long_chains_end() {
        let url = |text: &str| Url::parse(text).unwrap();
        let mut chain = RedirectChain::new(20);
        chain.enter(&url("http://a.example/1"), None).unwrap();
        chain.enter(&url("http://a.example/2"), None).unwrap();
        chain
            .enter(&url("http://a.example/1"), Some("pass=1".into()))
            .unwrap();
        let error = chain.enter(&url("http://a.example/1#x"), None).unwrap_err();
        assert!(matches!(error, FetchError::RedirectLoop { .. }));
        let mut chain = RedirectChain::new(3);
        let mut at = hop("http://a.example/0", Method::GET);
        for n in 1..=3 {
            at = chain.follow(at, 302, format!("/{n}").as_bytes()).unwrap();
        }
        assert!(matches!(
            chain.follow(at, 302, b"/4"),
            Err(FetchError::TooManyRedirects { limit: 3 })
        ));
    }
}
