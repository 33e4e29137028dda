//! Endpoints of the console for keys and webhook secrets.

use axum::http::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, TestResponse};
use crate::assertions::{assert_contains, assert_fields};
use crate::crawl::ALLOW;
use crate::site::Site;

async fn call(app: &TestApp, method: Method, path: &str, key: &str, body: &Value) -> TestResponse {
    app.send(app.request_as(key, method, path), body.to_string())
        .await
}

async fn list_keys(app: &TestApp, key: &str) -> Vec<Value> {
    let response = call(app, Method::GET, "/console/api/keys", key, &json!({})).await;
    response.json()["keys"].as_array().unwrap().clone()
}

async fn create_key(app: &TestApp, name: &str) -> (String, String) {
    let key = app
        .post("/console/api/keys", &json!({ "name": name }))
        .await
        .json();
    assert_fields(&key, json!({ "success": true, "name": name }));
    let text = |field: &str| key[field].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

async fn works(app: &TestApp, key: &str) -> bool {
    let response = call(app, Method::GET, "/v2/crawl/active", key, &json!({})).await;
    response.status == 200
}

#[tokio::test]
async fn a_key_is_created_listed_used_and_revoked() {
    let app = TestApp::start().await;
    let (id, key) = create_key(&app, "ci").await;
    assert!(works(&app, &key).await);

    let keys = list_keys(&app, &key).await;
    let of = |keys: &[Value], id: &str| keys.iter().find(|row| row["id"] == id).unwrap().clone();
    let row = of(&keys, &id);
    assert_eq!(
        (keys.len(), &row["name"], &row["team"]),
        (2, &"ci".into(), &"default".into())
    );
    assert_eq!(row["hint"], key[key.len() - 4..]);
    assert_fields(&row, json!({ "current": true, "revokedAt": null }));
    assert_eq!(keys.iter().filter(|row| row["current"] == true).count(), 1);
    assert!(
        !json!(keys).to_string().contains(&key),
        "the list never contains the key itself"
    );

    let path = format!("/console/api/keys/{id}");
    let gone = call(&app, Method::DELETE, &path, &app.key, &json!({})).await;
    assert_eq!(
        (gone.status.as_u16(), gone.json()),
        (200, json!({ "success": true }))
    );
    // The lookup of the key was cached a moment ago.
    assert!(!works(&app, &key).await);
    let row = of(&list_keys(&app, &app.key).await, &id);
    assert!(
        row["revokedAt"].is_string() && row["lastUsedAt"].is_string(),
        "{row}"
    );
    call(&app, Method::DELETE, &path, &app.key, &json!({}))
        .await
        .is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn the_last_key_of_a_team_cannot_be_revoked() {
    let app = TestApp::start().await;
    let id = list_keys(&app, &app.key).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/console/api/keys/{id}");
    let refused = call(&app, Method::DELETE, &path, &app.key, &json!({})).await;
    refused.is_error(409, "CONFLICT");
    assert_contains(&refused.json(), "/error", "last key");
    assert!(works(&app, &app.key).await);
    let (_, second) = create_key(&app, "second").await;
    let gone = call(&app, Method::DELETE, &path, &app.key, &json!({})).await;
    assert_eq!(gone.status, 200, "a key may revoke itself");
    assert!(!works(&app, &app.key).await && works(&app, &second).await);
}

#[tokio::test]
async fn a_team_sees_and_revokes_only_its_own_keys() {
    let app = TestApp::start().await;
    let stranger = app.other_key("strangers").await;
    let (id, key) = create_key(&app, "ours").await;
    let theirs = list_keys(&app, &stranger).await;
    assert_eq!((theirs.len(), &theirs[0]["team"]), (1, &"strangers".into()));
    let path = format!("/console/api/keys/{id}");
    call(&app, Method::DELETE, &path, &stranger, &json!({}))
        .await
        .is_error(404, "NOT_FOUND");
    assert!(works(&app, &key).await);
    for bad in [
        json!({}),
        json!({ "name": "" }),
        json!({ "name": "x", "team": "strangers" }),
    ] {
        app.post("/console/api/keys", &bad)
            .await
            .is_error(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn a_revoked_configured_key_stays_revoked_after_a_restart() {
    let app = TestApp::with(&[("HARVESTMAN_API_KEYS", "fc-one=red,fc-two=red")]).await;
    let keys = list_keys(&app, "fc-one").await;
    let two = keys.iter().find(|row| row["current"] == false).unwrap();
    assert_eq!(two["hint"], "", "a short key has no hint");
    assert_eq!(two["lastUsedAt"], Value::Null, "adding a key is no use of it");
    let path = format!("/console/api/keys/{}", two["id"].as_str().unwrap());
    assert_eq!(
        call(&app, Method::DELETE, &path, "fc-one", &json!({}))
            .await
            .status,
        200
    );
    let now = harvestman_engine::now();
    harvestman_server::bootstrap::access(app.app.config(), app.app.store(), now)
        .await
        .unwrap();
    assert!(works(&app, "fc-one").await && !works(&app, "fc-two").await);
}

#[tokio::test]
async fn a_test_event_is_signed_with_the_secret_of_the_team() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let secret = async || app.get("/console/api/webhook-secret").await.json();
    assert_eq!(
        secret().await,
        json!({ "success": true, "set": false, "source": null })
    );
    let receiver = json!({ "url": site.url("/"), "metadata": { "a": 1 }, "headers": { "x-a": "b" } });
    let tried = async || app.post("/console/api/webhook-test", &receiver).await.json();
    assert_eq!(tried().await["signed"], false);

    let rotated = app.post("/console/api/webhook-secret", &json!({})).await.json();
    assert!(rotated["secret"].as_str().unwrap().len() > 60);
    assert_eq!(
        secret().await,
        json!({ "success": true, "set": true, "source": "team" })
    );
    let response = tried().await;
    assert_fields(&response, json!({ "success": true, "signed": true }));
    assert!(
        response["status"].is_u64() && response["durationMs"].is_u64(),
        "{response}"
    );

    let gone = app
        .post(
            "/console/api/webhook-test",
            &json!({ "url": "http://127.0.0.1:1/" }),
        )
        .await
        .json();
    assert_fields(&gone, json!({ "delivered": false, "status": null }));
    assert!(gone["error"].is_string());
    let private = app
        .post("/console/api/webhook-test", &json!({ "url": "http://10.0.0.1/" }))
        .await;
    private.is_error(400, "BAD_REQUEST");
    assert_eq!(private.json()["details"][0]["path"], json!(["url"]));
}
