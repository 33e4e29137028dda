//! Statuses of session requests, access of other teams, and the list of sessions.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use harvestman_tests::{AUTHORIZATION, TestServer, assert_contains, assert_fields};
use http::Method;
use serde_json::{Value, json};

use super::setup::{as_other, bash, delete, execute, interact, open, run, server, sessions, site};

const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[tokio::test]
async fn every_refused_request_has_its_status() {
    let settings = [
        ("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1"),
        ("HARVESTMAN_NODE", "none"),
    ];
    let (site, server) = (site().await, server(&settings).await);
    let refused = async |path: &str, body: Value, status: u16, code: &str| {
        let response = server.post(path, &body).await;
        response.is_error_for(format!("{path} {body}"), status, code);
        assert_eq!(response.json["success"], false, "{path} {body}");
    };
    let code = || bash("get url");
    let path = interact(&server.scrape_id(&json!({ "url": site.url("/") })).await);
    for body in [
        json!({}),
        json!({ "code": "1", "prompt": "click" }),
        json!({ "code": "1", "timeout": 301 }),
        json!({ "code": "1", "ttl": 29 }),
        json!({ "code": "1", "language": "ruby" }),
        json!({ "code": "1", "colour": "red" }),
    ] {
        refused(&path, body, 400, "BAD_REQUEST").await;
    }
    refused(&interact("nobody"), code(), 400, "BAD_REQUEST").await;
    refused(&interact(UNKNOWN), code(), 404, "NOT_FOUND").await;
    refused(&execute(UNKNOWN), code(), 404, "NOT_FOUND").await;

    // An unavailable language is refused before a browser is opened.
    let node = json!({ "code": "1 + 1" });
    refused(&path, node, 503, "FEATURE_NOT_CONFIGURED").await;

    let discreet = server
        .scrape_id(&json!({ "url": site.url("/"), "zeroDataRetention": true }))
        .await;
    refused(&interact(&discreet), code(), 409, "REPLAY_UNAVAILABLE").await;
    let upload = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.html\"\r\n\r\n<p>Text\r\n--x--\r\n";
    let headers = [AUTHORIZATION, ("content-type", "multipart/form-data; boundary=x")];
    let parsed = server
        .send(Method::POST, "/v2/parse", &headers, upload)
        .await
        .ok();
    let parsed = parsed["data"]["metadata"]["scrapeId"].as_str().unwrap();
    refused(&interact(parsed), code(), 409, "REPLAY_UNAVAILABLE").await;
    // A scrape that cannot be replayed: the element that its action clicks is gone.
    let click = json!([{ "type": "click", "selector": "a" }]);
    let changed = server
        .scrape_id(&json!({ "url": site.url("/second"), "actions": click }))
        .await;
    site.change(
        "/second",
        Some(harvestman_tests::Page::html("<p>Nothing to click here any more.")),
    );
    refused(&interact(&changed), code(), 409, "REPLAY_UNAVAILABLE").await;
    assert_eq!(
        sessions(&server, "").await,
        [] as [Value; 0],
        "none of these requests opened a session"
    );

    assert_eq!(server.delete(&path).await.status, 404, "there is no session yet");
    run(&server, &path, "get url").await;
    let ended = server.delete(&path).await.ok();
    assert_eq!(ended["success"], true);
    assert!(
        ended["sessionDurationMs"].is_u64() && ended["creditsBilled"].as_u64() >= Some(1),
        "{ended}"
    );
    assert_eq!(server.delete(&path).await.status, 404);
    refused(&path, code(), 410, "SESSION_DESTROYED").await;

    let id = open(&server, json!({})).await;
    delete(&server, &id).await.ok();
    assert_eq!(delete(&server, &id).await.status, 404);
    refused(&execute(&id), code(), 410, "SESSION_DESTROYED").await;
}

#[tokio::test]
async fn without_a_browser_session_requests_get_503() {
    let (site, server) = (site().await, TestServer::start().await);
    let id = server.scrape_id(&json!({ "url": site.url("/") })).await;
    for (path, body) in [
        (interact(&id), bash("get url")),
        ("/v2/browser".to_owned(), json!({})),
    ] {
        let response = server.post(&path, &body).await;
        response.is_error_for(path, 503, "FEATURE_NOT_CONFIGURED");
    }
    assert_eq!(sessions(&server, "").await, [] as [Value; 0]);
}

