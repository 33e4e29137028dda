//! Maps of fixture sites with the real server: listed URLs, their order, and fetched pages.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use harvestman_tests::{DocsSite, Page, RunningSite, Site, TestServer, assert_contains};
use serde_json::{Value, json};

/// Returns the listed URLs, as paths for URLs of the site.
fn paths(response: &Value, site: &RunningSite) -> Vec<String> {
    let links = response["links"].as_array().unwrap().iter();
    let urls = links.map(|link| link["url"].as_str().unwrap());
    urls.map(|url| url.strip_prefix(&site.url("")).unwrap_or(url).to_owned())
        .collect()
}

async fn map(server: &TestServer, site: &RunningSite, options: Value) -> Vec<String> {
    let mut body = json!({ "url": site.url("/") });
    for (name, value) in options.as_object().unwrap() {
        body[name] = value.clone();
    }
    let response = server.post("/v2/map", &body).await.ok();
    assert_eq!(response["success"], true);
    assert!(response["id"].is_string(), "{response}");
    paths(&response, site)
}

fn urlset(paths: &[&str]) -> Page {
    let urls: String = paths
        .iter()
        .map(|path| format!("<url><loc>{{base}}{path}</loc></url>"))
        .collect();
    Page::new("application/xml", format!("<urlset>{urls}</urlset>"))
}

fn shop() -> Site {
    Site::new()
        .page(
            "/sitemap.xml",
            urlset(&["/", "/pricing", "/docs/install", "/docs/api?v=2", "/blog/one"]),
        )
        .page(
            "/",
            Page::links(
                "Shop",
                &[
                    "/pricing/#plans", "/about", "/docs", "/list?page=2", "http://other.test/x",
                    "mailto:a@b.c", "/about",
                ],
            ),
        )
        .page("/docs", Page::links("Docs", &["/docs/guide", "/contact"]))
}

#[tokio::test]
async fn a_map_lists_sitemap_page_and_links_without_further_fetches() {
    let site = shop().serve().await;
    let server = TestServer::start().await;
    let sitemap = ["/", "/pricing", "/docs/install", "/blog/one"];
    let links = ["/about", "/docs"];
    assert_eq!(
        map(&server, &site, json!({})).await,
        [&sitemap[..], &links].concat()
    );
    let fetched: BTreeSet<String> = site.counts().into_keys().collect();
    assert_eq!(
        fetched,
        ["/", "/robots.txt", "/sitemap.xml"].map(str::to_owned).into()
    );

    assert_eq!(map(&server, &site, json!({ "sitemap": "only" })).await, sitemap);
    let skipped = map(&server, &site, json!({ "sitemap": "skip" })).await;
    assert_eq!(skipped, ["/", "/pricing/", "/about", "/docs"]);
    let with_queries = map(&server, &site, json!({ "ignoreQueryParameters": false })).await;
    assert_eq!(
        with_queries,
        [
            "/", "/pricing", "/docs/install", "/docs/api?v=2", "/blog/one", "/about", "/docs", "/list?page=2"
        ]
    );
}

#[tokio::test]
async fn start_path_search_patterns_and_limit_order_and_filter_the_urls() {
    let site = shop().serve().await;
    let server = TestServer::start().await;
    let docs = map(&server, &site, json!({ "url": site.url("/docs") })).await;
    assert_eq!(
        docs,
        [
            "/docs/install", "/docs", "/docs/guide", "/", "/pricing", "/blog/one", "/contact"
        ]
    );
    let searched = map(&server, &site, json!({ "search": "how to install, docs" })).await;
    assert_eq!(&searched[..2], ["/docs/install", "/docs"]);
    assert_eq!(searched.len(), 6, "search only reorders");
    let some = map(&server, &site, json!({ "search": "blog", "limit": 2 })).await;
    assert_eq!(some, ["/blog/one", "/"]);
    let options = json!({ "includePaths": ["^/docs", "^/blog"], "excludePaths": ["install$"] });
    assert_eq!(map(&server, &site, options).await, ["/blog/one", "/docs"]);
    let options = json!({ "includePaths": ["http.*/about$"], "regexOnFullURL": true });
    assert_eq!(map(&server, &site, options).await, ["/about"]);
}

#[tokio::test]
async fn robots_txt_names_sitemaps_but_blocks_nothing() {
    let robots =
        "User-agent: *\nDisallow: /\nSitemap: {base}/sitemap-index.xml\nSitemap: /sitemap-text.txt\n";
    let index = "<sitemapindex><sitemap><loc>/sitemap-a.xml</loc></sitemap>\
        <sitemap><loc>http://other.test/sitemap.xml</loc></sitemap></sitemapindex>";
    let site = Site::new()
        .page("/robots.txt", Page::new("text/plain", robots))
        .page("/sitemap-index.xml", Page::new("application/xml", index))
        .page("/sitemap-a.xml", urlset(&["/a", "/b"]))
        .page(
            "/sitemap-text.txt",
            Page::new("text/plain", "{base}/c\n{base}/a\n"),
        )
        .page("/", Page::links("Start", &["/d"]))
        .serve()
        .await;
    let server = TestServer::start().await;
    let found = map(&server, &site, json!({})).await;
    assert_eq!(found, ["/c", "/a", "/b", "/", "/d"]);
    assert_eq!(site.count("/sitemap.xml"), 0, "robots.txt names other sitemaps");
}

