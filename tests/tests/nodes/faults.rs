//! Faults of servers and of the network to the database.

use std::time::{Duration, Instant};

use bytes::Bytes;
use harvestman_tests::{
    AUTHORIZATION, DatabaseProxy, DocsSite, HttpResponse, Page, Site, TestDatabase, TestServer,
    assert_fields, send_request,
};
use http::Method;
use serde_json::{Value, json};
use tokio_postgres::{Client, NoTls};

use super::cluster::node;

const TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the end of a crawl, asking again while the database cannot be reached.
async fn wait(server: &TestServer, id: &str) -> Value {
    let since = Instant::now();
    loop {
        let response = server.get(&format!("/v2/crawl/{id}?limit=1")).await;
        match response.status {
            200 if response.json["status"] != "scraping" => return response.json,
            200 => {}
            503 => assert!(
                response.headers.contains_key("retry-after"),
                "{}",
                response.text()
            ),
            status => panic!("{status}: {}", response.text()),
        }
        assert!(
            since.elapsed() < TIMEOUT,
            "the crawl does not end\n{}",
            server.log()
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn connect(database: &TestDatabase) -> Client {
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Locks a table until the next COMMIT.
async fn lock(client: &Client, table: &str) {
    let statement = format!("BEGIN; LOCK TABLE {table}");
    client.batch_execute(&statement).await.unwrap();
}

fn title_schema() -> Value {
    json!({ "type": "object", "properties": { "title": { "type": "string" } } })
}

/// Breaks the connections that wait for a lock of a table, once there are any.
async fn break_waiting(client: &Client, table: &str) {
    let statement = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
    );
    let since = Instant::now();
    while client.query(&statement, &[]).await.unwrap().is_empty() {
        assert!(since.elapsed() < TIMEOUT, "no statement waits for {table}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Asserts that a request failed because the database is unavailable for a while.
#[track_caller]
fn assert_unavailable(response: &HttpResponse) {
    response.is_error(503, "SERVICE_UNAVAILABLE");
    assert!(response.headers.contains_key("retry-after"));
}

fn assert_exact(end: &Value, pages: usize) {
    assert_eq!(end["status"], "completed", "{end}");
    for field in ["total", "completed", "creditsUsed"] {
        assert_eq!(end[field], pages, "{field}: {end}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_and_its_pages_begin_even_if_their_connection_breaks_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let client = connect(&database).await;
    let request = json!({ "urls": [site.url("/")], "schema": title_schema() });
    for table in ["harvestman.run_event", "harvestman.cached_page"] {
        lock(&client, table).await;
        let started = server.post("/v2/extract", &request).await.ok();
        break_waiting(&client, table).await;
        client.batch_execute("COMMIT").await.unwrap();
        let path = format!("/v2/extract/{}", started["id"].as_str().unwrap());
        let end = server.wait_for_end(&path).await;
        assert_eq!(end["status"], "completed", "{table}: {end}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cached_sitemap_counts_even_if_its_connection_breaks_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let sitemap = "<urlset><url><loc>{base}/a</loc></url></urlset>";
    let site = Site::new()
        .page("/", Page::links("home", &[]))
        .page("/a", Page::links("a", &[]))
        .page("/sitemap.xml", Page::new("application/xml", sitemap))
        .serve()
        .await;
    let request = |lockdown| json!({ "url": site.url("/"), "scrapeOptions": { "lockdown": lockdown } });
    server.run_crawl(&request(false)).await;
    let client = connect(&database).await;
    lock(&client, "harvestman.cached_page").await;
    let id = server.crawl(&request(true)).await;
    // The start page, the sitemap, and one of them again.
    for _ in 0..3 {
        break_waiting(&client, "harvestman.cached_page").await;
    }
    client.batch_execute("COMMIT").await.unwrap();
    assert_exact(&wait(&server, &id).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_waits_while_the_database_cannot_be_read_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let client = connect(&database).await;
    let tracked = json!({ "formats": ["markdown", "changeTracking"], "maxAge": 0 });
    for (table, options) in [("cached_page", json!({})), ("page_version", tracked)] {
        let site = Site::new().page("/", Page::links("home", &[])).serve().await;
        let table = format!("harvestman.{table}");
        lock(&client, &table).await;
        let request = json!({ "url": site.url("/"), "sitemap": "skip", "scrapeOptions": options });
        let id = server.crawl(&request).await;
        // More often than a page is tried.
        for _ in 0..4 {
            break_waiting(&client, &table).await;
        }
        client.batch_execute("COMMIT").await.unwrap();
        assert_exact(&wait(&server, &id).await, 1);
        assert_eq!(site.count("/"), 1, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_waits_while_its_credit_cannot_be_reserved_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [
        ("HARVESTMAN_DATABASE_URL", database.url()),
        ("HARVESTMAN_CREDIT_BUDGET", "100"),
    ];
    let mut server = TestServer::start_with(&settings).await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    site.hold_after(0);
    let id = server
        .crawl(&json!({ "url": site.url("/"), "sitemap": "skip" }))
        .await;
    site.wait_for_requests(1).await;
    // Gives back the credits that the request made it borrow.
    assert!(server.terminate().await.success());
    let client = connect(&database).await;
    // More often than a page is tried. A sequence keeps its value when a transaction is rolled back.
    let fault = "CREATE SEQUENCE fault;
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('fault') <= 4 THEN RAISE 'no space' USING ERRCODE = 'disk_full'; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON harvestman.share FOR EACH ROW
            WHEN (NEW.subject LIKE 'credits%') EXECUTE FUNCTION fail()";
    client.batch_execute(fault).await.unwrap();
    site.release();
    server.restart().await;
    assert_exact(&wait(&server, &id).await, 1);
    let faults = client
        .query_one("SELECT last_value FROM fault", &[])
        .await
        .unwrap();
    assert!(faults.get::<_, i64>(0) > 4);
}

/// Runs an extract whose connection breaks when it first reads pages of the cache. Returns its final status.
async fn extract_with_broken_connection(
    server: &TestServer,
    database: &TestDatabase,
    request: &Value,
) -> Value {
    let (first, second) = (connect(database).await, connect(database).await);
    lock(&first, "harvestman.run_event").await;
    let started = server.post("/v2/extract", request).await.ok();
    // The run waits for the first lock, so that it is the first to wait for this one.
    lock(&second, "harvestman.cached_page").await;
    first.batch_execute("COMMIT").await.unwrap();
    break_waiting(&second, "harvestman.cached_page").await;
    second.batch_execute("COMMIT").await.unwrap();
    let path = format!("/v2/extract/{}", started["id"].as_str().unwrap());
    server.wait_for_end(&path).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extract_searches_again_if_its_connection_breaks_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let scrape = json!({ "url": site.url("/") });
    server.post("/v2/scrape", &scrape).await.ok();
    let request = json!({ "prompt": "home", "schema": title_schema() });
    let end = extract_with_broken_connection(&server, &database, &request).await;
    assert_eq!(end["status"], "completed", "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extract_maps_a_site_again_if_its_connection_breaks_on_postgresql() {
    let database = TestDatabase::create().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let site = Site::new().graph(&[("/", &["/a"]), ("/a", &[])]).serve().await;
    let request = json!({ "urls": [site.url("/*")], "schema": title_schema() });
    let end = extract_with_broken_connection(&server, &database, &request).await;
    // The map, and both pages.
    assert_fields(&end, json!({ "status": "completed", "creditsUsed": 3 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_looks_at_the_budget_again_after_an_outage_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [
        ("HARVESTMAN_DATABASE_URL", database.url()),
        ("HARVESTMAN_CREDIT_BUDGET", "100"),
    ];
    let server = TestServer::start_with(&settings).await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let monitor = json!({
        "name": "Pages",
        "schedule": { "text": "hourly" },
        "targets": [{ "type": "scrape", "urls": [site.url("/")] }],
    });
    let created = server.post("/v2/monitor", &monitor).await.ok();
    let path = format!("/v2/monitor/{}", created["data"]["id"].as_str().unwrap());
    let (locking, client) = (connect(&database).await, connect(&database).await);
    lock(&locking, "harvestman.share").await;
    let due = "UPDATE harvestman.monitor SET next_run_at = 1";
    client.batch_execute(due).await.unwrap();
    // Every statement that waits for the lock fails after 5 seconds.
    tokio::time::sleep(Duration::from_secs(8)).await;
    locking.batch_execute("COMMIT").await.unwrap();
    let has_ended = |checks: &Value| checks["data"][0]["finishedAt"].is_string();
    let checks = server.wait_until(&format!("{path}/checks"), has_ended).await;
    assert_eq!(checks["data"][0]["status"], "completed", "{checks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_to_commits_change_nothing_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", &url)]).await;
    let docs = DocsSite::new(80);
    let site = docs.build().serve().await;
    proxy.lose_commits(3);
    let headers = [
        AUTHORIZATION,
        ("content-type", "application/json"),
        ("x-idempotency-key", "one-crawl"),
    ];
    let request = json!({ "url": site.url("/"), "maxConcurrency": 4 }).to_string();
    let mut ids = Vec::new();
    for _ in 0..6 {
        let response = server
            .send(Method::POST, "/v2/crawl", &headers, request.clone())
            .await;
        match response.status {
            200 => ids.push(response.json["id"].as_str().unwrap().to_owned()),
            503 => assert!(response.headers.contains_key("retry-after")),
            status => panic!("{status}: {}", response.text()),
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "a repeated request creates no second crawl");
    assert_exact(&wait(&server, &ids[0]).await, docs.paths().len());
    assert!(proxy.lost_commits() > 2, "{}", proxy.lost_commits());
    proxy.lose_commits(0);
    let usage = server.get("/v2/team/credit-usage/historical").await.ok();
    assert_eq!(usage["periods"][0]["creditsUsed"], docs.paths().len(), "{usage}");
    let activity = server.get("/v2/team/activity").await.ok();
    assert_eq!(activity["data"].as_array().unwrap().len(), 1, "{activity}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_wait_for_a_database_that_restarts_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", &url)]).await;
    let docs = DocsSite::new(60);
    let site = docs.build().serve().await;
    site.hold_after(20);
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": 4 }))
        .await;
    site.wait_for_requests(21).await;
    // Shorter than a request waits: it is answered as if nothing had happened.
    proxy.refuse();
    // A request on a connection that is only now cut may fail.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (address, path) = (server.address(), format!("/v2/crawl/{id}?limit=1"));
    let asking = tokio::spawn(async move {
        let headers = [AUTHORIZATION];
        send_request(address, Method::GET, &path, &headers, Bytes::new()).await
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ready = server.get("/ready").await;
    assert_eq!(
        (ready.status, &ready.json["database"]),
        (503, &json!("unavailable"))
    );
    proxy.restore();
    assert_eq!(asking.await.unwrap().unwrap().status, 200);

    // Longer: 503, never 404 or 500.
    proxy.refuse();
    for path in [format!("/v2/crawl/{id}"), "/v2/team/activity".to_owned()] {
        let response = server.get(&path).await;
        assert_unavailable(&response);
    }
    proxy.restore();
    site.release();
    assert_exact(&wait(&server, &id).await, docs.paths().len());
    assert_eq!(server.get("/ready").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_to_a_database_that_does_not_respond_get_503_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let server = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", &url)]).await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    server.get("/v2/team/activity").await.ok();
    proxy.cut();
    let since = Instant::now();
    let metrics = server.get("/metrics").await.text();
    assert!(since.elapsed() < Duration::from_secs(5), "metrics do not wait");
    assert!(metrics.contains("\nharvestman_database_up 0\n"), "{metrics}");
    assert!(metrics.contains("\nharvestman_http_requests_total"), "{metrics}");
    let scrape = json!({ "url": site.url("/"), "timeout": 5_000 });
    let requests = async {
        tokio::join!(
            server.get("/v2/team/activity"),
            server.post("/v2/scrape", &scrape)
        )
    };
    let responses = tokio::time::timeout(TIMEOUT, requests).await;
    let (activity, scraped) = responses.expect("every request gets a response");
    for response in [activity, scraped] {
        assert_unavailable(&response);
    }
    proxy.restore();
    server.get("/v2/team/activity").await.ok();
    server.post("/v2/scrape", &scrape).await.ok();
    let metrics = server.get("/metrics").await.text();
    assert!(metrics.contains("\nharvestman_database_up 1\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_cut_off_or_frozen_loses_its_jobs_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let url = proxy.url(database.url());
    let docs = DocsSite::new(60);
    for fault in ["cut off", "frozen", "killed"] {
        let site = docs.build().serve().await;
        site.hold_after(20);
        let mut first = node(&database, &[("HARVESTMAN_DATABASE_URL", &url)]).await;
        let id = first
            .crawl(&json!({ "url": site.url("/"), "maxConcurrency": 4, "scrapeOptions": { "maxAge": 0 } }))
            .await;
        // All pages in flight: what a frozen server has begun, it sends later.
        site.wait_for_requests(24).await;
        let second = node(&database, &[]).await;
        match fault {
            "cut off" => proxy.cut(),
            "frozen" => first.freeze(),
            _ => first.kill9(),
        }
        site.release();
        assert_exact(&wait(&second, &id).await, docs.paths().len());
        let arrived = site.hits().len();
        match fault {
            "cut off" => proxy.restore(),
            "frozen" => first.thaw(),
            _ => first.restart().await,
        }
        // The first server is one of the cluster again, and has done nothing more for the crawl.
        assert_exact(&wait(&first, &id).await, docs.paths().len());
        assert_eq!(site.hits().len(), arrived, "{fault}");
        let usage = second.get("/v2/team/credit-usage/historical").await.ok();
        let used = usage["periods"][0]["creditsUsed"].as_u64().unwrap();
        assert_eq!(used % docs.paths().len() as u64, 0, "{fault}: {usage}");
    }
}
