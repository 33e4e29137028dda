//! Errors of a call, by kind.

use harvestman_core::api::{ApiError, ErrorCode};
use serde::Deserialize;
use serde_json::Value;

use crate::limits::UNREADABLE_CHARS;

/// Why a call did not return the expected type.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ClientError {
    /// The server responded with an error.
    #[error("{}", .error.message)]
    Api {
        /// HTTP status of the response.
        status: u16,
        /// Code as sent; [`ApiError::code`] is `Unknown` if this client does not know it.
        code: String,
        /// Code, message and details.
        error: ApiError,
        /// API key of the request, if it had one.
        key: Option<String>,
    },
    /// No response: the server is down or unreachable, or the connection broke.
    #[error("The server did not respond: {0}")]
    Network(String),
    /// The response is not from this API, for example from a proxy in between.
    #[error("The response (HTTP {status}) is not from this API: {text}")]
    Unreadable {
        /// HTTP status of the response.
        status: u16,
        /// The start of the response, or what is wrong with it.
        text: String,
    },
    /// The caller's signal aborted the request.
    #[error("The request was aborted.")]
    Aborted,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    code: String,
    details: Option<Value>,
}

impl ClientError {
    /// Parses the response to a failed request.
    pub(crate) fn from_response(
        status: u16,
        retry_after_s: Option<u32>,
        body: &str,
        key: Option<&str>,
    ) -> Self {
        let Ok(body) = serde_json::from_str::<ErrorBody>(body) else {
            return ClientError::unreadable(status, body);
        };
        let known = ErrorCode::parse(&body.code).unwrap_or(ErrorCode::Unknown);
        let mut error = ApiError::new(known, body.error);
        error.details = body.details;
        error.retry_after_s = retry_after_s;
        ClientError::Api {
            status,
            code: body.code,
            error,
            key: key.map(str::to_owned),
        }
    }

    pub(crate) fn unreadable(status: u16, text: &str) -> Self {
        ClientError::Unreadable {
            status,
            text: text.chars().take(UNREADABLE_CHARS).collect(),
        }
    }

    /// Returns the error for a key that cannot be sent: the server would not know it either.
    pub(crate) fn unsendable_key(key: &str) -> Self {
        let message = "The API key contains characters that an HTTP header cannot carry.";
        let error = ApiError::new(ErrorCode::Unauthorized, message);
        ClientError::Api {
            status: error.status(),
            code: error.code.as_str().to_owned(),
            error,
            key: Some(key.to_owned()),
        }
    }

    /// Returns the error of the API, if it is one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            ClientError::Api { error, .. } => Some(error),
            ClientError::Network(_) | ClientError::Unreadable { .. } | ClientError::Aborted => None,
        }
    }

    /// Returns whether the server refused this key. Without one: whether it requires a key.
    pub fn refuses(&self, current: Option<&str>) -> bool {
        matches!(self, ClientError::Api { status: 401, key, .. } if key.as_deref() == current)
    }

    /// Returns whether the requested object does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ClientError::Api { status: 404, .. })
    }

    /// Returns whether the same call may succeed later: no response, a server error, or a rate limit.
    pub fn is_transient(&self) -> bool {
        match self {
            ClientError::Network(_) => true,
            ClientError::Api { status, .. } | ClientError::Unreadable { status, .. } => {
                *status >= 500 || *status == 429
            }
            ClientError::Aborted => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_status_code_message_and_details() {
        let body = r#"{"success":false,"error":"limit must be at least 1","code":"BAD_REQUEST",
            "details":[{"path":["limit"],"message":"must be at least 1"}]}"#;
        let error = ClientError::from_response(400, None, body, None);
        assert_eq!(error.to_string(), "limit must be at least 1");
        let api = error.api().unwrap();
        assert_eq!(api.code, ErrorCode::BadRequest);
        assert_eq!(api.details.as_ref().unwrap()[0]["path"][0], "limit");
        assert!(!error.is_transient());
    }

    #[test]
    fn an_unknown_error_code_is_kept_as_text() {
        let body = r#"{"success":false,"error":"no","code":"SOMETHING_NEW"}"#;
        let ClientError::Api {
            status, code, error, ..
        } = ClientError::from_response(418, None, body, None)
        else {
            panic!("not an API error");
        };
        assert_eq!(
            (status, code.as_str(), error.code),
            (418, "SOMETHING_NEW", ErrorCode::Unknown)
        );
    }

    #[test]
    fn a_refusal_concerns_the_key_of_its_request() {
        let body = r#"{"success":false,"error":"unknown key","code":"UNAUTHORIZED"}"#;
        let old = ClientError::from_response(401, None, body, Some("fc-old"));
        assert!(old.refuses(Some("fc-old")) && !old.refuses(Some("fc-new")) && !old.refuses(None));
        assert!(ClientError::from_response(401, None, body, None).refuses(None));
        assert!(!ClientError::from_response(403, None, body, None).refuses(None));
    }

    #[test]
    fn an_error_page_of_a_proxy_is_not_an_api_error() {
        let error = ClientError::from_response(502, None, "<html>Bad gateway</html>", None);
        assert_eq!(error.api(), None);
        assert!(error.is_transient());
    }
}
