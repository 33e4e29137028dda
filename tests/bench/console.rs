//! Runs Lighthouse on every screen of the console with `tests/clients/console_lighthouse.mjs`.

use std::process::Command;

use anyhow::{Result, ensure};
use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, TestServer, tools};
use serde_json::json;

/// Pages of the job whose screen is also measured.
const PAGES: usize = 12;

/// Runs the script.
///
/// # Errors
/// A screen with a score below its minimum.
pub(crate) async fn run() -> Result<()> {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    let job = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&job).await;
    let mut node = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    node.env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .arg(tools::script("console_lighthouse.mjs"))
        .args([server.sign_in_link(), KEY, &job]);
    let status = tokio::task::spawn_blocking(move || node.status()).await??;
    ensure!(status.success(), "a screen has a score below its minimum");
    Ok(())
}
