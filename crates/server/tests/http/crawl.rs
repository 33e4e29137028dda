//! Crawls and scrapes against a local site.

use std::time::{Duration, Instant};

use axum::http::Method;
use harvestman_store::JobKind;
use serde_json::{Value, json};

use crate::app::{TestApp, TestResponse};
use crate::assertions::{assert_contains, assert_fields};
use crate::site::Site;
use crate::stored_job::new_job;

pub(crate) const ALLOW: &[(&str, &str)] = &[("HARVESTMAN_ALLOW_PRIVATE_HOSTS", "127.0.0.1")];

/// Starts a crawl and returns its id.
pub(crate) async fn start(app: &TestApp, body: Value) -> String {
    let response = app.post("/v2/crawl", &body).await;
    assert_eq!(response.status, 200, "{}", response.json());
    response.json()["id"].as_str().unwrap().to_owned()
}

/// Polls the status until `enough` returns true, and returns the status.
pub(crate) async fn wait_until(app: &TestApp, id: &str, enough: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let status = app.get(&format!("/v2/crawl/{id}")).await.json();
        if enough(&status) {
            return status;
        }
        assert!(Instant::now() < deadline, "{status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn has_ended(status: &Value) -> bool {
    status["status"] != "scraping"
}

/// Returns the path of a `next` URL on this server.
pub(crate) fn path_of(next: &str) -> String {
    next.strip_prefix("http://hm.test:3002")
        .unwrap_or_else(|| panic!("{next}"))
        .to_owned()
}

#[tokio::test]
async fn following_next_returns_each_document_of_a_crawl_once() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(6).await;
    let started = app
        .post("/v2/crawl", &json!({ "url": site.url("/"), "limit": 5 }))
        .await;
    let id = started.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        started.json()["url"],
        format!("http://hm.test:3002/v2/crawl/{id}")
    );

    let status = wait_until(&app, &id, has_ended).await;
    assert_fields(
        &status,
        json!({ "status": "completed", "total": 5, "completed": 5 }),
    );
    assert_fields(&status, json!({ "creditsUsed": 5, "next": null }));
    let all = status["data"].as_array().unwrap().clone();
    assert_eq!(all.len(), 5);
    assert_eq!(all[0]["metadata"]["sourceURL"], site.url("/"));

    let mut walked = Vec::new();
    let mut next = Some(format!("/v2/crawl/{id}?limit=2"));
    while let Some(path) = next {
        let page = app.get(&path).await.json();
        walked.extend(page["data"].as_array().unwrap().iter().cloned());
        next = page["next"].as_str().map(path_of);
    }
    assert_eq!(walked, all);

    let beyond = app.get(&format!("/v2/crawl/{id}?skip=99")).await.json();
    assert_fields(&beyond, json!({ "data": [], "next": null }));
    let errors = app.get(&format!("/v2/crawl/{id}/errors")).await.json();
    assert_eq!(
        errors,
        json!({ "success": true, "errors": [], "robotsBlocked": [] })
    );
}

#[tokio::test]
async fn invalid_limit_and_skip_are_rejected() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 1 })).await;
    for bad in ["limit=0", "limit=1001", "limit=x", "skip=-1", "skip=1.5"] {
        app.get(&format!("/v2/crawl/{id}?{bad}"))
            .await
            .is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn a_request_at_the_end_of_a_running_crawl_waits_for_the_next_document() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(3).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 4 })).await;
    let first = wait_until(&app, &id, |status| status["completed"] == 1).await;
    let next = path_of(first["next"].as_str().unwrap());
    assert!(next.ends_with("?skip=1"), "{next}");

    let since = Instant::now();
    let empty = app.get(&next).await.json();
    assert!(
        since.elapsed() >= Duration::from_millis(900),
        "the request waited only {:?}",
        since.elapsed()
    );
    assert!(since.elapsed() < Duration::from_secs(3));
    assert_eq!(
        (&empty["data"], &path_of(empty["next"].as_str().unwrap())),
        (&json!([]), &next)
    );

    site.release(1);
    let second = app.get(&next).await.json();
    assert_eq!(second["data"].as_array().unwrap().len(), 1, "{second}");

    let first_look = Instant::now();
    app.get(&format!("/v2/crawl/{id}")).await;
    assert!(
        first_look.elapsed() < Duration::from_millis(500),
        "a request without skip does not wait"
    );
    site.release(10);
    wait_until(&app, &id, has_ended).await;
}

#[tokio::test]
async fn a_running_crawl_is_listed_as_active_until_it_is_cancelled() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::blocked(3).await;
    let id = start(
        &app,
        json!({ "url": site.url("/"), "limit": 4, "scrapeOptions": { "formats": ["html"] } }),
    )
    .await;
    wait_until(&app, &id, |status| status["completed"] == 1).await;
    for path in ["/v2/crawl/active", "/v2/crawl/ongoing"] {
        let active = app.get(path).await.json();
        let crawl = &active["crawls"][0];
        assert_eq!((&active["success"], &crawl["id"]), (&true.into(), &json!(id)));
        assert_fields(&crawl["options"], json!({ "limit": 4, "sitemap": "include" }));
        assert!(crawl["options"]["scrapeOptions"].is_object() && crawl["teamId"].is_string());
    }

    for _ in 0..2 {
        let cancelled = app.delete(&format!("/v2/crawl/{id}")).await.json();
        assert_eq!(cancelled, json!({ "success": true, "status": "cancelled" }));
    }
    let status = wait_until(&app, &id, has_ended).await;
    assert_fields(&status, json!({ "status": "cancelled", "next": null }));
    assert_eq!(
        status["data"].as_array().unwrap().len(),
        1,
        "existing documents are kept"
    );
    assert_eq!(app.get("/v2/crawl/active").await.json()["crawls"], json!([]));

    let store = app.app.store();
    let team = store.ensure_team("default").await.unwrap();
    let unreadable = new_job(
        harvestman_engine::new_job_id(),
        team,
        JobKind::Crawl,
        harvestman_engine::now(),
    );
    store.create_crawl(&unreadable, None).await.unwrap();
    assert_eq!(app.get("/v2/crawl/active").await.json()["crawls"], json!([]));
}

