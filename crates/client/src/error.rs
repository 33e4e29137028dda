//! What can go wrong with a call, each kind apart.

use harvestman_core::api::{ApiError, ErrorCode};
use serde::Deserialize;
use serde_json::Value;

use crate::limits::UNREADABLE_CHARS;

/// Why a call gave no answer of the expected type.
#[derive(Clone, PartialEq, Debug)]
pub enum ClientError {
    /// The server refused or failed, in its own words.
    Api {
        /// HTTP status of the answer.
        status: u16,
        /// Code as sent; [`ApiError::code`] is `Unknown` when this client does not know it.
        code: String,
        /// Code, sentence and details.
        error: ApiError,
    },
    /// No answer arrived: the server is down, unreachable, or the connection broke.
    Network(String),
    /// An answer that is not of this API, for example from a proxy in between.
    Unreadable {
        /// HTTP status of the answer.
        status: u16,
        /// Its beginning, or what was wrong with it.
        text: String,
    },
    /// The caller's signal stopped the request.
    Aborted,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    details: Option<Value>,
}

impl ClientError {
    /// Reads the answer to a request that failed.
    pub(crate) fn from_answer(status: u16, retry_after_s: Option<u32>, body: &str) -> Self {
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
        }
    }

    pub(crate) fn unreadable(status: u16, text: &str) -> Self {
        ClientError::Unreadable {
            status,
            text: text.chars().take(UNREADABLE_CHARS).collect(),
        }
    }

    /// The error as the API tells it, if it came from the API.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            ClientError::Api { error, .. } => Some(error),
            ClientError::Network(_) | ClientError::Unreadable { .. } | ClientError::Aborted => None,
        }
    }

    /// Whether the key is missing or unknown.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self, ClientError::Api { status: 401, .. })
    }

    /// Whether the thing asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ClientError::Api { status: 404, .. })
    }

    /// Whether the same call may work a little later: no answer, a fault of the server, or a limit.
    pub fn is_passing(&self) -> bool {
        match self {
            ClientError::Network(_) => true,
            ClientError::Api { status, .. } | ClientError::Unreadable { status, .. } => {
                *status >= 500 || *status == 429
            }
            ClientError::Aborted => false,
        }
    }
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClientError::Api { error, .. } => f.write_str(&error.message),
            ClientError::Network(reason) => write!(f, "The server does not answer: {reason}"),
            ClientError::Unreadable { status, text } => {
                write!(f, "The answer (HTTP {status}) is not one of this API: {text}")
            }
            ClientError::Aborted => f.write_str("The request was stopped."),
        }
    }
}

impl std::error::Error for ClientError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_body_keeps_status_code_sentence_and_details() {
        let body = r#"{"success":false,"error":"limit must be at least 1","code":"BAD_REQUEST",
            "details":[{"path":["limit"],"message":"must be at least 1"}]}"#;
        let error = ClientError::from_answer(400, None, body);
        assert_eq!(error.to_string(), "limit must be at least 1");
        let api = error.api().unwrap();
        assert_eq!(api.code, ErrorCode::BadRequest);
        assert_eq!(api.details.as_ref().unwrap()[0]["path"][0], "limit");
        assert!(!error.is_passing());
    }

    #[test]
    fn a_code_of_a_newer_server_is_kept_as_text() {
        let body = r#"{"success":false,"error":"no","code":"SOMETHING_NEW"}"#;
        let ClientError::Api { status, code, error } = ClientError::from_answer(418, None, body) else {
            panic!("not an API error");
        };
        assert_eq!(
            (status, code.as_str(), error.code),
            (418, "SOMETHING_NEW", ErrorCode::Unknown)
        );
    }

    #[test]
    fn a_page_of_a_proxy_is_no_api_error() {
        let error = ClientError::from_answer(502, None, "<html>Bad gateway</html>");
        assert_eq!(error.api(), None);
        assert!(error.is_passing());
    }
}
