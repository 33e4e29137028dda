//! Middleware of every request: ids, CORS, security headers, compression; and the health endpoints.

use axum::http::{Method, StatusCode};
use harvestman_server::listen::Peer;

use crate::app::TestApp;
use crate::assertions::assert_contains;

#[tokio::test]
async fn every_response_has_a_request_id_and_the_headers_of_the_api() {
    let app = TestApp::start().await;
    for path in ["/health", "/nowhere", "/v2/crawl/active"] {
        let response = app.get(path).await;
        assert!(
            uuid::Uuid::try_parse(response.header("x-request-id")).is_ok(),
            "{path}"
        );
        assert_eq!(response.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(response.header("cache-control"), "no-store", "{path}");
        assert_eq!(response.header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(response.header("content-type"), "application/json", "{path}");
    }
}

#[tokio::test]
async fn a_valid_request_id_is_echoed() {
    let app = TestApp::start().await;
    let request = app
        .anonymous(Method::GET, "/health")
        .header("x-request-id", "my:id-1._");
    let response = app.send(request, "").await;
    assert_eq!(response.header("x-request-id"), "my:id-1._");
}

#[tokio::test]
async fn options_requests_need_no_key() {
    let app = TestApp::start().await;
    for path in ["/v2/crawl", "/v2/scrape/x", "/nowhere"] {
        let request = app
            .anonymous(Method::OPTIONS, path)
            .header("origin", "https://app.example");
        let response = app.send(request, "").await;
        assert_eq!(response.status, StatusCode::NO_CONTENT, "{path}");
        assert_eq!(response.header("access-control-allow-origin"), "*");
        assert!(response.header("access-control-allow-methods").contains("DELETE"));
        for name in [
            "Authorization", "Content-Type", "x-idempotency-key", "x-request-id",
        ] {
            assert!(
                response.header("access-control-allow-headers").contains(name),
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn the_console_is_not_open_to_other_origins() {
    let app = TestApp::start().await;
    let response = app.get("/console/api/info").await;
    assert_eq!(response.status, StatusCode::OK);
    assert_eq!(response.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn responses_are_compressed_if_the_client_accepts_it() {
    let app = TestApp::start().await;
    let request = app
        .anonymous(Method::GET, "/metrics")
        .header("accept-encoding", "gzip");
    let response = app.send(request, "").await;
    assert_eq!(response.header("content-encoding"), "gzip");
    assert_eq!(response.body[..2], [0x1f, 0x8b]);
    assert_eq!(app.get("/metrics").await.header("content-encoding"), "");
}

#[tokio::test]
async fn a_panic_becomes_a_500_with_the_request_id() {
    let mut app = TestApp::start().await;
    app.router = axum::Router::new()
        .route(
            "/boom",
            axum::routing::get(|| async { panic!("panic of the test") as () }),
        )
        .layer(axum::middleware::from_fn_with_state(
            app.app.clone(),
            harvestman_server::edge::edge,
        ));
    let request = app
        .anonymous(Method::GET, "/boom")
        .header("x-request-id", "find-me");
    let response = app.send(request, "").await;
    response.is_error(500, "UNKNOWN_ERROR");
    assert_contains(&response.json(), "/error", "find-me");
    assert!(!String::from_utf8_lossy(&response.body).contains("panic of the test"));
}

#[tokio::test]
async fn metrics_are_local_unless_metrics_public_is_set() {
    let app = TestApp::start().await;
    app.get("/nowhere").await;
    let local = app.get("/metrics").await;
    let text = String::from_utf8(local.body).unwrap();
    assert!(
        text.contains("harvestman_http_requests_total{status=\"404\"} 1"),
        "{text}"
    );

    let far = Peer("192.0.2.1:5".parse().unwrap());
    let request = app.anonymous(Method::GET, "/metrics").extension(far);
    app.send(request, "").await.is_error(403, "FORBIDDEN");
    let proxied = app
        .anonymous(Method::GET, "/metrics")
        .header("x-forwarded-for", "192.0.2.1");
    app.send(proxied, "").await.is_error(403, "FORBIDDEN");

    let open = TestApp::with(&[("HARVESTMAN_METRICS_PUBLIC", "1")]).await;
    let proxied = open
        .anonymous(Method::GET, "/metrics")
        .header("x-forwarded-for", "192.0.2.1");
    assert_eq!(open.send(proxied, "").await.status, 200);
}

#[tokio::test]
async fn ready_reports_the_state_of_each_component() {
    let app = TestApp::start().await;
    for path in ["/ready", "/health/ready"] {
        let response = app.get(path).await;
        assert_eq!(
            (response.status.as_u16(), &response.json()["database"]),
            (200, &"ok".into())
        );
        for part in ["browser", "llm", "search"] {
            assert_eq!(response.json()[part], "not configured", "{part}");
        }
    }
    for path in ["/health", "/health/live"] {
        assert_eq!(app.get(path).await.json(), serde_json::json!({ "status": "ok" }));
    }
    app.app.stopping().cancel();
    let response = app.get("/ready").await;
    assert_eq!(
        (response.status.as_u16(), &response.json()["queue"]),
        (503, &"stopping".into())
    );
}
