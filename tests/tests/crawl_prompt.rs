//! Crawl options from a description in words: shown, and used.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Site, TestServer};
use serde_json::json;

#[tokio::test]
async fn a_preview_shows_options_and_crawls_nothing() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let server = TestServer::start().await;
    let preview = async |prompt: &str| {
        let body = json!({ "url": site.url("/"), "prompt": prompt, "origin": "test" });
        server.post("/v2/crawl/params-preview", &body).await
    };
    let answer = preview("Only the blog, at most 20 pages, two levels deep")
        .await
        .ok();
    let data = json!({
        "url": site.url("/"),
        "includePaths": ["^/?$", "/blogs?(/|$)"],
        "maxDiscoveryDepth": 2,
        "limit": 20,
    });
    assert_eq!(answer, json!({ "success": true, "data": data }));
    let answer = preview("whatever you like").await.ok();
    assert_eq!(answer["data"], json!({ "url": site.url("/") }));
    assert!(answer["warning"].as_str().unwrap().contains("understood"));
    for prompt in ["", &"x".repeat(10_001)] {
        let answer = preview(prompt).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_REQUEST"));
        assert_eq!(answer.json["details"][0]["path"], json!(["prompt"]));
    }
    assert!(site.hits().is_empty());
}

#[tokio::test]
async fn a_crawl_follows_its_prompt_where_the_body_says_nothing() {
    let site = Site::new()
        .graph(&[
            ("/", &["/blog", "/docs", "/blog/1"]),
            ("/blog", &["/blog/2"]),
            ("/blog/1", &["/blog/3"]),
            ("/blog/2", &[]),
            ("/blog/3", &[]),
            ("/docs", &[]),
        ])
        .serve()
        .await;
    let server = TestServer::start().await;
    let mut request = json!({ "url": site.url("/"), "prompt": "blog posts, one level deep" });
    let crawled = server.crawled(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1"]);
    request["maxDiscoveryDepth"] = 2.into();
    let crawled = server.crawled(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1", "/blog/2", "/blog/3"]);
}
