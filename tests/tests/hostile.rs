//! Hostile sites: each bad page affects only itself and never stops the server.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use harvestman_tests::hostile::{BROKEN, HARD_TO_PARSE, HostileSite, PARTIAL, SLOW};
use harvestman_tests::{Page, Site, TestServer, serve_without_tls};
use serde_json::json;

#[tokio::test]
async fn a_url_without_a_scheme_is_tried_with_http_if_https_gets_no_answer() {
    let site = Site::new().page("/", Page::links("Home", &["/a"])).serve().await;
    let address = serve_without_tls(site.address()).await.to_string();
    let server = TestServer::start().await;
    let request = json!({ "url": address, "timeout": 3000 });
    let page = server.post("/v2/scrape", &request).await.ok();
    assert_eq!(page["data"]["metadata"]["title"], "Home", "{page}");
    let map = server.post("/v2/map", &request).await.ok();
    assert_eq!(map["links"].as_array().unwrap().len(), 2, "{map}");
}

#[tokio::test]
async fn every_broken_response_is_an_error_with_a_reason() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in BROKEN {
        let response = server
            .post("/v2/scrape", &json!({ "url": site.url(path), "timeout": 60_000 }))
            .await;
        let (status, code) = if *path == "/inward" {
            (403, "UNSAFE_TARGET")
        } else {
            (500, "SCRAPE_SITE_ERROR")
        };
        response.is_error_for(path, status, code);
        assert!(response.error().len() > 10, "{path}: {}", response.json);
    }
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn endless_responses_are_ended_by_the_timeout() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in SLOW {
        let response = server
            .post("/v2/scrape", &json!({ "url": site.url(path), "timeout": 1000 }))
            .await;
        response.is_error_for(path, 408, "SCRAPE_TIMEOUT");
    }
}

#[tokio::test]
async fn pages_that_are_hard_to_parse_are_scraped() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in HARD_TO_PARSE {
        let request = json!({ "url": site.url(path), "formats": ["markdown", "html", "links"], "onlyMainContent": false });
        let response = server.post("/v2/scrape", &request).await;
        assert_eq!(response.status, 200, "{path}: {}", response.json);
        let document = &response.json["data"];
        assert_eq!(document["metadata"]["statusCode"], 200, "{path}");
        let markdown = document["markdown"].as_str().unwrap();
        assert!(!markdown.contains('\0'), "{path}");
    }
}

#[tokio::test]
async fn an_incomplete_page_is_returned_with_a_warning_and_not_cached() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in PARTIAL {
        let request = json!({ "url": site.url(path), "formats": ["markdown"], "maxAge": 600_000 });
        for _ in 0..2 {
            let document = server.post("/v2/scrape", &request).await.ok();
            let document = &document["data"];
            assert!(!document["markdown"].as_str().unwrap().is_empty(), "{path}");
            let warning = document["warning"].as_str().unwrap();
            assert!(warning.contains("incomplete"), "{path}: {warning}");
            assert_eq!(document["metadata"]["cacheState"], "miss", "{path}");
        }
    }
}

#[tokio::test]
async fn a_crawl_of_a_hostile_site_ends_and_accounts_for_every_page() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": { "timeout": 60_000 } });
    let id = server.crawl(&request).await;
    let status = server.wait(&id).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (documents, _) = server.documents(&id, 100).await;
    let found: BTreeSet<&str> = documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap())
        .collect();
    let pages = || HARD_TO_PARSE.iter().chain(PARTIAL).chain(&["/"]);
    let expected: BTreeSet<String> = pages().map(|path| site.url(path)).collect();
    assert_eq!(found, expected.iter().map(String::as_str).collect());
    assert_eq!(
        status["creditsUsed"],
        pages().count(),
        "failed pages cost nothing"
    );

    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    let failed: BTreeSet<&str> = errors["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["url"].as_str().unwrap())
        .collect();
    let expected: BTreeSet<String> = BROKEN.iter().map(|path| site.url(path)).collect();
    assert_eq!(failed, expected.iter().map(String::as_str).collect());
    for entry in errors["errors"].as_array().unwrap() {
        let inward = entry["url"] == site.url("/inward");
        let code = if inward {
            "UNSAFE_TARGET"
        } else {
            "SCRAPE_SITE_ERROR"
        };
        assert_eq!(entry["code"], code, "{entry}");
        assert!(entry["error"].as_str().unwrap().len() > 10, "{entry}");
    }
    assert_eq!(status["total"], BROKEN.len() + pages().count());
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_crawl_of_endless_responses_is_ended_by_the_timeout() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in SLOW {
        let request =
            json!({ "url": site.url(path), "sitemap": "skip", "scrapeOptions": { "timeout": 1000 } });
        let crawled = server.run_crawl(&request).await;
        assert_eq!(crawled.status["status"], "failed", "{path}: {}", crawled.status);
        assert_eq!(
            crawled.errors,
            [(site.url(path), "SCRAPE_TIMEOUT".to_owned())].into()
        );
    }
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_robots_txt_of_100_mb_is_read_up_to_its_limit() {
    let mut rules = b"User-agent: *\nDisallow: /private\n".to_vec();
    while rules.len() < 100 << 20 {
        rules.extend_from_slice(&b"# a line that says nothing at all, again and again\n".repeat(1000));
    }
    rules.extend_from_slice(b"Disallow: /\n");
    let site = Site::new()
        .page("/robots.txt", Page::new("text/plain", rules))
        .graph(&[("/", &["/private", "/open"]), ("/private", &[]), ("/open", &[])])
        .serve()
        .await;
    let server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    crawled.assert_visited(&site, &["/", "/open"]);
    assert_eq!(crawled.robots_blocked, [site.url("/private")].into());
    assert_eq!(site.count("/private"), 0);
}
