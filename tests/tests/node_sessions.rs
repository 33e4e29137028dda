//! Browser sessions of several servers on one PostgreSQL database: every request reaches the server that holds the
//! browser, from any server. They use the PostgreSQL server that `HARVESTMAN_TEST_POSTGRES` names.

#![allow(clippy::unwrap_used)]

#[path = "nodes/cluster.rs"]
mod cluster;

use std::time::{Duration, Instant, UNIX_EPOCH};

use futures_util::{SinkExt, StreamExt};
use harvestman_core::ids::{JobId, SessionId};
use harvestman_core::time::Timestamp;
use harvestman_store::{DatabaseUrl, JobKind, NewJob, NewSession, Store, StoreConfig, new_id};
use harvestman_tests::{
    AUTHORIZATION, DatabaseProxy, JSON, Page, RunningSite, Site, TestDatabase, TestServer, assert_fields,
    new_job, tools,
};
use http::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_postgres::NoTls;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use cluster::node;

type Socket = WebSocketStream<TcpStream>;

const TIMEOUT: Duration = Duration::from_secs(120);

async fn site() -> RunningSite {
    Site::new().page("/", Page::links("Start", &[])).serve().await
}

async fn servers(database: &TestDatabase) -> [TestServer; 2] {
    let settings = [tools::chromium()];
    [node(database, &settings).await, node(database, &settings).await]
}

/// Opens a socket at `url`, which names one server, on another one.
async fn socket(server: &TestServer, url: &str) -> Socket {
    let path = url.splitn(4, '/').nth(3).unwrap();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let url = format!("ws://{}/{path}", server.address());
    client_async(url, stream).await.unwrap().0
}

async fn next_text(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Close(frame) => panic!("closed: {frame:?}"),
            _ => {}
        }
    }
}

fn browser_code(code: &str) -> Value {
    json!({ "code": code, "language": "bash" })
}

