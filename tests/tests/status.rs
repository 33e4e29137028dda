//! Edge cases of the crawl status: size limit, pagination, order, ended crawls, other teams.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use harvestman_tests::server::OTHER_KEY;
use harvestman_tests::{DocsSite, Page, RunningSite, Site, TestServer, assert_fields};
use http::Method;
use serde_json::{Value, json};

const MIB: usize = 1 << 20;
/// Largest response, including the fields around the documents.
const RESPONSE_BYTES: usize = 10 * MIB;

fn sources(status: &Value) -> Vec<&str> {
    let documents = status["data"].as_array().unwrap();
    documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap())
        .collect()
}

/// Returns path and query of a `next` URL of the server.
fn path_of(server: &TestServer, next: &Value) -> String {
    let next = next.as_str().unwrap();
    let path = next.strip_prefix(&format!("http://{}", server.address()));
    path.unwrap_or_else(|| panic!("{next}")).to_owned()
}

/// Starts a crawl that fetches its pages in turn; `held` of them are stored, and the next one is held back.
async fn held_crawl(held: u64) -> (TestServer, RunningSite, String) {
    let site = DocsSite::new(30).build().serve().await;
    site.hold_after(held);
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": 1, "sitemap": "skip" }))
        .await;
    site.wait_for_requests(held + 1).await;
    let path = format!("/v2/crawl/{id}?limit=1");
    server
        .wait_until(&path, |status| status["completed"] == held)
        .await;
    (server, site, id)
}

#[tokio::test]
async fn a_document_above_ten_mebibytes_has_a_response_of_its_own() {
    let size = |path: &str| match path {
        "/huge" => 12 * MIB,
        "/a" | "/c" => 4 * MIB,
        _ => 1000,
    };
    let paths = ["/", "/a", "/huge", "/b", "/c", "/d"];
    let site = paths.windows(2).fold(Site::new(), |site, pair| {
        let filling = "<!-- x -->".repeat(size(pair[0]) / 10);
        let html = format!("<title>t</title><a href=\"{}\">next</a>{filling}", pair[1]);
        site.page(pair[0], Page::html(html))
    });
    let site = site.page("/d", Page::html("<p>the end</p>")).serve().await;
    let server = TestServer::start().await;
    let request =
        json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": { "formats": ["rawHtml"] } });
    let id = server.crawl(&request).await;
    assert_eq!(server.wait(&id).await["completed"], 6);
    let (mut path, mut responses) = (format!("/v2/crawl/{id}"), Vec::new());
    loop {
        let response = server.get(&path).await;
        let (bytes, status) = (response.body.len(), response.ok());
        let found: Vec<String> = sources(&status).into_iter().map(str::to_owned).collect();
        assert!(
            bytes <= RESPONSE_BYTES || found.len() == 1,
            "{bytes} bytes for {found:?}"
        );
        responses.push(found);
        if status["next"].is_null() {
            break;
        }
        path = path_of(&server, &status["next"]);
    }
    let expected = [&paths[..2], &paths[2..3], &paths[3..]];
    let expected: Vec<Vec<String>> = expected
        .iter()
        .map(|paths| paths.iter().map(|path| site.url(path)).collect())
        .collect();
    assert_eq!(responses, expected);
}

#[tokio::test]
async fn the_document_at_an_offset_never_changes_while_the_crawl_runs() {
    let (server, site, id) = held_crawl(10).await;
    let mut before = Vec::new();
    for skip in 0..10 {
        let status = server
            .get(&format!("/v2/crawl/{id}?skip={skip}&limit=1"))
            .await
            .ok();
        let next = format!("/v2/crawl/{id}?skip={}&limit=1", skip + 1);
        assert_eq!(path_of(&server, &status["next"]), next);
        before.push(status["data"][0].clone());
    }
    let whole = server.get(&format!("/v2/crawl/{id}")).await.ok();
    assert_eq!(whole["data"], json!(before));
    assert_eq!(
        path_of(&server, &whole["next"]),
        format!("/v2/crawl/{id}?skip=10")
    );
    assert!(whole["total"].as_u64() >= whole["completed"].as_u64());
    site.release();
    server.wait(&id).await;
    let after = server.get(&format!("/v2/crawl/{id}?limit=10")).await.ok();
    assert_eq!(after["data"], json!(before));
}

