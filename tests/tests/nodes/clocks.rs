//! Servers whose clocks are wrong: the clock of the database decides.

use std::time::{Duration, Instant};

use harvestman_tests::{Page, Site, TestDatabase, TestServer};
use serde_json::{Value, json};
use tokio_postgres::NoTls;

const DAY_MS: u64 = 86_400_000;
const TIMEOUT: Duration = Duration::from_secs(120);

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
    let since = Instant::now();
    let checks = loop {
        let checks = server.get(&format!("{path}/checks")).await.ok()["data"].clone();
        if checks[0]["finishedAt"].is_string() {
            break checks;
        }
        assert!(since.elapsed() < TIMEOUT, "{checks}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(checks.as_array().unwrap().len(), 1, "{checks}");
    let checked = server.get(&path).await.ok()["data"].clone();
    assert!(next(&checked) > database_time(&client).await, "{checked}");
}
