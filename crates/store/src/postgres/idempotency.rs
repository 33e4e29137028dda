//! Idempotency keys: stored with the request that uses one first.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};

use crate::error::StoreError;
use crate::job::{CreateOutcome, Idempotency, NewJob};
use crate::limits;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::value::params;

/// A request that may carry an idempotency key.
pub(crate) struct IdempotentRequest {
    pub(crate) team: TeamId,
    /// The job it creates or adds to.
    pub(crate) job: JobId,
    pub(crate) idempotency: Option<Idempotency>,
}

impl IdempotentRequest {
    /// Returns the request that creates a job.
    pub(crate) fn of(job: &NewJob, idempotency: Option<&Idempotency>) -> Self {
        Self {
            team: job.team,
            job: job.id,
            idempotency: idempotency.cloned(),
        }
    }

    /// Stores the idempotency key, or returns the result of an earlier request with it. If requests with the same key
    /// arrive together, the others wait for the first.
    pub(crate) async fn store_or_find(
        &self,
        client: &Client,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        let Some(entry) = &self.idempotency else {
            return Ok(None);
        };
        let stored = query(
            "INSERT INTO harvestman.idempotency AS earlier (team_id, key, body_hash, job_id, created_at)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (team_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
                created_at = excluded.created_at
             WHERE earlier.created_at <= $6",
        )
        .bind_all(params![
            self.team,
            entry.key.clone(),
            entry.body_hash.to_vec(),
            self.job,
            now,
            now.0.saturating_sub(limits::IDEMPOTENCY_MS),
        ])
        .execute(client)
        .await?;
        if stored == 1 {
            return Ok(None);
        }
        self.find(client, now).await
    }

    /// Returns the result of an earlier request with the idempotency key.
    pub(crate) async fn find(
        &self,
        client: &Client,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        let Some(entry) = &self.idempotency else {
            return Ok(None);
        };
        let row = query(
            "SELECT job_id, body_hash = $3 AS same FROM harvestman.idempotency
             WHERE team_id = $1 AND key = $2 AND created_at > $4",
        )
        .bind_all(params![
            self.team,
            entry.key.clone(),
            entry.body_hash.to_vec(),
            now.0.saturating_sub(limits::IDEMPOTENCY_MS),
        ])
        .fetch_optional(client)
        .await?;
        row.as_ref().map(earlier_request).transpose()
    }
}

/// Returns the result of the request that used the key, from a row with `job_id` and `same`.
pub(crate) fn earlier_request(row: &Row) -> Result<CreateOutcome, StoreError> {
    Ok(match row.flag("same")? {
        true => CreateOutcome::Repeated(JobId(row.id("job_id")?)),
        false => CreateOutcome::KeyReused,
    })
}
