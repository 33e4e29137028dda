//! Checks what must be true of every job afterwards: in the API, in the database, at the site and at the webhook
//! receiver.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harvestman_tests::Receiver;
use harvestman_tests::receiver::Delivery;
use tokio_postgres::Client;

use crate::cluster::Cluster;
use crate::sessions;
use crate::work::Job;

/// Percentage of pages that may be fetched twice.
const REPEATED_PERCENT: usize = 2;
/// How long the next event may take: the lease of a dead server on a receiver ends after 30 s.
const NEXT_EVENT_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(500);

/// Checks all jobs.
///
/// # Errors
/// The first violation, with the job.
pub(crate) async fn check(cluster: &Cluster, receiver: &Receiver, jobs: &[Job]) -> Result<()> {
    let client = cluster.database.connect().await?;
    wait_for_events(receiver, jobs).await?;
    let mut events: HashMap<String, Vec<Delivery>> = HashMap::new();
    for delivery in receiver.deliveries() {
        events.entry(job_of(&delivery)).or_default().push(delivery);
    }
    let (mut pages, mut repeated) = (0, 0);
    for job in jobs {
        let order = check_documents(cluster, job)
            .await
            .with_context(|| job.path.clone())?;
        check_rows(&client, job).await.with_context(|| job.path.clone())?;
        let events = events.remove(&job.id).unwrap_or_default();
        check_events(job, &order, &events).with_context(|| job.path.clone())?;
        pages += job.pages.len();
        repeated += fetched_again(job);
    }
    sessions::check(&client).await?;
    check_month(&client).await?;
    println!(
        "  {} jobs exact: {pages} pages, {repeated} fetched again ({:.1} %)",
        jobs.len(),
        100.0 * repeated as f64 / pages as f64
    );
    ensure!(
        100 * repeated <= REPEATED_PERCENT * pages,
        "{repeated} of {pages} pages were fetched again"
    );
    Ok(())
}

/// Waits for the last event of every job. Fails if no further event arrives for a while.
async fn wait_for_events(receiver: &Receiver, jobs: &[Job]) -> Result<()> {
    let (mut arrived, mut since) = (0, Instant::now());
    loop {
        let (count, ended): (usize, BTreeSet<String>) = receiver.read(|deliveries| {
            let ends = deliveries.iter().filter(|delivery| is_end(delivery));
            (deliveries.len(), ends.map(job_of).collect())
        });
        let missing: Vec<&str> = jobs
            .iter()
            .map(|job| job.id.as_str())
            .filter(|id| !ended.contains(*id))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        if count > arrived {
            (arrived, since) = (count, Instant::now());
        }
        ensure!(
            since.elapsed() < NEXT_EVENT_WITHIN,
            "no `completed` event of {missing:?}"
        );
        tokio::time::sleep(POLL).await;
    }
}

fn is_end(delivery: &Delivery) -> bool {
    delivery.event().ends_with(".completed")
}

fn job_of(delivery: &Delivery) -> String {
    delivery.json["id"].as_str().unwrap_or_default().to_owned()
}

/// Checks the status and the documents, which every server must return in the same order. Returns the URLs in this
/// order.
async fn check_documents(cluster: &Cluster, job: &Job) -> Result<Vec<String>> {
    let completed = job.pages.len() as u64;
    ensure!(job.end["status"] == "completed", "not completed: {}", job.end);
    for (field, expected) in [
        ("total", completed + job.failures),
        ("completed", completed),
        ("creditsUsed", completed),
    ] {
        ensure!(
            job.end[field] == expected,
            "{field} is not {expected}: {}",
            job.end
        );
    }
    let mut order = None;
    for node in &cluster.nodes {
        let (documents, _) = node.server.documents_at(&job.path, 100).await;
        let urls = documents
            .iter()
            .map(|document| Some(document["metadata"]["sourceURL"].as_str()?.to_owned()))
            .collect::<Option<Vec<String>>>()
            .context("a document has no `sourceURL`")?;
        ensure!(order.is_none() || order.as_ref() == Some(&urls), "servers differ");
        order = Some(urls);
    }
    let order = order.context("there are no servers")?;
    let (found, expected): (BTreeSet<_>, BTreeSet<_>) = (order.iter().collect(), job.pages.iter().collect());
    ensure!(order.len() == found.len(), "a URL has two documents");
    ensure!(found == expected, "other pages than those of the site");
    Ok(order)
}

/// Checks the rows of a job: counters, dense sequence, ledger.
async fn check_rows(client: &Client, job: &Job) -> Result<()> {
    let id = job.id.replace('-', "");
    let row = client
        .query_one(
            "SELECT admitted = completed + failed AS settled, job.credits = ledger.credits AS charged,
                page.pages = completed AND page.first = 1 AND page.last = completed AS dense,
                page.urls = completed AS distinct_urls, ledger.entries = completed AS once
             FROM harvestman.job,
                (SELECT count(*) AS pages, min(seq) AS first, max(seq) AS last, count(DISTINCT url_key) AS urls
                    FROM harvestman.page WHERE job_id = $1::text::uuid) AS page,
                (SELECT count(*) AS entries, sum(credits)::bigint AS credits
                    FROM harvestman.ledger WHERE job_id = $1::text::uuid) AS ledger
             WHERE id = $1::text::uuid",
            &[&id],
        )
        .await?;
    for column in ["settled", "charged", "dense", "distinct_urls", "once"] {
        ensure!(
            row.get::<_, bool>(column),
            "the rows of the job are not `{column}`"
        );
    }
    Ok(())
}

/// Checks that the monthly sums are those of the ledger.
async fn check_month(client: &Client) -> Result<()> {
    let row = client
        .query_one(
            "SELECT (SELECT sum(credits)::bigint FROM harvestman.ledger) AS ledger,
                (SELECT sum(credits)::bigint FROM harvestman.month_usage) AS month",
            &[],
        )
        .await?;
    let (ledger, month): (i64, i64) = (row.get("ledger"), row.get("month"));
    ensure!(
        ledger == month,
        "the ledger has {ledger} credits, the month {month}"
    );
    Ok(())
}

/// Checks that each event arrived, and that first arrivals are in order: `started`, the pages in the order of their
/// numbers, `completed`.
fn check_events(job: &Job, order: &[String], events: &[Delivery]) -> Result<()> {
    let first: Vec<&Delivery> = events.iter().filter(|event| event.attempt == 1).collect();
    let expected = order.len() as u64 + job.failures + 2;
    ensure!(
        first.len() as u64 == expected,
        "{} events arrived, not {expected}",
        first.len()
    );
    let (started, ended) = (first[0].event(), first[first.len() - 1].event());
    ensure!(
        started.ends_with(".started") && ended.ends_with(".completed"),
        "{started} is first, {ended} last"
    );
    let pages: Vec<&str> = first
        .iter()
        .filter_map(|event| event.json["data"][0]["metadata"]["sourceURL"].as_str())
        .filter(|url| job.pages.iter().any(|page| page == url))
        .collect();
    ensure!(pages == order, "page events are not in the order of the pages");
    Ok(())
}

/// Returns the number of requests that fetched a page again.
fn fetched_again(job: &Job) -> usize {
    let counts = job.site.counts();
    let pages = counts
        .iter()
        .filter(|(path, _)| *path != "/robots.txt" && !path.starts_with("/sitemap"));
    pages.map(|(_, count)| count - 1).sum()
}
