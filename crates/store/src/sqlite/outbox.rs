//! Handing out owed webhook events and noting what became of them.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{query, query_scalar};

use harvestman_core::ids::{JobId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::outbox::{Attempt, AttemptEnd, Delivery, DueEvent, EventSubject};
use crate::sqlite::Sqlite;
use crate::sqlite::jobs::parse_kind;
use crate::sqlite::rows::{Columns, blob, int, wrong};
use crate::sqlite::status::{entry, texts};

impl Sqlite {
    pub(crate) async fn due_events(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> Result<Vec<DueEvent>, StoreError> {
        if self.next_event_at(now).await?.is_none_or(|at| at > now) {
            return Ok(Vec::new());
        }
        let until = now.0.saturating_add(lease_ms);
        let rows = self
            .writer
            .run(move |connection| Box::pin(take_due(connection, now, until, limit)))
            .await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in &rows {
            match self.due_event(row).await {
                Ok(event) => events.push(event),
                // Comes again when its lease ends; the others go on.
                Err(error) => tracing::error!(%error, "a webhook event cannot be read"),
            }
        }
        Ok(events)
    }

    pub(crate) async fn next_event_at(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> = query_scalar(
            "SELECT min(max(next_attempt_at, lease_until)) FROM outbox
             WHERE state = 'pending' AND NOT EXISTS (
                SELECT 1 FROM outbox AS earlier
                WHERE earlier.job_id = outbox.job_id AND earlier.event_no < outbox.event_no
                    AND earlier.state = 'pending' AND earlier.attempts = 0 AND earlier.lease_until > ?1)",
        )
        .bind(int(now.0))
        .fetch_one(&self.readers)
        .await?;
        at.map(|at| {
            u64::try_from(at)
                .map(Timestamp)
                .map_err(|_| wrong("next_attempt_at"))
        })
        .transpose()
    }

    pub(crate) async fn finish_attempt(
        &self,
        event: &DueEvent,
        attempt: &Attempt,
        end: AttemptEnd,
    ) -> Result<bool, StoreError> {
        let (job, event_no, attempts) = (event.job, event.event_no, event.attempts);
        let attempt = attempt.clone();
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    let (state, next) = match end {
                        AttemptEnd::Delivered => ("delivered", None),
                        AttemptEnd::RetryAt(at) => ("pending", Some(int(at.0))),
                        AttemptEnd::GivenUp => ("given_up", None),
                    };
                    let noted = query(
                        "UPDATE outbox SET state = ?4, attempts = attempts + 1, lease_until = 0,
                            next_attempt_at = coalesce(?5, next_attempt_at)
                         WHERE job_id = ?1 AND event_no = ?2 AND attempts = ?3 AND state = 'pending'",
                    )
                    .bind(blob(job.0))
                    .bind(int(event_no))
                    .bind(attempts)
                    .bind(state)
                    .bind(next)
                    .execute(&mut *connection)
                    .await?;
                    if noted.rows_affected() == 0 {
                        return Ok(false);
                    }
                    query(
                        "INSERT INTO delivery (job_id, event_no, attempt, at, duration_ms, status_code, error)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )
                    .bind(blob(job.0))
                    .bind(int(event_no))
                    .bind(attempts + 1)
                    .bind(int(attempt.at.0))
                    .bind(int(attempt.duration_ms))
                    .bind(attempt.status)
                    .bind(attempt.error)
                    .execute(connection)
                    .await?;
                    Ok(true)
                })
            })
            .await
    }

    pub(crate) async fn deliveries(&self, team: TeamId, job: JobId) -> Result<Vec<Delivery>, StoreError> {
        let rows = query(
            "SELECT event_no, webhook_id, event, attempt, at, duration_ms, status_code, delivery.error
             FROM delivery JOIN outbox USING (job_id, event_no) JOIN job ON job.id = job_id
             WHERE job_id = ?1 AND team_id = ?2 ORDER BY event_no, attempt",
        )
        .bind(blob(job.0))
        .bind(blob(team.0))
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(delivery).collect()
    }

    async fn due_event(&self, row: &SqliteRow) -> Result<DueEvent, StoreError> {
        let job = JobId(row.id("job_id")?);
        let subject = match (row.maybe_count("seq")?, row.maybe_count("error_no")?) {
            (Some(seq), _) => {
                let body = query(
                    "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id
                     WHERE job_id = ?1 AND seq = ?2",
                )
                .bind(blob(job.0))
                .bind(int(seq))
                .fetch_all(&self.readers)
                .await?;
                EventSubject::Page(texts(body).await?.pop().ok_or_else(|| wrong("seq"))?)
            }
            (None, Some(no)) => {
                let found = query(
                    "SELECT scrape_id, at, url, code, message FROM job_error WHERE job_id = ?1 AND no = ?2",
                )
                .bind(blob(job.0))
                .bind(int(no))
                .fetch_one(&self.readers)
                .await?;
                EventSubject::PageFailed(entry(&found)?)
            }
            (None, None) => EventSubject::Job {
                error: row.maybe_text("error")?,
            },
        };
        Ok(DueEvent {
            job,
            team: TeamId(row.id("team_id")?),
            kind: parse_kind(&row.text("kind")?)?,
            event_no: row.count("event_no")?,
            webhook_id: WebhookId(row.id("webhook_id")?),
            event: row.text("event")?,
            subject,
            attempts: u32::try_from(row.count("attempts")?).map_err(|_| wrong("attempts"))?,
            created_at: row.time("created_at")?,
            request: row.text("request")?,
        })
    }
}

/// Leases what is due. An event waits while the first attempt of an earlier one of its job is
/// under way: `started` before any `page`, every `page` before `completed`.
async fn take_due(
    connection: &mut SqliteConnection,
    now: Timestamp,
    until: u64,
    limit: u32,
) -> Result<Vec<SqliteRow>, StoreError> {
    let rows = query(
        "SELECT outbox.job_id, event_no, webhook_id, event, seq, error_no, attempts, outbox.created_at, team_id,
            kind, request, error
         FROM outbox JOIN job ON job.id = outbox.job_id
         WHERE state = 'pending' AND next_attempt_at <= ?1 AND lease_until <= ?1
            AND NOT EXISTS (
                SELECT 1 FROM outbox AS earlier
                WHERE earlier.job_id = outbox.job_id AND earlier.event_no < outbox.event_no
                    AND earlier.state = 'pending' AND earlier.attempts = 0 AND earlier.lease_until > ?1)
         ORDER BY next_attempt_at, outbox.job_id, event_no LIMIT ?2",
    )
    .bind(int(now.0))
    .bind(limit)
    .fetch_all(&mut *connection)
    .await?;
    for row in &rows {
        query("UPDATE outbox SET lease_until = ?3 WHERE job_id = ?1 AND event_no = ?2")
            .bind(blob(row.id("job_id")?))
            .bind(int(row.count("event_no")?))
            .bind(int(until))
            .execute(&mut *connection)
            .await?;
    }
    Ok(rows)
}

fn delivery(row: &SqliteRow) -> Result<Delivery, StoreError> {
    let status = row.maybe_count("status_code")?;
    Ok(Delivery {
        event_no: row.count("event_no")?,
        webhook_id: WebhookId(row.id("webhook_id")?),
        event: row.text("event")?,
        number: u32::try_from(row.count("attempt")?).map_err(|_| wrong("attempt"))?,
        attempt: Attempt {
            at: row.time("at")?,
            duration_ms: row.count("duration_ms")?,
            status: status
                .map(u16::try_from)
                .transpose()
                .map_err(|_| wrong("status_code"))?,
            error: row.maybe_text("error")?,
        },
    })
}
