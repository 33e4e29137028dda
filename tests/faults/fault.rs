//! Faults, one at a time. Each ends before the next begins.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::random::Random;

/// Longer than the lease of a shard (15 s), in milliseconds.
const BEYOND_LEASE_MS: (u64, u64) = (17_000, 22_000);

/// A fault of one server, or of the database, after a pause.
pub(crate) struct Fault {
    pause: Duration,
    node: usize,
    /// How long it lasts.
    length: Duration,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// SIGKILL, and a start after `length`.
    Kill,
    /// SIGTERM, and an immediate start.
    Restart,
    /// SIGSTOP, and SIGCONT after `length`, which is beyond the lease.
    Freeze,
    /// Nothing reaches the database or comes from it for `length`, which is beyond the lease.
    Cut,
    /// For `length`, every second answer to a COMMIT is lost.
    LoseCommits,
    /// PostgreSQL stops without a checkpoint, and starts again.
    RestartDatabase,
    /// PostgreSQL stops in the same way, and its standby takes over.
    FailOver,
}

impl Fault {
    pub(crate) fn draw(random: &mut Random, nodes: u64) -> Fault {
        let kind = match random.between(0, 7) {
            0 => Kind::Kill,
            1 => Kind::Restart,
            2 => Kind::Freeze,
            3 => Kind::Cut,
            4 => Kind::LoseCommits,
            5 => Kind::RestartDatabase,
            _ => Kind::FailOver,
        };
        let (from, to) = match kind {
            Kind::Freeze | Kind::Cut => BEYOND_LEASE_MS,
            Kind::Kill | Kind::LoseCommits => (0, 8_000),
            Kind::Restart | Kind::RestartDatabase | Kind::FailOver => (0, 1),
        };
        Fault {
            pause: Duration::from_millis(random.between(1_000, 4_000)),
            node: usize::try_from(random.between(0, nodes)).unwrap_or(0),
            length: Duration::from_millis(random.between(from, to)),
            kind,
        }
    }

    pub(crate) async fn inject(&self, cluster: &mut Cluster) -> Result<()> {
        sleep(self.pause).await;
        let node = &mut cluster.nodes[self.node];
        match self.kind {
            Kind::Kill => {
                node.server.kill9();
                sleep(self.length).await;
                node.server.restart().await;
            }
            Kind::Restart => {
                node.server.terminate().await;
                node.server.restart().await;
            }
            Kind::Freeze => {
                node.server.freeze();
                sleep(self.length).await;
                node.server.thaw();
            }
            Kind::Cut => {
                node.network.cut();
                sleep(self.length).await;
                node.network.restore();
            }
            Kind::LoseCommits => {
                node.network.lose_commits(2);
                sleep(self.length).await;
                node.network.lose_commits(0);
            }
            Kind::RestartDatabase => cluster.database.restart()?,
            Kind::FailOver => cluster.fail_over().await?,
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pause, length) = (self.pause.as_secs_f64(), self.length.as_secs_f64());
        write!(out, "after {pause:.1} s: {:?}", self.kind)?;
        if !matches!(self.kind, Kind::RestartDatabase | Kind::FailOver) {
            write!(out, " server {}", self.node)?;
        }
        match self.length.is_zero() {
            true => Ok(()),
            false => write!(out, " for {length:.1} s"),
        }
    }
}
