//! Servers of one cluster, each with its own network to the database.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use harvestman_tests::{DatabaseProxy, TestDatabase, TestServer, tools};

/// Variable with the path of libfaketime, which gives servers wrong clocks.
const FAKETIME: &str = "HARVESTMAN_TEST_FAKETIME";
/// How far the clocks of servers are off, in seconds, in turn.
const CLOCKS_S: [i32; 3] = [0, 90, -90];

/// Secret of the cluster.
const SECRET: &str = "a secret of the whole cluster";

/// A running cluster.
pub(crate) struct Cluster {
    pub(crate) database: TestDatabase,
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
            database: TestDatabase::create().await,
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

    /// Restarts PostgreSQL without a checkpoint, as after a crash: transactions that are not committed are lost.
    pub(crate) fn restart_database(&self) -> Result<()> {
        let data = tools::path("HARVESTMAN_TEST_POSTGRES_DATA");
        let owner = std::fs::metadata(&data).with_context(|| data.display().to_string())?;
        let status = Command::new(tools::path("HARVESTMAN_TEST_POSTGRES_CONTROL"))
            .args(["restart", "--silent", "--wait", "--mode=immediate", "-D"])
            .arg(&data)
            .arg("-l")
            .arg(data.join("restarts.log"))
            .current_dir(&data)
            .uid(owner.uid())
            .gid(owner.gid())
            .status()
            .context("pg_ctl does not start")?;
        ensure!(status.success(), "PostgreSQL does not restart");
        Ok(())
    }
}

impl Node {
    async fn start(database: &TestDatabase, clock_s: i32) -> Result<Node> {
        let network = DatabaseProxy::start(database.url()).await;
        let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let library = tools::path(FAKETIME).display().to_string();
        let server = TestServer::try_start_with(&[
            ("LD_PRELOAD", &library),
            ("FAKETIME", &format!("{clock_s:+}s")),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("HARVESTMAN_DATABASE_URL", &network.url(database.url())),
            ("HARVESTMAN_LISTEN", &listen),
            ("HARVESTMAN_NODE_URL", &format!("http://{listen}")),
            ("HARVESTMAN_CLUSTER_SECRET", SECRET),
            ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "1,1,1,1,1,1,1,1"),
        ])
        .await?;
        Ok(Node { server, network })
    }
}
