//! Reads the state of jobs that a node drives or waits for.

use harvestman_core::ids::{JobId, TeamId};
use uuid::Uuid;

use crate::clock::clock;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::rows::job_signal;
use crate::signal::{JobSignal, NodeRow, Signals};
use crate::sql::transact;
use crate::value::params;

impl Signals for Postgres {
    async fn job_signals(&self, jobs: &[JobId]) -> Result<Vec<JobSignal>, StoreError> {
        let jobs: Vec<_> = jobs.iter().map(|job| job.0).collect();
        query(
            "SELECT id, status, page_limit, admitted, completed + failed AS settled, event_count
             FROM harvestman.job WHERE id = ANY ($1)",
        )
        .bind(jobs)
        .read_all(&self.pool.connection().await?, job_signal)
        .await
    }

    async fn living_node(&self, id: Uuid) -> Result<Option<NodeRow>, StoreError> {
        let row =
            query("SELECT url FROM harvestman.node WHERE id = $1 AND seen_at > harvestman.clock($2) - $3")
                .bind_all(params![id, clock(), limits::NODE_LEASE_MS])
                .fetch_optional(&self.pool.connection().await?)
                .await?;
        row.map(|row| {
            Ok(NodeRow {
                id,
                url: row.maybe_text("url")?,
            })
        })
        .transpose()
    }

    async fn lock_profile(&self, team: TeamId, name: &str, owner: JobId) -> Result<bool, StoreError> {
        let (name, node) = (name.to_owned(), self.node);
        transact!(self, |transaction| {
            let locked = query(
                "INSERT INTO harvestman.profile_lock AS old (team_id, name, owner, node)
                 VALUES ($1, $2, $3, $4)
                 ON CONFLICT (team_id, name) DO UPDATE SET owner = excluded.owner, node = excluded.node
                 WHERE old.owner = excluded.owner OR old.node = excluded.node",
            )
            .bind_all(params![team, name, owner, node])
            .execute(transaction)
            .await?;
            Ok(locked == 1)
        })
    }

    async fn unlock_profile(&self, team: TeamId, name: &str) -> Result<(), StoreError> {
        let (name, node) = (name.to_owned(), self.node);
        transact!(self, |transaction| {
            query("DELETE FROM harvestman.profile_lock WHERE team_id = $1 AND name = $2 AND node = $3")
                .bind_all(params![team, name, node])
                .run(transaction)
                .await
        })
    }
}