#[tokio::test]
async fn headers_are_sent_with_every_request() {
    let site = shop().serve().await;
    let server = TestServer::start().await;
    let options = json!({
        "headers": { "X-Visitor": "me" },
        "location": { "country": "DE", "languages": ["de"] },
        "origin": "test",
        "useIndex": false,
    });
    map(&server, &site, options).await;
    let hits = site.hits();
    assert_eq!(hits.len(), 3);
    for hit in hits {
        assert_eq!(hit.headers["x-visitor"], "me", "{}", hit.path);
        if hit.path == "/" {
            assert_eq!(hit.headers["accept-language"], "de");
        }
    }
}

#[tokio::test]
async fn errors_and_warnings_have_a_reason() {
    let site = Site::new()
        .page("/slow/", Page::links("Slow", &[]).delay(Duration::from_secs(60)))
        .page("/away", Page::redirect(302, "http://10.0.0.1/"))
        .serve()
        .await;
    let server = TestServer::start().await;
    let dead = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    for (body, status, code) in [
        (json!({ "url": "http://10.0.0.1/" }), 403, "UNSAFE_TARGET"),
        (
            json!({ "url": site.url("/away"), "sitemap": "skip" }),
            403,
            "UNSAFE_TARGET",
        ),
        (
            json!({ "url": "http://nothing.invalid/" }),
            400,
            "SCRAPE_DNS_RESOLUTION_ERROR",
        ),
        (
            json!({ "url": site.url("/slow/"), "timeout": 300 }),
            408,
            "MAP_TIMEOUT",
        ),
        (json!({ "url": dead }), 500, "MAP_FAILED"),
        (json!({ "url": dead, "sitemap": "only" }), 500, "MAP_FAILED"),
        (
            json!({ "url": site.url("/"), "includePaths": ["("] }),
            400,
            "BAD_REQUEST",
        ),
        (
            json!({ "url": site.url("/"), "limit": 100_001 }),
            400,
            "BAD_REQUEST",
        ),
    ] {
        let response = server.post("/v2/map", &body).await;
        response.is_error_for(body, status, code);
    }
    let response = server
        .post("/v2/map", &json!({ "url": site.url("/") }))
        .await
        .ok();
    assert_eq!(paths(&response, &site), ["/"]);
    assert_contains(&response, "/warning", "404");
    let only = json!({ "url": site.url("/"), "sitemap": "only" });
    let response = server.post("/v2/map", &only).await.ok();
    assert_eq!(response["links"], json!([]));
    assert_contains(&response, "/warning", "no readable sitemap");
}

#[tokio::test]
async fn a_url_without_a_scheme_is_also_tried_with_http() {
    let site = shop().serve().await;
    let server = TestServer::start().await;
    let bare = site.address().to_string();
    for (options, links) in [(json!({}), 6), (json!({ "sitemap": "only" }), 4)] {
        let mut body = json!({ "url": bare });
        body["sitemap"] = options["sitemap"].clone();
        let response = server.post("/v2/map", &body).await.ok();
        assert_eq!(paths(&response, &site).len(), links, "{response}");
    }
}

#[tokio::test]
async fn large_sites_are_mapped_completely() {
    let files: Vec<String> = (0..3).map(|file| format!("/sitemap-{file}.xml")).collect();
    let index: String = files
        .iter()
        .map(|file| format!("<sitemap><loc>{{base}}{file}</loc></sitemap>"))
        .collect();
    let mut site = Site::new().page("/", Page::links("Start", &[])).page(
        "/sitemap.xml",
        Page::new("application/xml", format!("<sitemapindex>{index}</sitemapindex>")),
    );
    for (number, file) in files.iter().enumerate() {
        let urls: Vec<String> = (0..40_000)
            .map(|page| format!("/section-{number}/topic-{}/page-{page}", page % 100))
            .collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        site = site.page(file, urlset(&urls));
    }
    let site = site.serve().await;
    let server = TestServer::start().await;
    for (options, count) in [
        (json!({}), 5_000),
        (json!({ "limit": 100_000 }), 100_000),
        (
            json!({ "limit": 100_000, "search": "section 2 page 39999" }),
            100_000,
        ),
    ] {
        let since = Instant::now();
        let found = map(&server, &site, options.clone()).await;
        println!(
            "{options}: {} links in {} ms",
            found.len(),
            since.elapsed().as_millis()
        );
        assert_eq!(found.len(), count);
        assert_eq!(
            found.iter().collect::<BTreeSet<_>>().len(),
            count,
            "each URL is listed once"
        );
        if options["search"].is_string() {
            assert_eq!(found[0], "/section-2/topic-99/page-39999");
        }
    }
}

