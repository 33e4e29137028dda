//! The page cache with the real server: cache hits, misses, and pages that are never cached.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use harvestman_tests::{HttpResponse, Page, RunningSite, Site, TestServer, assert_contains};
use http::Method;
use serde_json::{Value, json};

const HOUR_MS: u64 = 3_600_000;

async fn two_pages() -> RunningSite {
    Site::new()
        .page("/", Page::links("Start", &["/a"]))
        .page("/a", Page::links("A", &[]))
        .serve()
        .await
}

async fn scrape(server: &TestServer, url: &str, options: Value) -> HttpResponse {
    let mut body = options;
    body["url"] = url.into();
    server.post("/v2/scrape", &body).await
}

/// Scrapes and returns the cache state: `hit`, `miss`, or none if the cache was not used.
async fn state(server: &TestServer, url: &str, options: Value) -> Option<String> {
    let response = scrape(server, url, options).await.ok();
    let metadata = &response["data"]["metadata"];
    let hit = metadata["cacheState"] == "hit";
    assert_eq!(metadata["cachedAt"].is_string(), hit, "{metadata}");
    assert_eq!(metadata["creditsUsed"], 1, "a cache hit costs the same");
    metadata["cacheState"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn within_max_age_the_site_is_not_fetched_whatever_the_formats() {
    let site = two_pages().await;
    let mut server = TestServer::start().await;
    let url = site.url("/");
    assert_eq!(state(&server, &url, json!({})).await.as_deref(), Some("miss"));
    site.change("/", Some(Page::links("Changed", &[])));
    assert_eq!(state(&server, &url, json!({})).await.as_deref(), Some("hit"));
    let other = json!({ "formats": ["links", "rawHtml"], "maxAge": HOUR_MS });
    let document = scrape(&server, &format!("{url}#part"), other).await.ok();
    assert_eq!(document["data"]["links"], json!([site.url("/a")]));
    assert_contains(&document, "/data/rawHtml", "Start");
    assert_eq!(document["data"]["metadata"]["statusCode"], 200);
    assert_eq!(site.count("/"), 1);

    server.kill9();
    server.restart().await;
    assert_eq!(state(&server, &url, json!({})).await.as_deref(), Some("hit"));
    assert_eq!(site.count("/"), 1);

    let fresh = scrape(&server, &url, json!({ "maxAge": 0 })).await.ok();
    assert_eq!(fresh["data"]["metadata"]["title"], "Changed");
    assert_eq!(fresh["data"]["metadata"]["cacheState"], Value::Null);
    assert_eq!(site.count("/"), 2);
    let kept = scrape(&server, &url, json!({})).await.ok();
    assert_eq!(
        kept["data"]["metadata"]["title"], "Changed",
        "the newest copy is used"
    );
}

#[tokio::test]
async fn a_copy_older_than_max_age_is_a_miss() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    let url = site.url("/");
    scrape(&server, &url, json!({})).await.ok();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(
        state(&server, &url, json!({ "maxAge": 10 })).await.as_deref(),
        Some("miss")
    );
    assert_eq!(site.count("/"), 2);
}

#[tokio::test]
async fn min_age_uses_only_the_cache() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    let url = site.url("/");
    let missing = scrape(&server, &url, json!({ "minAge": 0 })).await;
    missing.is_error(404, "SCRAPE_NO_CACHED_DATA");
    assert_eq!(site.hits().len(), 0);
    scrape(&server, &url, json!({})).await.ok();
    tokio::time::sleep(Duration::from_millis(20)).await;
    for (options, hit) in [
        (json!({ "minAge": 10 }), true),
        (json!({ "minAge": HOUR_MS }), false),
        (json!({ "minAge": 5, "maxAge": 6 }), false),
    ] {
        let response = scrape(&server, &url, options).await;
        match hit {
            true => assert_eq!(response.ok()["data"]["metadata"]["cacheState"], "hit"),
            false => response.is_error(404, "SCRAPE_NO_CACHED_DATA"),
        }
    }
    assert_eq!(site.hits().len(), 1);
}

