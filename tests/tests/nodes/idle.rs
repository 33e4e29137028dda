//! What a server without work costs the database.

use std::time::{Duration, Instant};

use harvestman_tests::{DatabaseProxy, Page, Site, TestDatabase};
use serde_json::json;

use super::cluster::node;

const WATCHED: Duration = Duration::from_secs(30);
const READS_PER_SECOND: f64 = 3.0;
/// Interval at which a server reports itself.
const HEARTBEAT: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_reads_little_and_writes_only_its_heartbeat_on_postgresql() {
    let database = TestDatabase::create().await;
    let proxy = DatabaseProxy::start(database.url()).await;
    let server = node(
        &database,
        &[("HARVESTMAN_DATABASE_URL", &proxy.url(database.url()))],
    )
    .await;
    let site = Site::new().page("/", Page::links("home", &[])).serve().await;
    let crawl = json!({ "url": site.url("/"), "sitemap": "skip" });
    let id = server.crawl(&crawl).await;
    assert_eq!(server.wait(&id).await["completed"], 1);
    // What it borrowed for the crawl is returned by then.
    tokio::time::sleep(HEARTBEAT).await;

    let (before, started) = (proxy.statements(), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let (after, seconds) = (proxy.statements(), started.elapsed().as_secs_f64());
    let (reads, changes) = (after.0 - before.0, after.1 - before.1);
    assert!(reads > 0, "the server does not look for work");
    assert!(
        reads as f64 <= READS_PER_SECOND * seconds,
        "{reads} reads in {seconds:.1} s"
    );
    let heartbeats = (seconds / HEARTBEAT.as_secs_f64()).ceil();
    assert!(
        (1.0..=heartbeats).contains(&(changes as f64)),
        "{changes} changes in {seconds:.1} s"
    );
}
