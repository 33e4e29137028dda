//! The MCP server with the client of the official Python SDK, over standard input and output and over HTTP.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;
use std::time::Duration;

use harvestman_tests::server::{self, KEY};
use harvestman_tests::{Page, Site, TestServer, tools};

const LARGE_BYTES: usize = 2 << 20;

/// Returns a page of [`LARGE_BYTES`] of text in paragraphs that differ.
fn large_page() -> Page {
    let mut html = String::from("<!doctype html><title>Large</title><main>");
    for number in 0.. {
        if html.len() > LARGE_BYTES {
            break;
        }
        html.push_str(&format!(
            "<p>Paragraph {number} of a page that is far too long for one answer.</p>"
        ));
    }
    Page::html(html)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_calls_every_tool() {
    let form = "<!doctype html><title>Form</title><input><button
        onclick=\"document.querySelector('output').textContent = 'Hello ' + document.querySelector('input').value\"
        >Send</button><a id=save href=/large download=large.html>Save</a><output></output><p>A form that says hello to its sender, by name and at once.</p>";
    let site = Site::new()
        .page("/", Page::links("Start", &["/a", "/form"]))
        .page("/a", Page::links("A", &[]))
        .page("/form", Page::html(form))
        .page("/large", large_page())
        .page("/gone", Page::html("<p>Nothing is here.").status(404))
        .page("/never", Page::html("late").delay(Duration::from_secs(600)))
        .serve()
        .await;
    let packages = tools::path("HARVESTMAN_TEST_JAVASCRIPT").join("node_modules");
    let server =
        TestServer::start_with(&[tools::chromium(), ("NODE_PATH", packages.to_str().unwrap())]).await;
    let mut client = Command::new(tools::path("HARVESTMAN_TEST_PYTHON"));
    client
        .arg(tools::script("python_mcp.py"))
        .arg(format!("http://{}", server.address()))
        .arg(KEY)
        .arg(server::binary().unwrap())
        .arg(site.url("/").trim_end_matches('/'));
    tools::run(client, "python mcp: ok", &server).await;
}
