//! Leases due webhook events to deliverers and records the results of attempts.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::error::StoreError;
use crate::outbox::{AttemptEnd, Attempts, DueEvent, Outbox};
use crate::rows::leased_receiver;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::zero_retention::delete_delivered_document;
use crate::value::params;

impl Attempts for Sqlite {
    async fn lease_receivers(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
        except: &[TeamId],
    ) -> Result<Vec<(JobId, TeamId)>, StoreError> {
        if self.next_event_at(now).await?.is_none_or(|at| at > now) {
            return Ok(Vec::new());
        }
        let until = now.0.saturating_add(lease_ms);
        let except = except.to_vec();
        // Fairness: the receiver that has waited longest since its last turn comes first, however many events
        // it has.
        self.write(move |connection| {
            Box::pin(async move {
                query(
                    "UPDATE receiver SET lease_until = ?2 WHERE job_id IN (
                        SELECT job_id FROM receiver CROSS JOIN job ON job.id = job_id
                        WHERE due_at <= ?1 AND lease_until <= ?1
                            AND hex(team_id) NOT IN (SELECT value FROM json_each(?4))
                        ORDER BY lease_until, due_at LIMIT ?3)
                     RETURNING job_id, (SELECT team_id FROM job WHERE id = job_id) AS team_id",
                )
                .bind_all(params![now, until, limit, except])
                .read_all(connection, leased_receiver)
                .await
            })
        })
        .await
    }

    async fn release_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError> {
        query("UPDATE receiver SET lease_until = ?2 WHERE job_id = ?1")
            .bind_all(params![job, now])
            .write(&self.writer)
            .await?;
        Ok(())
    }

    async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &DeliveryAttempt,
        end: AttemptEnd,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        let (job, event_no, attempts) = (event.job, event.event_no, event.attempts);
        let attempt = attempt.clone();
        self.write(move |connection| {
            Box::pin(async move {
                let (state, next) = end.state();
                let noted = query(
                    "UPDATE outbox SET state = ?4, attempts = attempts + 1,
                        next_attempt_at = coalesce(?5, next_attempt_at)
                     WHERE job_id = ?1 AND event_no = ?2 AND attempts = ?3 AND state = 'pending'",
                )
                .bind_all(params![job, event_no, attempts, state.as_str(), next])
                .execute(&mut *connection)
                .await?;
                if noted == 0 {
                    return Ok(false);
                }
                query(
                    "INSERT INTO delivery (job_id, event_no, attempt, at, duration_ms, status_code, error)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
                .execute(&mut *connection)
                .await?;
                query(
                    "UPDATE receiver SET lease_until = ?2, due_at = (
                        SELECT min(next_attempt_at) FROM outbox WHERE job_id = ?1 AND state = 'pending')
                     WHERE job_id = ?1",
                )
                .bind_all(params![job, lease_until])
                .execute(&mut *connection)
                .await?;
                if state == DeliveryState::Delivered {
                    delete_delivered_document(connection, job, event_no).await?;
                }
                Ok(true)
            })
        })
        .await
    }
}
