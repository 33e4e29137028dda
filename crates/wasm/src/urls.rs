//! Normalizes URLs.

use harvestman_core::{
    api::ApiError,
    url_key::{Identity, normal_form},
};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, failure, parse_url};

/// Options named as in a crawl request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct IdentityOptions {
    ignore_query_parameters: bool,
    #[serde(rename = "deduplicateSimilarURLs")]
    deduplicate_similar_urls: bool,
}

impl Default for IdentityOptions {
    fn default() -> Self {
        let Identity {
            ignore_query,
            merge_similar,
        } = Identity::default();
        Self {
            ignore_query_parameters: ignore_query,
            deduplicate_similar_urls: merge_similar,
        }
    }
}

/// Returns the normal form of a URL. A crawl treats URLs with the same form as one page.
#[wasm_bindgen(js_name = normalizeUrl)]
pub fn normalize_url(url: &str, options: &str) -> Result<String, String> {
    normalize(url, options).map_err(|error| failure(&error))
}

fn normalize(url: &str, options: &str) -> Result<String, ApiError> {
    let options: IdentityOptions =
        serde_json::from_str(options).map_err(|error| bad_input(error.to_string()))?;
    let parsed = parse_url(url)?;
    let identity = Identity {
        ignore_query: options.ignore_query_parameters,
        merge_similar: options.deduplicate_similar_urls,
    };
    Ok(normal_form(&parsed, identity))
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn options_determine_which_urls_are_one_page() {
        let check = |options: &str, a: &str, b: &str, same: bool| {
            assert_eq!(
                normalize(a, options).unwrap() == normalize(b, options).unwrap(),
                same,
                "{a} {b} {options}"
            );
        };
        check("{}", "http://www.example.com/a/#x", "https://example.com/a", true);
        check("{}", "https://example.com/a?b=1", "https://example.com/a", false);
        check(
            r#"{"ignoreQueryParameters":true}"#,
            "https://example.com/a?b=1",
            "https://example.com/a",
            true,
        );
        check(
            r#"{"deduplicateSimilarURLs":false}"#,
            "http://example.com/",
            "https://example.com/",
            false,
        );
        assert!(normalize("nowhere", "{}").is_err());
    }
}
