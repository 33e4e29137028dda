//! Jobs: inserted, looked up, cancelled and ended early.

use harvestman_core::crawl::Progress;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::{CancelOutcome, CreateOutcome, Idempotency, JobKind, JobRow, JobStatus, Jobs, NewJob};
use crate::prepared::json_text;
use crate::rows::{begun_pages, job_row, parse_kind, parse_status};
use crate::sql::activity::insert_activity;
use crate::sql::idempotency::find_earlier_request;
use crate::sql::{Connection, Database, Transaction, statement, transact};
use crate::value::params;

macro_rules! select_jobs {
    ($rest:literal) => {
        statement!(concat!(
            "SELECT id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, failed,
                credits, created_at, completed_at, expires_at, retention_ms, warnings, error, zero_data_retention
             FROM harvestman.job ",
            $rest
        ))
    };
}

impl<D: Database> Jobs for D {
    async fn find_earlier_request(
        &self,
        team: TeamId,
        idempotency: &Idempotency,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        find_earlier_request(&mut self.reader().await?, team, idempotency, now).await
    }

    async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<CancelOutcome, StoreError> {
        transact!(self, now, |transaction, now| {
            let row = statement!(
                "SELECT status, kind, webhook_events, event_count, last_event_at FROM harvestman.job
                 WHERE id = $1 AND team_id = $2 AND (expires_at IS NULL OR expires_at > $3)
                 FOR NO KEY UPDATE",
            )
            .bind_all(params![job, team, now])
            .fetch_optional(transaction)
            .await?;
            let Some(row) = row else {
                return Ok(CancelOutcome::NotFound);
            };
            match parse_status(&row)? {
                JobStatus::Scraping => {
                    mark_cancelled(transaction, job, now).await?;
                    let kind = parse_kind(&row)?;
                    if kind == JobKind::Agent {
                        let mut log = EventLog::read(&row)?;
                        log.add_end(kind, Event::Cancelled, now);
                        transaction.save_events(job, &log).await?;
                    }
                    Ok(CancelOutcome::Cancelled(kind))
                }
                status => Ok(CancelOutcome::AlreadyEnded(status)),
            }
        })
    }

    async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
        select_jobs!(
            "WHERE id = $1 AND team_id = $2 AND (expires_at IS NULL OR expires_at > harvestman.clock($3))"
        )
        .bind_all(params![job, team, now])
        .read_optional(&mut self.reader().await?, job_row)
        .await
    }

    async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        select_jobs!(
            "WHERE team_id = $1 AND kind = 'crawl' AND status = 'scraping' ORDER BY created_at DESC, id DESC"
        )
        .bind(team)
        .read_all(&mut self.reader().await?, job_row)
        .await
    }

    async fn recent_jobs(
        &self,
        team: TeamId,
        search: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        select_jobs!(
            "WHERE team_id = $1 AND kind <> 'monitor' AND (expires_at IS NULL OR expires_at > harvestman.clock($2))
                AND ($3::text IS NULL OR strpos(lower(url), lower($3::text)) > 0)
             ORDER BY id DESC LIMIT $4"
        )
        .bind_all(params![team, now, search, limit])
        .read_all(&mut self.reader().await?, job_row).await
    }
}

/// Inserts the job row; for `admitted` see [`NewJob::values`]. A single scrape runs on `node`.
pub(crate) async fn insert_job(
    connection: &mut impl Connection,
    job: &NewJob,
    admitted: u32,
    node: Option<Uuid>,
) -> Result<(), StoreError> {
    statement!(
        "INSERT INTO harvestman.job (id, team_id, key_id, kind, url, request, status, page_limit, admitted,
            webhook_events, zero_data_retention, retention_ms, created_at, base, node)
         VALUES ($1, $2, $3, $4, $5, $6, 'scraping', $7, $8, $9, $10, $11, $12, $13, $14)",
        sqlite: "INSERT INTO job (id, team_id, key_id, kind, url, request, status, page_limit, admitted, webhook_events,
            zero_data_retention, retention_ms, created_at, base)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'scraping', ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .bind_all(job.values(admitted))
    .bind(node)
    .execute(connection)
    .await?;
    if job.webhook.is_some() {
        insert_receiver(connection, job).await?;
    }
    Ok(())
}

/// Inserts a job, created `now`, with its shard, activity entry and `started` event.
pub(crate) async fn insert_running_job(
    connection: &mut impl Transaction,
    job: &NewJob,
    now: Timestamp,
) -> Result<(), StoreError> {
    let job = &NewJob {
        created_at: now,
        ..job.clone()
    };
    insert_job(connection, job, 0, None).await?;
    statement!(
        "INSERT INTO harvestman.shard (job_id, no, progress, free_at) VALUES ($1, 0, $2, $3)",
        sqlite: "INSERT INTO shard (job_id, no, progress) VALUES (?1, 0, ?2)",
    )
    .bind_all(params![job.id, json_text(&Progress::default())?, now])
    .execute(connection)
    .await?;
    insert_activity(connection, job, None).await?;
    let mut log = EventLog::of(job.webhook.unwrap_or_default());
    log.add(job.kind, Event::Started, None, now);
    connection.save_events(job.id, &log).await
}

/// Stores the receiver of a job's events. Must run before the first event is added.
async fn insert_receiver(connection: &mut impl Connection, job: &NewJob) -> Result<(), StoreError> {
    let request: serde_json::Value = serde_json::from_str(&job.request)
        .map_err(|error| StoreError::Unreadable(format!("the request of a job: {error}")))?;
    let webhook = request.get("webhook").map(serde_json::Value::to_string);
    statement!("INSERT INTO harvestman.receiver (job_id, webhook) VALUES ($1, $2)")
        .bind_all(params![job.id, webhook])
        .run(connection)
        .await
}

/// Marks a job as cancelled. Pages whose fetch had not begun no longer count as admitted, so that `admitted` is the
/// number of pages attempted. Returns false if the job was not running.
pub(crate) async fn mark_cancelled(
    connection: &mut impl Connection,
    job: JobId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    end_early(connection, job, (JobStatus::Cancelled, None), now).await
}

/// Ends a job that has not ended yet, with a state and the error. Returns false if it has.
pub(crate) async fn end_early(
    connection: &mut impl Connection,
    job: JobId,
    (status, error): (JobStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    let shards = statement!("SELECT progress FROM harvestman.shard WHERE job_id = $1")
        .bind(job)
        .fetch_all(connection)
        .await?;
    let in_flight = match begun_pages(&shards) {
        Ok(begun) => begun,
        Err(_) => {
            // It cannot be read.
            statement!("UPDATE harvestman.shard SET progress = $2 WHERE job_id = $1")
                .bind_all(params![job, json_text(&Progress::default())?])
                .execute(connection)
                .await?;
            0
        }
    };
    let ended = statement!(
        "UPDATE harvestman.job SET status = $4, error = $5, admitted = least(admitted, completed + failed + $3),
            sweep = true, completed_at = $2, expires_at = $2 + retention_ms
         WHERE id = $1 AND status = 'scraping'",
    )
    .bind_all(params![job, now, in_flight, status.as_str(), error])
    .execute(connection)
    .await?;
    stop_shards(connection, job).await?;
    Ok(ended == 1)
}

/// Prevents any shard of the job from being leased again.
pub(crate) async fn stop_shards(connection: &mut impl Connection, job: JobId) -> Result<(), StoreError> {
    statement!("UPDATE harvestman.shard SET active = false WHERE job_id = $1")
        .bind(job)
        .run(connection)
        .await
}
