//! JSON error responses for connections without a valid request. hyper responds to a malformed head itself, without a
//! body; that response is replaced.

use axum::http::StatusCode;
use harvestman_core::api::error::ApiError;

use crate::limits;

/// Returns the complete response as sent on the connection, which closes after it.
pub(super) fn raw_response(error: &ApiError) -> String {
    with_status(StatusCode::from_u16(error.status()).unwrap_or_default(), error)
}

/// Returns the replacement if `bytes` are hyper's own response to a malformed head. Responses of the router differ:
/// they have a body, or at least the headers that every response gets.
pub(super) fn replacement_for(bytes: &[u8]) -> Option<String> {
    let status = std::str::from_utf8(bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?).ok()?;
    let message = match status {
        "400" => "the head of the request is not valid HTTP/1.1".to_owned(),
        "414" => "the URL of the request is too long".to_owned(),
        "431" => format!(
            "the head of the request is larger than {} KiB or has too many fields",
            limits::HEAD_BYTES / 1024
        ),
        _ => return None,
    };
    let head = std::str::from_utf8(bytes).ok()?.strip_suffix("\r\n\r\n")?;
    let bare = head.contains("content-length: 0") && !head.contains("x-content-type-options");
    let status = status.parse().ok()?;
    bare.then(|| with_status(status, &ApiError::bad_request(message)))
}

fn with_status(status: StatusCode, error: &ApiError) -> String {
    let body = error.body().to_string();
    let retry = error
        .retry_after_s
        .map(|seconds| format!("retry-after: {seconds}\r\n"))
        .unwrap_or_default();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\naccess-control-allow-origin: *\r\n{retry}\r\n{body}",
        body.len()
    )
}
