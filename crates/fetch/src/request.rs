//! Requests and responses of a fetch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use url::Url;

use crate::cookies::CookieJar;
use crate::error::FetchError;
use crate::limits;
use crate::proxy::Proxy;

/// A request.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// An `http` or `https` URL without credentials.
    pub url: Url,
    /// Method of the first hop; redirects may change it to GET.
    pub method: Method,
    /// Header fields that replace defaults of the same name. Hop-by-hop fields, `Host` and `Content-Length`
    /// are rejected. `Authorization`, `Cookie` and `Proxy-Authorization` are only sent to the origin of `url`.
    pub headers: Vec<(String, String)>,
    /// Body; may be empty.
    pub body: Bytes,
    /// Deadline of the whole operation: resolving, connecting, redirects and reading the last byte.
    pub deadline: Instant,
    /// Maximum size of the decompressed body in bytes.
    pub max_body_bytes: u64,
    /// Truncate a body at the maximum instead of failing.
    pub truncate: bool,
    /// Like browsers, keep the part that was read if a body breaks off or is corrupt, instead of failing.
    /// [`FetchResponse::incomplete`] then has the error.
    pub keep_partial: bool,
    /// If the head of the response is what counts: how long to wait for its body. A body that is not complete by then, or
    /// cannot be read, is left out, and [`FetchResponse::incomplete`] has the error.
    pub body_time: Option<Duration>,
    /// Maximum redirects followed; 0 returns the redirect itself.
    pub max_redirects: u32,
    /// Whether to verify certificates.
    pub verify_tls: bool,
    /// Cookie jar to read and update; `None` uses an empty one for this fetch only.
    pub cookies: Option<CookieJar>,
    /// Proxy for every hop; `None` connects directly.
    pub proxy: Option<Arc<Proxy>>,
}

impl FetchRequest {
    /// Creates a GET request with default limits and verified certificates.
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
            body_time: None,
            max_redirects: limits::MAX_REDIRECTS,
            verify_tls: true,
            cookies: None,
            proxy: None,
        }
    }

    /// Creates a POST request with a JSON body that follows no redirects.
    pub fn post_json(url: Url, body: Bytes, deadline: Instant) -> FetchRequest {
        FetchRequest {
            method: Method::POST,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body,
            max_redirects: 0,
            ..FetchRequest::get(url, deadline)
        }
    }

    /// Validates the caller's header fields.
    pub(crate) fn validate_headers(&self) -> Result<HeaderMap, FetchError> {
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
                "the headers are larger than {} bytes",
                limits::MAX_REQUEST_HEADER_BYTES
            ));
        }
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
                return refused(format!("`{}` is not a header name", name.escape_default()));
            };
            if REFUSED_HEADERS.contains(&parsed.as_str()) {
                return refused(format!("the header `{parsed}` cannot be set"));
            }
            let Ok(value) = HeaderValue::from_bytes(value.trim().as_bytes()) else {
                return refused(format!(
                    "the value of the header `{parsed}` has invalid characters"
                ));
            };
            map.append(parsed, value);
        }
        Ok(map)
    }
}

/// Header fields that are controlled by the connection or the body.
const REFUSED_HEADERS: &[&str] = &[
    "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
];

/// A response, complete unless a field says otherwise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchResponse {
    /// The URL of the response, after redirects.
    pub url: Url,
    /// The redirecting URLs in order; empty without redirects.
    pub redirects: Vec<Url>,
    /// HTTP status, 200 to 599 or a non-standard one above.
    pub status: u16,
    /// Header fields, without those that described a removed content coding.
    pub headers: HeaderMap,
    /// Decompressed body. Counts against the memory budget until its last clone is dropped.
    pub body: Bytes,
    /// Whether the body was truncated at the maximum.
    pub truncated: bool,
    /// Why the body is incomplete, with [`FetchRequest::keep_partial`] or [`FetchRequest::body_time`].
    pub incomplete: Option<FetchError>,
}

impl FetchResponse {
    /// Returns the `Content-Type` field if it is valid text.
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
        request.validate_headers()
    }

    #[test]
    fn headers_of_the_caller_are_validated() {
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
