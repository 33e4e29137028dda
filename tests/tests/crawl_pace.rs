//! Concurrency, delays and robots.txt of crawls (docs/API.md section 5 rules 9 and 13). The site observes overlapping
//! requests, so that no test depends on the clock.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use harvestman_tests::{Page, RunningSite, Site, TestServer, assert_fields};
use serde_json::json;

const LINKS: &[&str] = &["/1", "/2", "/3", "/4", "/5", "/6"];

/// Creates a site with a front page of six links, and a robots.txt.
fn star(robots: &str) -> Site {
    let site = Site::new()
        .page("/robots.txt", Page::new("text/plain", robots.to_owned()))
        .page("/", Page::links("home", LINKS));
    LINKS
        .iter()
        .fold(site, |site, path| site.page(path, Page::links(path, &[])))
}

fn pages(site: &RunningSite) -> Vec<String> {
    let requested = site.hits().into_iter().map(|hit| hit.path);
    requested.filter(|path| path != "/robots.txt").collect()
}

#[tokio::test]
async fn max_concurrency_is_reached_and_never_exceeded() {
    let server = TestServer::start_with(&[("HARVESTMAN_MAX_CONCURRENCY", "4")]).await;
    for (wish, most) in [(Some(1), 1), (Some(3), 3), (Some(50), 4), (None, 4)] {
        let site = star("").serve().await;
        site.hold_after(1);
        let mut request = json!({ "url": site.url("/"), "sitemap": "skip" });
        if let Some(wish) = wish {
            request["maxConcurrency"] = wish.into();
        }
        let id = server.crawl(&request).await;
        site.wait_for_requests(1 + most).await;
        site.release();
        server
            .read_crawl(id)
            .await
            .assert_visited(&site, &[&["/"][..], LINKS].concat());
        assert_eq!(site.max_in_flight() as u64, most, "maxConcurrency {wish:?}");
    }
}

#[tokio::test]
async fn a_team_has_64_pages_in_flight_by_default_even_on_one_private_host() {
    let paths: Vec<String> = (0..80).map(|number| format!("/{number}")).collect();
    let site = paths
        .iter()
        .fold(Site::new(), |site, path| site.page(path, Page::links(path, &[])));
    let (server, site) = (TestServer::start().await, site.serve().await);
    site.hold_after(0);
    let urls: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    let batch = server.batch(&json!({ "urls": urls })).await;
    site.wait_for_requests(64).await;
    let response = server.get("/v2/concurrency-check").await.ok();
    assert_fields(&response, json!({ "concurrency": 64, "maxConcurrency": 64 }));
    let queue = server.get("/v2/team/queue-status").await.ok();
    let counts = [
        "jobsInQueue", "activeJobsInQueue", "waitingJobsInQueue", "maxConcurrency",
    ];
    assert_eq!(counts.map(|name| queue[name].as_u64().unwrap()), [80, 64, 16, 64]);
    site.release();
    assert_eq!(server.wait_for_end(&batch).await["completed"], 80);
    assert_eq!(site.max_in_flight(), 64);
}

#[tokio::test]
async fn with_a_delay_pages_are_fetched_one_by_one_in_order() {
    let server = TestServer::start().await;
    let site = star("").delay(Duration::from_millis(30)).serve().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "delay": 0.02, "maxConcurrency": 5 });
    let crawled = server.run_crawl(&request).await;
    let order = [&["/"][..], LINKS].concat();
    crawled.assert_visited(&site, &order);
    assert_eq!(
        (pages(&site), site.max_in_flight()),
        (order.into_iter().map(str::to_owned).collect(), 1)
    );
}

#[tokio::test]
async fn with_crawl_delay_pages_are_fetched_one_by_one_unless_overridden() {
    let server = TestServer::start_with(&[("HARVESTMAN_ALLOW_IGNORE_ROBOTS", "1")]).await;
    let order = [&["/"][..], LINKS].concat();
    let site = star("User-agent: *\nCrawl-delay: 0.1")
        .delay(Duration::from_millis(30))
        .serve()
        .await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip" });
    server.run_crawl(&request).await.assert_visited(&site, &order);
    assert_eq!(
        (pages(&site), site.max_in_flight()),
        (order.iter().map(|path| (*path).to_owned()).collect(), 1)
    );

    // With a minute between two fetches the test would time out.
    let site = star("User-agent: *\nCrawl-delay: 60").serve().await;
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "delay": 0.01 });
    server.run_crawl(&request).await.assert_visited(&site, &order);
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "ignoreRobotsTxt": true });
    server.run_crawl(&request).await.assert_visited(&site, &order);
}

