use serde_json::{Value, json};

use super::*;
use crate::scope::{Scope, Verdict};

pub(super) fn preview(url: &str, prompt: &str) -> ParamsPreview {
    let body = json!({ "url": url, "prompt": prompt });
    let enabled = EnabledOptions {
        ignore_robots: true,
        zero_data_retention: false,
    };
    ParamsPreview::from_prompt(&ParamsPreviewRequest::from_value(body).unwrap(), enabled)
}

/// Checks the proposal without `url`, and that a crawl accepts it.
fn check(prompt: &str, expected: Value) {
    let preview = preview("https://site.test/", prompt);
    assert_eq!(preview.warning.is_some(), expected == json!({}), "{prompt}");
    let mut data = serde_json::to_value(&preview.data).unwrap();
    let request = CrawlRequest::from_value(data.clone()).unwrap();
    let scope = Scope::compile(&request).unwrap();
    assert_eq!(scope.judge_page(&request.url.url, 0), Verdict::Admit, "{prompt}");
    assert_eq!(
        data.as_object_mut().unwrap().remove("url"),
        Some(json!("https://site.test/"))
    );
    assert_eq!(data, expected, "{prompt}");
}

#[test]
fn limits_and_depths_are_understood() {
    check("Crawl at most 50 pages", json!({ "limit": 50 }));
    check("first 1,000 urls please", json!({ "limit": 1000 }));
    check(
        "No more than twenty blog posts",
        json!({ "limit": 20, "includePaths": ["^/?$", "/blogs?(/|$)"] }),
    );
    check("limit to 7", json!({ "limit": 7 }));
    check("only the homepage", json!({ "limit": 1 }));
    check(
        "go 2 levels deep, up to 30 pages",
        json!({ "limit": 30, "maxDiscoveryDepth": 2 }),
    );
    check("depth of 3", json!({ "maxDiscoveryDepth": 3 }));
    check(
        "max depth 3 and 10 pages",
        json!({ "maxDiscoveryDepth": 3, "limit": 10 }),
    );
    check("one click away", json!({ "maxDiscoveryDepth": 1 }));
    check("0 pages", json!({}));
    check("everything from 2024 about 5.5 things", json!({}));
    check("what has more than 20 comments", json!({}));
}

#[test]
fn paths_are_understood() {
    check(
        "Only crawl /blog and /docs/api/*",
        json!({ "includePaths": ["^/?$", "^/blog(/|$)", "^/docs/api(/|$)"] }),
    );
    check(
        "everything except /private, /tmp and the login page",
        json!({ "excludePaths": ["^/private(/|$)", "^/tmp(/|$)", "/login(/|$)"] }),
    );
    check(
        "Skip the news section but include documentation.",
        json!({ "includePaths": ["^/?$", "/(docs?|documentation)(/|$)"], "excludePaths": ["/news(/|$)"] }),
    );
    check(
        "the herbs section",
        json!({ "includePaths": ["^/?$", "/herbs(/|$)"] }),
    );
    check(
        "do not crawl the support pages; get the pricing",
        json!({ "includePaths": ["^/?$", "/pricing(/|$)"], "excludePaths": ["/support(/|$)"] }),
    );
    check("tell me about the team", json!({}));
    check(
        "https://site.test/a.b+c/",
        json!({ "includePaths": ["^/?$", "^/a\\.b\\+c(/|$)"] }),
    );
}

#[test]
fn hosts_sitemaps_and_delays_are_understood() {
    check(
        "the entire website with subdomains",
        json!({ "crawlEntireDomain": true, "allowSubdomains": true }),
    );
    check(
        "whole domain, no subdomains, no external links",
        json!({ "crawlEntireDomain": true, "allowSubdomains": false, "allowExternalLinks": false }),
    );
    check(
        "follow links to other sites",
        json!({ "allowExternalLinks": true }),
    );
    check("sitemap only", json!({ "sitemap": "only" }));
    check("use just the sitemap", json!({ "sitemap": "only" }));
    check(
        "ignore the sitemap and query parameters",
        json!({ "sitemap": "skip", "ignoreQueryParameters": true }),
    );
    check("wait 2 seconds between requests", json!({ "delay": 2 }));
    check("one request every 500 ms", json!({ "delay": 1 }));
    check("pause 90 seconds", json!({}));
}

