//! Servers on PostgreSQL: how one server compares with a server on SQLite, what it costs the database, how much
//! expiring jobs slow it down, and how three servers share many crawls. Needs `HARVESTMAN_TEST_POSTGRES`, a server's
//! URL without a database name.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::{join_all, try_join_all};
use harvestman_tests::arguments::Arguments;
use harvestman_tests::{DatabaseProxy, TestDatabase, TestServer};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};

use crate::site::GeneratedSite;

/// Delay of each answer of a distant database.
const DISTANCE: Duration = Duration::from_millis(5);
/// Time after which PostgreSQL has published the statistics of all earlier work, including the work of idle
/// connections.
const STATISTICS_DELAY: Duration = Duration::from_secs(11);
/// How long idle servers are watched.
const IDLE: Duration = Duration::from_secs(20);
/// Latency of the site that several servers crawl, and number of crawls that run at once.
const SITE_LATENCY: Duration = Duration::from_millis(200);
const CRAWLS: u64 = 30;
/// Jobs that expire during a crawl, and pages of each.
const EXPIRING_JOBS: i64 = 1_000;
const EXPIRING_PAGES: u64 = 100;
/// Pages in flight on each of the servers that share crawls: few enough that fetching stays the bottleneck while three
/// servers, their database and the site share two cores.
const NODE_PAGES: &str = "32";

/// Runs `nodes --pages N --rounds R`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let pages = arguments.number("--pages", 4_000)?;
    let rounds = arguments.number("--rounds", 3)?;
    arguments.end()?;
    println!("one server, {pages} pages of a crawl; pages/s");
    println!(
        "  SQLite   PostgreSQL   relative   at {} ms   relative",
        DISTANCE.as_millis()
    );
    for _ in 0..rounds {
        let embedded = one(pages, None).await?;
        let near = one(pages, Some(Duration::ZERO)).await?;
        let far = one(pages, Some(DISTANCE)).await?;
        println!(
            "{embedded:>8.0}   {near:>10.0}   {:>8.2}   {far:>7.0}   {:>8.2}",
            near / embedded,
            far / near
        );
    }
    costs(pages).await?;
    expiring(pages, rounds).await?;
    shared(pages).await
}

/// Returns the pages per second of a crawl on a fresh server; on PostgreSQL if a distance is given.
async fn one(pages: u64, distance: Option<Duration>) -> Result<f64> {
    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let Some(distance) = distance else {
        return crawl(
            &TestServer::start_with(&[("HARVESTMAN_LOG", "warn")]).await,
            &site,
            pages,
        )
        .await;
    };
    let database = TestDatabase::create().await;
    let network = DatabaseProxy::start(database.url()).await;
    network.delay(distance);
    let url = match distance.is_zero() {
        true => database.url().to_owned(),
        false => network.url(database.url()),
    };
    crawl(&node(&url, &[]).await?, &site, pages).await
}

