//! Leases due webhook events to deliverers and records the results of attempts. A node frees and records only what it
//! has leased itself.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::error::StoreError;
use crate::outbox::{AttemptEnd, Attempts, DueEvent};
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::zero_retention::delete_delivered_document;
use crate::rows::leased_receiver;
use crate::value::params;

impl Attempts for Postgres {
    async fn lease_receivers(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
        except: &[TeamId],
    ) -> Result<Vec<(JobId, TeamId)>, StoreError> {
        let due = query(
            "SELECT 1 FROM harvestman.receiver
             WHERE due_at <= harvestman.clock($1) AND lease_until <= harvestman.clock($1) LIMIT 1",
        )
        .bind(now)
        .fetch_optional(&*self.pool.connection().await?)
        .await?;
        if due.is_none() {
            return Ok(Vec::new());
        }
        let node = self.node;
        let except: Vec<_> = except.iter().map(|team| team.0).collect();
        // Fairness: the receiver that has waited longest since its last turn comes first, however many events it has.
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                query(
                    "UPDATE harvestman.receiver SET lease_until = $2, node = $4
                     FROM (SELECT job_id AS id, team_id
                        FROM harvestman.receiver JOIN harvestman.job ON job.id = job_id
                        WHERE due_at <= $1 AND lease_until <= $1 AND team_id <> ALL ($5)
                        ORDER BY lease_until, due_at LIMIT $3 FOR NO KEY UPDATE OF receiver SKIP LOCKED) AS due
                     WHERE job_id = due.id RETURNING job_id, team_id",
                )
                .bind_all(params![now, now.0.saturating_add(lease_ms), limit, node, except])
                .read_all(transaction, leased_receiver).await
            })
        })
        .await
    }

    async fn release_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError> {
        let node = self.node;
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                query(
                    "UPDATE harvestman.receiver SET lease_until = $2, node = NULL WHERE job_id = $1 AND node = $3",
                )
                .bind_all(params![job, now, node])
                .run(transaction)
                .await
            })
        })
        .await
    }

    async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &DeliveryAttempt,
        end: AttemptEnd,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        let (job, event_no, attempts, node) = (event.job, event.event_no, event.attempts, self.node);
        let attempt = attempt.clone();
        // Times that the caller computed are moved by the difference between its clock and the database's.
        self.write(attempt.at, move |transaction, now| {
            Box::pin(async move {
                let here = |at: Timestamp| (now.0 + at.0).saturating_sub(attempt.at.0);
                let (state, next) = end.state();
                let next = next.map(here);
                let noted = query(
                    "UPDATE harvestman.outbox SET state = $4, attempts = attempts + 1,
                        next_attempt_at = coalesce($5, next_attempt_at)
                     WHERE job_id = $1 AND event_no = $2 AND attempts = $3 AND state = 'pending'",
                )
                .bind_all(params![job, event_no, attempts, state.as_str(), next])
                .execute(transaction)
                .await?;
                if noted == 0 {
                    return Ok(false);
                }
                query(
                    "INSERT INTO harvestman.delivery (job_id, event_no, attempt, at, duration_ms, status_code, error)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                )
                .bind_all(params![
                    job,
                    event_no,
                    attempts + 1,
                    attempt.at,
                    attempt.duration_ms,
                    attempt.status,
                    attempt.error,
                ])
                .execute(transaction)
                .await?;
                // Waits for a transaction that adds an event, so that the next statement sees the event.
                query("SELECT 1 FROM harvestman.receiver WHERE job_id = $1 FOR NO KEY UPDATE")
                    .bind(job)
                    .fetch_optional(transaction)
                    .await?;
                query(
                    "UPDATE harvestman.receiver
                     SET lease_until = CASE node WHEN $3 THEN $2 ELSE lease_until END, due_at = (
                        SELECT min(next_attempt_at) FROM harvestman.outbox WHERE job_id = $1 AND state = 'pending')
                     WHERE job_id = $1",
                )
                .bind_all(params![job, here(lease_until), node])
                .execute(transaction)
                .await?;
                if state == DeliveryState::Delivered {
                    delete_delivered_document(transaction, job, event_no).await?;
                }
                Ok(true)
            })
        })
        .await
    }
}
