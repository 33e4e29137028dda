//! Zero data retention: no trace of a page is left on disk or in the log after delivery. The tests search the raw
//! bytes of every file in the data folder, including free pages of the database and its write-ahead log.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use harvestman_tests::{
    AUTHORIZATION, Model, ModelReply, Page, Receiver, RunningSite, Site, TestServer, assert_contains,
    assert_fields, tools,
};

/// Text in every URL, title and text of the site, and nowhere else.
const CANARY: &str = "canary7f3a";

const TIMEOUT: Duration = Duration::from_secs(120);

const SETTINGS: &[(&str, &str)] = &[
    ("HARVESTMAN_ALLOW_ZERO_DATA_RETENTION", "1"),
    ("HARVESTMAN_LOG", "debug"),
    ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "1,1,1"),
];

fn path(number: usize) -> String {
    format!("/{CANARY}/{number}?q={CANARY}")
}

/// Serves a site of `pages` pages that the first page links to, with one additional dead link.
async fn site(pages: usize) -> RunningSite {
    let mut links: Vec<String> = (1..pages).map(path).collect();
    links.push(format!("/{CANARY}/missing"));
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let sitemap = format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>{{base}}/{CANARY}/1?q={CANARY}</loc></url></urlset>"
    );
    let mut site = Site::new()
        .page("/sitemap.xml", Page::new("application/xml", sitemap))
        .page(&path(0), Page::links(&format!("title {CANARY}"), &links));
    for number in 1..pages {
        let text = format!("{CANARY} ").repeat(200);
        let html = format!("<title>{CANARY} {number}</title><h1>{CANARY}</h1><p>{text}{number}</p>");
        site = site.page(&path(number), Page::html(html));
    }
    site.serve().await
}

/// Returns the files in the folder that contain the canary, with the number of occurrences.
fn traces(folder: &Path) -> Vec<(PathBuf, usize)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            let times = bytes
                .windows(CANARY.len())
                .filter(|part| *part == CANARY.as_bytes())
                .count();
            if times > 0 {
                found.push((path, times));
            }
        }
    }
    found
}

async fn read_job(server: &TestServer, path: &str) -> (Value, usize) {
    let status = server.wait_for_end(path).await;
    let (documents, _) = server.documents_at(path, 50).await;
    for document in &documents {
        assert!(document.to_string().contains(CANARY));
    }
    (status, documents.len())
}

/// Returns whether a response of the API or the console contains the canary.
async fn contains_canary(server: &TestServer, path: &str) -> bool {
    let response = server.send(Method::GET, path, &[AUTHORIZATION], "").await;
    String::from_utf8_lossy(&response.body).contains(CANARY)
}

