//! Reads the webhook outbox, and makes events due again.

use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::outbox::{DeliveryLog, DeliveryQuery, DueEvent, EventSubject, Outbox};
use crate::rows::{attempt, delivery, due_event, job_error, subject_of_job, subject_of_page};
use crate::sql::{Connection, Database, Snapshot, Statement, statement};
use crate::value::params;

impl<D: Database> Outbox for D {
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
        self.transact(now, move |transaction, now| {
            Box::pin(async move {
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
        })
        .await
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
