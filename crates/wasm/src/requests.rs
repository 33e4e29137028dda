//! Checks the body of a request as the server does, before it is sent.

use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest, ExtendRequest};
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use harvestman_core::api::params_preview::ParamsPreviewRequest;
use harvestman_core::api::parse::{ParseOptions, ParseUploadRequest, UploadUrlRequest};
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::session_file::SessionFileRequest;
use harvestman_core::api::support::DocsSearchRequest;
use harvestman_core::api::{ApiError, BatchScrapeRequest, CrawlRequest, MapRequest, ScrapeRequest};
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, failure};

/// Checks the JSON text of a request body. `endpoint` is its path below `/v2/`, with `*` for an id.
///
/// # Errors
/// 400 with every problem in `details`.
#[wasm_bindgen(js_name = checkRequest)]
pub fn check_request(endpoint: &str, body: &str) -> Result<(), String> {
    check(endpoint, body.as_bytes()).map_err(|error| failure(&error))
}

fn check(endpoint: &str, body: &[u8]) -> Result<(), ApiError> {
    match endpoint {
        "scrape" => ScrapeRequest::from_json(body).map(drop),
        "crawl" => CrawlRequest::from_json(body).map(drop),
        "crawl/params-preview" => ParamsPreviewRequest::from_json(body).map(drop),
        "batch/scrape" => BatchScrapeRequest::from_json(body).map(drop),
        "map" => MapRequest::from_json(body).map(drop),
        "search" => SearchRequest::from_json(body).map(drop),
        "parse" => ParseOptions::from_json(body).map(drop),
        "parse/upload" => ParseUploadRequest::from_json(body).map(drop),
        "parse/upload-url" => UploadUrlRequest::from_json(body).map(drop),
        "extract" => ExtractRequest::from_json(body).map(drop),
        "agent" => AgentRequest::from_json(body).map(drop),
        "monitor" => MonitorRequest::from_json(body).map(drop),
        "monitor/*" => MonitorChange::from_json(body).map(drop),
        "scrape/*/interact" => InteractRequest::from_json(body).map(drop),
        "browser" => BrowserRequest::from_json(body).map(drop),
        "browser/*/execute" => ExecuteRequest::from_json(body).map(drop),
        "browser/*/extend" => ExtendRequest::from_json(body).map(drop),
        "browser/*/files" => SessionFileRequest::from_json(body).map(drop),
        "support/docs-search" => DocsSearchRequest::from_json(body).map(drop),
        _ => Err(bad_input(format!("no endpoint `{endpoint}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_body_passes_and_an_invalid_one_is_rejected_with_its_path() {
        for (endpoint, valid) in [
            ("scrape", r#"{"url":"https://a.test/"}"#),
            ("crawl", r#"{"url":"https://a.test/","limit":3}"#),
            (
                "crawl/params-preview",
                r#"{"url":"https://a.test/","prompt":"x"}"#,
            ),
            ("batch/scrape", r#"{"urls":["https://a.test/"]}"#),
            ("map", r#"{"url":"https://a.test/"}"#),
            ("search", r#"{"query":"x"}"#),
            ("parse", "{}"),
            ("extract", r#"{"urls":["https://a.test/"],"prompt":"x"}"#),
            ("agent", r#"{"prompt":"x"}"#),
            (
                "monitor",
                r#"{"name":"x","schedule":{"text":"hourly"},"targets":[{"type":"scrape","urls":["a.test"]}]}"#,
            ),
            ("monitor/*", r#"{"name":"x"}"#),
            ("scrape/*/interact", r#"{"prompt":"x"}"#),
            ("browser", "{}"),
            ("browser/*/execute", r#"{"code":"x"}"#),
            ("support/docs-search", r#"{"question":"x"}"#),
        ] {
            check(endpoint, valid.as_bytes()).unwrap_or_else(|error| panic!("{endpoint}: {error}"));
            let unknown = format!("{},\"nope\":1}}", valid.trim_end_matches('}')).replace("{,", "{");
            let error = check(endpoint, unknown.as_bytes()).unwrap_err();
            assert_eq!(error.details.unwrap()[0]["path"][0], "nope", "{endpoint}");
        }
        assert!(check("nope", b"{}").is_err());
    }
}