/// Prints what a server costs the database.
async fn costs(pages: u64) -> Result<()> {
    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let database = TestDatabase::create().await;
    let server = node(database.url(), &[]).await?;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await?;
    tokio::spawn(connection);
    let before = Statistics::read(&client).await?;
    let mut most = 0;
    let crawling = crawl(&server, &site, pages);
    tokio::pin!(crawling);
    let speed = loop {
        tokio::select! {
            speed = &mut crawling => break speed?,
            () = sleep(Duration::from_millis(200)) => {
                let count = "SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'harvestman'";
                most = most.max(client.query_one(count, &[]).await?.get::<_, i64>(0));
            }
        }
    };
    let used = Statistics::read(&client).await? - &before;
    let updates = "SELECT coalesce(sum(n_tup_hot_upd), 0)::bigint, coalesce(sum(n_tup_upd), 0)::bigint
        FROM pg_stat_user_tables";
    let updates = client.query_one(updates, &[]).await?;
    let (hot, all): (i64, i64) = (updates.get(0), updates.get(1));
    println!(
        "one server at {speed:.0} pages/s: {:.1} transactions per 1,000 pages, at most {most} connections, {:.1} % \
         of {all} updates are HOT",
        used.transactions as f64 * 1_000.0 / pages as f64,
        hot as f64 * 100.0 / (all.max(1)) as f64,
    );
    let others = "SELECT relname::text, n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables
        WHERE n_tup_upd > n_tup_hot_upd ORDER BY 2 DESC LIMIT 4";
    for row in client.query(others, &[]).await? {
        println!(
            "  not HOT: {:>6} of {}",
            row.get::<_, i64>(1),
            row.get::<_, String>(0)
        );
    }
    let before = Statistics::read(&client).await?;
    sleep(IDLE).await;
    let idle = Statistics::read(&client).await? - &before;
    let seconds = (IDLE + STATISTICS_DELAY).as_secs_f64();
    println!(
        "idle: {:.1} transactions/s, {:.2} changed rows/s",
        idle.transactions as f64 / seconds,
        idle.changed as f64 / seconds
    );
    Ok(())
}

/// Prints how much expiring jobs slow a crawl down.
async fn expiring(pages: u64, rounds: u64) -> Result<()> {
    println!("{EXPIRING_JOBS} jobs of {EXPIRING_PAGES} pages expire during a crawl; pages/s");
    println!("   without       with   relative   deleted jobs");
    for _ in 0..rounds {
        let (without, _) = beside_expiry(pages, 0).await?;
        let (with, deleted) = beside_expiry(pages, EXPIRING_JOBS).await?;
        ensure!(deleted > 0, "no job expired during the crawl");
        println!(
            "{without:>10.0} {with:>10.0}   {:>8.2}   {deleted:>12}",
            with / without
        );
    }
    Ok(())
}

/// Returns the pages per second of a crawl while jobs expire, and how many were deleted meanwhile.
async fn beside_expiry(pages: u64, jobs: i64) -> Result<(f64, i64)> {
    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let database = TestDatabase::create().await;
    let mut server = node(database.url(), &[]).await?;
    crawl(&server, &site, EXPIRING_PAGES).await?;
    server.terminate().await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await?;
    tokio::spawn(connection);
    // Copies of the crawl, with ids of the same day.
    let copy = format!(
        "WITH copy AS (SELECT id AS original, (left(id::text, 18) || lpad(to_hex(no), 16, '0'))::uuid AS copy
            FROM (SELECT id FROM harvestman.job LIMIT 1) AS first, generate_series(1, {jobs}) AS no),
         urls AS (INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, url)
            SELECT copy, url_key, shard, state, position, depth, source, url
            FROM copy JOIN harvestman.job_url ON job_id = original),
         pages AS (INSERT INTO harvestman.page (job_id, seq, url_key, status_code, size_bytes, at, zstd)
            SELECT copy, seq, url_key, status_code, size_bytes, at, zstd
            FROM copy JOIN harvestman.page ON job_id = original)
         INSERT INTO harvestman.job
         SELECT (jsonb_populate_record(job, jsonb_build_object('id', copy, 'expires_at', 1))).*
         FROM copy JOIN harvestman.job ON job.id = original"
    );
    client.batch_execute(&copy).await?;
    client.batch_execute("ANALYZE").await?;
    server.restart().await;
    let speed = crawl(&server, &site, pages).await?;
    let left = "SELECT count(*) FROM harvestman.job WHERE expires_at = 1";
    let left: i64 = client.query_one(left, &[]).await?.get(0);
    Ok((speed, jobs - left))
}

