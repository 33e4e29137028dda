//! Authentication by API keys.

use axum::http::{Method, Request};
use harvestman_store::RevokeOutcome;
use serde_json::json;

use crate::app::TestApp;
use crate::assertions::assert_fields;

async fn with_header(app: &TestApp, value: &str) -> crate::app::TestResponse {
    let request = app
        .anonymous(Method::GET, "/v2/crawl/active")
        .header("authorization", value);
    app.send(request, "").await
}

#[tokio::test]
async fn missing_malformed_and_unknown_keys_are_refused() {
    let app = TestApp::start().await;
    let missing = app.send(app.anonymous(Method::GET, "/v2/crawl/active"), "").await;
    missing.is_error(401, "UNAUTHORIZED");
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    let long = format!("Bearer fc-{}", "x".repeat(5_000));
    for bad in ["Bearer fc-unknown", "Bearer", "Basic Zm9v", &app.key, &long] {
        with_header(&app, bad).await.is_error(401, "UNAUTHORIZED");
    }
    assert_eq!(
        with_header(&app, &format!("bearer {}", app.key)).await.status,
        200
    );
}

#[tokio::test]
async fn the_401_never_contains_the_key() {
    let app = TestApp::start().await;
    let response = with_header(&app, "Bearer fc-very-secret").await;
    assert!(!String::from_utf8_lossy(&response.body).contains("very-secret"));
}

#[tokio::test]
async fn a_revoked_key_is_refused() {
    let app = TestApp::start().await;
    let store = app.app.store();
    let key = store.keys(None).await.unwrap().remove(0);
    assert_eq!(
        (key.team_name.as_str(), key.name.as_str()),
        ("default", "first key")
    );
    let revoke = async || {
        store
            .revoke_key(None, key.id, harvestman_engine::now())
            .await
            .unwrap()
    };
    assert_eq!(revoke().await, RevokeOutcome::Revoked);
    assert_eq!(revoke().await, RevokeOutcome::NotFound);
    with_header(&app, &format!("Bearer {}", app.key))
        .await
        .is_error(401, "UNAUTHORIZED");
    assert!(!store.has_keys().await.unwrap());
}

#[tokio::test]
async fn configured_keys_belong_to_their_teams_and_replace_the_first_key() {
    let app = TestApp::with(&[("HARVESTMAN_API_KEYS", "fc-a=red:ci, b.c_d=blue")]).await;
    assert_eq!(app.key, "", "no first key is created if keys are configured");
    for (key, team, name) in [("fc-a", "red", "ci"), ("b.c_d", "blue", "configured")] {
        let info = app.get_as(key, "/console/api/info").await.json();
        assert_fields(&info, json!({ "team": team, "keyName": name }));
    }
}

#[tokio::test]
async fn open_mode_requires_no_key_and_ignores_the_header() {
    let app = TestApp::with(&[
        ("HARVESTMAN_NO_AUTH", "1"),
        ("HARVESTMAN_PUBLIC_URL", "http://hm.test:3002"),
    ])
    .await;
    let none = app.send(app.anonymous(Method::GET, "/v2/crawl/active"), "").await;
    assert_eq!(none.status, 200);
    assert_eq!(with_header(&app, "Bearer nonsense").await.status, 200);
    let info = app.get("/console/api/info").await.json();
    assert_fields(&info, json!({ "open": true, "team": "default" }));
}

#[tokio::test]
async fn open_mode_refuses_web_pages_and_names_of_other_hosts() {
    let request = async |app: &TestApp, path: &str, fields: &[(&'static str, &str)]| {
        let mut request = Request::get(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        app.send(request, "").await
    };
    let local = ("host", "localhost:3002");
    let evil = ("origin", "https://evil.test");
    let app = TestApp::with(&[("HARVESTMAN_NO_AUTH", "1")]).await;
    for path in ["/v2/crawl/active", "/console/api/info"] {
        for allowed in [
            &[local][..],
            &[local, ("origin", "http://localhost:3002")],
            &[("host", "127.0.0.1:3002")],
            &[],
        ] {
            assert_eq!(
                request(&app, path, allowed).await.status,
                200,
                "{path} {allowed:?}"
            );
        }
        for refused in [
            &[local, evil][..],
            &[local, ("origin", "null")],
            &[("host", "evil.test")],
        ] {
            request(&app, path, refused).await.is_error(403, "FORBIDDEN");
        }
    }
    request(&app, "/mcp", &[local, evil])
        .await
        .is_error(403, "FORBIDDEN");
    assert_eq!(
        request(&app, "/health", &[("host", "evil.test")]).await.status,
        200
    );

    let insecure = TestApp::with(&[("HARVESTMAN_NO_AUTH", "1"), ("HARVESTMAN_INSECURE", "1")]).await;
    let foreign = [("host", "evil.test"), evil];
    assert_eq!(request(&insecure, "/v2/crawl/active", &foreign).await.status, 200);
    let with_keys = TestApp::start().await;
    let key = format!("Bearer {}", with_keys.key);
    let foreign = [("host", "evil.test"), evil, ("authorization", key.as_str())];
    assert_eq!(
        request(&with_keys, "/v2/crawl/active", &foreign).await.status,
        200
    );
}
