//! Errors as HTTP responses: status, JSON body, `Retry-After`. Codes and their statuses are in the core.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_store::StoreError;
use serde::Serialize;

/// Result of every handler.
pub(crate) type HandlerResult = Result<Response, Failure>;

/// An [`ApiError`] that becomes a response.
#[derive(Clone, Debug)]
pub struct Failure(pub ApiError);

impl Failure {
    /// Creates an error with a message.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(ApiError::new(code, message))
    }

    /// See [`ApiError::bad_request`].
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self(ApiError::bad_request(message))
    }

    /// See [`ApiError::not_found`].
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self(ApiError::not_found(message))
    }

    /// See [`ApiError::conflict`].
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self(ApiError::conflict(message))
    }

    /// See [`ApiError::internal`].
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self(ApiError::internal(message))
    }

    /// Creates the error of an invalid parameter; `name` goes into `details`.
    pub(crate) fn parameter(name: &str, problem: &str) -> Self {
        let error = ApiError::bad_request(format!("`{name}` {problem}"));
        Self(error.with_details(serde_json::json!([{ "path": [name], "message": problem }])))
    }

    /// Creates the error of a job that does not exist or that the caller may not see.
    pub(crate) fn no_job() -> Self {
        Self::not_found("no such job; it may have expired, or it belongs to another team")
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json_response(status, error.body().to_string());
        let headers = response.headers_mut();
        if let Some(seconds) = error
            .retry_after_s
            .or((status == StatusCode::TOO_MANY_REQUESTS).then_some(1))
        {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(error.code, ErrorCode::RequestTimeout | ErrorCode::PayloadTooLarge) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Builds a response from serialized JSON.
pub(crate) fn json_response(status: StatusCode, body: String) -> Response {
    (
        status,
        [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

/// Builds a 200 response from a value.
pub(crate) fn json(value: &impl Serialize) -> HandlerResult {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::internal(format!("cannot serialize the response: {error}")))?;
    Ok(json_response(StatusCode::OK, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_429_always_has_retry_after() {
        for (given, expected) in [(None, "1"), (Some(0), "1"), (Some(7), "7")] {
            let mut error = ApiError::new(ErrorCode::RateLimited, "slow down");
            error.retry_after_s = given;
            let response = Failure(error).into_response();
            assert_eq!(response.status(), 429);
            assert_eq!(response.headers()["retry-after"], expected);
        }
    }

    #[test]
    fn every_error_code_has_its_status() {
        for code in ErrorCode::ALL {
            let response = Failure::new(*code, "x").into_response();
            assert_eq!(response.status().as_u16(), code.status());
        }
    }
}
