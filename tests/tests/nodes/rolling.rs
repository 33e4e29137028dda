//! A rolling upgrade: one server after the other restarts while clients send requests and crawls run.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use harvestman_tests::{
    AUTHORIZATION, DocsSite, HttpResponse, JSON, Page, RunningSite, Site, TestDatabase, assert_fields,
    send_request,
};
use http::Method;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use super::cluster::node;

const SERVERS: usize = 3;
const CLIENTS: usize = 3;
/// Pages of a crawl in flight.
const CONCURRENCY: usize = 2;
/// Time in which the load balancer notices that a server stops.
const NOTICE: Duration = Duration::from_secs(1);
/// What the next version does at its start, as `store/postgres/migrate.rs` does it: add, never remove.
const MIGRATION: &str = "BEGIN; SET LOCAL lock_timeout = '20s'; SELECT pg_advisory_xact_lock(5210194012301);
    ALTER TABLE harvestman.job ADD COLUMN next_version bigint NOT NULL DEFAULT 0;
    ALTER TABLE harvestman.shard ADD COLUMN next_version text;
    ALTER TABLE harvestman.job_url ADD COLUMN next_version boolean GENERATED ALWAYS AS (state = 'open') STORED;
    CREATE INDEX page_next_version ON harvestman.page (job_id, at);
    UPDATE harvestman.schema_version SET version = version + 1; COMMIT";

/// A load balancer over the servers that are up.
#[derive(Clone)]
struct Balancer(Arc<Shared>);

struct Shared {
    servers: Vec<(SocketAddr, AtomicBool)>,
    next: AtomicU64,
    answered: AtomicU64,
}

impl Balancer {
    fn set(&self, server: usize, is_up: bool) {
        self.0.servers[server].1.store(is_up, Ordering::SeqCst);
    }

    /// Sends a request, again as long as the answer is a 503 with `Retry-After`. Nothing else may fail.
    async fn send(&self, method: Method, path: &str, body: &Value) -> HttpResponse {
        let body = Bytes::from(body.to_string());
        loop {
            let next = usize::try_from(self.0.next.fetch_add(1, Ordering::SeqCst)).unwrap();
            let (address, is_up) = &self.0.servers[next % SERVERS];
            if !is_up.load(Ordering::SeqCst) {
                continue;
            }
            let response = send_request(
                *address,
                method.clone(),
                path,
                &[AUTHORIZATION, JSON],
                body.clone(),
            )
            .await;
            let response = response.unwrap_or_else(|error| panic!("{path}: {error:#}"));
            self.0.answered.fetch_add(1, Ordering::SeqCst);
            match response.status {
                200 => return response,
                503 if response.headers.contains_key("retry-after") => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                status => panic!("{path}: {status}: {}", response.text()),
            }
        }
    }
}

/// Runs crawls one after the other until `stopped`; each must be exact, and fetch again at most what was in flight.
async fn crawl(balancer: Balancer, stopped: Arc<AtomicBool>) {
    while !stopped.load(Ordering::SeqCst) {
        let docs = DocsSite::new(60);
        let site = docs.build().delay(Duration::from_millis(150)).serve().await;
        let request = json!({
            "url": site.url("/"), "maxConcurrency": CONCURRENCY, "scrapeOptions": { "maxAge": 0 },
        });
        let created = balancer.send(Method::POST, "/v2/crawl", &request).await.json;
        let path = format!("/v2/crawl/{}?limit=1", created["id"].as_str().unwrap());
        let mut completed = 0;
        let end = loop {
            let status = balancer.send(Method::GET, &path, &Value::Null).await.json;
            let now = status["completed"].as_u64().unwrap();
            assert!(now >= completed, "{now} pages after {completed}");
            completed = now;
            if status["status"] != "scraping" {
                break status;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let pages = docs.paths().len();
        assert_fields(
            &end,
            json!({ "status": "completed", "total": pages, "completed": pages, "creditsUsed": pages }),
        );
        assert!(
            fetched_again(&site) <= CONCURRENCY * SERVERS,
            "{:?}",
            site.counts()
        );
    }
}

fn fetched_again(site: &RunningSite) -> usize {
    let mut counts = site.counts();
    counts.retain(|path, _| path != "/robots.txt" && !path.starts_with("/sitemap"));
    counts.values().map(|count| count - 1).sum()
}

/// Sends other requests until `stopped`.
async fn use_all(balancer: Balancer, site: String, stopped: Arc<AtomicBool>) {
    while !stopped.load(Ordering::SeqCst) {
        let scraped = balancer
            .send(Method::POST, "/v2/scrape", &json!({ "url": site, "maxAge": 0 }))
            .await;
        assert_eq!(scraped.json["success"], true, "{}", scraped.text());
        let mapped = balancer
            .send(
                Method::POST,
                "/v2/map",
                &json!({ "url": site, "ignoreCache": true }),
            )
            .await;
        assert_eq!(mapped.json["success"], true, "{}", mapped.text());
        for path in ["/v2/team/credit-usage", "/v2/team/activity", "/v2/crawl/active"] {
            balancer.send(Method::GET, path, &Value::Null).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_restart_one_after_the_other_under_load_with_a_migration_on_postgresql() {
    let database = TestDatabase::create().await;
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(node(&database, &[("HARVESTMAN_DRAIN_SECONDS", "10")]).await);
    }
    let addresses = servers
        .iter()
        .map(|server| (server.address(), AtomicBool::new(true)));
    let balancer = Balancer(Arc::new(Shared {
        servers: addresses.collect(),
        next: AtomicU64::new(0),
        answered: AtomicU64::new(0),
    }));
    let page = Page::links("slow", &["/"]).delay(Duration::from_secs(1));
    let site = Site::new().page("/", page).serve().await;
    let stopped = Arc::new(AtomicBool::new(false));
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(crawl(balancer.clone(), stopped.clone()));
        clients.spawn(use_all(balancer.clone(), site.url("/"), stopped.clone()));
    }
    for (number, server) in servers.iter_mut().enumerate() {
        let before = balancer.0.answered.load(Ordering::SeqCst);
        while balancer.0.answered.load(Ordering::SeqCst) < before + 20 {
            assert!(clients.try_join_next().is_none(), "a client has ended");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        balancer.set(number, false);
        tokio::time::sleep(NOTICE).await;
        assert!(server.terminate().await.success(), "{}", server.log());
        if number == 0 {
            let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(MIGRATION).await.unwrap();
        }
        server.restart().await;
        balancer.set(number, true);
    }
    stopped.store(true, Ordering::SeqCst);
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
}
