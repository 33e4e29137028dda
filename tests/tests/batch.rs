//! Batch scrapes with the real server: fetched pages and documents, added pages, cancelling, and kills of the server.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use harvestman_tests::{AUTHORIZATION, HttpResponse, Page, RunningSite, Site, TestServer, assert_fields};
use http::Method;
use serde_json::{Value, json};

fn pages(count: usize) -> Site {
    (0..count).fold(Site::new(), |site, n| {
        site.page(&format!("/{n}"), Page::links(&format!("Page {n}"), &["/linked"]))
    })
}

fn urls(site: &RunningSite, numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|n| site.url(&format!("/{n}"))).collect()
}

fn sources(documents: &[Value]) -> Vec<String> {
    let mut sources: Vec<String> = documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap().to_owned())
        .collect();
    sources.sort();
    sources
}

fn sorted(mut urls: Vec<String>) -> Vec<String> {
    urls.sort();
    urls
}

/// Asserts the state and that each page is counted, stored and charged once.
#[track_caller]
fn check_counts(status: &Value, state: &str, total: usize) {
    assert_eq!(status["status"], state, "{status}");
    for field in ["total", "completed", "creditsUsed"] {
        assert_eq!(status[field], total, "{field}: {status}");
    }
}

/// Waits until this number of pages is completed, and returns the status.
async fn wait_for_pages(server: &TestServer, path: &str, completed: u64) -> Value {
    let path = format!("{path}?limit=1");
    server
        .wait_until(&path, |status| status["completed"] == completed)
        .await
}

#[tokio::test]
async fn exactly_the_given_pages_are_fetched_once() {
    let site = pages(40)
        .page("/gone", Page::redirect(302, "/1"))
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nDisallow: /\n"),
        )
        .serve()
        .await;
    let server = TestServer::start().await;
    let mut urls_in_request = urls(&site, 0..40);
    urls_in_request.insert(3, site.url("/0"));
    urls_in_request.insert(7, site.url("/1#part"));
    urls_in_request.push(site.url("/gone"));
    urls_in_request.push(site.url("/missing"));
    let response = server
        .post(
            "/v2/batch/scrape",
            &json!({ "urls": urls_in_request, "formats": ["markdown"] }),
        )
        .await
        .ok();
    let path = format!("/v2/batch/scrape/{}", response["id"].as_str().unwrap());
    assert_eq!(response["invalidURLs"], json!([]));
    assert_eq!(response["url"], format!("http://{}{path}", server.address()));

    check_counts(&server.wait_for_end(&path).await, "completed", 42);
    let (documents, responses) = server.documents_at(&path, 10).await;
    assert_eq!(responses, 5);
    // Each document has the URL under which the page was given first.
    let expected = urls(&site, 0..40)
        .into_iter()
        .chain([site.url("/gone"), site.url("/missing")]);
    assert_eq!(sources(&documents), sorted(expected.collect()));
    let (again, _) = server.documents_at(&path, 7).await;
    assert_eq!(again, documents);
    let status = |path: &str| {
        let of = |document: &&Value| document["metadata"]["sourceURL"] == site.url(path);
        documents.iter().find(of).unwrap()["metadata"]["statusCode"].clone()
    };
    assert_eq!((status("/gone"), status("/missing")), (json!(200), json!(404)));

    let mut counts: BTreeMap<String, usize> = site.counts();
    assert_eq!(
        counts.remove("/1"),
        Some(2),
        "once for itself and once as the redirect target of /gone"
    );
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    assert!(
        !counts.contains_key("/robots.txt") && !counts.contains_key("/linked"),
        "{counts:?}"
    );
}