#[tokio::test]
async fn no_trace_of_a_page_is_left_on_disk_or_in_the_log() {
    let site = site(300).await;
    let receiver = Receiver::start().await;
    let mut server = TestServer::start_with(SETTINGS).await;

    let scrape =
        json!({ "url": site.url(&path(1)), "zeroDataRetention": true, "formats": ["markdown", "rawHtml"] });
    let scraped = server.post("/v2/scrape", &scrape).await.ok();
    assert_contains(&scraped, "/data/markdown", CANARY);
    let failing = json!({ "url": format!("http://127.0.0.1:1/{CANARY}"), "zeroDataRetention": true });
    assert_eq!(server.post("/v2/scrape", &failing).await.status, 500);
    assert_eq!(traces(server.data_dir()), [], "scrapes never write page data");

    let crawl = json!({ "url": site.url(&path(0)), "zeroDataRetention": true, "crawlEntireDomain": true });
    let crawl_path = format!("/v2/crawl/{}", server.crawl(&crawl).await);
    let (status, documents) = read_job(&server, &crawl_path).await;
    assert_eq!(status["status"], "completed", "{status}");
    assert!(documents > 40, "{documents}");

    let urls: Vec<String> = (3..300).map(|number| site.url(&path(number))).collect();
    let batch = json!({ "urls": urls, "zeroDataRetention": true, "webhook": receiver.url() });
    let batch_path = server.batch(&batch).await;
    assert!(read_job(&server, &batch_path).await.1 > 40);
    receiver.wait_for("batch_scrape.completed").await;

    // Expiry runs at the start of the server, and then once per minute.
    server.terminate().await;
    server.restart().await;
    let since = Instant::now();
    loop {
        let left = traces(server.data_dir());
        if left.is_empty() {
            break;
        }
        assert!(since.elapsed() < TIMEOUT, "traces are left: {left:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    for path in ["/console/api/jobs", "/v2/team/activity", &crawl_path, &batch_path] {
        assert!(!contains_canary(&server, path).await, "{path}");
    }
    // A batch whose URLs were deleted accepts more pages, and deletes them as well.
    let more = json!({ "urls": [site.url(&path(1))], "appendToId": batch_path.rsplit('/').next(),
        "zeroDataRetention": true });
    server.post("/v2/batch/scrape", &more).await.ok();
    let status = server.wait_for_end(&batch_path).await;
    assert_fields(&status, json!({ "status": "completed", "total": 298 }));

    let log = server.log();
    assert!(log.contains("crawl started"), "the log was read");
    let line = log.lines().find(|line| line.contains(CANARY));
    assert_eq!(line, None, "the log contains page data");
}

#[tokio::test]
async fn an_erased_agent_run_remains_in_the_list_without_its_request() {
    let model = Model::start(|_| ModelReply::call("done", json!({ "result": CANARY }))).await;
    let mut settings = SETTINGS.to_vec();
    settings.extend(model.settings());
    let mut server = TestServer::start_with(&settings).await;
    let request = json!({ "prompt": CANARY, "zeroDataRetention": true });
    let started = server.post("/v2/agent", &request).await.ok();
    let path = format!("/v2/agent/{}", started["id"].as_str().unwrap());
    assert_eq!(server.wait_for_end(&path).await["status"], "completed");

    // Expiry runs at the start of the server, and then once per minute.
    server.terminate().await;
    server.restart().await;
    let is_erased = |list: &Value| list["agents"][0]["options"]["prompt"] == "";
    let run = server.wait_until("/v2/agent", is_erased).await["agents"][0].clone();
    assert_fields(
        &run,
        json!({ "id": started["id"], "targetHint": "", "status": "completed" }),
    );
    assert_eq!(server.get(&path).await.ok()["status"], "completed");
}

#[tokio::test]
async fn the_browser_leaves_no_trace_of_a_page() {
    let script = format!(
        "<title>{CANARY}</title><p id=said></p><script>localStorage.setItem('{CANARY}', '{CANARY}');\
         document.cookie = '{CANARY}=1'; said.textContent = '{CANARY} by script'</script>"
    );
    let site = Site::new().page(&path(0), Page::html(script)).serve().await;
    let mut settings = SETTINGS.to_vec();
    settings.push(tools::chromium());
    let mut server = TestServer::start_with(&settings).await;
    let request = json!({
        "url": site.url(&path(0)), "zeroDataRetention": true, "formats": ["markdown", "screenshot"],
        "actions": [{ "type": "wait", "milliseconds": 100 }],
    });
    let data = server.post("/v2/scrape", &request).await.ok()["data"].clone();
    assert_contains(&data, "/markdown", "by script");
    assert!(data["screenshot"].is_string());
    // While the browser is running, and after its end.
    assert_eq!(traces(server.data_dir()), []);
    server.terminate().await;
    assert_eq!(traces(server.data_dir()), []);
}

#[tokio::test]
async fn the_trace_search_finds_stored_pages() {
    let site = site(3).await;
    let server = TestServer::start_with(SETTINGS).await;
    server
        .post("/v2/scrape", &json!({ "url": site.url(&path(1)) }))
        .await
        .ok();
    assert!(!traces(server.data_dir()).is_empty());
    assert!(contains_canary(&server, "/console/api/jobs").await);
}
