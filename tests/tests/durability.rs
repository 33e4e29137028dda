//! Durability: no data is lost or counted twice when the real server is killed or stopped. The tests with several
//! servers use the PostgreSQL server that `HARVESTMAN_TEST_POSTGRES` names.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use harvestman_store::{DatabaseUrl, Store, StoreConfig};
use harvestman_tests::{DocsSite, Receiver, RunningSite, TestDatabase, TestServer};
use serde_json::{Value, json};

const IN_FLIGHT: usize = 4;

fn sources(documents: &[Value]) -> Vec<&str> {
    documents
        .iter()
        .map(|document| document["metadata"]["sourceURL"].as_str().unwrap())
        .collect()
}

/// Asserts that every page of the site is stored and charged once, and returns the documents.
async fn assert_complete(server: &TestServer, id: &str, docs: &DocsSite, site: &RunningSite) -> Vec<Value> {
    let status = server.wait(id).await;
    let pages = docs.paths().len();
    assert_eq!(status["status"], "completed", "{status}");
    for field in ["total", "completed", "creditsUsed"] {
        assert_eq!(status[field], pages, "{field}: {status}");
    }
    let (documents, _) = server.documents(id, 100).await;
    let expected: BTreeSet<String> = docs.paths().iter().map(|path| site.url(path)).collect();
    assert_eq!(documents.len(), pages);
    assert_eq!(
        sources(&documents)
            .into_iter()
            .map(str::to_owned)
            .collect::<BTreeSet<_>>(),
        expected
    );
    documents
}

fn page_counts(site: &RunningSite) -> BTreeMap<String, usize> {
    site.counts()
        .into_iter()
        .filter(|(path, _)| path != "/robots.txt" && !path.starts_with("/sitemap"))
        .collect()
}

#[tokio::test]
async fn a_crawl_continues_after_kill_9() {
    let docs = DocsSite::new(120);
    let site = docs.build().serve().await;
    site.hold_after(50);
    let mut server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT }))
        .await;
    site.wait_for_requests(51).await;
    let before = server.get(&format!("/v2/crawl/{id}")).await.ok();
    let seen_before = before["data"].as_array().unwrap().clone();
    server.kill9();
    site.release();
    server.restart().await;
    let documents = assert_complete(&server, &id, &docs, &site).await;
    assert_eq!(
        documents[..seen_before.len()],
        seen_before[..],
        "documents that were returned before keep their offsets"
    );

    // A page is fetched again only if its first fetch was in flight or uncommitted at the kill.
    let again: Vec<String> = page_counts(&site)
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(path, _)| path)
        .collect();
    let handed_out: BTreeSet<&str> = sources(&seen_before).into_iter().collect();
    assert!(
        again.iter().all(|path| !handed_out.contains(&*site.url(path))),
        "{again:?} were already stored"
    );
    assert!(page_counts(&site).values().all(|count| *count <= 2));
}

#[tokio::test]
async fn a_crawl_survives_many_kills() {
    let docs = DocsSite::new(90).sitemap();
    let site = docs.build().serve().await;
    let mut server = TestServer::start().await;
    site.hold_after(1);
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT }))
        .await;
    let mut stored = 0;
    for (round, hold) in [1, 9, 20, 34, 51, 70, 90].into_iter().enumerate() {
        site.hold_after(hold);
        site.wait_for_requests(hold + 1).await;
        // In every other round the server is killed before any page of the round must be stored.
        if round % 2 == 1 {
            stored = wait_for_more(&server, &id, stored).await;
        }
        server.kill9();
        server.restart().await;
        let now = completed(&server, &id).await;
        assert!(
            now >= stored,
            "{stored} pages were stored before the kill, {now} after it"
        );
    }
    site.release();
    assert_complete(&server, &id, &docs, &site).await;
}

async fn completed(server: &TestServer, id: &str) -> u64 {
    let status = server.get(&format!("/v2/crawl/{id}?limit=1")).await.ok();
    assert_eq!(status["completed"], status["creditsUsed"], "{status}");
    status["completed"].as_u64().unwrap()
}