#[tokio::test]
async fn a_map_finds_every_page_of_a_site_with_a_sitemap() {
    let docs = DocsSite::new(80).orphans(5);
    let site = docs.build().serve().await;
    let server = TestServer::start().await;
    let known: BTreeSet<String> = docs.paths().into_iter().chain(docs.orphan_paths()).collect();
    for sitemap in ["include", "only"] {
        let found = map(&server, &site, json!({ "sitemap": sitemap })).await;
        assert_eq!(
            found.into_iter().collect::<BTreeSet<_>>(),
            known,
            "sitemap: {sitemap}"
        );
    }
}

#[tokio::test]
async fn sitemaps_and_the_page_are_cached_by_default() {
    let site = shop().serve().await;
    let server = TestServer::start().await;
    for (options, fetched) in [
        (json!({}), 1),
        (json!({}), 1),
        (json!({ "ignoreCache": true }), 2),
        (json!({ "headers": { "X-A": "b" } }), 3),
        (json!({ "sitemap": "only" }), 3),
    ] {
        map(&server, &site, options.clone()).await;
        let counts = ["/sitemap.xml", "/"].map(|path| site.count(path));
        assert_eq!(counts, [fetched; 2], "{options}");
    }
    let changed = Page::new("application/xml", "<urlset><url><loc>/new</loc></url></urlset>");
    site.change("/sitemap.xml", Some(changed));
    let only = |ignore: bool| json!({ "sitemap": "only", "ignoreCache": ignore });
    assert_eq!(map(&server, &site, only(false)).await.len(), 4);
    assert_eq!(map(&server, &site, only(true)).await, ["/new"]);
    assert_eq!(
        map(&server, &site, only(false)).await,
        ["/new"],
        "the newest copy is used"
    );
}

#[tokio::test]
async fn a_map_includes_pages_of_earlier_crawls_with_titles() {
    let site = shop()
        .page("/contact", Page::links("Contact us", &[]))
        .serve()
        .await;
    let server = TestServer::start().await;
    server
        .run_crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    let body = json!({ "url": site.url("/"), "search": "contact" });
    let response = server.post("/v2/map", &body).await.ok();
    assert_eq!(
        paths(&response, &site)[0],
        "/contact",
        "the page is two links away"
    );
    assert_eq!(response["links"][0]["title"], "Contact us");
    let only = map(&server, &site, json!({ "sitemap": "only" })).await;
    assert_eq!(only, ["/", "/pricing", "/docs/install", "/blog/one"]);
    let skipped = map(&server, &site, json!({ "sitemap": "skip" })).await;
    assert!(skipped.contains(&"/contact".to_owned()), "{skipped:?}");
    assert!(!skipped.contains(&"/blog/one".to_owned()), "{skipped:?}");
}

#[tokio::test]
async fn a_map_leaves_out_what_its_options_say() {
    let site = Site::new()
        .page(
            "/",
            Page::links("Start", &["/docs/a", "/docs/a/", "/blog/b", "/docs/c/index.html"]),
        )
        .page("/docs/", Page::links("Docs", &["/docs/a", "/docs/a/", "/blog/b"]))
        .page("/docs/cached", Page::links("Cached", &[]))
        .serve()
        .await;
    let server = TestServer::start().await;
    let list = async |path: &str, options: Value| -> Vec<String> {
        let mut request = json!({ "url": site.url(path) });
        let fields = options.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(fields);
        let response = server.post("/v2/map", &request).await.ok();
        let links = response["links"].as_array().unwrap().iter();
        let path = |link: &Value| link["url"].as_str().unwrap().replace(&site.url(""), "");
        let mut paths: Vec<String> = links.map(path).collect();
        paths.sort();
        paths
    };
    let below = list("/docs/", json!({ "filterByPath": true })).await;
    assert_eq!(below, ["/docs/", "/docs/a"]);
    let similar = list(
        "/docs/",
        json!({ "filterByPath": true, "deduplicateSimilarURLs": false }),
    )
    .await;
    assert_eq!(similar, ["/docs/", "/docs/a", "/docs/a/"]);

    let scraped = json!({ "url": site.url("/docs/cached") });
    server.post("/v2/scrape", &scraped).await.ok();
    let options = json!({ "filterByPath": true });
    assert!(list("/docs/", options).await.contains(&"/docs/cached".to_owned()));
    let options = json!({ "filterByPath": true, "useIndex": false });
    assert!(!list("/docs/", options).await.contains(&"/docs/cached".to_owned()));

    let external = json!({ "url": site.url("/"), "allowExternalLinks": true });
    let mapped = server.post("/v2/map", &external).await.ok();
    assert_contains(&mapped, "/warning", "`allowExternalLinks` had no effect");
}