#[tokio::test]
async fn a_finished_crawl_cannot_be_cancelled() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let id = start(&app, json!({ "url": site.url("/"), "limit": 1 })).await;
    wait_until(&app, &id, has_ended).await;
    let cancelled = app.delete(&format!("/v2/crawl/{id}")).await;
    cancelled.is_error(409, "CONFLICT");
}

#[tokio::test]
async fn the_same_idempotency_key_returns_the_same_crawl() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let post = async |key: &str, limit: u32| -> TestResponse {
        let body = json!({ "url": site.url("/"), "limit": limit }).to_string();
        let request = app
            .request(Method::POST, "/v2/crawl")
            .header("x-idempotency-key", key);
        app.send(request, body).await
    };
    let first = post("once", 1).await.json();
    assert_eq!(post("once", 1).await.json(), first);
    post("once", 2).await.is_error(409, "IDEMPOTENCY_KEY_REUSED");
    assert_ne!(post("twice", 1).await.json()["id"], first["id"]);
    for key in ["x".repeat(257).as_str(), "two words"] {
        post(key, 1).await.is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn a_scrape_can_be_read_again_by_its_id() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(1).await;
    let response = app
        .post("/v2/scrape", &json!({ "url": site.url("/page/1") }))
        .await;
    assert_eq!(response.status, 200, "{}", response.json());
    let json = response.json();
    assert_eq!(
        (&json["success"], &json["data"]["markdown"]),
        (&true.into(), &"# Page 1".into())
    );
    let id = json["data"]["metadata"]["scrapeId"].as_str().unwrap();
    let stored = app.get(&format!("/v2/scrape/{id}")).await;
    assert_eq!(
        (stored.status.as_u16(), stored.json()["data"]["markdown"].clone()),
        (200, json!("# Page 1"))
    );
    app.get(&format!("/v2/crawl/{id}"))
        .await
        .is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_failed_scrape_returns_the_same_error_again() {
    let app = TestApp::with(ALLOW).await;
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    let failed = app.post("/v2/scrape", &json!({ "url": url })).await;
    assert!(failed.status.is_server_error(), "{}", failed.json());
    let jobs = app.get("/console/api/jobs").await.json();
    let id = jobs["jobs"][0]["id"].as_str().unwrap();
    let again = app.get(&format!("/v2/scrape/{id}")).await;
    assert_eq!((again.status, again.json()), (failed.status, failed.json()));
}

#[tokio::test]
async fn a_scrape_that_is_interrupted_by_a_shutdown_gets_503() {
    let app = TestApp::with(ALLOW).await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({ "url": format!("http://{}/", silent.local_addr().unwrap()) });
    let stop = async {
        let _taken = silent.accept().await.unwrap();
        app.app.engine().shutdown().await;
    };
    let (response, ()) = tokio::join!(app.post("/v2/scrape", &body), stop);
    response.is_error(503, "SERVICE_UNAVAILABLE");
    assert_eq!(response.header("retry-after"), "5");
}

#[tokio::test]
async fn a_crawl_of_an_unreachable_site_fails_with_the_reason() {
    let app = TestApp::with(ALLOW).await;
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    let id = start(&app, json!({ "url": url })).await;
    let status = wait_until(&app, &id, has_ended).await;
    assert_eq!(status["status"], "failed");
    assert_contains(&status, "/error", "refused");
}

#[tokio::test]
async fn private_targets_are_refused_unless_allowed() {
    let app = TestApp::start().await;
    let site = Site::open(0).await;
    for path in ["/v2/scrape", "/v2/crawl"] {
        app.post(path, &json!({ "url": site.url("/") }))
            .await
            .is_error(403, "UNSAFE_TARGET");
    }
}

#[tokio::test]
async fn options_that_the_operator_has_not_enabled_are_refused() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    for option in [
        json!({ "ignoreRobotsTxt": true }),
        json!({ "zeroDataRetention": true }),
    ] {
        let mut body = option;
        body["url"] = site.url("/").into();
        app.post("/v2/crawl", &body).await.is_error(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn links_use_the_configured_public_url() {
    let settings = [
        ALLOW[0],
        ("HARVESTMAN_PUBLIC_URL", "https://data.example.com/hm/"),
    ];
    let app = TestApp::with(&settings).await;
    let site = Site::open(0).await;
    let started = app
        .post("/v2/crawl", &json!({ "url": site.url("/"), "limit": 1 }))
        .await
        .json();
    let id = started["id"].as_str().unwrap();
    assert_eq!(
        started["url"],
        format!("https://data.example.com/hm/v2/crawl/{id}")
    );
}

#[tokio::test]
async fn a_status_page_ends_at_ten_mebibytes_and_next_returns_the_rest() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let body = json!({ "url": site.url("/big"), "limit": 5, "scrapeOptions": { "formats": ["rawHtml"] } });
    let id = start(&app, body).await;
    wait_until(&app, &id, has_ended).await;
    let mut next = Some(format!("/v2/crawl/{id}"));
    let mut counts = Vec::new();
    while let Some(path) = next {
        let response = app.get(&path).await;
        assert!(response.body.len() <= 10_485_760, "{} bytes", response.body.len());
        let page = response.json();
        counts.push(page["data"].as_array().unwrap().len());
        next = page["next"].as_str().map(path_of);
    }
    assert_eq!(counts, [3, 2]);
}
