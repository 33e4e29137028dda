//! Crawls that fail or end early: unreachable start hosts, cancelling, endless sites.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{
    DocsSite, FinishedCrawl, HostileSite, NameServer, Page, Site, TestServer, TlsFront, assert_contains,
    assert_fields,
};
use serde_json::{Value, json};

/// Returns the address of a closed port.
async fn closed_port() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

fn assert_failed(crawled: &FinishedCrawl, url: &str, code: &str) {
    let status = &crawled.status;
    assert_eq!(status["status"], "failed", "{status}");
    assert_eq!(status["success"], true, "`success` is true for a failed job");
    assert_fields(status, json!({ "total": 1, "completed": 0 }));
    assert_eq!(crawled.errors, [(url.to_owned(), code.to_owned())].into());
    assert!(crawled.robots_blocked.is_empty(), "{:?}", crawled.robots_blocked);
    assert_contains(status, "/error", url);
    assert_eq!(
        (&status["next"], status.get("warning")),
        (&Value::Null, None),
        "{status}"
    );
}

#[tokio::test]
async fn an_unreachable_start_host_fails_the_crawl_with_its_error_code() {
    let names = NameServer::serve().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DNS_SERVERS", &names.setting())]).await;
    let plain = Site::new().graph(&[("/", &[])]).serve().await;
    for (url, code) in [
        (
            "http://nowhere.site.test/".to_owned(),
            "SCRAPE_DNS_RESOLUTION_ERROR",
        ),
        (format!("http://{}/", closed_port().await), "SCRAPE_SITE_ERROR"),
        (format!("https://{}/", plain.address()), "SCRAPE_SSL_ERROR"),
    ] {
        let crawled = server.run_crawl(&json!({ "url": url })).await;
        assert_failed(&crawled, &url, code);
        let response = server.get(&format!("/v2/crawl/{}/errors", crawled.id)).await.ok();
        let entry = &response["errors"][0];
        let id = entry["id"].as_str().unwrap();
        assert!(entry["timestamp"].as_str().unwrap().ends_with('Z'));
        let page = server.get(&format!("/v2/scrape/{id}")).await;
        assert_eq!(
            page.code(),
            code,
            "the failed page can be read by its scrape id: {}",
            page.json
        );
    }
}

#[tokio::test]
async fn robots_txt_and_sitemaps_are_verified_as_the_pages_are() {
    let plain = Site::new()
        .graph(&[("/", &["/private"]), ("/private", &[]), ("/listed", &[])])
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nDisallow: /private"),
        )
        .page(
            "/sitemap.xml",
            Page::new(
                "application/xml",
                "<urlset><url><loc>/listed</loc></url></urlset>",
            ),
        )
        .serve()
        .await;
    let front = TlsFront::of(plain.address()).await;
    let server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": front.url("/") })).await;
    assert_eq!(
        crawled.visited(),
        ["/", "/listed"].map(|path| front.url(path)).into()
    );
    assert_eq!(crawled.robots_blocked, [front.url("/private")].into());
    let mapped = server
        .post("/v2/map", &json!({ "url": front.url("/"), "sitemap": "only" }))
        .await
        .ok();
    assert_eq!(mapped["links"][0]["url"], front.url("/listed"), "{mapped}");
    let strict = json!({ "url": front.url("/"), "scrapeOptions": { "skipTlsVerification": false } });
    assert_failed(
        &server.run_crawl(&strict).await,
        &front.url("/"),
        "SCRAPE_SSL_ERROR",
    );
}

#[tokio::test]
async fn a_start_url_without_a_scheme_is_tried_with_http_when_https_fails() {
    let site = Site::new().graph(&[("/", &["/a"]), ("/a", &[])]).serve().await;
    let server = TestServer::start().await;
    let crawled = server
        .run_crawl(&json!({ "url": site.address().to_string(), "sitemap": "skip" }))
        .await;
    crawled.assert_visited(&site, &["/", "/a"]);
}

#[tokio::test]
async fn a_crawl_with_a_failed_start_page_continues_with_the_sitemap() {
    let site = Site::new()
        .page("/", Page::redirect(302, "/"))
        .page(
            "/sitemap.xml",
            Page::new("application/xml", "<urlset><url><loc>/a</loc></url></urlset>"),
        )
        .graph(&[("/a", &["/b"]), ("/b", &[])])
        .serve()
        .await;
    let server = TestServer::start().await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    crawled.assert_visited(&site, &["/a", "/b"]);
    assert_eq!(
        crawled.errors,
        [(site.url("/"), "SCRAPE_SITE_ERROR".to_owned())].into()
    );
    assert_eq!(crawled.status["total"], 3);

    let crawled = server
        .run_crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    assert_failed(&crawled, &site.url("/"), "SCRAPE_SITE_ERROR");
}

#[tokio::test]
async fn total_includes_pages_in_flight_at_a_cancel() {
    let site = DocsSite::new(60).build().serve().await;
    site.hold_after(10);
    let server = TestServer::start().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "maxConcurrency": 3 });
    let id = server.crawl(&request).await;
    site.wait_for_requests(13).await;
    let path = format!("/v2/crawl/{id}");
    while server.get(&path).await.ok()["completed"] != 10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        server.delete(&path).await.ok(),
        json!({ "success": true, "status": "cancelled" })
    );
    for _ in 0..2 {
        let status = server.get(&path).await.ok();
        assert_fields(&status, json!({ "status": "cancelled", "next": null }));
        assert_fields(&status, json!({ "total": 13, "completed": 10 }));
        assert_eq!(
            server.delete(&path).await.status,
            200,
            "cancelling again succeeds"
        );
    }
    site.release();
    let other = server
        .run_crawl(&json!({ "url": site.url("/"), "limit": 5 }))
        .await;
    server
        .delete(&format!("/v2/crawl/{}", other.id))
        .await
        .is_error(409, "CONFLICT");
    assert_eq!(
        server.get(&path).await.ok()["total"],
        13,
        "the total of a cancelled crawl does not change"
    );
}

#[tokio::test]
async fn a_crawl_of_an_endless_site_ends_at_the_limit() {
    let site = HostileSite::serve().await;
    let server = TestServer::start().await;
    for trap in ["/calendar/1", "/session?sid=1", "/deeper/"] {
        let request =
            json!({ "url": site.url(trap), "sitemap": "skip", "crawlEntireDomain": true, "limit": 40 });
        let crawled = server.run_crawl(&request).await;
        assert_eq!(crawled.status["status"], "completed");
        assert_eq!(crawled.status["total"], 40, "{trap}: {}", crawled.status);
        assert_eq!(crawled.visited().len(), 40, "{trap}");
    }
    let request = json!({ "url": site.url("/calendar/1"), "sitemap": "skip", "crawlEntireDomain": true,
        "maxDiscoveryDepth": 3 });
    let crawled = server.run_crawl(&request).await;
    assert_eq!(
        crawled.status["total"], 7,
        "the start page, and two new days per level"
    );
    let request =
        json!({ "url": site.url("/session?sid=1"), "sitemap": "skip", "ignoreQueryParameters": true });
    assert_eq!(
        server.run_crawl(&request).await.status["total"],
        1,
        "without the query all URLs are one page"
    );
    // Each step makes the URL a thousand characters longer, so the crawl ends at the longest allowed URL.
    let crawled = server
        .run_crawl(&json!({ "url": site.url("/longer/"), "sitemap": "skip" }))
        .await;
    assert_eq!(crawled.status["total"], 9, "{}", crawled.status);
}
