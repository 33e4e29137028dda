//! Tests that the hand-written TypeScript types match the models: they must have every option of the API, and no
//! other. They are written by hand for their comments and unions.

use harvestman_core::api::{BatchScrapeRequest, CrawlRequest, MapRequest, TargetUrl, Wire};
use serde_json::{Value, json};

const TYPES: &str = include_str!("../npm/index.d.ts");
/// Accepted for compatibility with other clients, but without effect.
const NOT_OFFERED: &[&str] = &[
    "auditMetadata",
    "checkPromptInjection",
    "domainTools",
    "fastMode",
    "safeMode",
    "threatProtection",
    "toolDetail",
    "useMock",
];

/// Returns the field names of an interface.
fn fields(interface: &str) -> Vec<&'static str> {
    let (_, body) = TYPES.split_once(&format!("interface {interface} ")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let names = body
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once("?:"));
    names
        .map(|(name, _)| name)
        .filter(|name| !name.contains(' '))
        .collect()
}

fn example(field: &str) -> Value {
    match field {
        "prompt" | "robotsUserAgent" | "webhook" => json!("https://example.com/x"),
        "maxDiscoveryDepth" | "delay" | "maxConcurrency" | "minAge" | "maxAge" | "waitFor" => json!(1),
        "actions" => json!([{ "type": "wait", "milliseconds": 1 }]),
        "appendToId" => json!("018f2f9e-0000-7000-8000-000000000001"),
        "profile" => json!({ "name": "me" }),
        _ => Value::Null,
    }
}

#[test]
fn every_option_of_a_crawl_has_a_type() {
    let url = TargetUrl::parse("https://example.com").unwrap();
    let filled = CrawlRequest::new(url).filled_options();
    let typed = fields("CrawlOptions");
    let missing = filled.keys().filter(|name| !typed.contains(&name.as_str()));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());

    let options = filled["scrapeOptions"].as_object().unwrap();
    let typed = fields("ScrapeOptions");
    let missing = options
        .keys()
        .filter(|name| !typed.contains(&name.as_str()) && !NOT_OFFERED.contains(&name.as_str()));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn every_typed_option_of_a_batch_exists_in_the_api() {
    assert!(fields("BatchScrapeOptions extends ScrapeOptions").len() == 5);
    for field in fields("BatchScrapeOptions extends ScrapeOptions") {
        let body = json!({ "urls": ["https://example.com"], field: example(field) });
        let read = BatchScrapeRequest::from_json(body.to_string().as_bytes());
        assert!(read.is_ok(), "{field}: {read:?}");
    }
}

#[test]
fn every_typed_option_exists_in_the_api() {
    let refusal = |body: Value| match CrawlRequest::from_json(body.to_string().as_bytes()) {
        Ok(_) => String::new(),
        Err(error) => error.message,
    };
    assert!(fields("CrawlOptions").len() > 15 && fields("ScrapeOptions").len() > 15);
    for field in fields("CrawlOptions") {
        assert_eq!(
            refusal(json!({ "url": "https://example.com", field: example(field) })),
            "",
            "{field}"
        );
    }
    for field in fields("ScrapeOptions") {
        let body = json!({ "url": "https://example.com", "scrapeOptions": { field: example(field) } });
        assert_eq!(refusal(body), "", "{field}");
    }
    assert_ne!(
        refusal(json!({ "url": "https://example.com", "limitt": null })),
        "",
        "a misspelled name is rejected"
    );
}

#[test]
fn map_options_match_the_api() {
    let all = json!({
        "url": "https://example.com", "search": "a", "sitemap": "only", "includeSubdomains": false,
        "ignoreQueryParameters": false, "ignoreCache": true, "limit": 1, "timeout": 1,
        "location": { "country": "DE" }, "includePaths": ["a"], "excludePaths": ["b"],
        "regexOnFullURL": true, "headers": { "a": "b" },
    });
    let request = MapRequest::from_json(all.to_string().as_bytes()).unwrap();
    let written = serde_json::to_value(&request).unwrap();
    assert_eq!(written, all);
    let mut names: Vec<_> = all
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| *name != "url")
        .collect();
    let mut typed = fields("MapOptions");
    names.sort();
    typed.sort_unstable();
    assert_eq!(typed, names);
}
