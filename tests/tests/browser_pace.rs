//! Browser pages and plain pages have separate slots, and the console shows what limits a job.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Page, Site, TestServer, assert_fields, tools};
use serde_json::{Value, json};

const PLAIN: &[&str] = &["/1", "/2", "/3", "/4", "/5"];
/// Script that renders the page into the element `root`.
const SCRIPT: &str = "document.getElementById('root').innerHTML = '<h1>Herons</h1><p>This page was made by a script, \
    and it says a few things about herons and where they stand.</p>';";

#[tokio::test]
async fn plain_pages_continue_while_the_browser_is_busy() {
    let server = TestServer::start_with(&[
        tools::chromium(),
        ("HARVESTMAN_MAX_CONCURRENCY", "1"),
        ("HARVESTMAN_MAX_BROWSER_PAGES", "1"),
    ])
    .await;
    let scripts = Site::new().page("/app.js", Page::new("text/javascript", SCRIPT));
    let scripts = scripts.serve().await;
    let app = format!(
        "<!doctype html><title>App</title><div id=root></div><script src=\"{}\"></script>",
        scripts.url("/app.js")
    );
    let site = PLAIN
        .iter()
        .fold(Site::new(), |site, path| site.page(path, Page::links(path, &[])))
        .page("/app", Page::html(app.clone()))
        .page("/other", Page::html(app))
        .serve()
        .await;
    scripts.hold_after(0);
    let urls = ["/app", "/other"].iter().chain(PLAIN).map(|path| site.url(path));
    let batch = server.batch(&json!({ "urls": urls.collect::<Vec<_>>() })).await;
    scripts.wait_for_requests(1).await;
    server
        .wait_until(&batch, |status| status["completed"] == PLAIN.len())
        .await;

    // One page is in the browser; the other waits for it and is not in flight.
    let console = batch.replace("/v2/batch/scrape", "/console/api/jobs");
    let is_limited = |response: &Value| response["job"]["pace"]["limitedBy"] == "browser";
    let job = server.wait_until(&console, is_limited).await;
    assert_eq!(job["job"]["pace"]["pages"]["retried"], 0, "{job}");
    let response = server.get("/v2/concurrency-check").await.ok();
    assert_fields(&response, json!({ "concurrency": 1, "maxConcurrency": 1 }));
    let queue = server.get("/v2/team/queue-status").await.ok();
    assert_fields(&queue, json!({ "activeJobsInQueue": 1, "waitingJobsInQueue": 1 }));
    let metrics = server.get("/metrics").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(
        metrics.contains("\nharvestman_pages_in_flight{via=\"browser\"} 1\n")
            && metrics.contains("\nharvestman_pages_in_flight{via=\"http\"} 0\n"),
        "{metrics}"
    );

    // A scrape gets a plain slot at once, and waits for a browser slot for a part of its timeout.
    let plain = json!({ "url": site.url("/1"), "maxAge": 0 });
    assert_eq!(server.post("/v2/scrape", &plain).await.status, 200);
    let picture = json!({ "url": site.url("/2"), "formats": ["screenshot"], "timeout": 1_500 });
    let refused = server.post("/v2/scrape", &picture).await;
    refused.is_error(429, "CONCURRENCY_LIMITED");
    assert!(refused.error().contains("browser"), "{}", refused.error());

    scripts.release();
    let status = server.wait_for_end(&batch).await;
    assert_fields(&status, json!({ "status": "completed", "completed": 7 }));
    let (documents, _) = server.documents_at(&batch, 10).await;
    let made = |page: &&Value| page["markdown"].as_str().unwrap().contains("Herons");
    assert_eq!(documents.iter().filter(made).count(), 2);
    let waited = |page: &&Value| page["metadata"]["concurrencyLimited"] == true;
    let waited = documents.iter().filter(waited).count();
    let job = server.get(&console).await.ok();
    assert_eq!(
        job["job"]["pace"],
        json!({ "pages": { "inBrowser": 2, "waited": waited, "retried": 0 }, "limitedBy": null })
    );
    assert!(waited > 0);
}

#[tokio::test]
async fn retries_of_pages_are_counted() {
    let server = TestServer::start().await;
    let site = Site::new()
        .page("/", Page::html("busy").status(503))
        .serve()
        .await;
    let batch = server.batch(&json!({ "urls": [site.url("/")] })).await;
    server.wait_for_end(&batch).await;
    let job = server
        .get(&batch.replace("/v2/batch/scrape", "/console/api/jobs"))
        .await
        .ok();
    assert_eq!(job["job"]["pace"]["pages"]["retried"], 2, "{job}");
    let metrics = server.get("/metrics").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(
        metrics.contains("\nharvestman_page_retries_total 2\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("\nharvestman_pages_total{via=\"http\",outcome=\"completed\"} 3\n"),
        "{metrics}"
    );
}
