//! The outermost middleware of every request: request id, CORS, security headers, log line, counters, and recovery
//! from panics. Never reads a body.

use std::borrow::Cow;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use harvestman_core::api::error::ErrorCode;
use tracing::Instrument;
use uuid::Uuid;

use crate::app::App;
use crate::error::Failure;
use crate::limits;
use crate::telemetry::RequestSpan;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Id that identifies a request in the log.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Returns the client's id if it is valid, else a new one.
    pub fn of(headers: &HeaderMap) -> RequestId {
        let is_valid = |value: &&HeaderValue| {
            (1..=limits::REQUEST_ID_CHARS).contains(&value.len())
                && value
                    .as_bytes()
                    .iter()
                    .all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(b))
        };
        RequestId(
            headers
                .get(REQUEST_ID)
                .filter(is_valid)
                .cloned()
                .unwrap_or_else(|| {
                    let text = Uuid::now_v7().hyphenated().to_string();
                    HeaderValue::from_str(&text).expect("a UUID is a valid header value")
                }),
        )
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

/// Runs the middleware.
pub async fn edge(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId::of(request.headers());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let span = tracing::info_span!("request", request.id = %id, %method, path = &*redact_path(&path));
    let api = !path.starts_with("/console");
    let route = request
        .extensions()
        .get()
        .map(|route: &MatchedPath| route.as_str().to_owned());
    let exported = app
        .config()
        .otlp_endpoint
        .is_some()
        .then(|| RequestSpan::begin(span.clone(), request.headers(), route.clone()));
    request.extensions_mut().insert(id.clone());

    let mut response = async {
        let response = match early_response(&request, api) {
            Some(early) => early,
            None => AssertUnwindSafe(next.run(request))
                .catch_unwind()
                .await
                .unwrap_or_else(|_| panic_response(&id)),
        };
        log_response(response.status(), started);
        response
    }
    .instrument(span)
    .await;

    if let Some(span) = exported {
        span.end(response.status());
    }
    let route = route.unwrap_or_else(|| "unmatched".to_owned());
    app.metrics()
        .count_response(response.status(), route, started.elapsed());
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.0);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if api {
        cors(headers);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns the path for the log. A token that gives access without a key (to a session, an upload, a file) is redacted.
fn redact_path(path: &str) -> Cow<'_, str> {
    for prefix in [
        "/live/sockets/", "/live/", "/cdp/", "/v2/parse/upload/", "/files/",
    ] {
        if let Some(token) = path.strip_prefix(prefix)
            && !token.starts_with("assets/")
        {
            let rest = token.find('/').map_or("", |end| &token[end..]);
            return format!("{prefix}...{rest}").into();
        }
    }
    path.into()
}

/// Returns the responses that do not depend on the path: to preflight requests and to encoded bodies.
fn early_response(request: &Request, api: bool) -> Option<Response> {
    if api && request.method() == Method::OPTIONS {
        return Some(StatusCode::NO_CONTENT.into_response());
    }
    let encoding = request.headers().get(header::CONTENT_ENCODING)?;
    if encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
        return None;
    }
    let message = "Content-Encoding is not supported in requests; send the body without it";
    Some(Failure::new(ErrorCode::UnsupportedMediaType, message).into_response())
}

fn cors(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, PUT, PATCH, DELETE, OPTIONS",
        ),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, x-idempotency-key, x-request-id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "x-request-id, Retry-After"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn panic_response(id: &RequestId) -> Response {
    tracing::error!("a handler panicked");
    let message = format!("internal server error; see the server's log for request id {id}");
    Failure::internal(message).into_response()
}

fn log_response(status: StatusCode, started: Instant) {
    let duration_ms = started.elapsed().as_millis();
    let status = status.as_u16();
    match status {
        501 => tracing::info!(status, duration_ms, "request completed"),
        500.. => tracing::warn!(status, duration_ms, "request completed"),
        400.. => tracing::info!(status, duration_ms, "request completed"),
        _ => tracing::debug!(status, duration_ms, "request completed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_str(given).unwrap());
        RequestId::of(&headers).to_string()
    }

    #[test]
    fn the_log_never_contains_a_token() {
        for (path, expected) in [
            ("/live/s3cret", "/live/..."),
            ("/live/sockets/s3cret", "/live/sockets/..."),
            ("/live/assets/view.js", "/live/assets/view.js"),
            ("/cdp/s3cret/json/version", "/cdp/.../json/version"),
            ("/v2/parse/upload/s3cret", "/v2/parse/upload/..."),
            ("/files/s3cret.png", "/files/..."),
            ("/v2/scrape/live/x", "/v2/scrape/live/x"),
            ("/v2/parse/upload-url", "/v2/parse/upload-url"),
            ("/v2/browser/x/files", "/v2/browser/x/files"),
        ] {
            assert_eq!(redact_path(path), expected);
        }
    }

    #[test]
    fn valid_request_ids_are_kept_and_others_replaced() {
        let longest = "x".repeat(128);
        for good in ["a", "job:7.B_c-d", &longest] {
            assert_eq!(of(good), good);
        }
        let too_long = "x".repeat(129);
        for bad in ["", "a b", "a/b", "ä", &too_long] {
            let new = of(bad);
            assert!(Uuid::try_parse(&new).is_ok(), "{bad:?} became {new:?}");
        }
    }
}
