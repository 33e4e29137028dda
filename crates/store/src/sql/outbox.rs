//! Leases due webhook events to deliverers and records the results of attempts. A node frees and records only what it
//! has leased itself.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::outbox::{AttemptEnd, DeliveryLog, DeliveryQuery, DueEvent, EventSubject, Outbox};
use crate::rows::{
    attempt, delivery, due_event, job_error, leased_receiver, subject_of_job, subject_of_page,
};
use crate::sql::zero_retention::delete_delivered_document;
use crate::sql::{Connection, Database, Snapshot, Statement, Transaction, statement, transact};
use crate::value::params;

impl<D: Database> Outbox for D {
    async fn lease_receivers(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
        except: &[TeamId],
    ) -> Result<Vec<(JobId, TeamId)>, StoreError> {
        let due = statement!(
            "SELECT 1 FROM harvestman.receiver
             WHERE due_at <= harvestman.clock($1) AND lease_until <= harvestman.clock($1) LIMIT 1",
        )
        .bind(now)
        .fetch_optional(&mut self.reader().await?)
        .await?;
        if due.is_none() {
            return Ok(Vec::new());
        }
        let node = self.node();
        let except: Vec<_> = except.iter().map(|team| team.0).collect();
        // Fairness: the receiver that has waited longest since its last turn comes first, however many events it has.
        transact!(self, now, |transaction, now| {
            statement!(
                "UPDATE harvestman.receiver SET lease_until = $2, node = $5
                 FROM (SELECT job_id AS id, team_id
                    FROM harvestman.receiver JOIN harvestman.job ON job.id = job_id
                    WHERE due_at <= $1 AND lease_until <= $1 AND team_id <> ALL ($4)
                    ORDER BY lease_until, due_at LIMIT $3 FOR NO KEY UPDATE OF receiver SKIP LOCKED) AS due
                 WHERE job_id = due.id RETURNING job_id, team_id",
                sqlite: "UPDATE receiver SET lease_until = ?2 WHERE job_id IN (
                    SELECT job_id FROM receiver CROSS JOIN job ON job.id = job_id
                    WHERE due_at <= ?1 AND lease_until <= ?1
                        AND hex(team_id) NOT IN (SELECT value FROM json_each(?4))
                    ORDER BY lease_until, due_at LIMIT ?3)
                 RETURNING job_id, (SELECT team_id FROM job WHERE id = job_id) AS team_id",
            )
            .bind_all(params![now, now.0.saturating_add(lease_ms), limit, except, node])
            .read_all(transaction, leased_receiver)
            .await
        })
    }

    async fn release_receiver(&self, job: JobId, now: Timestamp) -> Result<(), StoreError> {
        let node = self.node();
        transact!(self, now, |transaction, now| {
            statement!(
                    "UPDATE harvestman.receiver SET lease_until = $2, node = NULL WHERE job_id = $1 AND node = $3",
                    sqlite: "UPDATE receiver SET lease_until = ?2 WHERE job_id = ?1",
                )
                .bind_all(params![job, now, node])
                .run(transaction)
                .await
        })
    }

    async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &DeliveryAttempt,
        end: AttemptEnd,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        let (job, event_no, attempts, node) = (event.job, event.event_no, event.attempts, self.node());
        let attempt = attempt.clone();
        // Times that the caller computed are moved by the difference between its clock and the database's.
        transact!(self, attempt.at, |transaction, now| {
            let here = |at: Timestamp| (now.0 + at.0).saturating_sub(attempt.at.0);
            let (state, next) = end.state();
            let next = next.map(here);
            let noted = statement!(
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
            statement!(
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
            statement!("SELECT 1 FROM harvestman.receiver WHERE job_id = $1 FOR NO KEY UPDATE")
                .bind(job)
                .lock(transaction)
                .await?;
            statement!(
                    "UPDATE harvestman.receiver
                 SET lease_until = CASE node WHEN $3 THEN $2 ELSE lease_until END, due_at = (
                    SELECT min(next_attempt_at) FROM harvestman.outbox WHERE job_id = $1 AND state = 'pending')
                 WHERE job_id = $1",
                    sqlite: "UPDATE receiver SET lease_until = ?2, due_at = (
                    SELECT min(next_attempt_at) FROM outbox WHERE job_id = ?1 AND state = 'pending')
                 WHERE job_id = ?1",
                )
                .bind_all(params![job, here(lease_until), node])
                .execute(transaction)
                .await?;
            if state == DeliveryState::Delivered {
                delete_delivered_document(transaction, job, event_no).await?;
            }
            Ok(true)
        })
    }

    async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        // In the caller's time: only the remaining wait matters, whatever the caller's clock says.
        statement!(
            "SELECT min(greatest(due_at, CASE WHEN lease_until > harvestman.clock($1) THEN lease_until ELSE 0 END))
                - harvestman.clock($1) + $1 AS at
             FROM harvestman.receiver WHERE due_at IS NOT NULL",
        )
        .bind(now)
        .fetch_one(&mut self.reader().await?)
        .await?
        .maybe_time("at")
    }

    async fn due_event(&self, job: JobId, now: Timestamp) -> Result<Option<DueEvent>, StoreError> {
        // A snapshot of the database, so that the page of an event cannot disappear in between.
        let mut snapshot = self.snapshot().await?;
        let row = statement!(
            "SELECT event_no, webhook_id, event, seq, error_no, attempts, outbox.created_at, team_id, kind, webhook,
                error, data
             FROM harvestman.outbox JOIN harvestman.receiver USING (job_id) JOIN harvestman.job ON job.id = job_id
             WHERE job_id = $1 AND state = 'pending' AND next_attempt_at <= harvestman.clock($2)
             ORDER BY next_attempt_at, event_no LIMIT 1",
        )
        .bind_all(params![job, now])
        .fetch_optional(&mut snapshot)
        .await?;
        let Some(row) = row else {
            snapshot.end().await?;
            return Ok(None);
        };
        let subject = subject(&mut snapshot, job, &row).await;
        snapshot.end().await?;
        due_event(&row, job, subject).map(Some)
    }

    async fn resend_event(
        &self,
        team: TeamId,
        job: JobId,
        event: WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        transact!(self, now, |transaction, now| {
            let found = statement!(
                "UPDATE harvestman.outbox SET state = 'pending', next_attempt_at = $4
                 WHERE job_id = (SELECT id FROM harvestman.job WHERE id = $1 AND team_id = $2)
                    AND webhook_id = $3",
            )
            .bind_all(params![job, team, event, now])
            .execute(transaction)
            .await?;
            if found > 0 {
                make_due(job, now.0).execute(transaction).await?;
            }
            Ok(found > 0)
        })
    }

    async fn delivery_log(
        &self,
        team: TeamId,
        job: JobId,
        page: &DeliveryQuery,
    ) -> Result<DeliveryLog, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let counts = statement!(
            "SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
                count(*) FILTER (WHERE state = 'delivered') AS delivered,
                count(*) FILTER (WHERE state = 'given_up') AS given_up
             FROM harvestman.outbox JOIN harvestman.job ON job.id = job_id WHERE job_id = $1 AND team_id = $2",
        )
        .bind_all(params![job, team])
        .fetch_one(&mut snapshot)
        .await?;
        let events = statement!(
            "SELECT event_no, webhook_id, event, state, outbox.created_at, next_attempt_at
             FROM harvestman.outbox JOIN harvestman.job ON job.id = job_id
             WHERE job_id = $1 AND team_id = $2 AND event_no > $3 AND ($4 IS NULL OR state = $4)
             ORDER BY event_no LIMIT $5",
        )
        .bind_all(params![
            job,
            team,
            page.after,
            page.state.map(DeliveryState::as_str),
            page.limit,
        ])
        .fetch_all(&mut snapshot)
        .await?;
        let mut deliveries = events.iter().map(delivery).collect::<Result<Vec<_>, _>>()?;
        let numbers: Vec<u64> = deliveries.iter().map(|delivery| delivery.event_no).collect();
        let attempts = statement!(
            "SELECT event_no, at, duration_ms, status_code, error FROM harvestman.delivery
             WHERE job_id = $1 AND event_no = ANY ($2) ORDER BY event_no, attempt",
            sqlite: "SELECT event_no, at, duration_ms, status_code, error FROM delivery
             WHERE job_id = ?1 AND event_no IN (SELECT value FROM json_each(?2)) ORDER BY event_no, attempt",
        )
        .bind_all(params![job, numbers])
        .fetch_all(&mut snapshot)
        .await?;
        snapshot.end().await?;
        for row in &attempts {
            let event_no = row.count("event_no")?;
            if let Ok(at) = deliveries.binary_search_by_key(&event_no, |delivery| delivery.event_no) {
                deliveries[at].attempts.push(attempt(row)?);
            }
        }
        Ok(DeliveryLog {
            pending: counts.count("pending")?,
            delivered: counts.count("delivered")?,
            given_up: counts.count("given_up")?,
            deliveries,
        })
    }
}

