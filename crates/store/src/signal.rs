//! What a node learns from other nodes: changes to jobs that it drives or waits for, and where those nodes are. Also
//! profile locks, which only one of them may hold.

use harvestman_core::ids::{JobId, TeamId};
use uuid::Uuid;

use crate::error::StoreError;
use crate::job::JobStatus;
use crate::operations::operations;

/// The parts of a job's state whose changes others wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobSignal {
    /// The job.
    pub job: JobId,
    /// Status.
    pub status: JobStatus,
    /// Maximum number of pages; more when pages were added to a batch scrape.
    pub page_limit: u64,
    /// Admitted URLs.
    pub admitted: u64,
    /// Pages with an outcome.
    pub settled: u64,
    /// Number of webhook events, which include the actions of an agent.
    pub events: u64,
}

/// A living node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeRow {
    /// Id of this run of the node.
    pub id: Uuid,
    /// URL at which other nodes reach it, if its operator has set one.
    pub url: Option<String>,
}

operations! {
    /// Changes of jobs by other nodes.
    trait Signals {
        /// Returns the state of these jobs, without those that are no longer stored.
        async fn job_signals(&self, jobs: &[JobId]) -> Result<Vec<JobSignal>, StoreError>;

        /// Returns a node; `None` when it has ended or not reported itself for some seconds.
        async fn living_node(&self, id: Uuid) -> Result<Option<NodeRow>, StoreError>;

        /// Reserves a browser profile for a session or job that writes to it on this node. Returns false while another
        /// node has it for another owner. An owner on this node is replaced: the caller knows the writers of its node.
        async fn lock_profile(&self, team: TeamId, name: &str, owner: JobId) -> Result<bool, StoreError>;

        /// Frees a browser profile that this node reserved, if it did.
        async fn unlock_profile(&self, team: TeamId, name: &str) -> Result<(), StoreError>;
    }
}
