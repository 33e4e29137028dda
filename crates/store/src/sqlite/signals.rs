//! Reads the state of jobs that a node drives or waits for.

use harvestman_core::ids::{JobId, TeamId};
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::job_signal;
use crate::signal::{JobSignal, NodeRow, Signals};
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;

impl Signals for Sqlite {
    async fn job_signals(&self, jobs: &[JobId]) -> Result<Vec<JobSignal>, StoreError> {
        query(
            "SELECT id, status, page_limit, admitted, completed + failed AS settled, event_count FROM job
             WHERE id IN (SELECT unhex(value) FROM json_each(?1))",
        )
        .bind(jobs.to_vec())
        .read_all(&self.readers, job_signal)
        .await
    }

    async fn living_node(&self, _: Uuid) -> Result<Option<NodeRow>, StoreError> {
        Ok(None)
    }

    /// Only this process uses the folder, and it tracks the writers in memory.
    async fn lock_profile(&self, _: TeamId, _: &str, _: JobId) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn unlock_profile(&self, _: TeamId, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
}