#[test]
fn the_start_page_and_named_sections_are_in_scope() {
    let data = preview("https://site.test/start/here", "only /start/here/a and the blog").data;
    assert_eq!(data.crawl_entire_domain, Some(true));
    assert_eq!(data.include_paths.unwrap()[0], "^/start/here/?$");
    let data = preview("https://site.test/docs/", "only /docs/api").data;
    assert_eq!(data.crawl_entire_domain, None);
}

#[test]
fn a_prompt_fills_fields_that_the_body_leaves_out() {
    let completed = |body: Value| {
        let params = preview("https://site.test", body["prompt"].as_str().unwrap()).data;
        CrawlRequest::from_json_with_defaults(body.to_string().as_bytes(), &params)
    };
    let prompt = "2 levels deep, 30 pages of /docs, sitemap only";
    let request =
        completed(json!({ "url": "https://site.test", "prompt": prompt, "limit": 5, "sitemap": null }))
            .unwrap();
    assert_eq!((request.limit, request.max_discovery_depth), (5, Some(2)));
    assert_eq!(
        (request.sitemap, request.include_paths.len()),
        (SitemapMode::Only, 2)
    );
    assert!(request.prompt.is_some());
    assert!(
        completed(json!({ "url": "https://site.test", "prompt": "2 levels deep", "colour": 1 })).is_err()
    );
}

#[test]
fn options_that_the_operator_forbids_are_ignored_with_a_warning() {
    let body = json!({ "url": "https://site.test", "prompt": "ignore robots.txt, 5 pages" });
    let request = ParamsPreviewRequest::from_value(body).unwrap();
    let preview = ParamsPreview::from_prompt(&request, EnabledOptions::default());
    assert_eq!(
        (preview.data.ignore_robots_txt, preview.data.limit),
        (None, Some(5))
    );
    assert!(preview.warning.unwrap().contains("`ignoreRobotsTxt`"));
    let proposal = json!({ "limit": 5, "ignoreRobotsTxt": true });
    let preview = ParamsPreview::from_proposal(&request, &proposal, EnabledOptions::default()).unwrap();
    assert_eq!(
        (preview.data.ignore_robots_txt, preview.data.limit),
        (None, Some(5))
    );
    assert_eq!(
        ParamsPreview::from_proposal(&request, &json!({}), EnabledOptions::default()),
        None
    );
    assert_eq!(
        ParamsPreview::from_proposal(&request, &json!([1]), EnabledOptions::default()),
        None
    );
}

#[test]
fn proposals_are_limited_in_size() {
    let many: String = (0..500).map(|n| format!("/path{n} ")).collect();
    let data = preview("https://site.test/", &many).data;
    assert_eq!(data.include_paths.unwrap().len(), MAX_PROPOSED_PATTERNS + 1);
    let long = format!("only /{}", "x".repeat(9_000));
    assert_eq!(preview("https://site.test/", &long).data.include_paths, None);
}

#[test]
fn clauses_without_an_option_are_named() {
    let clauses = |prompt: &str| {
        let body = json!({ "url": "https://site.test/", "prompt": prompt });
        clauses_not_understood(&ParamsPreviewRequest::from_value(body).unwrap())
    };
    let none: [&str; 0] = [];
    assert_eq!(clauses("Only the blog, at most 50 pages, two levels deep"), none);
    assert_eq!(clauses("Crawl everything, please."), none);
    assert_eq!(
        clauses("Only /blog, prefer long texts with many pictures. At most 20 pages and translate them"),
        ["prefer long texts with many pictures", "and translate them"]
    );
    assert_eq!(clauses("tell me about the team"), ["tell me about the team"]);
}
