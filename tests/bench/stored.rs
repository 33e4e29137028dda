//! Status of one job with millions of pages on PostgreSQL. Needs `HARVESTMAN_TEST_POSTGRES`, as `nodes` does.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harvestman_tests::TestDatabase;
use harvestman_tests::arguments::Arguments;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use crate::latency::Latencies;
use crate::nodes;
use crate::site::GeneratedSite;

/// Pages that are really crawled. The others are copies of them.
const CRAWLED: u64 = 1_000;
/// Pages of each status response.
const LIMIT: u64 = 100;

/// `stored --pages N --calls N`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let copies = (arguments.number("--pages", 10_000_000)? / CRAWLED).max(1);
    let calls = arguments.number("--calls", 1_000)?.max(1);
    arguments.end()?;
    let pages = copies * CRAWLED;

    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let database = TestDatabase::create().await;
    let mut server = nodes::node(database.url(), &[]).await?;
    let request = json!({
        "url": site.start(&format!("docs-{CRAWLED}")),
        "limit": CRAWLED,
        "sitemap": "skip",
        "scrapeOptions": { "maxAge": 0, "storeInCache": false },
    });
    let id = server.crawl(&request).await;
    let status = server.wait(&id).await;
    ensure!(status["completed"] == CRAWLED, "pages are missing: {status}");

    let filled = Instant::now();
    server.terminate().await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await?;
    tokio::spawn(connection);
    for statement in fill(copies) {
        client.batch_execute(&statement).await?;
    }
    let bytes = "SELECT pg_database_size(current_database())";
    let bytes: i64 = client.query_one(bytes, &[]).await?.get(0);
    println!(
        "{pages} pages, {:.1} GiB, written in {:.0} s",
        bytes as f64 / f64::from(1 << 30),
        filled.elapsed().as_secs_f64()
    );

    server.restart().await;
    for (name, skip) in [
        ("first pages", 0),
        ("pages in the middle", pages / 2),
        ("last pages", pages - LIMIT),
        ("past the end", pages),
    ] {
        let path = format!("/v2/crawl/{id}?skip={skip}&limit={LIMIT}");
        let mut times = Latencies::default();
        for _ in 0..calls {
            let started = Instant::now();
            let response = server.get(&path).await;
            times.push(started.elapsed());
            check(&response.json, pages, skip).with_context(|| path.clone())?;
        }
        println!("{name:<20} {}", times.line());
    }
    Ok(())
}

/// Checks the totals of an response, and that it continues until the last page.
fn check(response: &Value, pages: u64, skip: u64) -> Result<()> {
    ensure!(response["total"] == pages, "wrong total: {}", response["total"]);
    let returned = response["data"].as_array().context("no pages")?.len() as u64;
    ensure!((returned > 0) == (skip < pages), "{returned} pages");
    ensure!(
        response["next"].is_string() == (skip + returned < pages),
        "wrong next: {}",
        response["next"]
    );
    Ok(())
}

/// Returns statements that copy the pages of the only job until it has `copies` of each.
fn fill(copies: u64) -> Vec<String> {
    let urls = format!(
        "INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, url)
         SELECT job_id, gen_random_uuid(), shard, state, position + no * {CRAWLED}, depth, source, url || '?' || no
         FROM generate_series(1, {copies} - 1) AS no, harvestman.job_url"
    );
    let pages = format!(
        "INSERT INTO harvestman.page (job_id, seq, url_key, status_code, size_bytes, at, zstd)
         SELECT job_id, seq + no * {CRAWLED}, gen_random_uuid(), status_code, size_bytes, at, zstd
         FROM generate_series(1, {copies} - 1) AS no, harvestman.page ORDER BY no, seq"
    );
    let job = format!(
        "UPDATE harvestman.job SET page_limit = page_limit * {copies}, admitted = admitted * {copies},
            completed = completed * {copies}, credits = credits * {copies}, url_count = url_count * {copies},
            next_position = next_position * {copies}"
    );
    // The database vacuums and checkpoints on its own during a crawl of this size.
    let settle = ["VACUUM ANALYZE", "CHECKPOINT"].map(str::to_owned);
    [&[urls, pages, job][..], &settle].concat()
}
