//! Checks URLs against the scope of a crawl.

use harvestman_core::{
    api::{ApiError, CrawlRequest},
    scope::{Scope as Rules, Verdict},
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::boundary::{failure, parse_url, text_of};

/// The scope rules of one crawl request.
#[wasm_bindgen]
pub struct Scope {
    rules: Rules,
}

#[wasm_bindgen]
impl Scope {
    /// Compiles the scope of the JSON text of a body of `POST /v2/crawl`.
    ///
    /// # Errors
    /// The error with which the server rejects the body.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &str) -> Result<Scope, String> {
        Scope::compile(request).map_err(|error| failure(&error))
    }

    /// Returns the JSON text `{ included, reason? }` for a link found at this discovery depth. A link on the start page has
    /// depth 1.
    pub fn check(&self, url: &str, depth: u32) -> Result<String, String> {
        text_of(self.verdict(url, depth))
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
        let url = parse_url(url)?;
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
            "https://example.com/blog", "https://other.com/docs/a", "https://example.com/docs/old",
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
