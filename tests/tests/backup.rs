//! `harvestman backup` and `restore`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use harvestman_tests::{Site, TestServer};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_restores_to_a_folder_whose_jobs_go_on() {
    let site = Site::new()
        .graph(&[("/", &["/a", "/b"]), ("/a", &["/c"]), ("/b", &[]), ("/c", &[])])
        .serve()
        .await;
    let server = TestServer::start().await;
    site.hold_after(2);
    let id = server.crawl(&json!({"url": site.url("/")})).await;
    site.wait_for_requests(3).await;
    let file = server.data_dir().join("copy.db");
    let name = file.to_str().unwrap();
    let (good, text) = server.run_command(&["backup", name]);
    assert!(good, "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (good, text) = server.run_command(&["backup", name]);
    assert!(!good && text.contains("exists"), "{text}");
    let (good, text) = server.run_command(&["restore", name]);
    assert!(
        !good && text.contains("another server uses the data folder"),
        "{text}"
    );

    let mut other = TestServer::start().await;
    other.terminate().await;
    let (good, text) = other.run_command(&["restore", name]);
    assert!(!good && text.contains("exists"), "{text}");
    let (good, text) = other.run_command(&["restore", name, "--replace"]);
    assert!(good && text.contains("renamed the old database"), "{text}");
    site.release();
    other.restart().await;
    let crawl = other.read_crawl(id.clone()).await;
    crawl.assert_visited(&site, &["/", "/a", "/b", "/c"]);
    assert_eq!(server.read_crawl(id).await.visited(), crawl.visited());
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_copies_and_folders_are_refused() {
    let mut server = TestServer::start().await;
    server.terminate().await;
    let broken = server.data_dir().join("broken.db");
    fs::write(&broken, [7; 8192]).unwrap();
    for (arguments, words) in [
        (&["restore", "missing.db"][..], "missing.db"),
        (&["restore", broken.to_str().unwrap(), "--replace"], "broken.db"),
        (&["backup", "x.db", "--data-dir", "elsewhere"], "no database"),
        (&["backup", "no/such/folder/x.db"], "no/such/folder"),
    ] {
        let (good, text) = server.run_command(arguments);
        assert!(!good && text.contains(words), "{arguments:?}: {text}");
    }
    server.restart().await;
}
