//! Servers whose clocks are wrong: the clock of the database decides.

use harvestman_tests::{Page, Site, TestDatabase, TestServer};
use http::Method;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

const DAY_MS: u64 = 86_400_000;

/// Starts a server whose clock is two days behind that of the database, with a connection to the database.
async fn server_behind() -> (TestServer, tokio_postgres::Client) {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    set_clock(&client, 2 * DAY_MS).await;
    (server, client)
}

/// Sets the clock of the database ahead of those of the servers.
async fn set_clock(client: &tokio_postgres::Client, ahead_ms: u64) {
    let clock = format!(
        "CREATE OR REPLACE FUNCTION harvestman.clock(node_time bigint) RETURNS bigint LANGUAGE sql STABLE
         AS 'SELECT node_time + {ahead_ms}'"
    );
    client.batch_execute(&clock).await.unwrap();
}

/// Returns the time of the database, as clients read it.
async fn database_time(client: &tokio_postgres::Client) -> String {
    let time = "SELECT to_char(now() AT TIME ZONE 'UTC' + interval '2 days', 'YYYY-MM-DD\"T\"HH24:MI:SS')";
    client.query_one(time, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_behind_starts_each_check_once_on_postgresql() {
    let (server, client) = server_behind().await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let monitor = json!({
        "name": "Pages",
        "schedule": { "cron": "0 0 * * *" },
        "targets": [{ "type": "scrape", "urls": [site.url("/")] }],
    });
    let created = server.post("/v2/monitor", &monitor).await.ok()["data"].clone();
    let next = |monitor: &Value| monitor["nextRunAt"].as_str().unwrap().to_owned();
    assert!(next(&created) > database_time(&client).await, "{created}");
    let path = format!("/v2/monitor/{}", created["id"].as_str().unwrap());
    let due = "UPDATE harvestman.monitor SET next_run_at = 1";
    client.batch_execute(due).await.unwrap();
    let has_ended = |checks: &Value| checks["data"][0]["finishedAt"].is_string();
    let checks = server.wait_until(&format!("{path}/checks"), has_ended).await;
    assert_eq!(checks["data"].as_array().unwrap().len(), 1, "{checks}");
    let checked = server.get(&path).await.ok()["data"].clone();
    assert!(next(&checked) > database_time(&client).await, "{checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_begins_and_ends_when_the_database_says_on_postgresql() {
    let (server, client) = server_behind().await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let before = database_time(&client).await;
    let id = server.crawl(&json!({ "url": site.url("/") })).await;
    let status = server.wait(&id).await;
    for field in ["createdAt", "completedAt"] {
        assert!(status[field].as_str() >= Some(&before), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn single_requests_begin_when_the_database_says_on_postgresql() {
    let (server, client) = server_behind().await;
    let site = Site::new().page("/", Page::html("<p>One</p>")).serve().await;
    let before = database_time(&client).await;
    let url = json!({ "url": site.url("/") });
    for path in ["/v2/scrape", "/v2/map"] {
        server.post(path, &url).await.ok();
    }
    server.post("/v2/search", &json!({ "query": "one" })).await.ok();
    let hits = site.hits().len() as u64;
    site.hold_after(hits);
    let running = json!({ "url": site.url("/"), "maxAge": 0 });
    let held = server.post("/v2/scrape", &running);
    let activity = async {
        let is_complete = |activity: &Value| activity["data"].as_array().unwrap().len() == 4;
        let activity = server.wait_until("/v2/team/activity", is_complete).await;
        site.release();
        activity
    };
    let (_, activity) = tokio::join!(held, activity);
    for request in activity["data"].as_array().unwrap() {
        assert!(request["created_at"].as_str() >= Some(&before), "{activity}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_behind_receives_uploads_on_postgresql() {
    let (server, _client) = server_behind().await;
    let named = json!({ "filename": "heron.md" });
    let reserved = server.post("/v2/parse/upload-url", &named).await.ok()["data"].clone();
    let url = reserved["uploadUrl"].as_str().unwrap();
    let path = &url[url.find("/v2/").unwrap()..];
    server.send(Method::PUT, path, &[], "# Herons").await.ok();
    let by_reference = json!({ "uploadRef": reserved["uploadRef"] });
    let parsed = server.post("/v2/parse", &by_reference).await.ok();
    assert_eq!(parsed["data"]["markdown"], "# Herons");
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_pages_have_the_age_that_the_database_says_on_postgresql() {
    let (server, client) = server_behind().await;
    let site = Site::new().page("/", Page::html("<p>One</p>")).serve().await;
    let scrape = async || {
        // Waits until earlier pages are in the cache.
        server.get("/ready").await.ok();
        let request = json!({ "url": site.url("/"), "maxAge": 1_800_000 });
        server.post("/v2/scrape", &request).await.ok()["data"]["markdown"].clone()
    };
    assert_eq!(scrape().await, "One");
    site.change("/", Some(Page::html("<p>Two</p>")));
    assert_eq!(scrape().await, "One");
    set_clock(&client, 2 * DAY_MS + 3_600_000).await;
    assert_eq!(scrape().await, "Two");
    site.change("/", Some(Page::html("<p>Three</p>")));
    assert_eq!(scrape().await, "Two");
}
