//! Requests while the store fails: every route that uses it returns the same error.

use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use axum::http::Method;
use harvestman_server::router::{Access, routes};
use harvestman_store::{DATABASE_FILE, Store, StoreConfig};
use serde_json::{Value, json};

use crate::app::{TestApp, TestResponse};
use crate::parse;
use crate::routes::filled;
use crate::site::Site;

/// Without keys, so that authentication does not fail before the handler uses the store.
const SETTINGS: &[(&str, &str)] = &[
    ("HARVESTMAN_ALLOW_PRIVATE_HOSTS", "127.0.0.1"),
    ("HARVESTMAN_NO_AUTH", "1"),
    ("HARVESTMAN_PUBLIC_URL", "http://hm.test:3002"),
];

/// Time in which the tasks of a start have read from the store.
const START_TIME: Duration = Duration::from_millis(500);

/// Routes that respond without the store, and those that need a browser, a model or the operator's token first.
const WITHOUT_STORE: &[&str] = &[
    "POST /v2/crawl/params-preview",
    "GET /v2/parse/formats",
    "POST /v2/support/docs-search",
    "POST /v2/support/ask",
    "POST /v2/agent",
    "POST /v2/scrape/{id}/interact",
    "POST /v2/browser",
    "POST /v2/interact",
    "GET /v2/concurrency-check",
    "POST /mcp",
    "POST /console/api/operator",
];

/// Returns a valid body of a route.
fn body(path: &str, site: &Site) -> Value {
    let url = site.url("/");
    match path {
        "/v2/crawl" | "/v2/scrape" | "/v2/map" => json!({ "url": url }),
        "/v2/batch/scrape" => json!({ "urls": [url] }),
        "/v2/extract" => {
            json!({ "urls": [url], "schema": { "properties": { "title": { "type": "string" } } } })
        }
        "/v2/search" => json!({ "query": "herons" }),
        "/v2/search/{id}/feedback" => json!({ "rating": "good" }),
        "/v2/feedback" => {
            json!({ "endpoint": "map", "jobId": "01920000-0000-7000-8000-00000000000a", "rating": "good" })
        }
        "/v2/monitor" => {
            let targets = json!([{ "type": "scrape", "urls": [url] }]);
            json!({ "name": "x", "schedule": { "text": "hourly" }, "targets": targets })
        }
        "/console/api/keys" => json!({ "name": "ci" }),
        "/console/api/webhook-test" => json!({ "url": url }),
        "/console/api/jobs/{id}/webhooks" => json!({ "webhookId": "msg_0192000000007000800000000000000a" }),
        "/v2/browser/{id}/execute" | "/v2/interact/{id}/execute" => json!({ "code": "1" }),
        "/v2/browser/{id}/files" | "/v2/interact/{id}/files" => {
            json!({ "uploadRef": "01920000-0000-4000-8000-00000000000a" })
        }
        "/v2/parse/upload-url" => json!({ "filename": "a.txt" }),
        _ => json!({}),
    }
}

/// Sends a valid request to every route, and checks that each route that uses the store returns this error, apart from
/// those in `except`.
async fn expect_everywhere(app: &TestApp, status: u16, code: &str, except: &[&str]) {
    let site = Site::open(0).await;
    let mut unexpected = Vec::new();
    for route in routes() {
        let uses_path = route.access != Access::Public || route.path.starts_with("/files/");
        if !route.offered || !uses_path {
            continue;
        }
        let method = route.method.clone().unwrap();
        let name = format!("{method} {}", route.path);
        let response = send(app, &method, route.path, &site).await;
        let failed = response.status == status && response.json()["code"] == code;
        if failed == [WITHOUT_STORE, except].concat().contains(&name.as_str()) {
            let text = String::from_utf8_lossy(&response.body).into_owned();
            unexpected.push(format!("{name}: {} {text}", response.status));
        }
    }
    assert_eq!(unexpected, Vec::<String>::new());
}

async fn send(app: &TestApp, method: &Method, path: &str, site: &Site) -> TestResponse {
    if path == "/v2/parse" {
        return parse::parse(
            app,
            "name=\"file\"; filename=\"a.txt\"",
            "text/plain",
            b"a",
            &json!({}),
        )
        .await;
    }
    let body = match *method {
        Method::POST | Method::PATCH => body(path, site).to_string(),
        _ => String::new(),
    };
    let request = app.request(method.clone(), &filled(path));
    app.send(request, body).await
}

#[tokio::test]
async fn every_route_returns_503_while_the_store_is_unavailable() {
    let app = TestApp::with(SETTINGS).await;
    app.app.store().close().await.unwrap();
    expect_everywhere(&app, 503, "SERVICE_UNAVAILABLE", &[]).await;
    let ready = app.get("/ready").await;
    assert_eq!(
        (ready.status.as_u16(), &ready.json()["database"]),
        (503, &json!("unavailable"))
    );
}

#[tokio::test]
async fn every_route_returns_500_when_the_database_is_damaged() {
    let folder = TestApp::new_folder();
    let config = StoreConfig::new(&folder);
    Store::open(&config).await.unwrap().close().await.unwrap();
    let app = TestApp::in_folder(folder.clone(), SETTINGS).await;
    // A write after the reads of the start, so that no connection reads an older page from its memory.
    tokio::time::sleep(START_TIME).await;
    app.app.store().ensure_team("herons").await.unwrap();
    for file in [DATABASE_FILE.to_owned(), format!("{DATABASE_FILE}-wal")] {
        let mut file = std::fs::File::options()
            .write(true)
            .open(folder.join(file))
            .unwrap();
        let length = file.metadata().unwrap().len();
        file.seek(SeekFrom::Start(32)).unwrap();
        file.write_all(&vec![0x5a; usize::try_from(length - 32).unwrap()])
            .unwrap();
    }
    // The start wrote the team, so the writer still has its page in memory.
    let unaffected = ["POST /console/api/webhook-secret"];
    expect_everywhere(&app, 500, "UNKNOWN_ERROR", &unaffected).await;
}
