//! The clients that people already use, unchanged, against the real server.

use std::process::Command;

use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, Page, Site, TestServer, tools};

const PAGES: usize = 24;
/// More than two status answers of 10 MiB hold.
const LARGE_PAGES: usize = 12;
const LARGE_BYTES: usize = 2 << 20;

/// Runs a client's script against a fresh server, a site of [`PAGES`] pages, and one of a few large pages.
async fn run(mut client: Command, done: &str) {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    let large = large_site().serve().await;
    client
        .arg(format!("http://{}", server.address()))
        .args([KEY, &site.url("/"), &PAGES.to_string()])
        .args([large.url("/"), LARGE_PAGES.to_string()]);
    tools::run(client, done, &server).await;
}

/// Pages that lead from one to the next, each of some megabytes.
fn large_site() -> Site {
    (0..LARGE_PAGES).fold(Site::new(), |site, number| {
        let next = number + 1;
        let filling = "<!-- x -->".repeat(LARGE_BYTES / 10);
        let html =
            format!("<title>{number}</title><p>Page {number} <a href=\"/{next}\">next</a></p>{filling}");
        let path = if number == 0 {
            "/".to_owned()
        } else {
            format!("/{number}")
        };
        site.page(&path, Page::html(html))
    })
}

fn python(script: &str) -> Command {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_PYTHON"));
    client.arg(tools::script(script));
    client
}

fn javascript(script: &str) -> Command {
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    client
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .arg(tools::script(script));
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_scrapes_and_crawls() {
    run(python("python_client.py"), "python client: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_waits_pages_watches_and_cancels() {
    run(python("python_jobs.py"), "python jobs: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_scrapes_and_crawls() {
    run(javascript("javascript_client.mjs"), "javascript client: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_waits_pages_watches_and_cancels() {
    run(javascript("javascript_jobs.mjs"), "javascript jobs: ok").await;
}
