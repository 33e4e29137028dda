//! `harvestman backup` and `restore`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use harvestman_tests::{Site, TestServer, assert_contains};
use http::Method;
use serde_json::{Value, json};

/// Database of version 0.1.0 (schema 15), copied while a crawl of `http://127.0.0.1:1/` had one page and waited for
/// another. The team `red` has a key.
const DATABASE_0_1_0: &[u8] = include_bytes!("../fixtures/database-0.1.0.gz");
const CRAWL_0_1_0: &str = "/v2/crawl/01a20fff-7376-720d-84f8-4d78dd01ede4";
/// Place of the schema version in the header of a database (sqlite.org/fileformat.html).
const VERSION_AT: usize = 60;

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
    assert!(!good && text.contains("exists: add --replace"), "{text}");
    let (good, text) = other.run_command(&["restore", name, "--replace"]);
    assert!(good && text.contains("renamed the old database"), "{text}");
    site.release();
    other.restart().await;
    let crawl = other.read_crawl(id.clone()).await;
    crawl.assert_visited(&site, &["/", "/a", "/b", "/c"]);
    assert_eq!(server.read_crawl(id).await.visited(), crawl.visited());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_with_secrets_is_used_with_its_key_only() {
    let server = TestServer::start().await;
    let created = server.post("/console/api/webhook-secret", &json!({})).await.ok();
    let secret = created["secret"].as_str().unwrap();
    let file = server.data_dir().join("copy.db");
    let name = file.to_str().unwrap();
    let (good, text) = server.run_command(&["backup", name]);
    assert!(good && text.contains("harvestman.key: keep a copy"), "{text}");
    let bytes = fs::read(&file).unwrap();
    let plain = secret.as_bytes();
    assert!(!bytes.windows(plain.len()).any(|part| part == plain));

    let mut other = TestServer::start().await;
    other.terminate().await;
    let (good, text) = other.run_command(&["restore", name, "--replace"]);
    assert!(good && text.contains("HARVESTMAN_SECRET_KEY"), "{text}");
    let (_, text) = other.run_command(&["doctor"]);
    assert!(text.contains("key of this database is missing"), "{text}");
    let (status, text) = other.start_second();
    assert!(
        !status.success() && text.contains("HARVESTMAN_SECRET_KEY") && text.contains("harvestman.key"),
        "{text}"
    );
    let key = |server: &TestServer| server.data_dir().join("data/harvestman.key");
    fs::copy(key(&server), key(&other)).unwrap();
    other.restart().await;
    let (_, text) = other.run_command(&["doctor"]);
    assert!(!text.contains("key of this database is missing"), "{text}");
    assert_eq!(
        other.get("/console/api/webhook-secret").await.ok(),
        server.get("/console/api/webhook-secret").await.ok()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_discarded_if_their_key_is_lost() {
    let site = Site::new().graph(&[("/", &["/a"]), ("/a", &[])]).serve().await;
    let mut server = TestServer::start().await;
    server.post("/console/api/webhook-secret", &json!({})).await.ok();
    let headers = json!({ "Authorization": "Bearer hush" });
    let batch = json!({ "urls": [site.url("/")], "headers": headers });
    let batch = server.batch(&batch).await;
    server.wait_for_end(&batch).await;
    let options = json!({ "headers": headers });
    let target = json!({ "type": "scrape", "urls": [site.url("/")], "scrapeOptions": options });
    let monitor = json!({ "name": "Pages", "schedule": { "text": "daily at 9:00" }, "targets": [target] });
    let monitor = server.post("/v2/monitor", &monitor).await.ok();
    let monitor = format!("/v2/monitor/{}", monitor["data"]["id"].as_str().unwrap());
    let mut request = json!({ "url": site.url("/"), "limit": 1, "scrapeOptions": options });
    let ended = server.crawl(&request).await;
    server.wait(&ended).await;
    site.hold_after(0);
    request["limit"] = 2.into();
    let crawl = server.crawl(&request).await;
    let discard = ["discard-secrets", "--yes"];
    let (good, text) = server.run_command(&discard);
    assert!(
        !good && text.contains("another server uses the data folder"),
        "{text}"
    );
    server.kill9();
    site.release();
    let key = server.data_dir().join("data/harvestman.key");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let (status, text) = server.start_second();
    assert!(!status.success() && text.contains("discard-secrets"), "{text}");
    let (good, text) = server.run_command(&discard[..1]);
    assert!(!good && text.contains("add --yes"), "{text}");
    let (good, text) = server.run_command(&discard);
    for line in [
        "1  webhook secrets of teams", "3  requests of jobs", "1  unfinished jobs failed",
    ] {
        assert!(good && text.contains(line), "{text}");
    }
    assert_ne!(fs::read(&key).unwrap(), kept, "a new key takes its place");
    server.restart().await;
    let status = server.get(&format!("/v2/crawl/{crawl}")).await.ok();
    assert_eq!(status["status"], "failed", "{status}");
    assert_contains(&status, "/error", "key that is lost");

    let id = batch.rsplit('/').next().unwrap();
    let more = json!({ "urls": [site.url("/a")], "appendToId": id });
    let append = server.post("/v2/batch/scrape", &more).await;
    let path = format!("/console/api/jobs/{ended}/continue");
    let continuation = server.post(&path, &json!({})).await;
    let run = server.post(&format!("{monitor}/run"), &json!({})).await;
    let resumed = json!({ "status": "active" });
    let resume = server.patch(&monitor, &resumed).await;
    for refused in [append, continuation, run, resume] {
        refused.is_error(409, "CONFLICT");
        let error = refused.json["error"].as_str().unwrap();
        assert!(error.contains("`headers`"), "{error}");
    }
    let change = json!({ "status": "active", "targets": [target] });
    let resumed = server.patch(&monitor, &change).await.ok();
    assert_eq!(resumed["data"]["status"], "active", "{resumed}");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_version_0_1_0_is_upgraded_and_its_crawl_goes_on() {
    let mut server =
        TestServer::start_with(&[("HARVESTMAN_API_KEYS", "fc-test=test,fc-fixture=fixture")]).await;
    server.terminate().await;
    let database = server.data_dir().join("data/harvestman.db");
    let mut old = Vec::new();
    GzDecoder::new(DATABASE_0_1_0).read_to_end(&mut old).unwrap();
    fs::write(&database, &old).unwrap();
    server.restart().await;
    let version = |bytes: &[u8]| u32::from_be_bytes(bytes[VERSION_AT..VERSION_AT + 4].try_into().unwrap());
    assert_eq!(version(&old), 15);
    let copy = fs::read(database.with_file_name("harvestman.db.v15")).unwrap();
    assert_eq!(version(&copy), 15, "the old database is kept");

    let headers = [("authorization", "Bearer fc-fixture")];
    let since = Instant::now();
    let crawl: Value = loop {
        let crawl = server.send(Method::GET, CRAWL_0_1_0, &headers, "").await.ok();
        if crawl["status"] != "scraping" {
            break crawl;
        }
        assert!(since.elapsed() < Duration::from_secs(120), "{crawl}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(crawl["status"], "completed", "{crawl}");
    let pages = crawl["data"].as_array().unwrap();
    assert!(
        pages.len() == 1
            && pages[0]["markdown"]
                .as_str()
                .unwrap()
                .contains("Stored by version 0.1.0"),
        "{crawl}"
    );
    let (_, keys) = server.run_command(&["keys", "list", "--team", "red"]);
    assert!(keys.trim_end().ends_with("  red  old"), "{keys}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_program_refuses_the_database_of_a_newer_one() {
    let mut server = TestServer::start().await;
    server.terminate().await;
    let database = server.data_dir().join("data/harvestman.db");
    let mut bytes = fs::read(&database).unwrap();
    bytes[VERSION_AT..VERSION_AT + 4].copy_from_slice(&9999_u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    let (status, text) = server.start_second();
    assert!(
        !status.success() && text.contains("9999") && text.contains("newer"),
        "{text}"
    );
    let (good, text) = server.run_command(&["doctor"]);
    assert!(!good, "{text}");
    assert_eq!(fs::read(&database).unwrap(), bytes, "the file is unchanged");
}
