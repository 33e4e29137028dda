//! What an operator relies on while a server runs: log lines, readiness, shutdown, retention.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use harvestman_tests::receiver::Reply;
use harvestman_tests::{AUTHORIZATION, JSON, Page, Receiver, Site, TestServer};
use serde_json::{Value, json};

/// Returns the first line of the log that contains all these words.
#[track_caller]
fn line(server: &TestServer, words: &[&str]) -> String {
    let log = server.log();
    let found = log
        .lines()
        .find(|line| words.iter().all(|word| line.contains(word)));
    found
        .unwrap_or_else(|| panic!("no {words:?} in\n{log}"))
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_parts_jobs_failed_pages_and_failed_deliveries() {
    let site = Site::new().page("/", Page::links("Start", &["/loop"]));
    let site = site.page("/loop", Page::redirect(302, "/loop")).serve().await;
    let server = TestServer::start_with(&[
        ("HARVESTMAN_LOG", "info,harvestman_engine=debug"),
        ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "0"),
    ])
    .await;
    for part in ["data folder", "Chromium", "Node.js", "Python", "retention"] {
        line(&server, &["INFO", part]);
    }
    let receiver = Receiver::replying(|_| Reply::Status(500)).await;
    let request = json!({"url": site.url("/"), "webhook": {"url": receiver.url(), "events": ["completed"]}});
    let crawl = server.run_crawl(&request).await;
    let end = line(&server, &["INFO", "job ended", "completed"]);
    assert!(end.contains(&crawl.id), "{end}");
    line(&server, &["DEBUG", "page failed", "/loop"]);
    receiver.wait_until(|deliveries| deliveries.len() > 1).await;
    line(
        &server,
        &["INFO", "cannot deliver a webhook event; retrying later", "500"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_disk_space_is_not_ready() {
    let server = TestServer::start_with(&[("HARVESTMAN_MIN_FREE_MIB", "4294967295")]).await;
    let response = server.get("/ready").await;
    assert_eq!(
        (response.status, &response.json["database"]),
        (503, &json!("unavailable"))
    );
    line(&server, &["WARN", "MiB of disk space are free"]);
    assert_eq!(server.get("/health").await.status, 200);
    let server = TestServer::start_with(&[("HARVESTMAN_MIN_FREE_MIB", "0")]).await;
    assert_eq!(server.get("/ready").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_command_asks_the_running_server() {
    let mut server = TestServer::start().await;
    let (good, text) = server.run_command(&["health"]);
    let state: Value = serde_json::from_str(&text).unwrap();
    assert!(
        good && state["status"] == "ok" && state["database"] == "ok",
        "{text}"
    );
    server.terminate().await;
    let (good, text) = server.run_command(&["health"]);
    assert!(
        !good && text.contains("no server uses this data folder"),
        "{text}"
    );

    let server = TestServer::start_with(&[("HARVESTMAN_MIN_FREE_MIB", "4294967295")]).await;
    let (good, text) = server.run_command(&["health"]);
    assert!(!good && text.contains("the server is not ready"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_flight_finish_within_the_drain_time() {
    let site = Site::new().page("/", Page::links("Start", &[])).serve().await;
    for (seconds, status) in [("60", Some(200)), ("0", None)] {
        let mut server = TestServer::start_with(&[("HARVESTMAN_DRAIN_SECONDS", seconds)]).await;
        let before = site.hits().iter().filter(|hit| hit.path == "/").count() as u64;
        site.hold_after(before);
        let address = server.address();
        let body = json!({"url": site.url("/"), "maxAge": 0}).to_string();
        let request = tokio::spawn(async move {
            harvestman_tests::send_request(
                address,
                http::Method::POST,
                "/v2/scrape",
                &[AUTHORIZATION, JSON],
                body.into(),
            )
            .await
        });
        site.wait_for_requests(before + 1).await;
        let stopping = server.terminate();
        tokio::pin!(stopping);
        let response = match status {
            None => {
                stopping.await;
                request.await.unwrap()
            }
            Some(_) => {
                // The first poll sends the signal.
                assert!(futures_util::poll!(stopping.as_mut()).is_pending());
                site.release();
                let response = request.await.unwrap();
                assert!(stopping.await.success());
                response
            }
        };
        let got = response
            .ok()
            .map(|response| response.status)
            .filter(|got| *got == 200);
        assert_eq!(got, status);
        site.release();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_kept_as_long_as_the_operator_says() {
    let site = Site::new().page("/", Page::links("Start", &[])).serve().await;
    let server = TestServer::start_with(&[("HARVESTMAN_RESULT_RETENTION_HOURS", "8760")]).await;
    let crawl = server.run_crawl(&json!({"url": site.url("/")})).await;
    let activity = server.get("/v2/team/activity").await.ok();
    let month = |text: &Value| text.as_str().unwrap()[..7].to_owned();
    let (end, start) = (
        month(&crawl.status["expiresAt"]),
        month(&activity["data"][0]["created_at"]),
    );
    assert!(end > start && end[..4] != start[..4], "{start} to {end}");
    let (good, text) = server.run_command(&["config", "show", "--result-retention-hours", "0"]);
    assert!(!good && text.contains("from 1 to 8760"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn older_versions_of_the_api_point_to_the_served_one() {
    let server = TestServer::start().await;
    for path in ["/v1/crawl/x", "/v1/scrape", "/v0/crawl"] {
        let response = server.get(path).await;
        assert!(
            response.status == 404 && response.error().contains("/v2/"),
            "{path}: {}",
            response.text()
        );
    }
}
