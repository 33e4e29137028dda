//! Servers of one cluster, each with its own network to the database.

use std::net::{SocketAddr, TcpListener};

use anyhow::Result;
use harvestman_tests::{DatabaseProxy, TestServer, tools};

use crate::database::Database;

/// Variable with the path of libfaketime, which gives servers wrong clocks.
const FAKETIME: &str = "HARVESTMAN_TEST_FAKETIME";
/// How far the clocks of the servers are off, in seconds; the servers take the values in turn.
const CLOCKS_S: [i32; 3] = [0, 90, -90];

/// Secret of the cluster.
const SECRET: &str = "a secret of the whole cluster";

/// A running cluster.
pub(crate) struct Cluster {
    pub(crate) database: Database,
    pub(crate) nodes: Vec<Node>,
}

/// A server and its network.
pub(crate) struct Node {
    pub(crate) server: TestServer,
    pub(crate) network: DatabaseProxy,
}

impl Cluster {
    pub(crate) async fn start(nodes: u64) -> Result<Cluster> {
        let mut cluster = Cluster {
            database: Database::create().await?,
            nodes: Vec::new(),
        };
        for clock_s in CLOCKS_S.into_iter().cycle().take(usize::try_from(nodes)?) {
            let node = Node::start(&cluster.database, clock_s).await?;
            cluster.nodes.push(node);
        }
        Ok(cluster)
    }

    /// Returns the addresses of the servers; they stay the same after a restart.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(|node| node.server.address()).collect()
    }

    /// Lets the standby of the database take over from the primary, and adds a new standby.
    pub(crate) async fn fail_over(&mut self) -> Result<()> {
        self.database.promote()?;
        let url = self.database.url()?;
        for node in &self.nodes {
            node.network.redirect(&url);
        }
        self.database.add_standby().await
    }
}

impl Node {
    async fn start(database: &Database, clock_s: i32) -> Result<Node> {
        let database = database.url()?;
        let network = DatabaseProxy::start(&database).await;
        let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let library = tools::path(FAKETIME).display().to_string();
        let server = TestServer::try_start_with(&[
            ("LD_PRELOAD", &library),
            ("FAKETIME", &format!("{clock_s:+}s")),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("HARVESTMAN_DATABASE_URL", &network.url(&database)),
            ("HARVESTMAN_LISTEN", &listen),
            ("HARVESTMAN_NODE_URL", &format!("http://{listen}")),
            ("HARVESTMAN_CLUSTER_SECRET", SECRET),
            tools::chromium(),
            // The sessions of a dead server count until the server is known to be dead.
            ("HARVESTMAN_MAX_SESSIONS", "16"),
            ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "1,1,1,1,1,1,1,1"),
        ])
        .await?;
        Ok(Node { server, network })
    }
}
