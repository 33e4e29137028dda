//! The boundary between Rust and JavaScript: JSON values and failures.

use harvestman_client::ClientError;
use harvestman_core::api::{ApiError, ErrorCode};
use js_sys::JSON;
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// Serializes a JavaScript value to JSON; `undefined` becomes an empty object.
///
/// # Errors
/// If JSON cannot represent the value, for example because of a cycle.
pub(crate) fn json_text(value: &JsValue) -> Result<String, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok("{}".to_owned());
    }
    let text = JSON::stringify(value).map_err(|_| bad_input("cannot serialize the options to JSON"))?;
    text.as_string()
        .ok_or_else(|| bad_input("the options must be an object"))
}

/// Converts a Rust value to a plain JavaScript value.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(value).map_err(|error| bad_input(&error.to_string()))?;
    JSON::parse(&text)
}

/// Returns the failure for invalid input that was rejected before anything was sent.
pub(crate) fn input_failure(error: &ApiError) -> JsValue {
    failure(&json!({
        "kind": "input",
        "status": error.status(),
        "code": error.code.as_str(),
        "message": error.message,
        "details": error.details,
    }))
}

/// Returns the failure for invalid input with only a message.
pub(crate) fn bad_input(message: &str) -> JsValue {
    input_failure(&ApiError::new(ErrorCode::BadRequest, message))
}

/// Returns the failure of a call.
pub(crate) fn call_failure(error: &ClientError) -> JsValue {
    failure(&client_failure(error))
}

fn client_failure(error: &ClientError) -> Value {
    let message = error.to_string();
    match error {
        ClientError::Api { status, code, error } => json!({
            "kind": "api",
            "status": status,
            "code": code,
            "message": message,
            "details": error.details,
            "retryAfterSeconds": error.retry_after_s,
        }),
        ClientError::Network(_) => json!({ "kind": "network", "message": message }),
        ClientError::Unreadable { status, .. } => {
            json!({ "kind": "unreadable", "status": status, "message": message })
        }
        ClientError::Aborted => json!({ "kind": "aborted", "message": message }),
    }
}

fn failure(value: &Value) -> JsValue {
    to_js(value).unwrap_or_else(|error| error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_is_distinct() {
        let mut limited = ApiError::new(ErrorCode::RateLimited, "slow down");
        limited.retry_after_s = Some(7);
        let api = ClientError::Api {
            status: 429,
            code: "RATE_LIMITED".to_owned(),
            error: limited,
        };
        let failure = client_failure(&api);
        assert_eq!(
            (failure["kind"].as_str(), failure["retryAfterSeconds"].as_u64()),
            (Some("api"), Some(7))
        );
        assert_eq!(client_failure(&ClientError::Aborted)["kind"], "aborted");
        assert_eq!(
            client_failure(&ClientError::Network("x".to_owned()))["kind"],
            "network"
        );
        let unreadable = ClientError::Unreadable {
            status: 502,
            text: "<html>".to_owned(),
        };
        assert_eq!(client_failure(&unreadable)["status"], 502);
    }
}
