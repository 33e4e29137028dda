//! The OpenAPI document of a running server, checked by a linter.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::process::Command;

use harvestman_tests::{TestServer, tools};

#[tokio::test]
async fn the_linter_finds_nothing_in_the_document() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await.ok();
    let file = server.data_dir().join("openapi.json");
    fs::write(&file, document.to_string()).unwrap();
    let packages = tools::path("HARVESTMAN_TEST_JAVASCRIPT").join("node_modules");
    let output = Command::new(tools::path("HARVESTMAN_TEST_NODE"))
        .arg(packages.join("@redocly/cli/bin/cli.js"))
        .args(["lint", "--format=stylish", "--extends=recommended-strict"])
        // The paths of sockets return 101.
        .arg("--skip-rule=operation-2xx-response")
        // Clients expect `/v2/agent/threads/{id}` next to `/v2/agent/{id}/trace`. Ids are UUIDs, never `threads`.
        .arg("--skip-rule=no-ambiguous-paths")
        .arg(&file)
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
