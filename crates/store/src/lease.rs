//! Leases of shards, and what their owners read and commit.

use harvestman_core::crawl::{Batch, CommitResponse, Snapshot};
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::{CommitError, StoreError};
use crate::job::JobKind;
use crate::operations::operations;

/// The right to run a shard of a job, until another owner takes it with a higher epoch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Team of the job.
    pub team: TeamId,
    /// API key of the request; `None` in open mode.
    pub key: Option<KeyId>,
    /// Kind.
    pub kind: JobKind,
    /// Start URL.
    pub url: String,
    /// The request as JSON text.
    pub request: String,
    /// Base URL of this server as the client reached it, without a trailing slash.
    pub base: String,
    /// Maximum number of pages.
    pub page_limit: u64,
    /// Number of the shard within the job.
    pub shard: u32,
    /// Fencing token: increases with each owner.
    pub epoch: u64,
    /// When the lease ends, unless it is renewed.
    pub until: Timestamp,
    /// When the job was created.
    pub created_at: Timestamp,
}

/// Which kinds of work wait for a node to lease them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueWork {
    /// Shards of running jobs.
    pub shards: bool,
    /// Webhook events.
    pub events: bool,
    /// Checks of monitors, or monitors whose next check has to start.
    pub checks: bool,
}

operations! {
    /// Ownership of shards.
    trait Leases {
        /// Returns which work a node could lease, in one read.
        async fn due_work(&self, now: Timestamp) -> Result<DueWork, StoreError>;

        /// Leases up to `limit` free shards of running jobs for `lease_ms`, oldest jobs first.
        async fn lease(
            &self,
            node: &str,
            now: Timestamp,
            lease_ms: u64,
            limit: u32,
        ) -> Result<Vec<Lease>, StoreError>;

        /// Extends a lease. False when another owner has the shard or the job has ended: drop the shard.
        async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError>;

        /// Releases a shard, so that another owner can lease it at once.
        async fn release(&self, lease: &Lease) -> Result<(), StoreError>;
    }
}

operations! {
    /// What the owner of a shard reads and writes.
    trait Commits {
        /// Reads the state that a new owner of a shard continues from.
        async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError>;

        /// Commits a batch and renews the lease; see [`Batch`] for its meaning. Batches of several jobs that wait
        /// at the same time share one transaction.
        async fn commit(
            &self,
            lease: &Lease,
            batch: &Batch,
            now: Timestamp,
            lease_ms: u64,
        ) -> Result<CommitResponse, CommitError>;
    }
}
