//! Operator commands for teams, keys and plans, with and without a running server.

#![allow(clippy::unwrap_used)]

use http::Method;
use serde_json::json;

use harvestman_tests::server::{KEY, OTHER_KEY};
use harvestman_tests::{HttpResponse, Page, Site, TestServer, assert_fields};

const PLANS: &str = "[plans.small]\nrate_limit = 3\ncredit_budget = 1\nmax_concurrency = 1\n";

async fn send_request(server: &TestServer, key: &str) -> HttpResponse {
    let authorization = format!("Bearer {key}");
    let headers = [("authorization", authorization.as_str())];
    server.send(Method::GET, "/v2/crawl/active", &headers, "").await
}

fn done(server: &TestServer, arguments: &[&str]) -> String {
    let (good, output) = server.run_command(arguments);
    assert!(good, "{arguments:?}: {output}");
    output.trim_end().to_owned()
}

fn refused(server: &TestServer, arguments: &[&str]) -> String {
    let (good, output) = server.run_command(arguments);
    assert!(!good, "{arguments:?}: {output}");
    output
}

#[tokio::test]
async fn keys_are_created_and_revoked_with_a_running_server() {
    let mut server = TestServer::start().await;
    assert!(refused(&server, &["keys", "create", "--team", "red"]).contains("unknown team `red`"));
    done(&server, &["teams", "create", "red"]);
    let key = done(&server, &["keys", "create", "--team", "red", "--name", "ci"]);
    assert_eq!(send_request(&server, &key).await.status, 200);
    let listed = done(&server, &["keys", "list", "--team", "red"]);
    assert!(
        listed.ends_with("  red  ci") && !listed.contains(&key),
        "{listed}"
    );
    assert!(
        listed.contains(&format!("...{}", &key[key.len() - 4..])),
        "{listed}"
    );
    assert_eq!(done(&server, &["keys", "list"]).lines().count(), 3);

    // The lookup of the key was cached a moment ago.
    let id = listed.split(' ').next().unwrap();
    assert_eq!(send_request(&server, &key).await.status, 200);
    assert_eq!(done(&server, &["keys", "revoke", id]), format!("revoked {id}"));
    send_request(&server, &key).await.is_error(401, "UNAUTHORIZED");
    assert!(refused(&server, &["keys", "revoke", id]).contains("already revoked"));
    assert_eq!(done(&server, &["keys", "list", "--team", "red"]), "");
    assert!(done(&server, &["keys", "list", "--team", "red", "--revoked"]).contains("  red  ci  revoked 20"));

    // The same without a running server, with the same data folder.
    server.terminate().await;
    let other = done(&server, &["keys", "create", "--team", "red"]);
    assert!(done(&server, &["teams", "list"]).contains("  red  1 key  default limits"));
    server.restart().await;
    assert_eq!(send_request(&server, &other).await.status, 200);
    assert_eq!(send_request(&server, &key).await.status, 401);

    // After a crash the connection file of the killed server is still there and must be ignored.
    server.kill9();
    assert!(done(&server, &["teams", "create", "blue"]).ends_with("  blue"));
    server.restart().await;
    assert!(done(&server, &["teams", "list"]).contains("  blue  0 keys"));
}

#[tokio::test]
async fn operator_commands_require_the_token() {
    let server = TestServer::start().await;
    let command = r#"{"command":"create-key","team":"test","name":"x"}"#;
    for authorization in ["", "Bearer fc-test", "Bearer 0000", "Basic x"] {
        let headers = [("authorization", authorization)];
        let response = server
            .send(Method::POST, "/console/api/operator", &headers, command)
            .await;
        response.is_error_for(authorization, 401, "UNAUTHORIZED");
    }
    assert_eq!(done(&server, &["keys", "list"]).lines().count(), 2);
}

