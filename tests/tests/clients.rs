//! The clients that people already use, unchanged, against the real server.

use std::path::{Path, PathBuf};
use std::process::Command;

use harvestman_tests::{DocsSite, TestServer};

const KEY: &str = "fc-test";
const PAGES: usize = 24;

/// What `cargo xtask test` found or installed. Without it the test fails rather than passing unseen.
fn tool(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!("{variable} is not set: run this test with `cargo xtask test`, which installs the clients"),
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Runs a client's script against a fresh server and a site of [`PAGES`] pages.
async fn run(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    client.arg(format!("http://{}", server.address())).arg(KEY).arg(site.url("/")).arg(PAGES.to_string());
    let output = tokio::task::spawn_blocking(move || client.output()).await.unwrap().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.trim().ends_with(done), "{stdout}\n{stderr}\n{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_scrapes_and_crawls() {
    let mut client = Command::new(tool("HARVESTMAN_TEST_PYTHON"));
    client.arg(script("python_client.py"));
    run(client, "python client: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_scrapes_and_crawls() {
    let mut client = Command::new(tool("HARVESTMAN_TEST_NODE"));
    client.env("NODE_PATH", tool("HARVESTMAN_TEST_JAVASCRIPT")).arg(script("javascript_client.mjs"));
    run(client, "javascript client: ok").await;
}
