//! Sessions that continue a scrape.

use std::collections::BTreeSet;
use std::time::Instant;

use futures_util::future::join_all;
use harvestman_tests::assert_fields;
use harvestman_tests::serve_without_tls;
use http::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::setup::{TIMEOUT, as_other, bash, delete, execute, interact, open, run, server, sessions, site};

#[tokio::test]
async fn a_session_continues_a_scrape_and_keeps_its_browser() {
    let (site, server) = (site().await, server(&[]).await);
    let request = json!({ "url": site.url("/form"), "headers": { "X-Visitor": "Ada" }, "actions": [
        { "type": "click", "selector": "input" },
        { "type": "write", "text": "Ada" },
        { "type": "press", "key": "Enter" },
    ] });
    let id = server.scrape_id(&request).await;
    let path = interact(&id);
    let response = server.post(&path, &bash("get text output")).await.ok();
    assert_eq!(
        response["stdout"].as_str().unwrap().trim(),
        "Hello Ada",
        "the actions were replayed"
    );
    assert_fields(
        &response,
        json!({ "success": true, "exitCode": 0, "killed": false }),
    );
    assert!(response.get("error").is_none(), "{response}");
    let base = format!("http://{}", server.address());
    for name in ["liveViewUrl", "interactiveLiveViewUrl"] {
        assert!(
            response[name]
                .as_str()
                .unwrap()
                .starts_with(&format!("{base}/live/")),
            "{response}"
        );
    }
    let cdp = format!("ws://{}/cdp/", server.address());
    assert!(
        response["cdpUrl"].as_str().unwrap().starts_with(&cdp),
        "{response}"
    );
    assert_ne!(response["liveViewUrl"], response["interactiveLiveViewUrl"]);
    let visits: Vec<_> = site
        .hits()
        .into_iter()
        .filter(|hit| hit.path == "/form")
        .collect();
    assert_eq!(visits.len(), 2, "the scrape and its replay");
    assert!(visits.iter().all(|hit| hit.headers["x-visitor"] == "Ada"));

    run(&server, &path, "fill input Bob && press Enter").await;
    assert_eq!(run(&server, &path, "get text output").await, "Hello Bob");
    let second = server.post(&path, &bash("get url")).await.ok();
    assert_eq!(second["sessionId"], response["sessionId"]);
    assert_eq!(second["liveViewUrl"], response["liveViewUrl"]);

    let failed = server.post(&path, &bash("click '#nothing'")).await.ok();
    assert_fields(&failed, json!({ "success": false, "killed": false }));
    assert!(
        !failed["error"].as_str().unwrap().is_empty() && failed["exitCode"] != 0,
        "{failed}"
    );
    assert_eq!(
        run(&server, &path, "get text output").await,
        "Hello Bob",
        "the session continues"
    );
}

#[tokio::test]
async fn a_url_without_a_scheme_is_opened_with_http_if_https_gets_no_answer() {
    let (site, server) = (site().await, server(&[]).await);
    let bare = format!("{}/second", serve_without_tls(site.address()).await);
    let single = server.scrape_id(&json!({ "url": bare, "timeout": 6000 })).await;
    assert_eq!(
        run(&server, &interact(&single), "get url").await,
        format!("http://{bare}")
    );

    // A page of a batch is stored with the URL that worked.
    let request = json!({ "urls": [bare], "timeout": 6000 });
    let batch = server.batch(&request).await;
    server.wait_for_end(&batch).await;
    let (documents, _) = server.documents_at(&batch, 10).await;
    let path = interact(documents[0]["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(run(&server, &path, "get url").await, format!("http://{bare}"));
}

#[tokio::test]
async fn pages_of_crawls_and_batches_can_be_continued() {
    let (site, server) = (site().await, server(&[]).await);
    let crawl = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    server.wait(&crawl).await;
    let (documents, _) = server.documents(&crawl, 10).await;
    let second = documents
        .iter()
        .find(|page| page["metadata"]["title"] == "Second")
        .unwrap();
    let path = interact(second["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(run(&server, &path, "get url").await, site.url("/second"));

    let batch = server
        .batch(&json!({ "urls": [site.url("/form")], "mobile": true }))
        .await;
    server.wait_for_end(&batch).await;
    let (documents, _) = server.documents_at(&batch, 10).await;
    let path = interact(documents[0]["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(
        run(&server, &path, "eval \"/Mobile/.test(navigator.userAgent)\"").await,
        "true"
    );
}

#[tokio::test]
async fn concurrent_calls_share_one_session_and_run_in_turn() {
    let (site, server) = (site().await, server(&[("HARVESTMAN_MAX_SESSIONS", "1")]).await);
    let path = interact(&server.scrape_id(&json!({ "url": site.url("/second") })).await);
    let count = "eval \"window.calls = (window.calls || 0) + 1\"";
    let counts = join_all((0..6).map(|_| run(&server, &path, count))).await;
    let counts: BTreeSet<_> = counts.into_iter().collect();
    assert_eq!(counts, (1..=6).map(|n| n.to_string()).collect());
    assert_eq!(site.count("/second"), 2, "one scrape, one replay");
    assert_eq!(sessions(&server, "").await.len(), 1);
}

#[tokio::test]
async fn a_call_continues_when_its_client_disconnects() {
    let (site, server) = (site().await, server(&[]).await);
    let path = interact(&server.scrape_id(&json!({ "url": site.url("/second") })).await);
    site.hold_after(1);
    let body = bash("eval \"window.begun = true\"").to_string();
    let mut caller = TcpStream::connect(server.address()).await.unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer fc-test\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    caller.write_all(request.as_bytes()).await.unwrap();
    site.wait_for_requests(2).await;
    drop(caller);
    site.release();
    let since = Instant::now();
    while run(&server, &path, "eval \"window.begun === true\"").await != "true" {
        assert!(since.elapsed() < TIMEOUT, "the code was not run");
    }
    assert_eq!(site.count("/second"), 2, "the session of the first call is used");
}

#[tokio::test]
async fn a_scrape_can_take_over_an_existing_session() {
    let (site, server) = (site().await, server(&[]).await);
    let id = open(&server, json!({})).await;
    run(&server, &execute(&id), &format!("open {}", site.url("/form"))).await;
    let first = server.scrape_id(&json!({ "url": site.url("/second") })).await;
    let mut request = bash("get url");
    request["existingSessionId"] = json!(id);
    let response = server.post(&interact(&first), &request).await.ok();
    assert_eq!(response["sessionId"], id.as_str());
    assert_eq!(response["stdout"].as_str().unwrap().trim(), site.url("/second"));
    assert_eq!(run(&server, &execute(&id), "get url").await, site.url("/second"));

    let page = json!({ "url": site.url("/") });
    let strangers = as_other(&server, Method::POST, "/v2/scrape", Some(&page))
        .await
        .ok();
    let strangers = interact(strangers["data"]["metadata"]["scrapeId"].as_str().unwrap());
    as_other(&server, Method::POST, &strangers, Some(&request))
        .await
        .is_error(403, "FORBIDDEN");

    let other = server.scrape_id(&page).await;
    server
        .post(&interact(&other), &request)
        .await
        .is_error(409, "CONFLICT");
    delete(&server, &id).await.ok();
    server
        .post(&interact(&first), &request)
        .await
        .is_error(410, "SESSION_DESTROYED");
    server
        .post(&interact(&other), &request)
        .await
        .is_error(410, "SESSION_DESTROYED");
}
