//! The console's files and its private endpoints.

use axum::http::Method;
use serde_json::json;

use crate::app::{TestApp, TestResponse};
use crate::assertions::{assert_contains, assert_fields};
use crate::crawl::{ALLOW, start, wait_until};
use crate::site::Site;

async fn with(app: &TestApp, path: &str, name: &str, value: &str) -> TestResponse {
    app.send(app.anonymous(Method::GET, path).header(name, value), "")
        .await
}

#[tokio::test]
async fn every_screen_returns_the_index_page_with_its_content_security_policy() {
    let app = TestApp::start().await;
    for path in [
        "/console/", "/console/index.html", "/console/jobs/0192", "/console/settings?x=a.b",
    ] {
        let response = app.get(path).await;
        assert_eq!(response.status, 200, "{path}");
        assert_eq!(response.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(response.header("cache-control"), "no-cache");
        let policy = response.header("content-security-policy");
        assert!(
            policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-"),
            "{policy}"
        );
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"),
            "{policy}"
        );
        assert_eq!(response.header("referrer-policy"), "no-referrer");
        assert_eq!(response.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn hashed_files_are_cached_for_a_year_and_sent_in_an_accepted_coding() {
    let app = TestApp::start().await;
    let path = "/console/web-0123456789abcdef.js";
    for (accepts, coding, bytes) in [
        ("gzip, br", "br", "brotli bytes"),
        ("gzip", "gzip", "gzip bytes"),
        ("identity", "", "plain script"),
    ] {
        let response = with(&app, path, "accept-encoding", accepts).await;
        assert_eq!(
            (response.header("content-encoding"), response.body.as_slice()),
            (coding, bytes.as_bytes())
        );
        assert_eq!(
            response.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(response.header("content-type"), "text/javascript; charset=utf-8");
        assert_eq!(response.header("vary"), "accept-encoding");
    }
}

#[tokio::test]
async fn a_matching_etag_gets_304() {
    let app = TestApp::start().await;
    for path in ["/console/", "/console/favicon.svg"] {
        let tag = app.get(path).await.header("etag").to_owned();
        let again = with(&app, path, "if-none-match", &tag).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        assert_eq!(again.header("etag"), tag);
        assert_eq!(with(&app, path, "if-none-match", "\"other\"").await.status, 200);
    }
}

#[tokio::test]
async fn missing_files_and_endpoints_are_not_screens() {
    let app = TestApp::start().await;
    for path in [
        "/console/web-ffffffffffffffff.js",
        "/console/api/nothing",
        "/console/../secret.txt",
        "/console/a/../x.js",
    ] {
        app.get(path).await.is_error(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn browsers_are_redirected_from_the_root_to_the_console() {
    let app = TestApp::start().await;
    let browser = with(&app, "/", "accept", "text/html,application/xhtml+xml,*/*;q=0.8").await;
    assert_eq!(
        (browser.status.as_u16(), browser.header("location")),
        (307, "/console/")
    );
    assert_eq!(app.get("/console").await.header("location"), "/console/");
    with(&app, "/", "accept", "*/*").await.is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_sign_in_code_creates_one_key() {
    let app = TestApp::start().await;
    let redeem = async |code: &str| {
        let request = app.anonymous(Method::POST, "/console/api/start");
        app.send(request, json!({ "code": code }).to_string()).await
    };
    redeem("wrong").await.is_error(401, "UNAUTHORIZED");
    let key = redeem(&app.code).await.json()["apiKey"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(key.starts_with("fc-") && key != app.key);
    redeem(&app.code).await.is_error(401, "UNAUTHORIZED");

    let info = app.get_as(&key, "/console/api/info").await.json();
    assert_fields(
        &info,
        json!({ "keyName": "Console", "team": "default", "open": false }),
    );
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));

    let bad = app.anonymous(Method::POST, "/console/api/start");
    app.send(bad, "[]").await.is_error(400, "BAD_REQUEST");
}

#[tokio::test]
async fn the_overview_lists_the_jobs_of_the_team_newest_first() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let mut ids = Vec::new();
    for path in ["/a", "/b", "/c"] {
        let started = app
            .post("/v2/crawl", &json!({ "url": site.url(path), "limit": 1 }))
            .await;
        ids.push(started.json()["id"].as_str().unwrap().to_owned());
    }
    let listed = |response: &TestResponse| -> Vec<String> {
        response.json()["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = app.get("/console/api/jobs").await;
    ids.reverse();
    assert_eq!(listed(&all), ids);
    let first = &all.json()["jobs"][0];
    assert_fields(first, json!({ "kind": "crawl", "url": site.url("/c") }));
    assert_eq!(listed(&app.get("/console/api/jobs?limit=2").await), ids[..2]);
    assert_eq!(listed(&app.get("/console/api/jobs?search=%2FB").await), ids[1..2]);
    app.get("/console/api/jobs?limit=0")
        .await
        .is_error(400, "BAD_REQUEST");

    let stranger = app.other_key("strangers").await;
    let theirs = app.get_as(&stranger, "/console/api/jobs").await;
    assert_eq!(listed(&theirs), Vec::<String>::new());
}

#[tokio::test]
async fn the_pages_of_a_job_are_listed_without_bodies_and_with_links() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(2).await;
    let formats = json!({"formats": ["markdown", "links"]});
    let body = json!({"url": site.url("/"), "limit": 10, "scrapeOptions": formats});
    let id = start(&app, body).await;
    wait_until(&app, &id, |status| status["status"] == "completed").await;

    let job = app.get(&format!("/console/api/jobs/{id}")).await.json();
    assert_eq!(job["job"]["kind"], "crawl");
    assert_eq!(job["job"]["request"]["limit"], 10);
    assert_eq!(
        job["job"]["pace"],
        json!({ "pages": { "inBrowser": 0, "waited": 0, "retried": 0 }, "limitedBy": null })
    );

    let first = app
        .get(&format!("/console/api/jobs/{id}/pages?limit=2"))
        .await
        .json();
    assert_eq!(
        (first["pages"].as_array().unwrap().len(), &first["next"]),
        (2, &json!(2))
    );
    assert_eq!(first["pages"][0]["url"], site.url("/"));
    assert_eq!(first["pages"][0]["status"], 200);
    assert!(first["pages"][0].get("markdown").is_none() && first["pages"][0]["size"].as_u64() > Some(0));
    let rest = app
        .get(&format!("/console/api/jobs/{id}/pages?skip=2"))
        .await
        .json();
    assert_eq!(
        (rest["pages"].as_array().unwrap().len(), &rest["next"]),
        (1, &json!(null))
    );

    let links = app.get(&format!("/console/api/jobs/{id}/links")).await.json();
    assert_fields(
        &links,
        json!({ "parents": [null, 0, 0], "cut": false, "listed": true }),
    );
    // In the order of the page; either of the two may have been fetched first.
    let mut targets: Vec<_> = links["links"].as_array().unwrap().clone();
    targets.sort_by_key(|link| link[1].as_u64());
    assert_eq!(targets, [json!([0, 1]), json!([0, 2])]);

    let same = app
        .get(&format!("/console/api/jobs/{id}/comparison?with={id}"))
        .await
        .json();
    let counts = json!({ "added": 0, "removed": 0, "changed": 0, "unchanged": 3 });
    assert_fields(&same, json!({ "counts": counts, "pages": [] }));
    let one = start(
        &app,
        json!({"url": site.url("/"), "limit": 1, "scrapeOptions": {"formats": ["html"]}}),
    )
    .await;
    wait_until(&app, &one, |status| status["status"] == "completed").await;
    let shorter = app
        .get(&format!("/console/api/jobs/{one}/comparison?with={id}"))
        .await
        .json();
    let counts = json!({ "added": 0, "removed": 2, "changed": 1, "unchanged": 0 });
    assert_eq!(shorter["counts"], counts);
    assert_eq!(shorter["pages"][0]["change"], "changed");
    let difference = format!("/console/api/jobs/{one}/difference?with={id}&page=0&withPage=0");
    let difference = app.get(&difference).await.json();
    assert_contains(&difference, "/diff/text", "\n+");
    let bad = app
        .get(&format!("/console/api/jobs/{id}/difference?with={id}&page=0"))
        .await;
    bad.is_error(400, "BAD_REQUEST");
    app.get(&format!("/console/api/jobs/{id}/comparison"))
        .await
        .is_error(400, "BAD_REQUEST");

    let other = app.other_key("other").await;
    for path in ["", "/pages", "/links", &format!("/comparison?with={id}")] {
        let path = format!("/console/api/jobs/{id}{path}");
        let response = app.get_as(&other, &path).await;
        response.is_error(404, "NOT_FOUND");
    }
}
