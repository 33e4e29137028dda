//! The console in a real browser, served by the real server.

use std::process::Command;

use harvestman_tests::{DocsSite, TestServer, tools};

const PAGES: usize = 24;

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_signs_in_crawls_and_reads_a_page() {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    let mut browser = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    browser
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .env("HARVESTMAN_CHROMIUM", tools::path("HARVESTMAN_CHROMIUM"))
        .arg(tools::script("console.mjs"))
        .args([server.sign_in_link(), &site.url("/"), &PAGES.to_string()]);
    tools::run(browser, "console: ok", &server).await;
}
