//! Sitemaps in crawls (docs/API.md section 5 rule 4): files that are read, and the use of their entries.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use harvestman_tests::{Page, RunningSite, Site, TestServer};
use serde_json::json;

fn urlset(paths: &[&str]) -> Page {
    let entries: String = paths
        .iter()
        .map(|path| format!("<url><loc>{{base}}{path}</loc></url>"))
        .collect();
    Page::new(
        "application/xml",
        format!("<?xml version='1.0'?><urlset>{entries}</urlset>"),
    )
}

fn index(paths: &[&str]) -> Page {
    let entries: String = paths
        .iter()
        .map(|path| format!("<sitemap><loc>{{base}}{path}</loc></sitemap>"))
        .collect();
    Page::new(
        "application/xml",
        format!("<sitemapindex>{entries}</sitemapindex>"),
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn requested_sitemaps(site: &RunningSite) -> Vec<String> {
    let mut sitemaps: Vec<String> = site.hits().into_iter().map(|hit| hit.path).collect();
    sitemaps.retain(|path| path.starts_with("/sitemap"));
    sitemaps.sort();
    sitemaps
}

#[tokio::test]
async fn the_sitemap_option_selects_the_sources_of_pages() {
    let server = TestServer::start().await;
    let table: [(&str, &[&str]); 3] = [
        ("skip", &["/", "/linked", "/linked/more"]),
        (
            "include",
            &["/", "/linked", "/linked/more", "/mapped", "/mapped/more"],
        ),
        ("only", &["/", "/mapped", "/linked"]),
    ];
    for (mode, expected) in table {
        let site = Site::new()
            .graph(&[
                ("/", &["/linked"]),
                ("/linked", &["/linked/more"]),
                ("/linked/more", &[]),
                ("/mapped", &["/mapped/more"]),
                ("/mapped/more", &[]),
            ])
            .page("/sitemap.xml", urlset(&["/mapped", "/linked"]))
            .serve()
            .await;
        let crawled = server
            .run_crawl(&json!({ "url": site.url("/"), "sitemap": mode }))
            .await;
        crawled.assert_visited(&site, expected);
        let times = usize::from(mode != "skip");
        assert_eq!(site.count("/sitemap.xml"), times, "{mode}");
    }
}

#[tokio::test]
async fn sitemap_entries_are_filtered_and_have_depth_0() {
    let site = Site::new()
        .graph(&[
            ("/docs", &["/docs/linked"]),
            ("/docs/linked", &[]),
            ("/docs/a", &["/docs/below-a"]),
            ("/docs/below-a", &[]),
            ("/docs/draft", &[]),
            ("/elsewhere", &[]),
            ("/docs/private", &[]),
        ])
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nDisallow: /docs/private"),
        )
        .page(
            "/sitemap.xml",
            urlset(&[
                "/docs/a", "/docs/a#twice", "/docs/draft", "/elsewhere", "/docs/private", "/docs/p.png",
            ]),
        )
        .serve()
        .await;
    let server = TestServer::start().await;
    let mut request = json!({ "url": site.url("/docs"), "excludePaths": ["draft"], "maxDiscoveryDepth": 0 });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/docs", "/docs/a"]);
    assert_eq!(crawled.robots_blocked, [site.url("/docs/private")].into());
    request["maxDiscoveryDepth"] = 1.into();
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/docs", "/docs/a", "/docs/linked", "/docs/below-a"]);
}

#[tokio::test]
async fn sitemap_lines_of_robots_txt_replace_the_default_location() {
    let page = |body: String| Page::new("application/octet-stream", body);
    let packed = gzip(b"<urlset><url><loc>/packed</loc></url></urlset>");
    let lines = "Sitemap: {base}/sitemap-a.xml\nsitemap: /sitemap-b.txt\nSitemap: {base}/sitemap-c.xml.gz\nSitemap: \
        {base}/sitemap-gone.xml\nUser-agent: *\nDisallow:";
    let site = Site::new()
        .graph(&[
            ("/", &[]),
            ("/a", &[]),
            ("/b", &[]),
            ("/packed", &[]),
            ("/usual", &[]),
        ])
        .page("/robots.txt", Page::new("text/plain", lines))
        .page("/sitemap-a.xml", urlset(&["/a"]))
        .page(
            "/sitemap-b.txt",
            page("{base}/b\nnot an address\n\n{base}/a\n".to_owned()),
        )
        .page("/sitemap-c.xml.gz", Page::new("application/gzip", packed))
        .page("/sitemap.xml", urlset(&["/usual"]))
        .serve()
        .await;
    let server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    crawled.assert_visited(&site, &["/", "/a", "/b", "/packed"]);
    assert_eq!(site.count("/sitemap.xml"), 0);
}

#[tokio::test]
async fn sitemap_indexes_nest_five_levels_and_loops_end() {
    let site = Site::new()
        .graph(&[("/", &[]), ("/2", &[]), ("/5", &[]), ("/6", &[])])
        .page(
            "/sitemap.xml",
            index(&["/sitemap-2.xml", "/sitemap.xml", "/sitemap-pages.xml"]),
        )
        .page("/sitemap-pages.xml", urlset(&["/2"]))
        .page("/sitemap-2.xml", index(&["/sitemap-3.xml", "/sitemap.xml"]))
        .page("/sitemap-3.xml", index(&["/sitemap-4.xml", "/sitemap-2.xml"]))
        .page("/sitemap-4.xml", index(&["/sitemap-5.xml", "/sitemap-next.xml"]))
        .page("/sitemap-5.xml", urlset(&["/5"]))
        .page("/sitemap-next.xml", index(&["/sitemap-6.xml"]))
        .page("/sitemap-6.xml", urlset(&["/6"]))
        .serve()
        .await;
    let server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    crawled.assert_visited(&site, &["/", "/2", "/5"]);
    let expected = ["2", "3", "4", "5", "next", "pages"].map(|name| format!("/sitemap-{name}.xml"));
    assert_eq!(
        requested_sitemaps(&site),
        [&expected[..], &["/sitemap.xml".to_owned()]].concat()
    );
}

#[tokio::test]
async fn a_huge_sitemap_is_read_up_to_its_limit() {
    // 120 MB of XML: entries, a comment, and another entry after the 50 MB that are read.
    let mut text = "<urlset>".to_owned();
    for n in 0..40 {
        let _ = write!(text, "<url><loc>/{n}</loc></url>");
    }
    text.push_str("<!--");
    text.extend(std::iter::repeat_n(' ', 120 << 20));
    text.push_str("--><url><loc>/beyond</loc></url></urlset>");
    let paths: Vec<String> = (0..40).map(|n| format!("/{n}")).collect();
    for body in [gzip(text.as_bytes()), text.into_bytes()] {
        let mut site = Site::new()
            .page("/", Page::links("home", &[]))
            .page("/sitemap.xml", Page::new("application/xml", body));
        for path in &paths {
            site = site.page(path, Page::links(path, &[]));
        }
        let site = site.serve().await;
        let server = TestServer::start().await;
        let crawled = server
            .run_crawl(&json!({ "url": site.url("/"), "sitemap": "only" }))
            .await;
        let expected: Vec<&str> = paths.iter().map(String::as_str).chain(["/"]).collect();
        crawled.assert_visited(&site, &expected);
        assert_eq!(server.get("/health").await.status, 200);
    }
}

#[tokio::test]
async fn a_crawl_waits_for_a_slow_sitemap_only_where_a_depth_depends_on_it() {
    let site = Site::new()
        .graph(&[("/", &["/a"]), ("/a", &["/below"]), ("/below", &[])])
        .page("/sitemap.xml", urlset(&["/a"]).delay(Duration::from_secs(6)))
        .serve()
        .await;
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/") });
    let id = server.crawl(&request).await;
    site.wait_for_requests(3).await;
    let status = server.get(&format!("/v2/crawl/{id}")).await.ok();
    assert_eq!(status["status"], "scraping", "the crawl waits for the sitemap");
    server
        .read_crawl(id)
        .await
        .assert_visited(&site, &["/", "/a", "/below"]);
    let request = json!({ "url": site.url("/"), "maxDiscoveryDepth": 1 });
    server
        .run_crawl(&request)
        .await
        .assert_visited(&site, &["/", "/a", "/below"]);
}

#[tokio::test]
async fn many_compressed_sitemaps_are_read_in_bounded_memory() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let text = format!(
        "<urlset><url><loc>/a</loc></url>{}</urlset>",
        " ".repeat(60 << 20)
    );
    let site = Site::new()
        .graph(&[("/", &[]), ("/a", &[])])
        .page(
            "/sitemap.xml",
            Page::new("application/gzip", gzip(text.as_bytes())),
        )
        .serve()
        .await;
    let server = TestServer::start().await;
    let mut ids = Vec::new();
    site.hold_after(0);
    for _ in 0..12 * cores {
        ids.push(server.crawl(&json!({ "url": site.url("/") })).await);
    }
    site.release();
    for id in ids {
        server.read_crawl(id).await.assert_visited(&site, &["/", "/a"]);
    }
    let most = server.peak_memory_bytes();
    assert!(most < (150 + 100 * cores as u64) << 20, "{} MiB", most >> 20);
}