#[tokio::test]
async fn the_status_can_be_read_only_at_the_batch_path() {
    let site = pages(3).serve().await;
    let server = TestServer::start().await;
    let path = server.batch(&json!({ "urls": urls(&site, 0..3) })).await;
    server.wait_for_end(&path).await;
    let page = server.get(&format!("{path}?skip=1&limit=1")).await.ok();
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        page["next"],
        format!("http://{}{path}?skip=2&limit=1", server.address())
    );
    assert!(page["completedAt"].is_string() && page["expiresAt"].is_string());

    let id = path.rsplit('/').next().unwrap();
    let crawl = server.crawl(&json!({ "url": site.url("/0"), "limit": 1 })).await;
    for wrong in [format!("/v2/crawl/{id}"), format!("/v2/batch/scrape/{crawl}")] {
        for suffix in ["", "/errors"] {
            let response = server.get(&format!("{wrong}{suffix}")).await;
            response.is_error_for(format!("{wrong}{suffix}"), 404, "NOT_FOUND");
        }
        assert_eq!(server.delete(&wrong).await.status, 404);
    }
    let theirs = server.send_as_other(Method::GET, &path, "").await;
    assert_eq!(theirs.status, 404);
    let active = server.get("/v2/crawl/active").await.ok();
    assert!(
        active["crawls"]
            .as_array()
            .unwrap()
            .iter()
            .all(|job| job["id"] != id)
    );
}

