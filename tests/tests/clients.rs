//! The clients that people already use, unchanged, against the real server.

use std::process::Command;

use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, TestServer, tools};

const PAGES: usize = 24;

/// Runs a client's script against a fresh server and a site of [`PAGES`] pages.
async fn run(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/"), &PAGES.to_string()]);
    tools::run(client, done, &server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_scrapes_and_crawls() {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_PYTHON"));
    client.arg(tools::script("python_client.py"));
    run(client, "python client: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_scrapes_and_crawls() {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    client
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .arg(tools::script("javascript_client.mjs"));
    run(client, "javascript client: ok").await;
}
