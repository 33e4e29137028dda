//! The console during failures, in Chromium: the script requests stops and starts of the server.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use harvestman_tests::{DocsSite, TestServer, tools};
use tokio::sync::mpsc;

const PAGES: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_reaches_its_end_despite_failures() {
    // Without the cache, every crawl takes seconds.
    let mut server = TestServer::start_with(&[("HARVESTMAN_CACHE_MIB", "0")]).await;
    let slow = DocsSite::new(PAGES)
        .build()
        .delay(Duration::from_secs(1))
        .serve()
        .await;
    let mut child = Command::new(tools::path("HARVESTMAN_TEST_NODE"))
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .envs([tools::chromium()])
        .arg(tools::script("console/live.mjs"))
        .arg(server.sign_in_link())
        .args([slow.url("/"), PAGES.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut responses = child.stdin.take().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (line_sender, mut received) = mpsc::unbounded_channel();
    let reader = std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .all(|line| line_sender.send(line).is_ok())
    });
    let mut last = String::new();
    while let Some(line) = received.recv().await {
        match line.as_str() {
            "stop" => server.kill9(),
            "start" => server.restart().await,
            _ => {
                last = line;
                continue;
            }
        }
        writeln!(responses, "done").unwrap();
    }
    reader.join().unwrap();
    let status = child.wait().unwrap();
    assert!(
        status.success() && last == "live: ok",
        "{status}, {last}\n{}",
        server.log()
    );
    assert!(!server.log().contains("panicked"), "{}", server.log());
}