#[tokio::test]
async fn a_plan_applies_to_its_team_at_once_and_after_a_restart() {
    let site = Site::new().page("/", Page::html("<p>page")).serve().await;
    let mut server = TestServer::start().await;
    let unknown = refused(&server, &["teams", "set-plan", "other", "small"]);
    assert!(unknown.contains("unknown plan `small`"), "{unknown}");
    server.terminate().await;
    std::fs::write(server.data_dir().join("harvestman.toml"), PLANS).unwrap();
    server.restart().await;
    assert!(refused(&server, &["teams", "set-plan", "nobody", "small"]).contains("unknown team `nobody`"));

    let scrape = async |key: &str| {
        let authorization = format!("Bearer {key}");
        let headers = [("authorization", authorization.as_str())];
        let body = json!({ "url": site.url("/") }).to_string();
        server.send(Method::POST, "/v2/scrape", &headers, body).await
    };
    scrape(OTHER_KEY).await.ok();
    assert_eq!(
        done(&server, &["teams", "set-plan", "other", "small"]),
        "other now has the plan small"
    );
    scrape(OTHER_KEY).await.is_error(402, "INSUFFICIENT_CREDITS");
    for _ in 0..2 {
        assert_eq!(send_request(&server, OTHER_KEY).await.status, 200);
    }
    let much = send_request(&server, OTHER_KEY).await;
    much.is_error(429, "RATE_LIMITED");
    let wait: u64 = much.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    for _ in 0..5 {
        scrape(KEY).await.ok();
    }
    assert!(done(&server, &["teams", "list"]).contains("  other  1 key  plan small"));

    assert_eq!(
        done(&server, &["teams", "set-plan", "other"]),
        "other now has the default limits"
    );
    scrape(OTHER_KEY).await.ok();
    done(&server, &["teams", "set-plan", "other", "small"]);
    server.terminate().await;
    server.restart().await;
    let body = json!({ "url": site.url("/") }).to_string();
    let broke = server.send_as_other(Method::POST, "/v2/scrape", body).await;
    assert_eq!(broke.status, 402, "the plan survives the restart");
}

#[tokio::test]
async fn feedback_is_stored_once_for_the_operator() {
    let server = TestServer::start().await;
    let site = Site::new().page("/", Page::links("Start", &[])).serve().await;
    let job = server.scrape_id(&json!({ "url": site.url("/") })).await;
    let body = json!({ "endpoint": "scrape", "jobId": job, "rating": "bad", "note": "The price is missing.",
        "integration": null, "origin": "test" });
    let first = server.post("/v2/feedback", &body).await.ok();
    assert_eq!(
        (&first["creditsRefunded"], first.get("alreadySubmitted")),
        (&json!(0), None)
    );
    let second = server.post("/v2/feedback", &body).await.ok();
    assert_fields(
        &second,
        json!({ "feedbackId": first["feedbackId"], "alreadySubmitted": true }),
    );
    let search = server.post("/v2/search", &json!({ "query": "start" })).await.ok();
    let rated = json!({ "rating": "partial", "missingContent": [{ "topic": "prices" }] });
    let path = format!("/v2/search/{}/feedback", search["id"].as_str().unwrap());
    server.post(&path, &rated).await.ok();

    server
        .send_as_other(Method::POST, "/v2/feedback", body.to_string())
        .await
        .is_error(404, "NOT_FOUND");
    for bad in [
        json!({ "endpoint": "scrape", "jobId": job }),
        json!({ "endpoint": "agent", "jobId": job, "rating": "good" }),
        json!({ "endpoint": "scrape", "jobId": job, "rating": "good", "metadata": { "a": "x".repeat(9000) } }),
    ] {
        assert_eq!(server.post("/v2/feedback", &bad).await.status, 400, "{bad}");
    }
    let listed = done(&server, &["feedback"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(
        lines[0].contains("  test  search  ") && lines[0].contains("prices"),
        "{listed}"
    );
    assert!(
        lines[1].contains(&format!("  test  scrape  {job}  bad  "))
            && lines[1].contains("The price is missing.")
    );
}