#[tokio::test]
async fn lockdown_sends_no_requests() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    for url in [site.url("/"), "http://nothing.invalid/".to_owned()] {
        let missing = scrape(&server, &url, json!({ "lockdown": true })).await;
        missing.is_error(404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    }
    assert_eq!(site.hits().len(), 0);
    scrape(&server, &site.url("/"), json!({})).await.ok();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let locked = json!({ "lockdown": true });
    assert_eq!(
        state(&server, &site.url("/"), locked).await.as_deref(),
        Some("hit")
    );
    for options in [
        json!({ "lockdown": true, "maxAge": 10 }),
        json!({ "lockdown": true, "headers": { "X-A": "b" } }),
        json!({ "lockdown": true, "location": { "country": "DE" } }),
    ] {
        let missing = scrape(&server, &site.url("/"), options).await;
        missing.is_error(404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    }
    assert_eq!(site.hits().len(), 1);
}

#[tokio::test]
async fn private_and_failed_pages_are_not_cached() {
    let site = Site::new()
        .page("/", Page::links("Start", &[]))
        .page("/gone", Page::links("Gone", &[]).status(410))
        .serve()
        .await;
    let server = TestServer::start_with(&[("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1")]).await;
    for (path, options) in [
        ("/", json!({ "storeInCache": false })),
        ("/", json!({ "headers": { "Cookie": "a=b" } })),
        ("/", json!({ "zeroDataRetention": true })),
        ("/gone", json!({})),
    ] {
        scrape(&server, &site.url(path), options.clone()).await.ok();
        let missing = scrape(&server, &site.url(path), json!({ "lockdown": true })).await;
        assert_eq!(missing.code(), "SCRAPE_LOCKDOWN_CACHE_MISS", "{options}");
    }
    let crawl = json!({ "url": site.url("/"), "zeroDataRetention": true });
    server.wait(&server.crawl(&crawl).await).await;
    let batch = json!({ "urls": [site.url("/")], "zeroDataRetention": true });
    server.wait_for_end(&server.batch(&batch).await).await;
    let missing = scrape(&server, &site.url("/"), json!({ "lockdown": true })).await;
    missing.is_error(404, "SCRAPE_LOCKDOWN_CACHE_MISS");

    let discreet = json!({ "zeroDataRetention": true });
    scrape(&server, &site.url("/"), json!({})).await.ok();
    assert_eq!(
        state(&server, &site.url("/"), discreet).await.as_deref(),
        Some("hit")
    );
}

#[tokio::test]
async fn copies_are_separate_per_team_location_and_url() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    let url = site.url("/");
    scrape(&server, &url, json!({})).await.ok();
    let german = json!({ "location": { "country": "DE", "languages": ["de"] } });
    for expected in ["miss", "hit"] {
        assert_eq!(
            state(&server, &url, german.clone()).await.as_deref(),
            Some(expected)
        );
    }
    assert_eq!(
        state(&server, &format!("{url}?x"), json!({})).await.as_deref(),
        Some("miss")
    );

    let body = json!({ "url": url, "lockdown": true }).to_string();
    let stranger = server.send_as_other(Method::POST, "/v2/scrape", body).await;
    stranger.is_error(404, "SCRAPE_LOCKDOWN_CACHE_MISS");
}

#[tokio::test]
async fn crawls_and_batches_read_and_write_the_cache() {
    let sitemap = "<urlset><url><loc>{base}/b</loc></url></urlset>";
    let site = Site::new()
        .page("/", Page::links("Start", &["/a"]))
        .page("/a", Page::links("A", &[]))
        .page("/b", Page::links("B", &[]))
        .page("/sitemap.xml", Page::new("application/xml", sitemap))
        .serve()
        .await;
    let server = TestServer::start().await;
    let request = |options: Value| json!({ "url": site.url("/"), "scrapeOptions": options });
    let states = |documents: &[Value]| -> Vec<Value> {
        let state = |document: &Value| document["metadata"]["cacheState"].clone();
        documents.iter().map(state).collect()
    };
    let first = server.run_crawl(&request(json!({}))).await;
    first.assert_visited(&site, &["/", "/a", "/b"]);
    assert_eq!(states(&first.documents), ["miss"; 3]);
    let hits = site.hits().len();

    let locked = server.run_crawl(&request(json!({ "lockdown": true }))).await;
    locked.assert_visited(&site, &["/", "/a", "/b"]);
    assert_eq!(states(&locked.documents), ["hit"; 3]);
    let batch = json!({ "urls": [site.url("/a"), site.url("/b")] });
    let path = server.batch(&batch).await;
    server.wait_for_end(&path).await;
    assert_eq!(states(&server.documents_at(&path, 10).await.0), ["hit"; 2]);
    assert_eq!(
        site.hits().len(),
        hits,
        "nothing was fetched, not even robots.txt"
    );

    let second = server.run_crawl(&request(json!({}))).await;
    assert_eq!(states(&second.documents), ["hit"; 3]);
    assert_eq!(site.hits().len(), hits + 1);
    assert_eq!(site.count("/robots.txt"), 2);

    let third = server.run_crawl(&request(json!({ "maxAge": 0 }))).await;
    assert_eq!(states(&third.documents), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(site.count("/sitemap.xml"), 2);
    assert_eq!(site.count("/a"), 2);
}

#[tokio::test]
async fn uncached_pages_fail_in_jobs_that_may_not_fetch() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    scrape(&server, &site.url("/"), json!({})).await.ok();
    let request = json!({ "url": site.url("/"), "scrapeOptions": { "lockdown": true } });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/"]);
    assert_eq!(crawled.errors[&site.url("/a")], "SCRAPE_LOCKDOWN_CACHE_MISS");
    let batch = json!({ "urls": [site.url("/a")], "minAge": 0 });
    let path = server.batch(&batch).await;
    server.wait_for_end(&path).await;
    let errors = server.get(&format!("{path}/errors")).await.ok();
    assert_eq!(errors["errors"][0]["code"], "SCRAPE_NO_CACHED_DATA");
    assert_eq!(site.hits().len(), 1);
}

#[tokio::test]
async fn a_copy_is_found_for_a_url_without_a_scheme() {
    let site = two_pages().await;
    let server = TestServer::start().await;
    let bare = site.address().to_string();
    for expected in ["miss", "hit"] {
        assert_eq!(state(&server, &bare, json!({})).await.as_deref(), Some(expected));
    }
    assert_eq!(site.count("/"), 1);
}

#[tokio::test]
async fn a_cache_of_size_zero_stores_nothing() {
    let site = two_pages().await;
    let server = TestServer::start_with(&[("HARVESTMAN_CACHE_MIB", "0")]).await;
    for _ in 0..2 {
        assert_eq!(
            state(&server, &site.url("/"), json!({})).await.as_deref(),
            Some("miss")
        );
    }
    assert_eq!(site.count("/"), 2);
}
