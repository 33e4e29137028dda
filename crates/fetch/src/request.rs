//! What is asked and what comes back.

use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use url::Url;

use crate::cookies::CookieJar;
use crate::error::FetchError;
use crate::limits;

/// One fetch.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// `http` or `https`, without user info.
    pub url: Url,
    /// Method of the first hop; redirects may turn it into GET.
    pub method: Method,
    /// Fields that replace the defaults of the same name. Hop-by-hop names, `Host` and `Content-Length` are
    /// refused. `Authorization`, `Cookie` and `Proxy-Authorization` go to the origin of `url` only.
    pub headers: Vec<(String, String)>,
    /// Body, empty for none.
    pub body: Bytes,
    /// End of the whole operation: resolving, connecting, redirects and the last byte.
    pub deadline: Instant,
    /// Cap of the decompressed body.
    pub max_body_bytes: u64,
    /// A body above the cap is cut there instead of being an error.
    pub truncate: bool,
    /// What came of a body that breaks off or cannot be decoded to its end is kept, as browsers keep it, instead of
    /// being an error; [`FetchResponse::incomplete`] says so.
    pub keep_partial: bool,
    /// Redirects followed before the fetch fails; 0 returns the redirect itself as the answer.
    pub max_redirects: u32,
    /// Whether certificates are checked.
    pub verify_tls: bool,
    /// Cookies to send and keep; `None` starts with an empty jar that ends with the fetch.
    pub cookies: Option<CookieJar>,
}

impl FetchRequest {
    /// A GET with the default limits and checked certificates.
    pub fn get(url: Url, deadline: Instant) -> FetchRequest {
        FetchRequest {
            url,
            method: Method::GET,
            headers: Vec::new(),
            body: Bytes::new(),
            deadline,
            max_body_bytes: limits::MAX_BODY_BYTES,
            truncate: false,
            keep_partial: false,
            max_redirects: limits::MAX_REDIRECTS,
            verify_tls: true,
            cookies: None,
        }
    }

    /// A POST of a JSON body that follows no redirect.
    pub fn post_json(url: Url, body: Bytes, deadline: Instant) -> FetchRequest {
        FetchRequest {
            method: Method::POST,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body,
            max_redirects: 0,
            ..FetchRequest::get(url, deadline)
        }
    }

    /// The caller's fields, checked.
    pub(crate) fn checked_headers(&self) -> Result<HeaderMap, FetchError> {
        let refused = |reason: String| Err(FetchError::InvalidRequest(reason));
        if self.headers.len() > limits::MAX_REQUEST_HEADERS {
            return refused(format!("more than {} headers", limits::MAX_REQUEST_HEADERS));
        }
        let total: usize = self
            .headers
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        if total > limits::MAX_REQUEST_HEADER_BYTES {
            return refused(format!(
                "the headers take more than {} bytes",
                limits::MAX_REQUEST_HEADER_BYTES
            ));
        }
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
                return refused(format!("`{}` is no header name", name.escape_default()));
            };
            if REFUSED_HEADERS.contains(&parsed.as_str()) {
                return refused(format!("the header `{parsed}` cannot be set"));
            }
            let Ok(value) = HeaderValue::from_bytes(value.trim().as_bytes()) else {
                return refused(format!(
                    "the value of the header `{parsed}` has characters that cannot be sent"
                ));
            };
            map.append(parsed, value);
        }
        Ok(map)
    }
}

/// Fields that belong to the connection or that the body decides.
const REFUSED_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Fields that must not follow a redirect to another origin.
pub(crate) const PRIVATE_HEADERS: [HeaderName; 3] =
    [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

/// A response, complete unless a field says otherwise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchResponse {
    /// Where the answer came from, after redirects.
    pub url: Url,
    /// The addresses that redirected, in order; empty without a redirect.
    pub redirects: Vec<Url>,
    /// HTTP status, 200 to 599 (and what servers invent beyond).
    pub status: u16,
    /// Header fields; those that described the coded body are left out when a coding was taken off.
    pub headers: HeaderMap,
    /// Decompressed body. Its memory counts in the budget of bodies in flight until the last clone is gone.
    pub body: Bytes,
    /// The body was cut at the cap.
    pub truncated: bool,
    /// Why the body is not whole, with [`FetchRequest::keep_partial`].
    pub incomplete: Option<FetchError>,
}

impl FetchResponse {
    /// The `Content-Type` field, when it is text.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&str, &str)]) -> Result<HeaderMap, FetchError> {
        let mut request = FetchRequest::get(Url::parse("http://a.example/").unwrap(), Instant::now());
        request.headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        request.checked_headers()
    }

    #[test]
    fn headers_of_the_caller_are_checked() {
        assert_eq!(
            check(&[("X-One", "1"), ("x-one", "2")])
                .unwrap()
                .get_all("x-one")
                .iter()
                .count(),
            2
        );
        assert!(check(&[("Cookie", "a=b"), ("User-Agent", "me"), ("X", "grüße")]).is_ok());
        for (name, value) in [
            ("Host", "x"),
            ("Connection", "close"),
            ("Content-Length", "1"),
            ("Transfer-Encoding", "chunked"),
            ("a b", "x"),
            ("", "x"),
            ("x", "a\r\nb: c"),
            ("x", "a\0"),
            ("x\n", "a"),
        ] {
            assert!(
                matches!(check(&[(name, value)]), Err(FetchError::InvalidRequest(_))),
                "{name:?}"
            );
        }
        assert!(check(&vec![("x", "y"); limits::MAX_REQUEST_HEADERS + 1]).is_err());
        assert!(check(&[("x", &"y".repeat(limits::MAX_REQUEST_HEADER_BYTES))]).is_err());
    }
}