async fn subject<C: Connection>(
    connection: &mut C,
    job: JobId,
    row: &C::Row,
) -> Result<EventSubject, StoreError> {
    Ok(match (row.maybe_count("seq")?, row.maybe_count("error_no")?) {
        (Some(seq), _) => {
            let body = statement!(
                "SELECT size_bytes, zstd FROM harvestman.page WHERE job_id = $1 AND seq = $2 AND zstd IS NOT NULL",
                sqlite: "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id
                 WHERE job_id = ?1 AND seq = ?2",
            )
            .bind_all(params![job, seq])
            .fetch_all(connection)
            .await?;
            subject_of_page(body).await?
        }
        (None, Some(no)) => {
            let found = statement!(
                "SELECT scrape_id, at, url, code, message FROM harvestman.job_error WHERE job_id = $1 AND no = $2",
            )
            .bind_all(params![job, no])
            .fetch_one(connection)
            .await?;
            EventSubject::PageFailed(job_error(&found)?)
        }
        (None, None) => subject_of_job(row)?,
    })
}

/// Returns the statement that records that a job has an event that may be attempted at this time.
pub(crate) fn make_due(job: JobId, at: u64) -> Statement {
    statement!("UPDATE harvestman.receiver SET due_at = least(coalesce(due_at, $2), $2) WHERE job_id = $1")
        .bind_all(params![job, at])
}