#[tokio::test]
async fn other_teams_cannot_access_a_session() {
    let (site, server) = (site().await, server(&[]).await);
    let scraped = server.scrape_id(&json!({ "url": site.url("/") })).await;
    let path = interact(&scraped);
    let code = bash("get url");
    let forbidden = async |method: Method, path: &str| {
        let body = (method == Method::POST).then_some(&code);
        let response = as_other(&server, method, path, body).await;
        response.is_error_for(path, 403, "FORBIDDEN");
    };
    let both = async |path: &str| {
        forbidden(Method::POST, path).await;
        forbidden(Method::DELETE, path).await;
    };
    both(&path).await;
    run(&server, &path, "get url").await;
    both(&path).await;
    let id = open(&server, json!({})).await;
    forbidden(Method::POST, &execute(&id)).await;
    forbidden(Method::DELETE, &format!("/v2/browser/{id}")).await;
    let list = as_other(&server, Method::GET, "/v2/browser", None).await.ok();
    assert_eq!(list["sessions"], json!([]));
    server.delete(&path).await.ok();
    both(&path).await;
    // None of the refused requests had an effect.
    assert_eq!(run(&server, &execute(&id), "get url").await, "about:blank");
}

#[tokio::test]
async fn sessions_of_a_team_are_limited() {
    let (site, server) = (site().await, server(&[("HARVESTMAN_MAX_SESSIONS", "1")]).await);
    let scraped = server.scrape_id(&json!({ "url": site.url("/") })).await;
    let id = open(&server, json!({})).await;
    for (path, body) in [
        ("/v2/browser".to_owned(), json!({})),
        (interact(&scraped), bash("get url")),
    ] {
        let refused = server.post(&path, &body).await;
        refused.is_error(429, "CONCURRENCY_LIMITED");
        let seconds = refused.headers["retry-after"].to_str().unwrap().parse::<u32>();
        assert!(seconds.is_ok_and(|seconds| seconds > 0));
    }
    as_other(&server, Method::POST, "/v2/browser", Some(&json!({})))
        .await
        .ok();
    delete(&server, &id).await.ok();
    run(&server, &interact(&scraped), "get url").await;
}

#[tokio::test]
async fn the_queue_of_calls_of_a_session_is_limited() {
    let (site, server) = (site().await, server(&[]).await);
    let path = execute(&open(&server, json!({})).await);
    let (long, short) = (bash(&format!("open {}", site.url("/"))), bash("get url"));
    site.hold_after(0);
    let others = async {
        site.wait_for_requests(1).await;
        let mut calls: FuturesUnordered<_> = (0..20).map(|_| server.post(&path, &short)).collect();
        for _ in 0..5 {
            let refused = calls.next().await.unwrap();
            refused.is_error(429, "CONCURRENCY_LIMITED");
            assert!(refused.headers.contains_key("retry-after"));
        }
        site.release();
        calls.collect::<Vec<_>>().await
    };
    let (first, others) = tokio::join!(server.post(&path, &long), others);
    assert!(
        others
            .iter()
            .chain([&first])
            .all(|response| response.status == 200)
    );
}

#[tokio::test]
async fn sessions_are_listed_with_all_their_fields() {
    let (site, server) = (site().await, server(&[]).await);
    let first = open(&server, json!({ "streamWebView": false })).await;
    let second = interact(&server.scrape_id(&json!({ "url": site.url("/") })).await);
    run(&server, &second, "get url").await;
    let list = sessions(&server, "").await;
    assert_eq!(list.len(), 2);
    assert_eq!(list[1]["id"], first.as_str(), "the newest session comes first");
    assert_fields(&list[1], json!({ "streamWebView": false, "liveViewUrl": "" }));
    assert_eq!(list[0]["streamWebView"], true);
    assert!(
        list.iter()
            .all(|session| session["cdpUrl"].as_str().unwrap().starts_with("ws://"))
    );
    assert_contains(&list[0], "/liveViewUrl", "/live/");
    assert_eq!(
        server.get("/v2/interact").await.ok()["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    delete(&server, &first).await.ok();
    let active = sessions(&server, "?status=active").await;
    assert_eq!((active.len(), active[0]["id"] == first.as_str()), (1, false));
    let destroyed = sessions(&server, "?status=destroyed").await;
    assert_eq!((destroyed.len(), &destroyed[0]["id"]), (1, &json!(first)));
    for session in sessions(&server, "").await {
        for name in [
            "id", "status", "cdpUrl", "liveViewUrl", "interactiveLiveViewUrl", "createdAt", "lastActivity",
        ] {
            assert!(session[name].is_string(), "{name} of {session}");
        }
        assert!(session["streamWebView"].is_boolean());
        let over = session["status"] == "destroyed";
        assert_eq!(session["cdpUrl"] == "", over, "{session}");
    }
    assert_eq!(server.get("/v2/browser?status=asleep").await.status, 400);
}

#[tokio::test]
async fn opening_a_session_requires_credits() {
    let (site, server) = (site().await, server(&[("HARVESTMAN_CREDIT_BUDGET", "2")]).await);
    let path = interact(&server.scrape_id(&json!({ "url": site.url("/") })).await);
    run(&server, &path, "get url").await;
    server
        .post("/v2/browser", &json!({}))
        .await
        .is_error(402, "INSUFFICIENT_CREDITS");
    server.delete(&path).await.ok();
    server
        .post("/v2/browser", &json!({}))
        .await
        .is_error(402, "INSUFFICIENT_CREDITS");
}
