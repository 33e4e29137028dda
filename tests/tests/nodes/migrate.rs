//! The move from a data folder to PostgreSQL.

use harvestman_tests::{DocsSite, TestDatabase, TestServer, assert_fields};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_moves_to_postgresql() {
    let docs = DocsSite::new(40);
    let site = docs.build().serve().await;
    let mut before = TestServer::start().await;
    let ended = before.crawl(&json!({ "url": site.url("/") })).await;
    before.wait(&ended).await;
    let (documents, _) = before.documents(&ended, 100).await;
    let fetched = site.hits().iter().filter(|hit| hit.path != "/robots.txt").count() as u64;
    site.hold_after(fetched + 10);
    let fresh = json!({ "url": site.url("/"), "maxConcurrency": 4, "scrapeOptions": { "maxAge": 0 } });
    let running = before.crawl(&fresh).await;
    site.wait_for_requests(fetched + 11).await;
    assert!(before.terminate().await.success());

    let database = TestDatabase::create().await;
    let doctor = ["doctor", "--database-url", database.url()];
    let (_, report) = before.run_command(&doctor);
    assert!(
        report.contains("PostgreSQL 1") && report.contains("schema created when the server starts"),
        "{report}"
    );
    let migrate = ["migrate", "--to", database.url()];
    let (good, text) = before.run_command(&migrate);
    assert!(
        good && text.contains("page") && text.contains("set database_url"),
        "{text}"
    );
    let (good, text) = before.run_command(&migrate);
    assert!(!good && text.contains("already has data"), "{text}");
    let (good, text) = before.run_command(&["migrate", "--to", "mysql://u:secret@h/d"]);
    assert!(!good && !text.contains("secret"), "{text}");
    let (good, text) = before.run_command(&["migrate", "--to", "postgres://u:secret@h:port/d"]);
    assert!(
        !good && text.contains("the URL of the database") && !text.contains("secret"),
        "{text}"
    );
    let (_, report) = before.run_command(&doctor);
    assert!(report.contains(", schema 1"), "{report}");

    site.release();
    let after = TestServer::start_with(&[("HARVESTMAN_DATABASE_URL", database.url())]).await;
    let (moved, _) = after.documents(&ended, 100).await;
    assert_eq!(moved, documents);
    let end = after.wait(&running).await;
    assert_fields(
        &end,
        json!({ "status": "completed", "completed": docs.paths().len() }),
    );
    let usage = after.get("/v2/team/credit-usage/historical").await.ok();
    assert_eq!(
        usage["periods"][0]["creditsUsed"],
        2 * docs.paths().len(),
        "{usage}"
    );
}
