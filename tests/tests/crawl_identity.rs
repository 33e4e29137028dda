//! URLs of a crawl that are the same page (docs/API.md section 5 rule 1); each page is fetched once.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use harvestman_tests::{NameServer, Page, Site, TestServer};
use serde_json::{Value, json};

const SPELLINGS: &[&str] = &[
    "/a", "/a/", "/a#part", "/./b/../a", "/a/index.html", "/a/index.php", "/a?x=1", "/a?x=2", "/a/?x=1", "/A",
];

#[tokio::test]
async fn similar_urls_are_deduplicated_by_option() {
    let server = TestServer::start().await;
    let table: [(Value, &[&str]); 4] = [
        (json!({}), &["/", "/a", "/a?x=1", "/a?x=2", "/A"]),
        (json!({ "ignoreQueryParameters": true }), &["/", "/a", "/A"]),
        (
            json!({ "deduplicateSimilarURLs": false }),
            &[
                "/", "/a", "/a/", "/a/index.html", "/a/index.php", "/a?x=1", "/a?x=2", "/a/?x=1", "/A",
            ],
        ),
        (
            json!({ "deduplicateSimilarURLs": false, "ignoreQueryParameters": true }),
            &["/", "/a", "/a/", "/a/index.html", "/a/index.php", "/A"],
        ),
    ];
    for (options, expected) in table {
        let mut site = Site::new().page("/", Page::links("home", SPELLINGS));
        for path in expected.iter().skip(1) {
            // Every page links to every spelling.
            site = site.page(path, Page::links(path, SPELLINGS));
        }
        let site = site.serve().await;
        let mut request = options;
        request["url"] = site.url("/").into();
        request["sitemap"] = "skip".into();
        server.run_crawl(&request).await.assert_visited(&site, expected);
        let mut requests: BTreeMap<String, usize> = site.counts();
        assert_eq!(requests.remove("/robots.txt"), Some(1));
        assert_eq!(requests.len(), expected.len(), "{request}: {requests:?}");
        assert!(requests.values().all(|count| *count == 1), "{requests:?}");
    }
}

#[tokio::test]
async fn www_is_the_same_host_and_the_same_page() {
    let names = NameServer::serve().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DNS_SERVERS", &names.setting())]).await;
    for (dedupe, count) in [(true, 1), (false, 2)] {
        let home = "<a href='http://www.site.test{port}/a'>a</a> <a href='http://site.test{port}/a'>a</a>";
        let site = Site::new()
            .page("/", Page::html(home))
            .graph(&[("/a", &[])])
            .serve()
            .await;
        let request = json!({ "url": site.url_at("site.test", "/"), "sitemap": "skip",
            "deduplicateSimilarURLs": dedupe });
        let crawled = server.run_crawl(&request).await;
        assert_eq!(crawled.status["completed"], 1 + count, "{:?}", crawled.visited());
        assert_eq!(site.count("/a"), count);
    }
}

#[tokio::test]
async fn a_redirect_to_a_known_page_does_not_count_towards_the_limit() {
    let site = Site::new()
        .graph(&[
            ("/", &["/old", "/new", "/older", "/last"]),
            ("/new", &[]),
            ("/last", &[]),
        ])
        .page("/old", Page::redirect(301, "/new"))
        .page("/older", Page::redirect(308, "/old"))
        .serve()
        .await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "limit": 3, "maxConcurrency": 1 });
    let crawled = server.run_crawl(&request).await;
    // `/old` was fetched first: the page is reported once, under the requested URL.
    assert_eq!(crawled.status["completed"], 3, "{:?}", crawled.visited());
    let landed: Vec<&str> = crawled
        .documents
        .iter()
        .map(|document| document["metadata"]["url"].as_str().unwrap())
        .collect();
    for path in ["/", "/new", "/last"] {
        let times = landed.iter().filter(|url| **url == site.url(path)).count();
        assert_eq!(times, 1, "{path}: {landed:?}");
    }
    assert!(crawled.errors.is_empty(), "{:?}", crawled.errors);
}

#[tokio::test]
async fn a_canonical_url_is_followed_as_a_link() {
    let page = |canonical: &str, links: &str| {
        Page::html(format!(
            "<html><head><title>t</title><link rel=canonical href='{canonical}'></head><body><p>Some text of the page at \
             hand.</p>{links}</body></html>"
        ))
    };
    let site = Site::new()
        .page("/", page("/", "<a href='/a?utm=1'>a</a><a href='/b'>b</a>"))
        .page("/a?utm=1", page("/a", ""))
        .page("/a", page("/a", "<a href='/a?utm=1'>again</a>"))
        .page("/b", page("http://elsewhere.test/b", ""))
        .serve()
        .await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip" });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/", "/a?utm=1", "/a", "/b"]);
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "ignoreQueryParameters": true });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/", "/a?utm=1", "/b"]);
}