/// Waits until more than `stored` pages are stored, and returns their number.
async fn wait_for_more(server: &TestServer, id: &str, stored: u64) -> u64 {
    let path = format!("/v2/crawl/{id}?limit=1");
    server
        .wait_until(&path, |status| status["completed"].as_u64() > Some(stored))
        .await;
    completed(server, id).await
}

#[tokio::test]
async fn an_acknowledged_crawl_survives_a_kill() {
    let docs = DocsSite::new(10);
    let site = docs.build().serve().await;
    let mut server = TestServer::start().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(server.crawl(&json!({ "url": site.url("/") })).await);
        server.kill9();
        server.restart().await;
    }
    for id in &ids {
        assert_complete(&server, id, &docs, &site).await;
    }
}

#[tokio::test]
async fn a_graceful_shutdown_loses_nothing() {
    let docs = DocsSite::new(60);
    let site = docs.build().serve().await;
    site.hold_after(30);
    let mut server = TestServer::start().await;
    let id = server
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT }))
        .await;
    site.wait_for_requests(31).await;
    let status = server.terminate().await;
    assert!(status.success(), "{status}\n{}", server.log());
    site.release();
    server.restart().await;
    assert_complete(&server, &id, &docs, &site).await;
}

#[tokio::test]
async fn finished_jobs_survive_a_kill() {
    let docs = DocsSite::new(15);
    let site = docs.build().serve().await;
    let mut server = TestServer::start().await;
    let id = server.crawl(&json!({ "url": site.url("/") })).await;
    let documents = assert_complete(&server, &id, &docs, &site).await;
    let scrape = server
        .post("/v2/scrape", &json!({ "url": site.url("/"), "maxAge": 0 }))
        .await
        .ok();
    let scrape_id = scrape["data"]["metadata"]["scrapeId"]
        .as_str()
        .unwrap()
        .to_owned();
    let fetched = site.hits().len();
    server.kill9();
    server.restart().await;
    assert_eq!(assert_complete(&server, &id, &docs, &site).await, documents);
    let stored = server.get(&format!("/v2/scrape/{scrape_id}")).await.ok();
    assert_eq!(stored["data"], scrape["data"]);
    assert_eq!(site.hits().len(), fetched, "no page is fetched again");
}

#[tokio::test]
async fn a_second_server_with_the_same_data_refuses_to_start() {
    let server = TestServer::start().await;
    let (status, said) = server.start_second();
    assert!(!status.success());
    assert!(said.contains("harvestman"), "{said}");
    assert_eq!(
        server.get("/health").await.status,
        200,
        "the first server keeps running"
    );
}

/// Asserts that the ledger of the team has one credit for each page of the crawls.
async fn assert_charged(database: &TestDatabase, pages: usize) {
    let folder = harvestman_tests::Folder::new().unwrap();
    let mut config = StoreConfig::new(folder.path());
    config.database_url = DatabaseUrl::parse(database.url());
    let store = Store::open(&config).await.unwrap();
    let team = store.ensure_team("test").await.unwrap();
    assert_eq!(store.ledger_total(team).await.unwrap(), pages as u64);
    let months = store.month_usage(team).await.unwrap();
    assert_eq!(
        months.iter().map(|month| month.credits).sum::<u64>(),
        pages as u64
    );
    store.close().await.unwrap();
}

#[tokio::test]
async fn another_node_finishes_a_crawl_after_kill_9_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [("HARVESTMAN_DATABASE_URL", database.url())];
    let docs = DocsSite::new(120);
    let site = docs.build().serve().await;
    site.hold_after(50);
    let mut first = TestServer::start_with(&settings).await;
    let id = first
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT }))
        .await;
    site.wait_for_requests(51).await;
    let second = TestServer::start_with(&settings).await;
    let path = format!("/v2/crawl/{id}");
    let before = second.get(&path).await.ok();
    assert_eq!(before["status"], "scraping", "{before}");
    first.kill9();
    site.release();
    let documents = assert_complete(&second, &id, &docs, &site).await;
    let seen_before = before["data"].as_array().unwrap();
    assert_eq!(
        documents[..seen_before.len()],
        seen_before[..],
        "documents that were returned before keep their offsets"
    );
    assert!(page_counts(&site).values().all(|count| *count <= 2));
    first.restart().await;
    assert_eq!(first.get(&path).await.ok()["completed"], docs.paths().len());
    assert_charged(&database, docs.paths().len()).await;
}

