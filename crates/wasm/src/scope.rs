//! Checks URLs against the scope of a crawl.

use harvestman_core::{
    api::{ApiError, CrawlRequest, ErrorCode},
    scope::{Scope as Rules, Verdict},
};
use serde_json::{Value, json};
use url::Url;
use wasm_bindgen::prelude::*;

use crate::boundary::{input_failure, json_text, to_js};

/// The scope rules of one crawl request.
#[wasm_bindgen]
pub struct Scope {
    rules: Rules,
}

#[wasm_bindgen]
impl Scope {
    /// Compiles the scope of a body of `POST /v2/crawl`.
    ///
    /// # Errors
    /// As the server rejects the body.
    #[wasm_bindgen(constructor)]
    pub fn new(request: JsValue) -> Result<Scope, JsValue> {
        Scope::compile(&json_text(&request)?).map_err(|error| input_failure(&error))
    }

    /// Returns `{ included, reason? }` for a link found at this discovery depth. A link on the start page has
    /// depth 1.
    pub fn check(&self, url: &str, depth: Option<u32>) -> Result<JsValue, JsValue> {
        to_js(
            &self
                .verdict(url, depth.unwrap_or(1))
                .map_err(|error| input_failure(&error))?,
        )
    }
}

impl Scope {
    fn compile(request: &str) -> Result<Scope, ApiError> {
        let request = CrawlRequest::from_json(request.as_bytes())?;
        Ok(Scope {
            rules: Rules::compile(&request)?,
        })
    }

    fn verdict(&self, url: &str, depth: u32) -> Result<Value, ApiError> {
        let url = Url::parse(url).map_err(|error| {
            ApiError::new(
                ErrorCode::BadRequest,
                format!("`url` is not a valid URL ({error}): `{url}`"),
            )
        })?;
        Ok(match self.rules.judge(&url, depth) {
            Verdict::Admit => json!({ "included": true }),
            Verdict::Reject(reason) => json!({ "included": false, "reason": reason.sentence() }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_judged_as_in_a_crawl() {
        let scope = Scope::compile(r#"{"url":"https://example.com/docs/","excludePaths":["old"]}"#).unwrap();
        assert_eq!(
            scope.verdict("https://example.com/docs/a", 1).unwrap(),
            json!({ "included": true })
        );
        for outside in [
            "https://example.com/blog",
            "https://other.com/docs/a",
            "https://example.com/docs/old",
        ] {
            let verdict = scope.verdict(outside, 1).unwrap();
            assert_eq!(verdict["included"], false, "{outside}");
            assert!(verdict["reason"].as_str().unwrap().ends_with('.'), "{verdict}");
        }
    }

    #[test]
    fn an_invalid_request_is_rejected_as_by_the_server() {
        let error = Scope::compile(r#"{"url":"https://example.com","limit":0}"#)
            .err()
            .unwrap();
        assert_eq!((error.status(), error.details.is_some()), (400, true));
    }
}
