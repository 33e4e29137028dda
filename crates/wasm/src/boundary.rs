//! The boundary between Rust and JavaScript: failures, and values that every export parses.

use harvestman_core::api::ApiError;
use serde_json::{Value, json};

/// Returns a failure as JSON text. `wasm-bindgen` throws it as a string.
pub(crate) fn failure(error: &ApiError) -> String {
    let text = json!({
        "status": error.status(),
        "code": error.code.as_str(),
        "message": error.message,
        "details": error.details,
    });
    text.to_string()
}

/// Returns the error for invalid input.
pub(crate) fn bad_input(message: impl Into<String>) -> ApiError {
    ApiError::bad_request(message)
}

/// Parses the argument `url`.
///
/// # Errors
/// 400 if it is not a URL.
#[cfg(any(feature = "client", feature = "pages"))]
pub(crate) fn parse_url(url: &str) -> Result<url::Url, ApiError> {
    url::Url::parse(url).map_err(|error| bad_input(format!("`url` is not a valid URL ({error}): `{url}`")))
}

/// Converts the result of an export.
pub(crate) fn text_of(result: Result<Value, ApiError>) -> Result<String, String> {
    result
        .map(|value| value.to_string())
        .map_err(|error| failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_status_code_message_and_details() {
        let mut error = bad_input("no");
        error.details = Some(json!([{ "path": ["limit"] }]));
        let failure: Value = serde_json::from_str(&failure(&error)).unwrap();
        assert_eq!(
            (failure["status"].as_u64(), failure["message"].as_str()),
            (Some(400), Some("no"))
        );
        assert_eq!(failure["details"][0]["path"][0], "limit");
    }
}
