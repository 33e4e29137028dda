//! The console's screens in a real browser, from form to result, served by the real server.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, Receiver, TestServer, tools};
use serde_json::json;

/// More than the list of activity shows at once.
const CALLS: usize = 60;
/// Where nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1/";

/// Plays a script of `tests/clients` in the console of a server.
async fn play(server: &TestServer, script: &str, arguments: &[&str], done: &str) {
    let mut browser = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    browser
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .env("HARVESTMAN_CHROMIUM", tools::path("HARVESTMAN_CHROMIUM"))
        .arg(tools::script(script))
        .args([format!("http://{}", server.address()), KEY.to_owned()])
        .args(arguments);
    tools::run(browser, done, server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_is_accessible_and_fits_a_phone() {
    let server = TestServer::start().await;
    let site = DocsSite::new(4).build().serve().await;
    let job = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&job).await;
    play(&server, "console_routes.mjs", &[&job], "screens").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_sees_its_calls_costs_and_keys() {
    let server = TestServer::start().await;
    let site = DocsSite::new(4).build().serve().await;
    let receiver = Receiver::start().await;
    let crawl = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&crawl).await;
    let failed = server.crawl(&json!({ "url": NOWHERE })).await;
    server.wait(&failed).await;
    for _ in 0..CALLS {
        server.post("/v2/map", &json!({ "url": site.url("/") })).await.ok();
    }
    let (top, receiving) = (site.url("/"), receiver.url());
    let arguments = [&top, &crawl, &receiving].map(String::as_str);
    play(&server, "console_team.mjs", &arguments, "team: ok").await;
    // Signed by the secret that the team had just made.
    let deliveries = receiver.wait_until(|all| !all.is_empty()).await;
    assert!(!deliveries[0].header("x-service-signature").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_work_in_the_page_alone() {
    let server = TestServer::start().await;
    play(&server, "console_tools.mjs", &[], "tools: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn choices_are_kept_and_forgotten() {
    let server = TestServer::start().await;
    play(&server, "console_settings.mjs", &[], "settings: ok").await;
}
