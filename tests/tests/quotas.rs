//! Limits of a team: requests per minute, concurrent pages, credits per month.

#![allow(clippy::unwrap_used)]

use http::Method;
use serde_json::{Value, json};

use harvestman_tests::{AUTHORIZATION, HttpResponse, RunningSite, Site, TestServer};

async fn star() -> RunningSite {
    let links: Vec<String> = (0..20).map(|n| format!("/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let site = Site::new().graph(&[("/", &links)]);
    links
        .iter()
        .fold(site, |site, path| site.graph(&[(path, &[])]))
        .serve()
        .await
}

async fn scrape(server: &TestServer, site: &RunningSite, key: &str) -> HttpResponse {
    let headers = [("authorization", key)];
    let body = json!({ "url": site.url("/0") }).to_string();
    server.send(Method::POST, "/v2/scrape", &headers, body).await
}

#[tokio::test]
async fn a_team_above_its_rate_limit_gets_429_with_retry_after() {
    let server = TestServer::start_with(&[("HARVESTMAN_RATE_LIMIT", "3")]).await;
    let site = star().await;
    let id = scrape(&server, &site, "Bearer fc-test").await.ok()["data"]["metadata"]["scrapeId"].clone();
    for _ in 0..2 {
        server.get("/v2/crawl/active").await.ok();
    }
    // Clients poll, so reading a job does not count.
    let result = format!("/v2/scrape/{}", id.as_str().unwrap());
    for _ in 0..5 {
        server.get(&result).await.ok();
    }
    let refused = server.get("/v2/crawl/active").await;
    refused.is_error(429, "RATE_LIMITED");
    let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    server.get(&result).await.ok();
    // Other teams, requests without a key, and the console are not limited; an invalid key still gets 401.
    scrape(&server, &site, "Bearer fc-other").await.ok();
    server.get("/health").await.ok();
    server.get("/console/api/jobs").await.ok();
    assert_eq!(scrape(&server, &site, "Bearer fc-wrong").await.status, 401);
}

#[tokio::test]
async fn a_crawl_ends_when_the_credits_are_used_up() {
    let site = star().await;
    let server = TestServer::start_with(&[("HARVESTMAN_CREDIT_BUDGET", "8")]).await;
    scrape(&server, &site, "Bearer fc-test").await.ok();
    let request = json!({ "url": site.url("/"), "sitemap": "skip" });
    let crawled = server.run_crawl(&request).await;
    assert_eq!(crawled.status["status"], "completed");
    assert_eq!(
        (&crawled.status["creditsUsed"], crawled.documents.len()),
        (&json!(7), 7)
    );
    assert_eq!(crawled.status["total"], 21);
    let warning = crawled.status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("credits are used up"), "{warning}");
    assert_eq!(crawled.errors.len(), 14);
    assert!(crawled.errors.values().all(|code| code == "INSUFFICIENT_CREDITS"));

    let batch = json!({ "urls": [site.url("/")] });
    let starts: [(&str, &Value); 4] = [
        ("/v2/crawl", &request),
        ("/v2/batch/scrape", &batch),
        ("/v2/map", &request["url"]),
        ("/v2/scrape", &request["url"]),
    ];
    for (path, body) in starts {
        let body = if body.is_string() {
            &json!({ "url": body })
        } else {
            body
        };
        let refused = server.post(path, body).await;
        refused.is_error_for(path, 402, "INSUFFICIENT_CREDITS");
        assert!(refused.error().contains("credits"), "{path}");
    }
    scrape(&server, &site, "Bearer fc-other").await.ok();
}

#[tokio::test]
async fn credits_used_before_a_restart_count_after_it() {
    let site = star().await;
    let mut server = TestServer::start_with(&[("HARVESTMAN_CREDIT_BUDGET", "2")]).await;
    scrape(&server, &site, "Bearer fc-test").await.ok();
    let gone = json!({ "url": "http://127.0.0.1:1/" });
    assert_eq!(
        server.post("/v2/scrape", &gone).await.status,
        500,
        "a failed scrape costs nothing"
    );
    scrape(&server, &site, "Bearer fc-test").await.ok();
    server.kill9();
    server.restart().await;
    assert_eq!(scrape(&server, &site, "Bearer fc-test").await.status, 402);
}

#[tokio::test]
async fn a_repeated_request_returns_its_job_when_the_credits_are_used_up() {
    let site = star().await;
    let server = TestServer::start_with(&[("HARVESTMAN_CREDIT_BUDGET", "1")]).await;
    let crawl = json!({ "url": site.url("/"), "sitemap": "skip", "limit": 1 }).to_string();
    let batch = json!({ "urls": [site.url("/1")] }).to_string();
    let start = async |path: &str, key: &str, body: &str| {
        let headers = [AUTHORIZATION, ("x-idempotency-key", key)];
        server.send(Method::POST, path, &headers, body.to_owned()).await
    };
    // Hold the pages back, so that both jobs start before the credit is used.
    site.hold_after(0);
    let first = start("/v2/crawl", "one", &crawl).await.ok();
    let second = start("/v2/batch/scrape", "two", &batch).await.ok();
    site.release();
    let id = |response: &Value| response["id"].as_str().unwrap().to_owned();
    server.wait(&id(&first)).await;
    server
        .wait_for_end(&format!("/v2/batch/scrape/{}", id(&second)))
        .await;

    start("/v2/crawl", "new", &crawl)
        .await
        .is_error(402, "INSUFFICIENT_CREDITS");
    assert_eq!(start("/v2/crawl", "one", &crawl).await.ok(), first);
    assert_eq!(start("/v2/batch/scrape", "two", &batch).await.ok(), second);
    let other = start("/v2/crawl", "one", &batch.replace("urls", "x")).await;
    assert_eq!(other.status, 400);
    start("/v2/crawl", "one", &crawl.replace("\"limit\":1", "\"limit\":2"))
        .await
        .is_error(409, "IDEMPOTENCY_KEY_REUSED");
}

#[tokio::test]
async fn waiting_pages_are_marked_and_get_429_after_their_timeout() {
    for setting in ["HARVESTMAN_MAX_CONCURRENCY", "HARVESTMAN_KEY_MAX_CONCURRENCY"] {
        let (site, server) = (star().await, TestServer::start_with(&[(setting, "1")]).await);
        site.hold_after(0);
        let of = |path: &str| json!({ "url": site.url(path), "maxAge": 0 });
        let crawl = server
            .crawl(&json!({ "url": site.url("/1"), "sitemap": "skip", "limit": 1 }))
            .await;
        site.wait_for_requests(1).await;
        let waiting = of("/2");
        let (response, ()) = tokio::join!(server.post("/v2/scrape", &waiting), async {
            let mut hasty = of("/3");
            hasty["timeout"] = json!(1000);
            let refused = server.post("/v2/scrape", &hasty).await;
            refused.is_error(429, "CONCURRENCY_LIMITED");
            let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait), "{wait}");
            scrape_other(&server, setting).await;
            site.release();
        });
        let metadata = response.ok()["data"]["metadata"].clone();
        assert_eq!(metadata["concurrencyLimited"], true, "{metadata}");
        assert!(metadata["concurrencyQueueDurationMs"].is_u64(), "{metadata}");
        server.wait(&crawl).await;
        let (documents, _) = server.documents(&crawl, 10).await;
        let metadata = &documents[0]["metadata"];
        assert_eq!(metadata["concurrencyLimited"], false, "{metadata}");
        assert!(metadata.get("concurrencyQueueDurationMs").is_none(), "{metadata}");
    }
}

/// Asserts that another team has separate slots.
async fn scrape_other(server: &TestServer, setting: &str) {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let body = json!({ "url": site.url("/") }).to_string();
    let response = server.send_as_other(Method::POST, "/v2/scrape", body).await.ok();
    assert_eq!(
        response["data"]["metadata"]["concurrencyLimited"], false,
        "{setting}"
    );
}