#[tokio::test]
async fn invalid_urls_are_reported_or_reject_the_batch() {
    let site = pages(2).serve().await;
    let server = TestServer::start().await;
    let urls_in_request = json!([site.url("/0"), "ftp://a.example/", "http://", site.url("/1"), ""]);
    let response = server
        .post("/v2/batch/scrape", &json!({ "urls": urls_in_request }))
        .await
        .ok();
    assert_eq!(
        response["invalidURLs"],
        json!(["ftp://a.example/", "http://", ""])
    );
    let path = format!("/v2/batch/scrape/{}", response["id"].as_str().unwrap());
    check_counts(&server.wait_for_end(&path).await, "completed", 2);

    let strict = server
        .post(
            "/v2/batch/scrape",
            &json!({ "urls": urls_in_request, "ignoreInvalidURLs": false }),
        )
        .await;
    strict.is_error(400, "BAD_REQUEST");
    let positions: BTreeSet<String> = strict.json["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["path"].to_string())
        .collect();
    assert_eq!(
        positions,
        [r#"["urls",1]"#, r#"["urls",2]"#, r#"["urls",4]"#]
            .map(str::to_owned)
            .into()
    );
    server
        .post(
            "/v2/batch/scrape",
            &json!({ "urls": ["ftp://a.example/", "nonsense://x"] }),
        )
        .await
        .is_error(400, "BAD_REQUEST");
    let valid = server
        .post(
            "/v2/batch/scrape",
            &json!({ "urls": urls(&site, 0..2), "ignoreInvalidURLs": false }),
        )
        .await
        .ok();
    assert!(valid.get("invalidURLs").is_none(), "{valid}");
}

#[tokio::test]
async fn a_failed_page_does_not_affect_the_others() {
    let site = pages(2).serve().await;
    let server = TestServer::start().await;
    let private = "http://10.1.2.3/private";
    let urls_in_request = [site.url("/0"), private.to_owned(), site.url("/1")];
    let path = server.batch(&json!({ "urls": urls_in_request })).await;
    let status = server.wait_for_end(&path).await;
    assert_fields(
        &status,
        json!({ "status": "completed", "total": 3, "completed": 2, "creditsUsed": 2 }),
    );
    let errors = server.get(&format!("{path}/errors")).await.ok();
    let entry = &errors["errors"][0];
    assert_fields(entry, json!({ "url": private, "code": "UNSAFE_TARGET" }));
    assert!(entry["id"].is_string() && entry["timestamp"].is_string());
    assert_eq!(
        (
            errors["errors"].as_array().unwrap().len(),
            &errors["robotsBlocked"]
        ),
        (1, &json!([]))
    );

    let all = server.batch(&json!({ "urls": [private] })).await;
    let status = server.wait_for_end(&all).await;
    assert_eq!(
        (&status["status"], &status["total"], &status["completed"]),
        (&json!("completed"), &json!(1), &json!(0)),
        "a failed page does not fail the job: {status}"
    );
}

#[tokio::test]
async fn a_url_without_a_scheme_is_also_tried_with_http() {
    let site = pages(1).serve().await;
    let server = TestServer::start().await;
    let bare = format!("{}/0", site.address());
    let path = server.batch(&json!({ "urls": [bare] })).await;
    check_counts(&server.wait_for_end(&path).await, "completed", 1);
}

#[tokio::test]
async fn a_slow_host_does_not_delay_the_others() {
    let slow = pages(30).serve().await;
    slow.hold_after(0);
    let fast = pages(12).serve().await;
    let server = TestServer::start().await;
    let mut urls_in_request = urls(&slow, 0..30);
    urls_in_request.extend(urls(&fast, 0..12));
    let path = server
        .batch(&json!({ "urls": urls_in_request, "maxConcurrency": 4 }))
        .await;
    let status = wait_for_pages(&server, &path, 12).await;
    assert_fields(&status, json!({ "status": "scraping", "total": 42 }));
    assert!(
        slow.hits().len() <= 4,
        "the slow host gets at most maxConcurrency requests"
    );
    slow.release();
    check_counts(&server.wait_for_end(&path).await, "completed", 42);
}

#[tokio::test]
async fn a_cancelled_batch_keeps_its_documents() {
    let site = pages(30).serve().await;
    site.hold_after(5);
    let server = TestServer::start().await;
    let path = server
        .batch(&json!({ "urls": urls(&site, 0..30), "maxConcurrency": 2 }))
        .await;
    wait_for_pages(&server, &path, 5).await;
    for _ in 0..2 {
        let response = server.delete(&path).await.ok();
        assert_eq!(response, json!({ "success": true, "status": "cancelled" }));
    }
    site.release();
    let status = server.get(&path).await.ok();
    assert_fields(
        &status,
        json!({ "status": "cancelled", "total": 30, "completed": 5, "next": null }),
    );
    assert_eq!(status["data"].as_array().unwrap().len(), 5);
    let id = path.rsplit('/').next().unwrap();
    let more = json!({ "urls": urls(&site, 0..30), "appendToId": id });
    server
        .post("/v2/batch/scrape", &more)
        .await
        .is_error(409, "CONFLICT");

    let done = server.batch(&json!({ "urls": urls(&site, 0..1) })).await;
    server.wait_for_end(&done).await;
    server.delete(&done).await.is_error(409, "CONFLICT");
}

#[tokio::test]
async fn pages_can_be_added_to_a_running_batch() {
    let site = pages(30).serve().await;
    site.hold_after(4);
    let server = TestServer::start().await;
    let path = server
        .batch(&json!({ "urls": urls(&site, 0..10), "maxConcurrency": 3, "formats": ["links"] }))
        .await;
    site.wait_for_requests(7).await;
    let id = path.rsplit('/').next().unwrap();
    // Five of them are already in the batch.
    let more = json!({ "urls": urls(&site, 5..20), "appendToId": id });
    let response = server.post("/v2/batch/scrape", &more).await.ok();
    assert_eq!(response["id"], id);
    let status = server.get(&path).await.ok();
    assert_fields(&status, json!({ "status": "scraping", "total": 20 }));
    site.release();
    check_counts(&server.wait_for_end(&path).await, "completed", 20);
    let (documents, _) = server.documents_at(&path, 100).await;
    assert_eq!(sources(&documents), sorted(urls(&site, 0..20)));
    assert!(
        documents
            .iter()
            .all(|page| page["links"].is_array() && page.get("markdown").is_none())
    );
    assert!(
        site.counts().values().all(|count| *count == 1),
        "{:?}",
        site.counts()
    );
}

#[tokio::test]
async fn added_pages_start_while_others_are_slow() {
    let slow = pages(2).serve().await;
    slow.hold_after(0);
    let site = pages(3).serve().await;
    let server = TestServer::start().await;
    let path = server.batch(&json!({ "urls": urls(&slow, 0..2) })).await;
    slow.wait_for_requests(2).await;
    let id = path.rsplit('/').next().unwrap();
    let more = json!({ "urls": urls(&site, 0..3), "appendToId": id });
    server.post("/v2/batch/scrape", &more).await.ok();
    wait_for_pages(&server, &path, 3).await;
    slow.release();
    check_counts(&server.wait_for_end(&path).await, "completed", 5);
}

#[tokio::test]
async fn a_finished_batch_runs_again_when_pages_are_added() {
    let site = pages(12).serve().await;
    let mut server = TestServer::start().await;
    let path = server.batch(&json!({ "urls": urls(&site, 0..4) })).await;
    check_counts(&server.wait_for_end(&path).await, "completed", 4);
    let (before, _) = server.documents_at(&path, 100).await;
    let id = path.rsplit('/').next().unwrap().to_owned();

    let known = json!({ "urls": urls(&site, 0..4), "appendToId": id });
    assert_eq!(server.post("/v2/batch/scrape", &known).await.ok()["id"], id);
    check_counts(&server.get(&path).await.ok(), "completed", 4);

    site.hold_after(4);
    let more = json!({ "urls": urls(&site, 2..12), "appendToId": id });
    server.post("/v2/batch/scrape", &more).await.ok();
    let running = server.get(&path).await.ok();
    assert_fields(
        &running,
        json!({ "status": "scraping", "total": 12, "completed": 4 }),
    );
    assert!(running.get("completedAt").is_none() && running["next"].is_string());
    // A resumed batch survives a kill like a new one.
    site.wait_for_requests(5).await;
    server.kill9();
    site.release();
    server.restart().await;
    check_counts(&server.wait_for_end(&path).await, "completed", 12);
    let (documents, _) = server.documents_at(&path, 5).await;
    assert_eq!(
        documents[..4],
        before[..],
        "existing documents keep their offsets"
    );
    assert_eq!(sources(&documents), sorted(urls(&site, 0..12)));
}

#[tokio::test]
async fn only_a_batch_of_the_same_team_and_options_can_be_extended() {
    let site = pages(4).serve().await;
    let server = TestServer::start().await;
    let path = server
        .batch(&json!({ "urls": urls(&site, 0..2), "formats": ["html"], "maxConcurrency": 2 }))
        .await;
    let id = path.rsplit('/').next().unwrap();
    let crawl = server.crawl(&json!({ "url": site.url("/0"), "limit": 1 })).await;
    let unknown = "01890000-0000-7000-8000-000000000000";
    for missing in [unknown, &crawl] {
        let more = json!({ "urls": urls(&site, 0..4), "appendToId": missing });
        let response = server.post("/v2/batch/scrape", &more).await;
        response.is_error_for(missing, 404, "NOT_FOUND");
    }
    let more = json!({ "urls": urls(&site, 0..4), "appendToId": id });
    let theirs = server
        .send_as_other(Method::POST, "/v2/batch/scrape", more.to_string())
        .await;
    assert_eq!(theirs.status, 404);
    let other = json!({ "urls": urls(&site, 0..4), "appendToId": id, "formats": ["markdown", "html"] });
    let response = server.post("/v2/batch/scrape", &other).await;
    response.is_error(400, "BAD_REQUEST");
    assert_eq!(response.json["details"][0]["path"], json!(["appendToId"]));
    let same = json!({ "urls": urls(&site, 0..4), "appendToId": id, "formats": ["html"], "origin": "x" });
    server.post("/v2/batch/scrape", &same).await.ok();
    check_counts(&server.wait_for_end(&path).await, "completed", 4);
}

async fn with_key(server: &TestServer, key: &str, body: &Value) -> HttpResponse {
    let headers = [AUTHORIZATION, ("x-idempotency-key", key)];
    server
        .send(Method::POST, "/v2/batch/scrape", &headers, body.to_string())
        .await
}

#[tokio::test]
async fn the_same_idempotency_key_returns_the_same_batch() {
    let site = pages(3).serve().await;
    let server = TestServer::start().await;
    let body = json!({ "urls": urls(&site, 0..2) });
    let first = with_key(&server, "one", &body).await.ok();
    let again = with_key(&server, "one", &body).await.ok();
    assert_eq!(first, again);
    with_key(&server, "one", &json!({ "urls": urls(&site, 0..3) }))
        .await
        .is_error(409, "IDEMPOTENCY_KEY_REUSED");
    assert_ne!(with_key(&server, "two", &body).await.ok()["id"], first["id"]);

    let path = format!("/v2/batch/scrape/{}", first["id"].as_str().unwrap());
    check_counts(&server.wait_for_end(&path).await, "completed", 2);
    let more = json!({ "urls": urls(&site, 0..3), "appendToId": first["id"] });
    for _ in 0..2 {
        assert_eq!(with_key(&server, "three", &more).await.ok()["id"], first["id"]);
        check_counts(&server.wait_for_end(&path).await, "completed", 3);
    }
    let changed = json!({ "urls": urls(&site, 0..1), "appendToId": first["id"] });
    assert_eq!(
        with_key(&server, "three", &changed).await.code(),
        "IDEMPOTENCY_KEY_REUSED"
    );
}

#[tokio::test]
async fn options_that_are_not_enabled_are_refused() {
    let server = TestServer::start().await;
    let body = json!({ "urls": ["http://a.example/"], "zeroDataRetention": true });
    server
        .post("/v2/batch/scrape", &body)
        .await
        .is_error(403, "FORBIDDEN");
    let hook = json!({ "urls": ["http://a.example/"], "webhook": "http://10.0.0.1/hook" });
    let response = server.post("/v2/batch/scrape", &hook).await;
    response.is_error(400, "BAD_REQUEST");
    assert_eq!(response.json["details"][0]["path"], json!(["webhook", "url"]));
}

#[tokio::test]
async fn a_batch_survives_many_kills() {
    let site = pages(80).serve().await;
    let mut server = TestServer::start().await;
    site.hold_after(1);
    let path = server
        .batch(&json!({ "urls": urls(&site, 0..70), "maxConcurrency": 4 }))
        .await;
    let id = path.rsplit('/').next().unwrap().to_owned();
    for (round, hold) in [1, 9, 20, 34, 51].into_iter().enumerate() {
        site.hold_after(hold);
        site.wait_for_requests(hold + 1).await;
        if round == 2 {
            // The added pages are acknowledged, so they must survive the kill.
            let more = json!({ "urls": urls(&site, 60..80), "appendToId": id });
            server.post("/v2/batch/scrape", &more).await.ok();
        }
        server.kill9();
        server.restart().await;
    }
    site.release();
    check_counts(&server.wait_for_end(&path).await, "completed", 80);
    let (documents, _) = server.documents_at(&path, 100).await;
    assert_eq!(sources(&documents), sorted(urls(&site, 0..80)));
}

#[tokio::test]
async fn a_batch_has_at_most_a_hundred_thousand_pages() {
    let site = Site::new().serve().await;
    site.hold_after(0);
    let server = TestServer::start().await;
    let mut urls_in_request: Vec<String> = (0..100_000).map(|n| site.url(&format!("/p/{n}"))).collect();
    let path = server
        .batch(&json!({ "urls": urls_in_request, "maxConcurrency": 2 }))
        .await;
    site.wait_for_requests(2).await;
    let status = server.get(&path).await.ok();
    assert_fields(&status, json!({ "status": "scraping", "total": 100_000 }));
    server.delete(&path).await.ok();
    urls_in_request.push(site.url("/p/one-more"));
    server
        .post("/v2/batch/scrape", &json!({ "urls": urls_in_request }))
        .await
        .is_error(400, "BAD_REQUEST");
}