async fn status_of(server: &TestServer, id: &str) -> Value {
    let sessions = server.get("/v2/browser").await.ok();
    let sessions = sessions["sessions"].as_array().unwrap();
    let found = sessions.iter().find(|session| session["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not listed")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_page_that_waits_for_its_host_frees_the_browser_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [tools::chromium(), ("HARVESTMAN_MAX_BROWSER_PAGES", "1")];
    let server = node(&database, &settings).await;
    let app = "<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>";
    let slow = Site::new()
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nCrawl-delay: 60"),
        )
        .page("/", Page::html(app));
    let (slow, site) = (slow.serve().await, site().await);
    let crawl = server
        .crawl(&json!({ "url": slow.url("/"), "sitemap": "skip", "limit": 1 }))
        .await;
    // The page has the only slot for the browser, and its host's next turn is in a minute.
    let since = Instant::now();
    loop {
        let metrics = server.get("/metrics").await;
        if metrics
            .text()
            .contains("\nharvestman_pages_in_flight{via=\"browser\"} 1\n")
        {
            break;
        }
        assert!(since.elapsed() < TIMEOUT, "{}", server.log());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    server.delete(&format!("/v2/crawl/{crawl}")).await.ok();
    let picture = json!({ "url": site.url("/"), "formats": ["screenshot"], "timeout": 30_000 });
    let response = server.post("/v2/scrape", &picture).await;
    assert_eq!(response.status, 200, "{}", response.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_stored_although_its_request_failed_ends_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", &url), tools::chromium()]).await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    proxy.delay(Duration::from_millis(500));
    let request = json!({});
    let opening = server.post("/v2/browser", &request);
    let losing = async {
        let stored = "SELECT EXISTS (SELECT FROM harvestman.session)";
        while !client.query_one(stored, &[]).await.unwrap().get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The response to the COMMIT is on its way.
        proxy.refuse();
    };
    let (refused, ()) = tokio::join!(opening, losing);
    assert_eq!(refused.status, 503, "{}", refused.text());
    proxy.delay(Duration::ZERO);
    proxy.restore();
    let since = Instant::now();
    let ended = "SELECT EXISTS (SELECT FROM harvestman.session WHERE ended_at IS NOT NULL AND credits = 0)";
    while !client.query_one(ended, &[]).await.unwrap().get::<_, bool>(0) {
        assert!(since.elapsed() < TIMEOUT, "the session does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_follows_the_clock_of_the_database_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = node(&database, &[tools::chromium()]).await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let ahead =
        "CREATE OR REPLACE FUNCTION harvestman.clock(node_time bigint) RETURNS bigint LANGUAGE sql STABLE
        AS 'SELECT node_time + 3456000000'";
    client.batch_execute(ahead).await.unwrap();
    let time = "SELECT (extract(epoch FROM now() + interval '40 days') * 1000)::bigint AS ms,
        to_char(now() AT TIME ZONE 'UTC' + interval '40 days', 'YYYY-MM') AS month";
    let now = client.query_one(time, &[]).await.unwrap();
    let opened = server.post("/v2/browser", &json!({})).await.ok();
    server
        .delete(&format!("/v2/browser/{}", opened["id"].as_str().unwrap()))
        .await
        .ok();
    let row = "SELECT created_at, expires_at, ended_at FROM harvestman.session";
    let row = client.query_one(row, &[]).await.unwrap();
    for column in ["created_at", "expires_at", "ended_at"] {
        assert!(row.get::<_, i64>(column) >= now.get("ms"), "{column}: {row:?}");
    }
    let charged = client
        .query_one("SELECT month FROM harvestman.month_usage", &[])
        .await
        .unwrap();
    assert_eq!(charged.get::<_, String>("month"), now.get::<_, String>("month"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_used_from_any_server_on_postgresql() {
    let (database, site) = (TestDatabase::create().await, site().await);
    let [owner, other] = servers(&database).await;
    let opened = owner.post("/v2/browser", &json!({ "ttl": 300 })).await.ok();
    let id = opened["id"].as_str().unwrap();
    let execute = format!("/v2/browser/{id}/execute");
    let code = browser_code(&format!("agent-browser open {}", site.url("/")));
    let response = other.post(&execute, &code).await.ok();
    assert_fields(&response, json!({ "success": true, "exitCode": 0 }));
    // URLs lead to the server that the client uses, and have the same tokens as those of the owner.
    let base = format!("http://{}/live/", other.address());
    let view = response["liveViewUrl"].as_str().unwrap();
    assert!(view.starts_with(&base), "{view}");
    let token = view.rsplit('/').next().unwrap();
    assert!(opened["liveViewUrl"].as_str().unwrap().ends_with(token));
    let listed = status_of(&other, id).await;
    assert_eq!(listed["status"], "active");
    assert_eq!(listed["cdpUrl"], response["cdpUrl"]);
    let shown = other.send(Method::GET, &format!("/live/{token}"), &[], "").await;
    assert_eq!(shown.status, 200);

    // Live view and browser protocol through the other server.
    let control = opened["interactiveLiveViewUrl"].as_str().unwrap();
    let mut live = socket(&other, &control.replace("/live/", "/live/sockets/")).await;
    assert_eq!(
        next_text(&mut live).await,
        json!({ "type": "hello", "control": true })
    );
    let mut cdp = socket(&other, opened["cdpUrl"].as_str().unwrap()).await;
    let command = json!({ "id": 7, "method": "Browser.getVersion" });
    cdp.send(Message::Text(command.to_string().into())).await.unwrap();
    loop {
        let message = next_text(&mut cdp).await;
        if message["id"] == 7 {
            assert!(message["result"]["product"].is_string(), "{message}");
            break;
        }
    }

    // Other teams, wrong tokens and unsigned forwards get no further than on one server.
    let refused = other
        .send_as_other(Method::POST, &execute, code.to_string())
        .await;
    assert_eq!(refused.status, 403);
    let wrong = format!("/live/sockets/{}", token.replace(&token[40..], &"0".repeat(24)));
    assert_eq!(other.send(Method::GET, &wrong, &[], "").await.status, 404);
    let forged = [
        AUTHORIZATION,
        (
            "x-harvestman-forwarded",
            "00000000-0000-0000-0000-000000000000 00 http://evil.test",
        ),
    ];
    other
        .send(Method::GET, "/v2/browser", &forged, "")
        .await
        .is_error(403, "FORBIDDEN");

    let ended = other.delete(&format!("/v2/browser/{id}")).await.ok();
    assert_eq!(ended["success"], true, "{ended}");
    assert!(ended["creditsBilled"].as_u64().unwrap() > 0, "{ended}");
    while let Some(Ok(_)) = live.next().await {}
    for server in [&owner, &other] {
        assert_eq!(server.post(&execute, &code).await.status, 410);
        assert_eq!(status_of(server, id).await["status"], "destroyed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_of_a_scrape_is_continued_from_any_server_on_postgresql() {
    let (database, site) = (TestDatabase::create().await, site().await);
    let [first, second] = servers(&database).await;
    let scrape = async || {
        let request = json!({ "url": site.url("/"), "maxAge": 0 });
        format!("/v2/scrape/{}/interact", first.scrape_id(&request).await)
    };
    let path = scrape().await;
    let code = browser_code("agent-browser get title");
    let opened = first.post(&path, &code).await.ok();
    let again = second.post(&path, &code).await.ok();
    assert_eq!(again["sessionId"], opened["sessionId"]);
    assert_eq!(again["stdout"].as_str().unwrap().trim(), "Start", "{again}");
    assert_eq!(second.delete(&path).await.status, 200);
    assert_eq!(first.post(&path, &code).await.status, 410);

    // A session of one server continues a scrape whose first call reaches the other one.
    let opened = first.post("/v2/browser", &json!({})).await.ok();
    let path = scrape().await;
    let mut request = code.clone();
    request["existingSessionId"] = opened["id"].clone();
    let with_mark = format!("\u{feff}{request}");
    let continued = second
        .send(Method::POST, &path, &[AUTHORIZATION, JSON], with_mark)
        .await
        .ok();
    assert_eq!(continued["sessionId"], opened["id"]);

    // First calls that reach both servers at once open one session.
    let path = scrape().await;
    let calls = async |server: &TestServer| loop {
        let response = server.post(&path, &code).await;
        match response.status {
            503 => assert!(
                response.headers.contains_key("retry-after"),
                "{}",
                response.text()
            ),
            _ => return response.ok()["sessionId"].clone(),
        }
    };
    let (one, other) = tokio::join!(calls(&first), calls(&second));
    assert_eq!(one, other);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_lists_a_live_session_however_many_have_ended_since_on_postgresql() {
    let database = TestDatabase::create().await;
    let [server, _] = servers(&database).await;
    let opened = server.post("/v2/browser", &json!({})).await.ok();
    let config = StoreConfig {
        database_url: DatabaseUrl::parse(database.url()),
        node: None,
        ..StoreConfig::new("")
    };
    let store = Store::open(&config).await.unwrap();
    let team = store.ensure_team("test").await.unwrap();
    let now = UNIX_EPOCH.elapsed().unwrap();
    let created_at = Timestamp(u64::try_from(now.as_millis()).unwrap());
    for _ in 0..60 {
        let id = JobId(new_id());
        let call = NewJob {
            retention_ms: 1,
            ..new_job(id, team, JobKind::Browser, created_at)
        };
        let session = NewSession {
            call,
            scrape: None,
            stream_web_view: true,
            expires_at: created_at + Duration::from_secs(60),
        };
        store.begin_session(&session).await.unwrap();
        store
            .end_session(SessionId(id.0), created_at, created_at)
            .await
            .unwrap();
    }
    store.close().await.unwrap();
    let listed = server.get("/console/api/sessions").await.ok();
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 51);
    assert_eq!(sessions[50]["session"]["id"], opened["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_server_is_frozen_or_dead_is_answered_on_postgresql() {
    let database = TestDatabase::create().await;
    let [mut owner, other] = servers(&database).await;
    let open = async |owner: &TestServer| {
        let opened = owner.post("/v2/browser", &json!({})).await.ok();
        opened["id"].as_str().unwrap().to_owned()
    };
    let code = browser_code("agent-browser get url");
    let until_ended = async |id: &str| {
        let since = Instant::now();
        let path = format!("/v2/browser/{id}/execute");
        let mut unavailable = 0;
        loop {
            let response = other.post(&path, &code).await;
            match response.status {
                503 => {
                    assert!(
                        response.headers.contains_key("retry-after"),
                        "{}",
                        response.text()
                    );
                    unavailable += 1;
                }
                410 => return unavailable,
                status => panic!("{status}: {}", response.text()),
            }
            assert!(since.elapsed() < TIMEOUT, "the session does not end");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    // A frozen server accepts connections, and answers nothing. When it goes on, its session has ended.
    let opened = owner.post("/v2/browser", &json!({})).await.ok();
    let id = opened["id"].as_str().unwrap().to_owned();
    let mut cdp = socket(&owner, opened["cdpUrl"].as_str().unwrap()).await;
    owner.freeze();
    assert!(until_ended(&id).await > 0);
    owner.thaw();
    let execute = format!("/v2/browser/{id}/execute");
    assert_eq!(owner.post(&execute, &code).await.status, 410);
    assert_eq!(status_of(&owner, &id).await["status"], "destroyed");
    let closed = async { while let Some(Ok(_)) = cdp.next().await {} };
    tokio::time::timeout(TIMEOUT, closed).await.unwrap();

    let id = open(&owner).await;
    owner.kill9();
    assert!(until_ended(&id).await > 0);
    let ended = status_of(&other, &id).await;
    assert_eq!(ended["status"], "destroyed");
    let usage = async |server: &TestServer| server.get("/v2/team/credit-usage/historical").await.ok();
    let before = usage(&other).await;
    // The rest of a cluster goes on.
    owner.restart().await;
    assert_eq!(owner.get(&format!("/v2/browser/{id}/execute")).await.status, 405);
    assert_eq!(
        owner
            .post(&format!("/v2/browser/{id}/execute"), &code)
            .await
            .status,
        410
    );
    assert_eq!(usage(&owner).await, before, "sessions are charged once");
}
