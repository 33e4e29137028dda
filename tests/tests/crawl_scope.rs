//! Pages of its own host that a crawl visits (docs/API.md section 5 rules 2, 3, 5, 8, 10, 11). Each option is tested
//! separately on a site with a known link graph; only the expected pages may be requested.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{FinishedCrawl, Page, RunningSite, Site, TestServer};
use serde_json::{Value, json};

/// Crawls from `start` without sitemaps.
async fn crawl(server: &TestServer, site: &RunningSite, start: &str, options: Value) -> FinishedCrawl {
    let mut request = json!({ "url": site.url(start), "sitemap": "skip" });
    request
        .as_object_mut()
        .unwrap()
        .extend(options.as_object().unwrap().clone());
    server.run_crawl(&request).await
}

async fn blog() -> RunningSite {
    Site::new()
        .graph(&[
            ("/", &["/blog", "/about", "/blog/2026/one?lang=de"]),
            (
                "/blog",
                &["/blog/2026/one", "/blog/2025/two", "/blog/drafts/three"],
            ),
            ("/blog/2026/one", &["/blog/2026/one/more"]),
            ("/blog/2026/one?lang=de", &[]),
            ("/blog/2026/one/more", &[]),
            ("/blog/2025/two", &["/Blog/2025"]),
            ("/Blog/2025", &[]),
            ("/blog/drafts/three", &["/blog/found-by-a-draft"]),
            ("/blog/found-by-a-draft", &[]),
            ("/about", &[]),
        ])
        .serve()
        .await
}

#[tokio::test]
async fn include_and_exclude_paths_filter_pages() {
    let (site, server) = (blog().await, TestServer::start().await);
    let visits = |options: Value| crawl(&server, &site, "/", options);

    let crawled = visits(json!({ "excludePaths": ["drafts", "^/about$"] })).await;
    let rest = [
        "/", "/blog", "/blog/2026/one", "/blog/2026/one?lang=de", "/blog/2026/one/more", "/blog/2025/two",
        "/Blog/2025",
    ];
    crawled.assert_visited(&site, &rest);

    let crawled = visits(json!({ "includePaths": ["^/$", "^/blog"], "excludePaths": ["drafts"] })).await;
    let rest: Vec<&str> = rest.into_iter().filter(|path| *path != "/Blog/2025").collect();
    crawled.assert_visited(&site, &rest);

    // The query is not part of the path.
    let crawled = visits(json!({ "excludePaths": ["lang=de"], "maxDiscoveryDepth": 1 })).await;
    crawled.assert_visited(&site, &["/", "/blog", "/about", "/blog/2026/one?lang=de"]);
    for (path, count) in site.counts() {
        assert!(
            path != "/robots.txt" || count == 3,
            "robots.txt is requested once per crawl"
        );
    }
}

#[tokio::test]
async fn patterns_can_match_the_full_url() {
    let (site, server) = (blog().await, TestServer::start().await);
    let visits = |options: Value| crawl(&server, &site, "/", options);
    let crawled = visits(json!({ "excludePaths": ["lang=de", "/blog$"], "regexOnFullURL": true })).await;
    crawled.assert_visited(&site, &["/", "/about"]);
    let host = format!("^http://127\\.0\\.0\\.1:{}/(about)?$", site.address().port());
    let crawled = visits(json!({ "includePaths": [host], "regexOnFullURL": true })).await;
    crawled.assert_visited(&site, &["/", "/about"]);
    let crawled = visits(json!({ "includePaths": [host] })).await;
    crawled.assert_visited(&site, &[]);
}

#[tokio::test]
async fn the_start_page_must_match_the_patterns() {
    let (site, server) = (blog().await, TestServer::start().await);
    for options in [
        json!({ "excludePaths": ["^/about"] }),
        json!({ "includePaths": ["^/blog"] }),
        json!({ "excludePaths": ["127"], "regexOnFullURL": true }),
    ] {
        let crawled = crawl(&server, &site, "/about", options).await;
        crawled.assert_visited(&site, &[]);
        assert_eq!(crawled.status["total"], 0);
        let warning = crawled.status["warning"].as_str().unwrap();
        assert!(warning.contains("The start page"), "{warning}");
        assert!(crawled.errors.is_empty() && crawled.robots_blocked.is_empty());
    }
    assert!(
        site.hits().is_empty(),
        "no requests were sent: {:?}",
        site.counts()
    );
}

#[tokio::test]
async fn max_discovery_depth_limits_the_visited_pages() {
    let site = Site::new()
        .graph(&[
            ("/", &["/a", "/b"]),
            ("/a", &["/a/1", "/b"]),
            ("/b", &["/a/1/x", "/a"]),
            ("/a/1", &["/a/1/x"]),
            ("/a/1/x", &["/deep"]),
            ("/deep", &["/deeper"]),
            ("/deeper", &[]),
        ])
        .serve()
        .await;
    let server = TestServer::start().await;
    let levels: [&[&str]; 5] = [
        &["/"],
        &["/", "/a", "/b"],
        &["/", "/a", "/b", "/a/1", "/a/1/x"],
        &["/", "/a", "/b", "/a/1", "/a/1/x", "/deep"],
        &["/", "/a", "/b", "/a/1", "/a/1/x", "/deep", "/deeper"],
    ];
    for (depth, expected) in levels.iter().enumerate() {
        let crawled = crawl(&server, &site, "/", json!({ "maxDiscoveryDepth": depth })).await;
        crawled.assert_visited(&site, expected);
    }
    crawl(&server, &site, "/", json!({}))
        .await
        .assert_visited(&site, levels[4]);
}

