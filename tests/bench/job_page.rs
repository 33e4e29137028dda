//! The console's screen of a large job in Chromium. The script next to this file measures and prints.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use harvestman_tests::server::KEY;
use harvestman_tests::{TestServer, tools};
use serde_json::json;

use crate::site::GeneratedSite;
use harvestman_tests::arguments::Arguments;

/// Runs `job-page --pages N`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let pages = arguments.number("--pages", 10_000)?;
    arguments.end()?;
    let server = TestServer::start().await;
    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let job = server
        .crawl(&json!({ "url": site.start(&format!("docs-{pages}")), "limit": pages }))
        .await;
    let status = server.wait(&job).await;
    ensure!(status["completed"] == pages, "pages are missing: {status}");
    let mut node = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    node.env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .envs([tools::chromium()])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/job_page.mjs"))
        .args([
            format!("http://{}", server.address()),
            KEY.to_owned(),
            job,
            pages.to_string(),
        ]);
    let status = tokio::task::spawn_blocking(move || node.status()).await??;
    ensure!(status.success(), "the script failed\n{}", server.log());
    Ok(())
}