#[tokio::test]
async fn skip_and_limit_are_respected_and_validated() {
    let (server, site, id) = held_crawl(5).await;
    site.release();
    assert_eq!(server.wait(&id).await["total"], 30);
    let path = format!("/v2/crawl/{id}");
    for (query, count, next) in [
        ("?limit=1000", 30, None),
        ("?limit=30", 30, None),
        ("?limit=29", 29, Some("?skip=29&limit=29")),
        ("?skip=29", 1, None),
        ("?skip=30", 0, None),
        ("?skip=9007199254740991&limit=1", 0, None),
        ("?skip=3&limit=4&other=1", 4, Some("?skip=7&limit=4")),
        ("?skip=28&limit=1", 1, Some("?skip=29&limit=1")),
    ] {
        let status = server.get(&format!("{path}{query}")).await.ok();
        assert_eq!(sources(&status).len(), count, "{query}");
        assert_fields(&status, json!({ "completed": 30, "total": 30 }));
        match next {
            None => assert!(
                status.get("next").is_some_and(Value::is_null),
                "{query}: {}",
                status["next"]
            ),
            Some(next) => assert_eq!(path_of(&server, &status["next"]), format!("{path}{next}")),
        }
    }
    for bad in [
        "limit=0", "limit=1001", "limit=x", "limit=", "skip=-1", "skip=1.5", "skip=1e3",
        "skip=99999999999999999999",
    ] {
        let response = server.get(&format!("{path}?{bad}")).await;
        response.is_error_for(bad, 400, "BAD_REQUEST");
        assert_eq!(
            response.json["details"][0]["path"][0],
            bad.split('=').next().unwrap()
        );
    }
}

#[tokio::test]
async fn a_request_at_the_end_of_a_running_crawl_waits_for_a_document() {
    let (server, site, id) = held_crawl(3).await;
    let path = format!("/v2/crawl/{id}?skip=3&limit=5");
    let empty = server.get(&path).await.ok();
    assert_fields(&empty, json!({ "data": [], "status": "scraping" }));
    assert_eq!(path_of(&server, &empty["next"]), path, "`next` stays the same");
    // Release one page while the request waits; the loop repeats a request that missed it.
    let held = server.get(&path);
    let news = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        site.hold_after(4);
    };
    let (mut status, ()) = tokio::join!(held, news);
    while status.json["data"] == json!([]) {
        status = server.get(&path).await;
    }
    assert_eq!(
        path_of(&server, &status.ok()["next"]),
        format!("/v2/crawl/{id}?skip=4&limit=5")
    );
    // A request for a cancelled crawl does not wait.
    server.delete(&format!("/v2/crawl/{id}")).await.ok();
    let ended = server.get(&format!("/v2/crawl/{id}?skip=4")).await.ok();
    assert_fields(&ended, json!({ "status": "cancelled", "next": null, "data": [] }));
    site.release();
}

#[tokio::test]
async fn an_ended_crawl_never_changes() {
    let (mut server, site, id) = held_crawl(6).await;
    server.delete(&format!("/v2/crawl/{id}")).await.ok();
    let cancelled = server.get(&format!("/v2/crawl/{id}")).await.ok();
    assert_eq!(
        (&cancelled["status"], &cancelled["total"]),
        (&json!("cancelled"), &json!(7)),
        "six stored pages and one in flight"
    );
    assert!(cancelled["completedAt"].is_string() && cancelled["duration"].is_number());
    site.release();
    let request = json!({ "url": site.url("/"), "limit": 4, "sitemap": "skip" });
    let whole = server.crawl(&request).await;
    server.wait(&whole).await;
    let completed = server.get(&format!("/v2/crawl/{whole}")).await.ok();
    for round in 0..2 {
        let again = server.delete(&format!("/v2/crawl/{whole}")).await;
        again.is_error(409, "CONFLICT");
        assert_eq!(
            server.delete(&format!("/v2/crawl/{id}")).await.status,
            200,
            "cancelling again succeeds"
        );
        assert_eq!(server.get(&format!("/v2/crawl/{id}")).await.ok(), cancelled);
        assert_eq!(server.get(&format!("/v2/crawl/{whole}")).await.ok(), completed);
        if round == 0 {
            server.kill9();
            server.restart().await;
        }
    }
}

#[tokio::test]
async fn another_team_cannot_read_or_cancel_a_crawl() {
    let (server, site, id) = held_crawl(2).await;
    let key = format!("Bearer {OTHER_KEY}");
    let stranger = [("authorization", key.as_str())];
    for (method, path) in [
        (Method::GET, format!("/v2/crawl/{id}")),
        (Method::GET, format!("/v2/crawl/{id}?skip=2")),
        (Method::GET, format!("/v2/crawl/{id}/errors")),
        (Method::DELETE, format!("/v2/crawl/{id}")),
    ] {
        let response = server.send(method, &path, &stranger, "").await;
        response.is_error_for(path, 404, "NOT_FOUND");
    }
    let active = server
        .send(Method::GET, "/v2/crawl/active", &stranger, "")
        .await
        .ok();
    assert_eq!(active["crawls"], json!([]));
    site.release();
    assert_eq!(
        server.wait(&id).await["status"],
        "completed",
        "the cancel of another team has no effect"
    );
}
