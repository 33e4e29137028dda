//! Idempotency keys: stored with the request that uses one first.

use harvestman_core::ids::TeamId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::idempotency::{IdempotentRequest, earlier_request};
use crate::job::{CreateOutcome, Idempotency};
use crate::limits;
use crate::sql::{Connection, statement};
use crate::value::params;

impl IdempotentRequest {
    /// Stores the idempotency key, or returns the result of an earlier request with it. If requests with the same key
    /// arrive together, the others wait for the first.
    pub(crate) async fn store_or_find(
        &self,
        connection: &mut impl Connection,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        let Some(entry) = &self.idempotency else {
            return Ok(None);
        };
        let stored = statement!(
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
        .execute(connection)
        .await?;
        if stored == 1 {
            return Ok(None);
        }
        self.find(connection, now).await
    }

    /// Returns the result of an earlier request with the idempotency key.
    pub(crate) async fn find(
        &self,
        connection: &mut impl Connection,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        match &self.idempotency {
            Some(entry) => find_earlier_request(connection, self.team, entry, now).await,
            None => Ok(None),
        }
    }
}

/// Returns the result of an earlier request of the team with the idempotency key.
pub(crate) async fn find_earlier_request(
    connection: &mut impl Connection,
    team: TeamId,
    entry: &Idempotency,
    now: Timestamp,
) -> Result<Option<CreateOutcome>, StoreError> {
    statement!(
        "SELECT job_id, body_hash = $3 AS same FROM harvestman.idempotency
         WHERE team_id = $1 AND key = $2 AND created_at > harvestman.clock($4) - $5",
    )
    .bind_all(params![
        team,
        &entry.key,
        entry.body_hash.to_vec(),
        now,
        limits::IDEMPOTENCY_MS,
    ])
    .read_optional(connection, earlier_request)
    .await
}