/// Makes some pending events due that wait for a time in the future only because the clock has been set back.
pub(crate) async fn move_due_times(
    transaction: &mut impl Transaction,
    now: Timestamp,
) -> Result<(), StoreError> {
    let jobs = statement!(
        "SELECT id FROM harvestman.job WHERE id IN (SELECT job_id FROM harvestman.receiver
            WHERE due_at IS NOT NULL AND (lease_until > $1 OR due_at > $1 AND last_event_at > $1))
         LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED",
    )
    .bind_all(params![
        now.0.saturating_add(limits::CLOCK_STEP_MS),
        limits::EXPIRY_ROWS
    ])
    .fetch_all(transaction)
    .await?;
    for row in jobs {
        for change in [
            statement!("UPDATE harvestman.job SET last_event_at = least(last_event_at, $2) WHERE id = $1"),
            statement!(
                "UPDATE harvestman.outbox SET next_attempt_at = $2
                 WHERE job_id = $1 AND state = 'pending' AND next_attempt_at > $2 AND created_at > $2",
            ),
            statement!(
                "UPDATE harvestman.receiver SET lease_until = least(lease_until, $2), due_at = (
                    SELECT min(next_attempt_at) FROM harvestman.outbox WHERE job_id = $1 AND state = 'pending')
                 WHERE job_id = $1",
            ),
        ] {
            change
                .bind_all(params![row.id("id")?, now])
                .run(transaction)
                .await?;
        }
    }
    Ok(())
}
