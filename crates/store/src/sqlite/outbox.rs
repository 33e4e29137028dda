//! Leases due webhook events to deliverers and records the results of attempts.

use sqlx::sqlite::{SqliteConnection, SqliteRow};

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::error::StoreError;
use crate::outbox::{AttemptEnd, Delivery, DeliveryLog, DeliveryQuery, DueEvent, EventSubject, Outbox};
use crate::rows::{
    attempt, delivery, due_event, job_error, leased_receiver, subject_of_job, subject_of_page,
};
use crate::sqlite::Sqlite;
use crate::sqlite::events::make_due;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::zero_retention::delete_delivered_document;
use crate::value::params;

impl Outbox for Sqlite {
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

    async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        query(
            "SELECT min(max(due_at, CASE WHEN lease_until > ?1 THEN lease_until ELSE 0 END)) AS at FROM receiver
             WHERE due_at IS NOT NULL",
        )
        .bind(now)
        .fetch_one(&self.readers)
        .await?
        .maybe_time("at")
    }

    async fn due_event(&self, job: JobId, now: Timestamp) -> Result<Option<DueEvent>, StoreError> {
        // A snapshot of the database, so that the page of an event cannot disappear in between.
        let mut transaction = self.readers.begin().await?;
        let row = query(
            "SELECT event_no, webhook_id, event, seq, error_no, attempts, outbox.created_at, team_id, kind,
                webhook, error, data
             FROM outbox JOIN receiver USING (job_id) JOIN job ON job.id = job_id
             WHERE job_id = ?1 AND state = 'pending' AND next_attempt_at <= ?2
             ORDER BY next_attempt_at, event_no LIMIT 1",
        )
        .bind_all(params![job, now])
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let subject = subject(&mut transaction, job, &row).await;
        due_event(&row, job, subject).map(Some)
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

    async fn resend_event(
        &self,
        team: TeamId,
        job: JobId,
        event: WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
                Box::pin(async move {
                    let found = query(
                        "UPDATE outbox SET state = 'pending', next_attempt_at = ?4
                         WHERE job_id = (SELECT id FROM job WHERE id = ?1 AND team_id = ?2) AND webhook_id = ?3",
                    )
                    .bind_all(params![job, team, event, now])
                    .execute(&mut *connection)
                    .await?;
                    if found > 0 {
                        make_due(connection, job, now).await?;
                    }
                    Ok(found > 0)
                })
            })
            .await
    }

    async fn delivery_log(
        &self,
        team: TeamId,
        job: JobId,
        page: &DeliveryQuery,
    ) -> Result<DeliveryLog, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let counts = query(
            "SELECT coalesce(sum(state = 'pending'), 0) AS pending, coalesce(sum(state = 'delivered'), 0) AS delivered,
                coalesce(sum(state = 'given_up'), 0) AS given_up
             FROM outbox JOIN job ON job.id = job_id WHERE job_id = ?1 AND team_id = ?2",
        )
        .bind_all(params![job, team])
        .fetch_one(&mut *transaction)
        .await?;
        let events = query(
            "SELECT event_no, webhook_id, event, state, outbox.created_at, next_attempt_at
             FROM outbox JOIN job ON job.id = job_id
             WHERE job_id = ?1 AND team_id = ?2 AND event_no > ?3 AND (?4 IS NULL OR state = ?4)
             ORDER BY event_no LIMIT ?5",
        )
        .bind_all(params![
            job,
            team,
            page.after,
            page.state.map(DeliveryState::as_str),
            page.limit,
        ])
        .fetch_all(&mut *transaction)
        .await?;
        let mut log = DeliveryLog {
            pending: counts.count("pending")?,
            delivered: counts.count("delivered")?,
            given_up: counts.count("given_up")?,
            deliveries: Vec::with_capacity(events.len()),
        };
        for row in &events {
            let attempts = query(
                "SELECT at, duration_ms, status_code, error FROM delivery
                 WHERE job_id = ?1 AND event_no = ?2 ORDER BY attempt",
            )
            .bind_all(params![job, row.count("event_no")?])
            .fetch_all(&mut *transaction)
            .await?;
            log.deliveries.push(Delivery {
                attempts: attempts.iter().map(attempt).collect::<Result<_, _>>()?,
                ..delivery(row)?
            });
        }
        Ok(log)
    }
}

async fn subject(
    connection: &mut SqliteConnection,
    job: JobId,
    row: &SqliteRow,
) -> Result<EventSubject, StoreError> {
    Ok(match (row.maybe_count("seq")?, row.maybe_count("error_no")?) {
        (Some(seq), _) => {
            let body = query(
                "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id
                 WHERE job_id = ?1 AND seq = ?2",
            )
            .bind_all(params![job, seq])
            .fetch_all(connection)
            .await?;
            subject_of_page(body).await?
        }
        (None, Some(no)) => {
            let found = query(
                "SELECT scrape_id, at, url, code, message FROM job_error WHERE job_id = ?1 AND no = ?2",
            )
            .bind_all(params![job, no])
            .fetch_one(connection)
            .await?;
            EventSubject::PageFailed(job_error(&found)?)
        }
        (None, None) => subject_of_job(row)?,
    })
}