#[tokio::test]
async fn a_stopped_node_hands_its_crawl_over_and_any_node_cancels_one_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [("HARVESTMAN_DATABASE_URL", database.url())];
    let docs = DocsSite::new(60);
    let site = docs.build().serve().await;
    site.hold_after(20);
    let mut first = TestServer::start_with(&settings).await;
    let id = first
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT }))
        .await;
    site.wait_for_requests(21).await;
    let second = TestServer::start_with(&settings).await;
    assert!(first.terminate().await.success());
    site.release();
    assert_complete(&second, &id, &docs, &site).await;

    let arrived = page_counts(&site).values().sum::<usize>() as u64;
    site.hold_after(arrived + 5);
    let options = json!({ "maxAge": 0 });
    let cancelled = second
        .crawl(&json!({ "url": site.url("/"), "maxConcurrency": IN_FLIGHT, "scrapeOptions": options }))
        .await;
    site.wait_for_requests(arrived + 6).await;
    first.restart().await;
    let path = format!("/v2/crawl/{cancelled}");
    assert_eq!(first.delete(&path).await.ok()["status"], "cancelled");
    site.release();
    for server in [&first, &second] {
        assert_eq!(server.get(&path).await.ok()["status"], "cancelled");
    }
}

/// Starts two crawls, stops the server, damages the request of the first one, and starts the server again.
async fn a_crawl_with_a_damaged_request_fails(
    settings: &[(&str, &str)],
    damage: impl AsyncFnOnce(&TestServer, &str, &str),
) {
    let docs = DocsSite::new(20);
    let site = docs.build().serve().await;
    let receiver = Receiver::start().await;
    let mut server = TestServer::start_with(settings).await;
    site.hold_after(3);
    let request = json!({ "url": site.url("/"), "excludePaths": ["^/none$"], "webhook": receiver.url() });
    let damaged = server.crawl(&request).await;
    let other = server.crawl(&json!({ "url": site.url("/") })).await;
    site.wait_for_requests(4).await;
    assert!(server.terminate().await.success());
    site.release();
    damage(&server, r#""excludePaths":["#, r#""excludePaths":{"#).await;
    server.restart().await;

    let status = server.wait(&damaged).await;
    assert_eq!(status["status"], "failed", "{status}");
    let error = status["error"].as_str().unwrap();
    assert!(error.contains("damaged"), "{error}");
    assert_eq!(server.wait(&other).await["status"], "completed");
    receiver.wait_for("crawl.failed").await;
    server.kill9();
    server.restart().await;
    let again = server.get(&format!("/v2/crawl/{damaged}")).await.ok();
    assert_eq!(again["error"], error);
    let deliveries = receiver.deliveries();
    let failures = deliveries
        .iter()
        .filter(|delivery| delivery.event() == "crawl.failed");
    let errors: Vec<&Value> = failures.map(|delivery| &delivery.json["error"]).collect();
    assert_eq!(errors, [error]);
}

#[tokio::test]
async fn a_crawl_with_a_damaged_request_fails_on_sqlite() {
    a_crawl_with_a_damaged_request_fails(&[], async |server, from, to| {
        let path = server.data_dir().join("data/harvestman.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let places: Vec<usize> = (0..bytes.len())
            .filter(|at| bytes[*at..].starts_with(from.as_bytes()))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        std::fs::write(path, bytes).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_crawl_with_a_damaged_request_fails_on_postgresql() {
    let database = TestDatabase::create().await;
    let settings = [("HARVESTMAN_DATABASE_URL", database.url())];
    a_crawl_with_a_damaged_request_fails(&settings, async |_, from, to| {
        let (client, connection) = tokio_postgres::connect(database.url(), tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        let change = "UPDATE harvestman.job SET request = replace(request, $1, $2)";
        client.execute(change, &[&from, &to]).await.unwrap();
    })
    .await;
}
