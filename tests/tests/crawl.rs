//! Crawls of fixture sites with the real server: fetched pages, documents, robots.txt, redirects, cancelling.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashSet};

use harvestman_tests::{DocsSite, Page, Site, TestServer, assert_contains, assert_fields};
use serde_json::{Value, json};

fn source(document: &Value) -> &str {
    document["metadata"]["sourceURL"].as_str().unwrap()
}

fn sources(documents: &[Value]) -> BTreeSet<&str> {
    documents.iter().map(source).collect()
}

#[tokio::test]
async fn a_crawl_of_a_large_site_respects_its_limit_and_fetches_each_page_once() {
    let docs = DocsSite::new(340).sitemap();
    let site = docs.build().serve().await;
    let server = TestServer::start().await;
    let id = server.crawl(&json!({ "url": site.url("/"), "limit": 300 })).await;
    let status = server.wait(&id).await;
    assert_eq!(status["status"], "completed", "{status}");
    for (field, value) in [("total", 300), ("completed", 300), ("creditsUsed", 300)] {
        assert_eq!(status[field], value, "{field}: {status}");
    }

    let (documents, responses) = server.documents(&id, 50).await;
    assert_eq!((documents.len(), responses), (300, 6));
    assert_eq!(sources(&documents).len(), 300, "each page has one document");
    let known: HashSet<String> = docs.paths().iter().map(|path| site.url(path)).collect();
    assert!(documents.iter().all(|document| known.contains(source(document))));
    let ids: HashSet<&str> = documents
        .iter()
        .map(|one| one["metadata"]["scrapeId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 300, "each document has its own id");
    for document in &documents {
        assert_eq!(document["metadata"]["statusCode"], 200);
        let markdown = document["markdown"].as_str().unwrap();
        assert!(
            markdown.starts_with("# ") && markdown.contains("```") && markdown.contains("| number"),
            "{markdown}"
        );
    }

    let (again, _) = server.documents(&id, 77).await;
    assert_eq!(again, documents, "the order does not depend on the page size");
    for (path, count) in site.counts() {
        assert_eq!(count, 1, "{path} was requested {count} times");
    }
    let pages = site
        .hits()
        .iter()
        .filter(|hit| !hit.path.starts_with("/sitemap") && hit.path != "/robots.txt")
        .count();
    assert_eq!(pages, 300);
}

#[tokio::test]
async fn a_crawl_finds_linked_pages_and_those_of_the_sitemap() {
    let docs = DocsSite::new(45).orphans(6);
    let site = docs.build().serve().await;
    let server = TestServer::start().await;
    let all: BTreeSet<String> = docs
        .paths()
        .iter()
        .chain(&docs.orphan_paths())
        .map(|path| site.url(path))
        .collect();
    let linked: BTreeSet<String> = docs.paths().iter().map(|path| site.url(path)).collect();
    let front: BTreeSet<String> = [site.url("/")].into();
    for (sitemap, expected) in [("include", &all), ("skip", &linked), ("only", &all)] {
        let id = server
            .crawl(&json!({ "url": site.url("/"), "sitemap": sitemap, "limit": 1000 }))
            .await;
        assert_eq!(server.wait(&id).await["status"], "completed");
        let (documents, _) = server.documents(&id, 100).await;
        let found: BTreeSet<String> = sources(&documents).into_iter().map(str::to_owned).collect();
        assert_eq!(&found, expected, "sitemap: {sitemap}");
        assert_eq!(documents.len(), expected.len());
    }
    let id = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip", "maxDiscoveryDepth": 0 }))
        .await;
    server.wait(&id).await;
    let (documents, _) = server.documents(&id, 100).await;
    assert_eq!(
        sources(&documents)
            .into_iter()
            .map(str::to_owned)
            .collect::<BTreeSet<_>>(),
        front
    );
}

#[tokio::test]
async fn the_link_graph_places_pages_below_the_page_on_which_they_were_found() {
    const FOUND_ON: [(&str, Option<&str>); 6] = [
        ("/", None),
        ("/a", Some("/")),
        ("/b", Some("/")),
        ("/a/1", Some("/a")),
        ("/a/2", Some("/a")),
        ("/b/1", Some("/b")),
    ];
    let page = |path: &str| {
        let below = FOUND_ON.iter().filter(|(_, found_on)| *found_on == Some(path));
        let below: String = below
            .map(|(to, _)| format!("<li><a href=\"{to}\">{to}</a></li>"))
            .collect();
        Page::html(format!(
            "<!doctype html><title>{path}</title><nav><a href=\"/\">Home</a> <a href=\"/a\">A</a></nav>\
             <aside><ul>{below}</ul></aside><main><h1>{path}</h1><p>Some sentences that lead nowhere at all. There \
             is a menu, and beside it a list of what lies below, but this text has no link.</p></main>"
        ))
    };
    let site = FOUND_ON
        .iter()
        .fold(Site::new(), |site, (path, _)| site.page(path, page(path)));
    let site = site.serve().await;
    let mut server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    let text = |document: &Value| document["markdown"].as_str().unwrap().to_owned();
    assert!(!crawled.documents.iter().map(text).any(|text| text.contains("](")));
    assert_eq!(crawled.documents.len(), FOUND_ON.len());

    let path = format!("/console/api/jobs/{}/links", crawled.id);
    let response = server.get(&path).await.ok();
    let urls: Vec<&str> = crawled.documents.iter().map(source).collect();
    let position = |path: &str| urls.iter().position(|url| *url == site.url(path)).unwrap();
    let mut ways = Vec::new();
    for (page, found_on) in FOUND_ON {
        let parent = found_on.map(position);
        assert_eq!(
            response["parents"][position(page)],
            json!(parent),
            "{page}: {response}"
        );
        ways.extend(parent.map(|parent| json!([parent, position(page)])));
    }
    let links = response["links"].as_array().unwrap();
    assert_eq!(links.len(), ways.len(), "{response}");
    assert!(ways.iter().all(|way| links.contains(way)), "{response}");

    server.kill9();
    server.restart().await;
    assert_eq!(server.get(&path).await.ok(), response);
}

#[tokio::test]
async fn pages_that_robots_txt_disallows_are_never_requested() {
    let docs = DocsSite::new(60).sitemap().disallow("/section-1/");
    let site = docs.build().serve().await;
    let server = TestServer::start().await;
    let id = server.crawl(&json!({ "url": site.url("/") })).await;
    let status = server.wait(&id).await;
    assert_fields(&status, json!({ "status": "completed", "completed": 40 }));
    let counts = site.counts();
    assert_eq!(counts["/robots.txt"], 1);
    assert!(
        counts.keys().all(|path| !path.starts_with("/section-1/")),
        "{counts:?}"
    );
    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    let blocked: BTreeSet<&str> = errors["robotsBlocked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|url| url.as_str().unwrap())
        .collect();
    let expected: BTreeSet<String> = docs
        .paths()
        .iter()
        .filter(|path| path.starts_with("/section-1/"))
        .map(|path| site.url(path))
        .collect();
    assert_eq!(blocked, expected.iter().map(String::as_str).collect());
    assert_eq!(errors["errors"], json!([]));
}

#[tokio::test]
async fn redirects_errors_and_duplicates_are_reported() {
    let site = Site::new()
        .page(
            "/",
            Page::links(
                "home",
                &[
                    "/moved", "/target", "/gone", "/away", "/a", "/a#part", "/a/", "/picture.png",
                ],
            ),
        )
        .page("/moved", Page::redirect(301, "/target"))
        .page("/away", Page::redirect(302, "http://127.0.0.2:1/elsewhere"))
        .page(
            "/gone",
            Page::html("<title>gone</title><p>It was here.</p>").status(410),
        )
        .graph(&[("/target", &["/"]), ("/a", &["/missing"])])
        .serve()
        .await;
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    let status = server.wait(&id).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (documents, _) = server.documents(&id, 100).await;

    let at_target: Vec<&Value> = documents
        .iter()
        .filter(|document| document["metadata"]["url"] == site.url("/target"))
        .collect();
    assert_eq!(at_target.len(), 1, "the redirect target is stored once");
    let document = |path: &str| documents.iter().find(|one| source(one) == site.url(path));
    assert_eq!(document("/gone").unwrap()["metadata"]["statusCode"], 410);
    assert!(document("/gone").unwrap()["metadata"]["error"].is_string());
    assert_eq!(document("/missing").unwrap()["metadata"]["statusCode"], 404);
    assert_eq!(site.count("/a") + site.count("/a/"), 1);
    assert_eq!(site.count("/picture.png"), 0);

    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    let entries = errors["errors"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["url"], site.url("/away"));
    assert!(document("/away").is_none());
    assert!(!entries[0]["error"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn a_cancelled_crawl_keeps_its_documents_and_fetches_no_more() {
    let site = DocsSite::new(200).build().serve().await;
    site.hold_after(20);
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": 4 }))
        .await;
    site.wait_for_requests(21).await;
    let response = server.delete(&format!("/v2/crawl/{id}")).await.ok();
    assert_eq!(response, json!({ "success": true, "status": "cancelled" }));
    let earlier_requests = site.hits().len();
    site.release();
    let status = server.wait(&id).await;
    assert_eq!(status["status"], "cancelled");
    let (documents, _) = server.documents(&id, 1000).await;
    assert!(documents.len() <= 24, "{} documents", documents.len());
    assert_eq!(server.delete(&format!("/v2/crawl/{id}")).await.status, 200);
    // Run another crawl, which gives the cancelled one enough time to continue by mistake.
    let other = server
        .crawl(&json!({ "url": site.url("/section-3/"), "limit": 20 }))
        .await;
    let (others, _) = match server.wait(&other).await["status"].as_str() {
        Some("completed") => server.documents(&other, 1000).await,
        status => panic!("{status:?}"),
    };
    assert_eq!(sources(&documents).len(), documents.len());
    let later = site.hits().split_off(earlier_requests);
    let own: BTreeSet<&str> = sources(&others);
    let strays: Vec<&str> = later
        .iter()
        .map(|hit| hit.path.as_str())
        .filter(|path| *path != "/robots.txt" && !path.starts_with("/sitemap"))
        .filter(|path| !own.contains(&*site.url(path)))
        .collect();
    // Up to four fetches were in flight at the cancel, and may have reached the site later.
    assert!(strays.len() <= 4, "{strays:?} were requested after the cancel");
}

#[tokio::test]
async fn a_running_crawl_can_be_read_and_is_listed_as_active() {
    let site = DocsSite::new(60).build().serve().await;
    site.hold_after(30);
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": 2 }))
        .await;
    site.wait_for_requests(31).await;
    let status = server.get(&format!("/v2/crawl/{id}")).await.ok();
    assert_fields(&status, json!({ "success": true, "status": "scraping" }));
    assert!(status["next"].is_string(), "a running crawl has a next: {status}");
    assert!(status["total"].as_u64().unwrap() <= 10_000);
    let active = server.get("/v2/crawl/active").await.ok();
    assert_eq!(active["crawls"].as_array().unwrap().len(), 1, "{active}");
    assert_eq!(active["crawls"][0]["id"], id);
    assert_eq!(active["crawls"][0]["options"]["maxConcurrency"], 2, "{active}");
    site.release();
    assert_eq!(server.wait(&id).await["completed"], 60);
    assert_eq!(server.get("/v2/crawl/active").await.ok()["crawls"], json!([]));
}

#[tokio::test]
async fn the_delay_is_kept_between_the_starts_of_two_fetches() {
    let site = DocsSite::new(4).build().serve().await;
    let server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "delay": 0.3, "sitemap": "skip" }))
        .await;
    server.wait(&id).await;
    let starts: Vec<_> = site
        .hits()
        .into_iter()
        .filter(|hit| hit.path != "/robots.txt")
        .map(|hit| hit.at)
        .collect();
    assert_eq!(starts.len(), 4);
    for pair in starts.windows(2) {
        // The arrival of a request varies a little from its start.
        assert!(
            (pair[1] - pair[0]).as_millis() >= 200,
            "{:?} between two fetches",
            pair[1] - pair[0]
        );
    }
}

#[tokio::test]
async fn a_scraped_page_can_be_read_again() {
    let site = DocsSite::new(3).build().serve().await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/section-0/page-1"), "formats": ["markdown", "links", "html"] });
    let response = server.post("/v2/scrape", &request).await.ok();
    let document = &response["data"];
    assert_eq!(document["metadata"]["title"], "Topic 1 - Fixture Docs");
    assert_eq!(document["metadata"]["sourceURL"], site.url("/section-0/page-1"));
    assert_contains(document, "/markdown", "# Topic 1");
    assert!(
        document["links"]
            .as_array()
            .unwrap()
            .contains(&json!(site.url("/section-0/page-2")))
    );
    let id = document["metadata"]["scrapeId"].as_str().unwrap();
    let stored = server.get(&format!("/v2/scrape/{id}")).await.ok();
    assert_eq!(stored["data"]["markdown"], document["markdown"]);
    assert_eq!(site.count("/section-0/page-1"), 1);
}

#[tokio::test]
async fn a_crawl_is_continued_without_fetching_its_pages_again() {
    const LINKS: [&str; 6] = ["/", "/broken", "/a", "/b", "/c", "/d"];
    let site = LINKS.iter().fold(Site::new(), |site, path| {
        site.page(path, Page::links(path, &LINKS))
    });
    let failing = Page::redirect(302, "/broken");
    let site = site
        .page("/broken", failing)
        .page("/c", Page::links("/c", &["/new"]));
    let site = site.page("/new", Page::links("/new", &LINKS)).serve().await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "limit": 3, "sitemap": "skip",
        "scrapeOptions": { "formats": ["markdown", "html"] } });
    let first = server.crawl(&request).await;
    server
        .post(&continuation(&first), &json!({}))
        .await
        .is_error(409, "CONFLICT");
    server.wait(&first).await;
    assert_eq!(
        urls_left(&server, &first).await,
        4,
        "one failed, three exceed the limit"
    );
    let paths = |documents: &[Value]| -> Vec<String> {
        let path = |document| source(document).strip_prefix(&site.url("")).unwrap().to_owned();
        documents.iter().map(path).collect()
    };
    let (documents, _) = server.documents(&first, 10).await;
    assert_eq!(paths(&documents), ["/", "/a"]);

    site.change("/broken", Some(Page::links("/broken", &[])));
    let second = continue_crawl(&server, &first).await;
    let status = server.wait(&second).await;
    assert_fields(&status, json!({ "completed": 3, "creditsUsed": 3 }));
    let (documents, _) = server.documents(&second, 10).await;
    let found: BTreeSet<String> = paths(&documents).into_iter().collect();
    assert_eq!(found, ["/b", "/broken", "/c"].map(str::to_owned).into());
    assert!(
        documents.iter().all(|document| document["html"].is_string()),
        "the settings are the same"
    );
    let third = continue_crawl(&server, &second).await;
    server.wait(&third).await;
    let (documents, _) = server.documents(&third, 10).await;
    let found: BTreeSet<String> = paths(&documents).into_iter().collect();
    assert_eq!(found, ["/d", "/new"].map(str::to_owned).into());
    for path in ["/", "/a", "/b", "/c", "/d", "/new"] {
        assert_eq!(site.count(path), 1, "{path} is fetched once by all three crawls");
    }

    let nothing = server.post(&continuation(&third), &json!({})).await;
    assert_eq!(nothing.status, 409);
    assert!(
        nothing.error().contains("nothing to continue"),
        "{}",
        nothing.text()
    );
    assert_eq!(urls_left(&server, &third).await, 0);
    let batch = server.batch(&json!({ "urls": [site.url("/a")] })).await;
    let batch = batch.rsplit('/').next().unwrap();
    assert_eq!(server.post(&continuation(batch), &json!({})).await.status, 404);
}

fn continuation(id: &str) -> String {
    format!("/console/api/jobs/{id}/continue")
}

async fn continue_crawl(server: &TestServer, id: &str) -> String {
    let started = server.post(&continuation(id), &json!({})).await.ok();
    started["id"].as_str().unwrap().to_owned()
}

async fn urls_left(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/console/api/jobs/{id}")).await.ok()["job"]["urlsLeft"].clone()
}
