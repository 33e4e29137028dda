//! Servers of a cluster, each reachable by the others.

use harvestman_tests::{TestDatabase, TestServer};

/// Secret of the clusters.
pub(crate) const SECRET: &str = "a secret of the whole cluster";

/// Starts a server of a cluster.
pub(crate) async fn node(database: &TestDatabase, settings: &[(&str, &str)]) -> TestServer {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (listen, url) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
    let mut all = vec![
        ("HARVESTMAN_DATABASE_URL", database.url()),
        ("HARVESTMAN_LISTEN", &listen),
        ("HARVESTMAN_NODE_URL", &url),
        ("HARVESTMAN_CLUSTER_SECRET", SECRET),
        ("HARVESTMAN_MAX_SESSIONS", "4"),
    ];
    all.extend(settings);
    TestServer::start_with(&all).await
}