#[tokio::test]
async fn robots_txt_and_sitemaps_count_towards_the_concurrency_of_the_team() {
    const DELAY: Duration = Duration::from_millis(100);
    let server = TestServer::start_with(&[("HARVESTMAN_MAX_CONCURRENCY", "1")]).await;
    let map = "<urlset><url><loc>{base}/1</loc></url></urlset>";
    let robots = "User-agent: *\nSitemap: {base}/sitemap-1.xml\nSitemap: {base}/sitemap-2.xml";
    let site = star(robots)
        .page("/sitemap-1.xml", Page::new("application/xml", map))
        .page("/sitemap-2.xml", Page::new("application/xml", map))
        .delay(DELAY)
        .serve()
        .await;
    let options = json!({ "maxAge": 0, "storeInCache": false });
    let request = json!({ "url": site.url("/"), "limit": 2, "scrapeOptions": options });
    let jobs = [
        server.crawl(&request).await,
        server.crawl(&request).await,
        server.crawl(&request).await,
    ];
    for id in jobs {
        assert_eq!(server.wait(&id).await["completed"], 2);
    }
    let counts = site.counts();
    for path in ["/robots.txt", "/sitemap-1.xml", "/sitemap-2.xml", "/"] {
        assert_eq!(counts[path], 3, "{path}");
    }
    // Each request arrives after the response to the one before.
    let hits = site.hits();
    for pair in hits.windows(2) {
        assert!(
            pair[1].at - pair[0].at >= DELAY,
            "{} and {}",
            pair[0].path,
            pair[1].path
        );
    }
}

#[tokio::test]
async fn robots_options_must_be_enabled_by_the_operator() {
    let site = star("User-agent: *\nDisallow: /").serve().await;
    let server = TestServer::start().await;
    for (option, value) in [
        ("ignoreRobotsTxt", json!(true)),
        ("robotsUserAgent", json!("special")),
    ] {
        let mut request = json!({ "url": site.url("/") });
        request[option] = value;
        let response = server.post("/v2/crawl", &request).await;
        response.is_error(403, "FORBIDDEN");
        assert!(response.error().contains(option), "{}", response.error());
    }
    let crawled = server
        .run_crawl(&json!({ "url": site.url("/"), "ignoreRobotsTxt": false }))
        .await;
    crawled.assert_visited(&site, &[]);
    assert_eq!(crawled.robots_blocked, [site.url("/")].into());
    assert_eq!(pages(&site), Vec::<String>::new());
}

#[tokio::test]
async fn robots_txt_can_be_ignored_or_read_as_another_agent() {
    let rules = "User-agent: special\nDisallow: /1\nAllow: /\n\nUser-agent: harvestman\nDisallow: /2\n\n\
        User-agent: *\nDisallow: /";
    let server = TestServer::start_with(&[("HARVESTMAN_ALLOW_IGNORE_ROBOTS", "1")]).await;
    for (options, missing) in [
        (json!({}), "/2"),
        (json!({ "robotsUserAgent": "special" }), "/1"),
        (json!({ "robotsUserAgent": "Special/2.0" }), "/1"),
        (json!({ "ignoreRobotsTxt": true }), ""),
    ] {
        let site = star(rules).serve().await;
        let mut request = options;
        request["url"] = site.url("/").into();
        request["sitemap"] = "skip".into();
        let crawled = server.run_crawl(&request).await;
        let mut expected = [&["/"][..], LINKS].concat();
        expected.retain(|path| *path != missing);
        crawled.assert_visited(&site, &expected);
        let blocked: BTreeSet<String> = [missing]
            .iter()
            .filter(|path| !path.is_empty())
            .map(|path| site.url(path))
            .collect();
        assert_eq!(crawled.robots_blocked, blocked, "{request}");
    }
}

#[tokio::test]
async fn robots_txt_with_5xx_blocks_everything_and_with_4xx_or_a_redirect_loop_nothing() {
    let server = TestServer::start().await;
    let missing = [401, 403, 404, 410].map(|status| Page::html("no").status(status));
    // RFC 9309 section 2.3.1.2.
    let redirect_loop = Page::redirect(302, "/robots.txt");
    for robots in missing.into_iter().chain([redirect_loop]) {
        let site = star("").page("/robots.txt", robots).serve().await;
        let crawled = server
            .run_crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
            .await;
        crawled.assert_visited(&site, &[&["/"][..], LINKS].concat());
    }
    let site = star("")
        .page("/robots.txt", Page::html("no").status(503))
        .serve()
        .await;
    let crawled = server.run_crawl(&json!({ "url": site.url("/") })).await;
    assert_eq!(crawled.status["status"], "failed");
    let error = crawled.status["error"].as_str().unwrap();
    assert!(
        error.contains("cannot read") && error.contains("robots.txt") && error.contains("503"),
        "{error}"
    );
    assert_eq!(crawled.robots_blocked, [site.url("/")].into());
    assert_eq!(
        (site.count("/robots.txt"), site.hits().len()),
        (3, 3),
        "robots.txt is requested three times, and nothing else"
    );
}