#[tokio::test]
async fn pages_are_visited_breadth_first_in_document_order() {
    let (site, server) = (blog().await, TestServer::start().await);
    let crawled = crawl(&server, &site, "/", json!({ "maxConcurrency": 1, "limit": 6 })).await;
    let order = [
        "/", "/blog", "/about", "/blog/2026/one?lang=de", "/blog/2026/one", "/blog/2025/two",
    ];
    crawled.assert_visited(&site, &order);
    let requested: Vec<String> = site.hits().into_iter().map(|hit| hit.path).collect();
    assert_eq!(requested[1..], order);
    let in_order: Vec<String> = order.iter().map(|path| site.url(path)).collect();
    let documents: Vec<&str> = crawled
        .documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap())
        .collect();
    assert_eq!(documents, in_order);
}

#[tokio::test]
async fn the_limit_counts_every_attempted_page() {
    let site = Site::new()
        .graph(&[
            ("/", &["/gone", "/a", "/b", "/c"]),
            ("/a", &[]),
            ("/b", &[]),
            ("/c", &[]),
        ])
        .page("/gone", Page::html("<p>gone</p>").status(410))
        .serve()
        .await;
    let server = TestServer::start().await;
    for (limit, expected) in [
        (1, &["/"][..]),
        (2, &["/", "/gone"]),
        (3, &["/", "/gone", "/a"]),
        (5, &["/", "/gone", "/a", "/b", "/c"]),
        (50, &["/", "/gone", "/a", "/b", "/c"]),
    ] {
        let before = site.hits().len();
        let crawled = crawl(
            &server,
            &site,
            "/",
            json!({ "limit": limit, "scrapeOptions": { "maxAge": 0 } }),
        )
        .await;
        crawled.assert_visited(&site, expected);
        assert_eq!(
            site.hits().len() - before,
            expected.len() + 1,
            "the pages and robots.txt"
        );
        assert_eq!(crawled.status.get("warning"), None, "limit {limit}");
    }
}

#[tokio::test]
async fn only_children_of_the_start_page_are_visited_by_default() {
    let site = Site::new()
        .graph(&[
            (
                "/docs",
                &[
                    "/docs/", "/docs/a", "/docs-old", "/", "/docs/../blog", "/docs?page=2",
                ],
            ),
            ("/docs/", &["/docs/only-with-slash"]),
            ("/docs/a", &["b", "/docs/a/c"]),
            ("/docs/b", &[]),
            ("/docs/a/c", &["/blog"]),
            ("/docs?page=2", &[]),
            ("/docs-old", &[]),
            ("/", &["/other"]),
            ("/other", &[]),
            ("/blog", &[]),
        ])
        .serve()
        .await;
    let server = TestServer::start().await;
    let children = ["/docs", "/docs/a", "/docs/b", "/docs/a/c", "/docs?page=2"];
    let crawled = crawl(&server, &site, "/docs", json!({})).await;
    crawled.assert_visited(&site, &children);
    assert_eq!(crawled.status.get("warning"), None);

    let everything = [&children[..], &["/docs-old", "/", "/other", "/blog"]].concat();
    let crawled = crawl(&server, &site, "/docs", json!({ "crawlEntireDomain": true })).await;
    crawled.assert_visited(&site, &everything);

    let crawled = crawl(&server, &site, "/docs/a/c", json!({})).await;
    crawled.assert_visited(&site, &["/docs/a/c"]);
    let warning = crawled.status["warning"].as_str().unwrap();
    assert!(warning.contains("crawlEntireDomain"), "{warning}");
    let crawled = crawl(&server, &site, "/docs/a/c", json!({ "limit": 1 })).await;
    crawled.assert_visited(&site, &["/docs/a/c"]);
    assert_eq!(
        crawled.status.get("warning"),
        None,
        "a limit of one page needs no warning"
    );
}

#[tokio::test]
async fn links_to_assets_and_other_schemes_are_not_followed() {
    let links = [
        "/a.png", "/b.JPG", "/c.svg", "/d.css", "/e.js", "/f.woff2", "/g.zip", "/h.tar.gz", "/i.exe",
        "/j.mp3", "/k.mp4", "/l.iso", "mailto:me@site.test", "tel:123", "javascript:void(0)",
        "data:text/html,x", "ftp://h/f", "/page.html", "/page.php", "/v1.2", "/readme.txt", "/report.pdf",
    ];
    let site = Site::new()
        .graph(&[
            ("/", &links),
            ("/page.html", &[]),
            ("/page.php", &[]),
            ("/v1.2", &[]),
        ])
        .page("/readme.txt", Page::new("text/plain", "A text of its own."))
        .serve()
        .await;
    let server = TestServer::start().await;
    let crawled = crawl(&server, &site, "/", json!({})).await;
    assert_eq!(crawled.status["status"], "completed");
    let requested: Vec<String> = site.hits().into_iter().map(|hit| hit.path).collect();
    let mut pages = requested[1..].to_vec();
    pages.sort();
    let expected = [
        "/", "/page.html", "/page.php", "/readme.txt", "/report.pdf", "/v1.2",
    ];
    assert_eq!(pages, expected, "documents are fetched, assets are not");
}
