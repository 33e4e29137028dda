//! The console's screens in a real browser, from form to result, served by the real server.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use harvestman_tests::{DocsSite, TestServer, tools};
use serde_json::json;

/// Plays a script of `tests/clients` in the console of a server.
async fn play(server: &TestServer, script: &str, arguments: &[&str], done: &str) {
    let mut browser = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    browser
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .env("HARVESTMAN_CHROMIUM", tools::path("HARVESTMAN_CHROMIUM"))
        .arg(tools::script(script))
        .arg(server.sign_in_link())
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
async fn tools_work_in_the_page_alone() {
    let server = TestServer::start().await;
    play(&server, "console_tools.mjs", &[], "tools: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn choices_are_kept_and_forgotten() {
    let server = TestServer::start().await;
    play(&server, "console_settings.mjs", &[], "settings: ok").await;
}
