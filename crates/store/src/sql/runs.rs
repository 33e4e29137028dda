//! Reads runs of extract and agent.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::rows::{decompress_texts, run_row};
use crate::run::{RESULT, RunRow, StoredRuns};
use crate::sql::{Database, Snapshot, statement};
use crate::value::params;

macro_rules! select_runs {
    ($rest:literal) => {
        statement!(concat!(
            "SELECT job.id, kind, status, request, error, credits, job.created_at, expires_at, zero_data_retention,
                origin, integration, completed_at, thread_id, thread_turn
             FROM harvestman.job LEFT JOIN harvestman.activity ON activity.job_id = job.id ",
            $rest
        ))
    };
}

impl<D: Database> StoredRuns for D {
    async fn run_events(&self, job: JobId) -> Result<Vec<String>, StoreError> {
        let rows = statement!("SELECT event FROM harvestman.run_event WHERE job_id = $1 ORDER BY no")
            .bind(job)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(|row| row.text("event")).collect()
    }

    async fn run_snapshot(&self, job: JobId, number: u64) -> Result<Option<String>, StoreError> {
        let body = statement!(
            "SELECT size_bytes, zstd FROM harvestman.run_event WHERE job_id = $1 AND no = $2 AND zstd IS NOT NULL",
        )
        .bind_all(params![job, number])
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(decompress_texts(body).await?.pop())
    }

    async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let row = select_runs!(
            "WHERE job.id = $1 AND job.team_id = $2 AND kind IN ('extract', 'agent')
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))"
        )
        .bind_all(params![id, team, now])
        .fetch_optional(&mut snapshot)
        .await?;
        let body = statement!(
            "SELECT size_bytes, zstd FROM harvestman.page WHERE job_id = $1 AND seq = $2 AND zstd IS NOT NULL",
            sqlite: "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id WHERE job_id = ?1 AND seq = ?2",
        )
        .bind_all(params![id, RESULT])
        .fetch_all(&mut snapshot)
        .await?;
        let partial = statement!("SELECT partial_result FROM harvestman.job WHERE id = $1")
            .bind(id)
            .fetch_optional(&mut snapshot)
            .await?;
        snapshot.end().await?;
        let Some(row) = row else { return Ok(None) };
        let mut run = run_row(&row)?;
        run.result = match (decompress_texts(body).await?.pop(), partial) {
            (None, Some(row)) => row.maybe_text("partial_result")?,
            (result, _) => result,
        };
        Ok(Some(run))
    }

    async fn thread(&self, team: TeamId, thread: Uuid, now: Timestamp) -> Result<Vec<RunRow>, StoreError> {
        select_runs!(
            "WHERE thread_id = $1 AND job.team_id = $2
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))
             ORDER BY thread_turn"
        )
        .bind_all(params![thread, team, now])
        .read_all(&mut self.reader().await?, run_row)
        .await
    }

    async fn agents(
        &self,
        team: TeamId,
        before: Option<Timestamp>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<RunRow>, StoreError> {
        select_runs!(
            "WHERE job.team_id = $1 AND kind = 'agent' AND ($2 IS NULL OR job.created_at < $2)
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))
             ORDER BY job.created_at DESC, job.id DESC LIMIT $4"
        )
        .bind_all(params![team, before, now, limit])
        .read_all(&mut self.reader().await?, run_row)
        .await
    }
}
