//! Limits of teams and hosts: they hold over all servers, and one server may use all of a limit that no other one needs.

use std::time::Duration;

use harvestman_tests::{Page, RunningSite, Site, TestDatabase, TestServer, assert_fields};
use serde_json::{Value, json};

use super::cluster::node;

async fn servers(database: &TestDatabase, settings: &[(&str, &str)]) -> [TestServer; 2] {
    [node(database, settings).await, node(database, settings).await]
}

async fn site(pages: usize, robots: &str) -> RunningSite {
    let site = Site::new().page("/robots.txt", Page::new("text/plain", robots.to_owned()));
    let pages = (0..pages).map(|number| format!("/{number}"));
    pages
        .fold(site, |site, path| site.page(&path, Page::links(&path, &[])))
        .serve()
        .await
}

fn request(site: &RunningSite, pages: std::ops::Range<usize>) -> Value {
    let urls: Vec<String> = pages.map(|number| site.url(&format!("/{number}"))).collect();
    json!({ "urls": urls, "maxAge": 0 })
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_team_are_limited_over_all_servers_on_postgresql() {
    let database = TestDatabase::create().await;
    let [first, second] = servers(&database, &[("HARVESTMAN_MAX_CONCURRENCY", "6")]).await;
    let site = site(60, "").await;
    site.hold_after(0);
    let one = first.batch(&request(&site, 0..30)).await;
    // The only job gets the whole limit, wherever it runs.
    site.wait_for_requests(6).await;
    let other = second.batch(&request(&site, 30..60)).await;
    site.release();
    for path in [&one, &other] {
        let end = first.wait_for_end(path).await;
        assert_fields(&end, json!({ "status": "completed", "completed": 30 }));
    }
    assert_eq!(site.max_in_flight(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_to_a_host_with_a_delay_keep_it_over_all_servers_on_postgresql() {
    let database = TestDatabase::create().await;
    let [first, second] = servers(&database, &[]).await;
    let links = ["/1", "/2", "/3"];
    let site = Site::new()
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nCrawl-delay: 1\n"),
        )
        .page("/", Page::links("home", &links));
    let site = links
        .iter()
        .fold(site, |site, path| site.page(path, Page::links(path, &[])))
        .serve()
        .await;
    let options = json!({ "maxAge": 0 });
    let request = json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": options });
    let jobs = [first.crawl(&request).await, second.crawl(&request).await];
    for id in &jobs {
        assert_eq!(first.wait(id).await["completed"], 4);
    }
    let times: Vec<_> = site
        .hits()
        .into_iter()
        .filter(|hit| hit.path != "/robots.txt")
        .map(|hit| hit.at)
        .collect();
    assert_eq!(times.len(), 8);
    let delays: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A request may arrive late on a busy machine, so the next one seems early by as much.
    let late = Duration::from_millis(300);
    assert!(
        delays.iter().all(|delay| *delay + late > Duration::from_secs(1)),
        "{delays:?}"
    );
    assert!(times[7] - times[0] + late > Duration::from_secs(7), "{delays:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_per_minute_are_counted_over_all_servers_on_postgresql() {
    let database = TestDatabase::create().await;
    let servers = servers(&database, &[("HARVESTMAN_RATE_LIMIT", "12")]).await;
    let mut allowed = 0;
    let mut refused = 0;
    for number in 0..30 {
        let response = servers[number % 2].get("/v2/team/queue-status").await;
        match response.status {
            200 => allowed += 1,
            429 => {
                assert!(response.headers.contains_key("retry-after"));
                refused += 1;
            }
            status => panic!("{status}: {}", response.text()),
        }
    }
    assert_eq!((allowed, refused), (12, 18));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credit_budget_is_shared_by_all_servers_on_postgresql() {
    let database = TestDatabase::create().await;
    let [first, second] = servers(&database, &[("HARVESTMAN_CREDIT_BUDGET", "20")]).await;
    let site = site(40, "").await;
    let jobs = [
        first.batch(&request(&site, 0..20)).await,
        second.batch(&request(&site, 20..40)).await,
    ];
    let mut charged = 0;
    for path in &jobs {
        let end = second.wait_for_end(path).await;
        charged += end["creditsUsed"].as_u64().unwrap();
    }
    assert_eq!(charged, 20);
    let scrape = json!({ "url": site.url("/0"), "maxAge": 0 });
    for server in [&first, &second] {
        assert_eq!(server.post("/v2/scrape", &scrape).await.status, 402);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_for_a_credit_of_another_server_only_until_its_timeout_on_postgresql() {
    let database = TestDatabase::create().await;
    let [first, second] = servers(&database, &[("HARVESTMAN_CREDIT_BUDGET", "1")]).await;
    let site = site(2, "").await;
    site.hold_after(0);
    let batch = first.batch(&request(&site, 0..1)).await;
    site.wait_for_requests(1).await;
    let url = site.url("/1");
    for (path, request, code) in [
        (
            "/v2/scrape",
            json!({ "url": url, "timeout": 1_000 }),
            "SCRAPE_TIMEOUT",
        ),
        ("/v2/map", json!({ "url": url, "timeout": 1_000 }), "MAP_TIMEOUT"),
        (
            "/v2/search",
            json!({ "query": "heron", "timeout": 1_000 }),
            "SEARCH_TIMEOUT",
        ),
    ] {
        let response = second.post(path, &request).await;
        response.is_error_for(path, 408, code);
    }
    site.release();
    assert_eq!(first.wait_for_end(&batch).await["completed"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_of_a_running_extract_are_not_spent_elsewhere_on_postgresql() {
    let database = TestDatabase::create().await;
    let [first, second] = servers(&database, &[("HARVESTMAN_CREDIT_BUDGET", "12")]).await;
    let site = (0..20).map(|number| format!("/{number}")).fold(
        Site::new().page("/slow", Page::links("slow", &[]).delay(Duration::from_secs(9))),
        |site, path| site.page(&path, Page::links(&path, &[])),
    );
    let site = site.serve().await;
    let pages = (0..8).map(|number| site.url(&format!("/{number}")));
    let urls: Vec<String> = pages.chain([site.url("/slow")]).collect();
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let response = first
        .post("/v2/extract", &json!({ "urls": urls, "schema": schema }))
        .await
        .ok();
    let extract = format!("/v2/extract/{}", response["id"].as_str().unwrap());
    site.wait_for_requests(9).await;
    // The extract charges its pages when it ends, long after it has read most of them.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let batch = second.batch(&request(&site, 8..18)).await;
    let mut charged = second.wait_for_end(&batch).await["creditsUsed"].as_u64().unwrap();
    charged += first.wait_for_end(&extract).await["creditsUsed"]
        .as_u64()
        .unwrap();
    let scrape = json!({ "url": site.url("/19"), "maxAge": 0 });
    for server in [&first, &second] {
        while server.post("/v2/scrape", &scrape).await.status == 200 {
            charged += 1;
        }
    }
    assert_eq!(charged, 12);
}
