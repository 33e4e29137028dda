//! Leases of shards, and what their owners read and commit.

use std::collections::HashMap;

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

/// Why a job failed whose stored state cannot be read.
pub(crate) const DAMAGED_JOB: &str =
    "the stored data of this job is damaged, so it cannot continue; send the request again";

/// How many shards a node leases, given those that it drives.
#[derive(Clone, Debug)]
pub struct LeaseRoom {
    /// Maximum shards to lease now.
    pub limit: u32,
    /// Maximum shards that the node drives at once.
    pub capacity: u64,
    /// Shards of each team that the node drives.
    pub driven: HashMap<TeamId, u64>,
}

impl LeaseRoom {
    /// Divides the room among teams with free shards: the next shard goes to the team with the fewest. No team gets more
    /// than what it leaves for all others, so that a team without a shard always gets one, however many jobs others have.
    pub(crate) fn shares(&self, teams: &[TeamId]) -> Vec<(TeamId, u32)> {
        let mut free = self.capacity.saturating_sub(self.driven.values().sum());
        let mut shares: Vec<(TeamId, u64, u32)> = teams
            .iter()
            .map(|team| (*team, self.driven.get(team).copied().unwrap_or_default(), 0))
            .collect();
        for _ in 0..self.limit {
            let fewest = shares.iter_mut().min_by_key(|(_, driven, _)| *driven);
            let Some((_, driven, share)) = fewest.filter(|(_, driven, _)| *driven < free) else {
                break;
            };
            *driven += 1;
            *share += 1;
            free -= 1;
        }
        let shares = shares.into_iter().filter(|(_, _, share)| *share > 0);
        shares.map(|(team, _, share)| (team, share)).collect()
    }
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
    /// Leases of shards.
    trait Leases {
        /// Returns which work a node could lease, in one read.
        async fn due_work(&self, now: Timestamp) -> Result<DueWork, StoreError>;

        /// Leases free shards of running jobs for `lease_ms`: those of the teams with the fewest leases, oldest jobs
        /// first. A job whose row cannot be read fails instead, as with [`Store::fail_damaged`](crate::Store::fail_damaged).
        async fn lease(
            &self,
            node: &str,
            now: Timestamp,
            lease_ms: u64,
            room: &LeaseRoom,
        ) -> Result<Vec<Lease>, StoreError> => open_requests;

        /// Releases a shard, so that another owner can lease it at once.
        async fn release(&self, lease: &Lease) -> Result<(), StoreError>;
    }
}

operations! {
    /// Shards that this node has leased.
    trait LeasedShards {
        /// Extends a lease. False when another owner has the shard or the job has ended: drop the shard.
        async fn renew(&self, lease: &Lease, now: Timestamp, lease_ms: u64) -> Result<bool, StoreError>;

        /// Ends a running job as failed, because its stored state cannot be read. Columns of the job that cannot be read
        /// get their defaults, so that its status can be read. Returns false, and stores nothing, when another owner has
        /// the shard or the job has ended.
        async fn fail_damaged(&self, lease: &Lease, now: Timestamp) -> Result<bool, StoreError>;
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn room_is_shared_among_teams() {
        let [one, two, three] = [1, 2, 3].map(|id| TeamId(Uuid::from_u128(id)));
        let shares = |limit, capacity, driven: &[(TeamId, u64)], teams: &[TeamId]| {
            let driven = driven.iter().copied().collect();
            let room = LeaseRoom {
                limit,
                capacity,
                driven,
            };
            room.shares(teams)
        };
        assert_eq!(shares(5, 100, &[], &[one, two]), [(one, 3), (two, 2)]);
        assert_eq!(shares(5, 100, &[(one, 4)], &[one, two]), [(one, 1), (two, 4)]);
        assert_eq!(shares(99, 8, &[], &[one]), [(one, 4)], "half of the capacity");
        assert_eq!(shares(99, 8, &[(one, 4)], &[one, two]), [(two, 2)]);
        assert_eq!(
            shares(99, 8, &[(one, 4), (two, 2)], &[one, two, three]),
            [(three, 1)]
        );
        assert_eq!(shares(99, 8, &[(one, 9)], &[two]), []);
        assert_eq!(shares(0, 8, &[], &[one]), []);
    }
}
