//! Nothing stops the server: one bad page costs one page.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use harvestman_tests::TestServer;
use harvestman_tests::hostile::{BROKEN, HARD, HostileSite, SLOW};
use serde_json::json;

#[tokio::test]
async fn every_broken_answer_is_an_error_with_a_reason() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in BROKEN {
        let answer = server
            .post("/v2/scrape", &json!({ "url": site.url(path), "timeout": 60_000 }))
            .await;
        let (status, code) = if *path == "/inward" {
            (403, "UNSAFE_TARGET")
        } else {
            (500, "SCRAPE_SITE_ERROR")
        };
        assert_eq!(
            (answer.status, answer.code()),
            (status, code),
            "{path}: {}",
            answer.json
        );
        assert!(answer.error().len() > 10, "{path}: {}", answer.json);
    }
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn what_never_ends_is_ended_by_the_timeout() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in SLOW {
        let answer = server
            .post("/v2/scrape", &json!({ "url": site.url(path), "timeout": 1000 }))
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (408, "SCRAPE_TIMEOUT"),
            "{path}: {}",
            answer.json
        );
    }
}

#[tokio::test]
async fn pages_that_are_hard_to_read_are_read() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for path in HARD {
        let request = json!({ "url": site.url(path), "formats": ["markdown", "html", "links"], "onlyMainContent": false });
        let answer = server.post("/v2/scrape", &request).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json);
        let document = &answer.json["data"];
        assert_eq!(document["metadata"]["statusCode"], 200, "{path}");
        let markdown = document["markdown"].as_str().unwrap();
        assert!(!markdown.contains('\0'), "{path}");
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
    let expected: BTreeSet<String> = HARD.iter().chain(&["/"]).map(|path| site.url(path)).collect();
    assert_eq!(found, expected.iter().map(String::as_str).collect());
    assert_eq!(status["creditsUsed"], HARD.len() + 1, "failed pages cost nothing");

    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    let failed: BTreeSet<&str> = errors["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["url"].as_str().unwrap())
        .collect();
    let expected: BTreeSet<String> = BROKEN.iter().map(|path| site.url(path)).collect();
    assert_eq!(failed, expected.iter().map(String::as_str).collect());
    assert_eq!(status["total"], BROKEN.len() + HARD.len() + 1);
    assert_eq!(server.get("/health").await.status, 200);
}