/// Prints how fast three servers crawl when fetching is the bottleneck, and what the loss of one server costs.
async fn shared(pages: u64) -> Result<()> {
    let site = GeneratedSite::serve(SITE_LATENCY).await?;
    let pages = (pages / CRAWLS).max(1);
    println!(
        "{CRAWLS} crawls of {pages} pages, {} ms latency, {NODE_PAGES} pages in flight on each server; seconds",
        SITE_LATENCY.as_millis()
    );
    let alone = cluster(1, &site, pages, false).await?;
    let three = cluster(3, &site, pages, false).await?;
    let killed = cluster(3, &site, pages, true).await?;
    println!(
        "  one {:.1}, three {:.1} ({:.2} times as fast), three of which one is killed {:.1}",
        alone.as_secs_f64(),
        three.as_secs_f64(),
        alone.as_secs_f64() / three.as_secs_f64(),
        killed.as_secs_f64()
    );
    Ok(())
}

/// Returns how long `count` servers take for the crawls.
async fn cluster(count: usize, site: &GeneratedSite, pages: u64, kill: bool) -> Result<Duration> {
    let database = TestDatabase::create().await;
    let mut servers =
        try_join_all((0..count).map(|_| node(database.url(), &[("HARVESTMAN_NODE_PAGES", NODE_PAGES)])))
            .await?;
    let started = Instant::now();
    let request = request(site, pages);
    let ids = join_all((0..CRAWLS).map(|_| servers[0].crawl(&request))).await;
    if kill && let Some(mut last) = servers.pop() {
        // It holds its share of the crawls by now.
        sleep(Duration::from_secs(2)).await;
        last.kill9();
    }
    for id in ids {
        let status = servers[0].wait(&id).await;
        ensure!(status["completed"] == pages, "pages are missing: {status}");
    }
    Ok(started.elapsed())
}

/// Starts a server of the cluster.
pub(crate) async fn node(database: &str, settings: &[(&str, &str)]) -> Result<TestServer> {
    let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let url = format!("http://{listen}");
    let all = [
        ("HARVESTMAN_DATABASE_URL", database),
        ("HARVESTMAN_LISTEN", &listen),
        ("HARVESTMAN_NODE_URL", &url),
        ("HARVESTMAN_CLUSTER_SECRET", "a secret of the whole cluster"),
        ("HARVESTMAN_MAX_CONCURRENCY", "1000"),
        ("HARVESTMAN_LOG", "warn"),
    ];
    TestServer::try_start_with(&[&all, settings].concat()).await
}

fn request(site: &GeneratedSite, pages: u64) -> Value {
    json!({
        "url": site.start(&format!("docs-{pages}")),
        "limit": pages,
        "sitemap": "skip",
        "scrapeOptions": { "maxAge": 0, "storeInCache": false },
    })
}

/// Crawls the site and returns the pages per second by the server's clock.
async fn crawl(server: &TestServer, site: &GeneratedSite, pages: u64) -> Result<f64> {
    let id = server.crawl(&request(site, pages)).await;
    let status = server.wait(&id).await;
    ensure!(status["completed"] == pages, "pages are missing: {status}");
    let seconds = status["duration"]
        .as_f64()
        .context("a finished job has no duration")?;
    Ok(pages as f64 / seconds.max(0.001))
}

/// What PostgreSQL counted in the database.
struct Statistics {
    transactions: i64,
    changed: i64,
}

impl Statistics {
    async fn read(client: &Client) -> Result<Statistics> {
        sleep(STATISTICS_DELAY).await;
        let counts = "SELECT xact_commit + xact_rollback, tup_inserted + tup_updated + tup_deleted
            FROM pg_stat_database WHERE datname = current_database()";
        let row = client.query_one(counts, &[]).await?;
        Ok(Statistics {
            transactions: row.get(0),
            changed: row.get(1),
        })
    }
}

impl std::ops::Sub<&Statistics> for Statistics {
    type Output = Statistics;

    fn sub(self, earlier: &Statistics) -> Statistics {
        Statistics {
            transactions: self.transactions - earlier.transactions,
            changed: self.changed - earlier.changed,
        }
    }
}
