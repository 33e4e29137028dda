//! Monitors of a cluster.

use harvestman_tests::{DocsSite, TestDatabase};
use serde_json::json;

use super::cluster::node;

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_monitor_leaves_no_crawl_of_a_dead_node_on_postgresql() {
    let (database, site) = (
        TestDatabase::create().await,
        DocsSite::new(60).build().serve().await,
    );
    site.hold_after(2);
    let mut first = node(&database, &[]).await;
    let second = node(&database, &[]).await;
    let monitor = json!({
        "name": "Pages",
        "schedule": { "text": "hourly" },
        "targets": [{ "type": "crawl", "url": site.url("/") }],
    });
    let created = first.post("/v2/monitor", &monitor).await.ok();
    let path = format!("/v2/monitor/{}", created["data"]["id"].as_str().unwrap());
    first.post(&format!("{path}/run"), &json!({})).await.ok();
    site.wait_for_requests(3).await;
    first.kill9();
    second.delete(&path).await.ok();
    let active = second.get("/v2/crawl/active").await.ok();
    assert_eq!(active["crawls"], json!([]), "{active}");
}
