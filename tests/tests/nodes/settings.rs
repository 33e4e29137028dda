//! Settings that all servers of a cluster must have in common.

use harvestman_tests::{TestDatabase, TestServer};

use super::cluster::{SECRET, node};

/// Tries to start another server on the database, and returns what it prints when it refuses.
async fn refusal(database: &TestDatabase, settings: &[(&str, &str)]) -> String {
    let mut all = vec![
        ("HARVESTMAN_DATABASE_URL", database.url()),
        ("HARVESTMAN_CLUSTER_SECRET", SECRET),
        ("HARVESTMAN_MAX_SESSIONS", "4"),
    ];
    all.extend(settings);
    let error = TestServer::try_start_with(&all).await.map(drop).unwrap_err();
    format!("{error:#}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_settings_differ_does_not_start_on_postgresql() {
    let database = TestDatabase::create().await;
    let running = node(&database, &[]).await;
    for (variable, value, name) in [
        (
            "HARVESTMAN_CLUSTER_SECRET", "another secret of a cluster", "cluster_secret",
        ),
        ("HARVESTMAN_MAX_CONCURRENCY", "7", "max_concurrency"),
        ("HARVESTMAN_RATE_LIMIT", "7", "rate_limit"),
        ("HARVESTMAN_CREDIT_BUDGET", "7", "credit_budget"),
    ] {
        let text = refusal(&database, &[(variable, value)]).await;
        assert!(text.contains(&format!("`{name}` differs")), "{text}");
        assert!(!text.contains("another secret"), "{text}");
    }
    let (good, text) = running.run_command(&["keys", "list"]);
    assert!(good && text.contains("test"), "{text}");
    node(&database, &[]).await;
}
