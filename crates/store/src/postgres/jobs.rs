//! Creating, looking up and cancelling jobs, and idempotency keys.

use harvestman_core::crawl::{Offer, Progress};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::{IdempotentRequest, earlier_request};
use crate::job::{
    AddPagesOutcome, CancelOutcome, CreateOutcome, Idempotency, JobKind, JobRow, JobStatus, Jobs, NewJob,
};
use crate::limits;
use crate::postgres::activity::insert_activity;
use crate::postgres::commit::{add_to_batch, insert_batch_pages, page_rows, stop_shards};
use crate::postgres::events::insert_receiver;
use crate::postgres::query::query;
use crate::postgres::{Postgres, events};
use crate::prepared::json_text;
use crate::rows::{begun_pages, job_row, parse_kind, parse_status};
use crate::value::params;

macro_rules! select_jobs {
    ($rest:literal) => {
        concat!(
            "SELECT id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, failed,
                credits, created_at, completed_at, expires_at, retention_ms, warnings, error, zero_data_retention
             FROM harvestman.job ",
            $rest
        )
    };
}

impl Jobs for Postgres {
    async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        let lists = page_rows(pages).await?;
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        self.write(job.created_at, move |transaction, now| {
            Box::pin(async move {
                if let Some(earlier) = request.store_or_find(transaction, now).await? {
                    return Ok(earlier);
                }
                insert_running_job(transaction, &job, now).await?;
                if !lists.is_empty() {
                    insert_batch_pages(transaction, job.id, &lists, now).await?;
                }
                Ok(CreateOutcome::Created)
            })
        })
        .await
    }

    async fn add_pages(
        &self,
        team: TeamId,
        job: JobId,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
        now: Timestamp,
    ) -> Result<AddPagesOutcome, StoreError> {
        let lists = page_rows(pages).await?;
        let idempotency = idempotency.cloned();
        let request = IdempotentRequest {
            team,
            job,
            idempotency,
        };
        self.write(now, move |transaction, now| {
            Box::pin(add_to_batch(transaction, request, lists, now))
        })
        .await
    }

    async fn find_earlier_request(
        &self,
        team: TeamId,
        idempotency: &Idempotency,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        query(
            "SELECT job_id, body_hash = $3 AS same FROM harvestman.idempotency
             WHERE team_id = $1 AND key = $2 AND created_at > harvestman.clock($4) - $5",
        )
        .bind_all(params![
            team,
            idempotency.key.clone(),
            idempotency.body_hash.to_vec(),
            now,
            limits::IDEMPOTENCY_MS,
        ])
        .read_optional(&*self.pool.connection().await?, earlier_request)
        .await
    }

    async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<CancelOutcome, StoreError> {
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let row = query(
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
                            events::save(transaction, job, &log).await?;
                        }
                        Ok(CancelOutcome::Cancelled(kind))
                    }
                    status => Ok(CancelOutcome::AlreadyEnded(status)),
                }
            })
        })
        .await
    }

    async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
        query(select_jobs!(
            "WHERE id = $1 AND team_id = $2 AND (expires_at IS NULL OR expires_at > harvestman.clock($3))"
        ))
        .bind_all(params![job, team, now])
        .read_optional(&*self.pool.connection().await?, job_row)
        .await
    }

    async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        query(select_jobs!(
            "WHERE team_id = $1 AND kind = 'crawl' AND status = 'scraping' ORDER BY created_at DESC, id DESC"
        ))
        .bind(team)
        .read_all(&*self.pool.connection().await?, job_row)
        .await
    }

    async fn recent_jobs(
        &self,
        team: TeamId,
        search: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        query(select_jobs!(
            "WHERE team_id = $1 AND kind <> 'monitor' AND (expires_at IS NULL OR expires_at > harvestman.clock($2))
                AND ($3::text IS NULL OR strpos(lower(url), lower($3::text)) > 0)
             ORDER BY id DESC LIMIT $4"
        ))
        .bind_all(params![team, now, search, limit])
        .read_all(&*self.pool.connection().await?, job_row).await
    }
}

/// Inserts the job row; for `admitted` see [`NewJob::values`]. A single scrape runs on `node`.
pub(crate) async fn insert_job(
    client: &Client,
    job: &NewJob,
    admitted: u32,
    node: Option<Uuid>,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO harvestman.job (id, team_id, key_id, kind, url, request, status, page_limit, admitted,
            webhook_events, zero_data_retention, retention_ms, created_at, base, node)
         VALUES ($1, $2, $3, $4, $5, $6, 'scraping', $7, $8, $9, $10, $11, $12, $13, $14)",
    )
    .bind_all(job.values(admitted))
    .bind(node)
    .execute(client)
    .await?;
    if job.webhook.is_some() {
        insert_receiver(client, job).await?;
    }
    Ok(())
}

/// Inserts a job with its shard, activity entry and `started` event.
pub(crate) async fn insert_running_job(
    client: &Client,
    job: &NewJob,
    now: Timestamp,
) -> Result<(), StoreError> {
    insert_job(client, job, 0, None).await?;
    query("INSERT INTO harvestman.shard (job_id, no, progress, free_at) VALUES ($1, 0, $2, $3)")
        .bind_all(params![job.id, json_text(&Progress::default())?, now])
        .execute(client)
        .await?;
    insert_activity(client, job, None).await?;
    let mut log = EventLog::of(job.webhook.unwrap_or_default());
    log.add(job.kind, Event::Started, None, now);
    events::save(client, job.id, &log).await
}

/// Marks a job as cancelled. Pages whose fetch had not begun no longer count as admitted, so that `admitted` is the
/// number of pages attempted. Returns false if the job was not running.
pub(super) async fn mark_cancelled(client: &Client, job: JobId, now: Timestamp) -> Result<bool, StoreError> {
    end_early(client, job, (JobStatus::Cancelled, None), now).await
}

/// Ends a job that has not ended yet, with a state and the error. Returns false if it has.
pub(super) async fn end_early(
    client: &Client,
    job: JobId,
    (status, error): (JobStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    let shards = query("SELECT progress FROM harvestman.shard WHERE job_id = $1")
        .bind(job)
        .fetch_all(client)
        .await?;
    let in_flight = match begun_pages(&shards) {
        Ok(begun) => begun,
        Err(_) => {
            // It cannot be read.
            query("UPDATE harvestman.shard SET progress = $2 WHERE job_id = $1")
                .bind_all(params![job, json_text(&Progress::default())?])
                .execute(client)
                .await?;
            0
        }
    };
    let ended = query(
        "UPDATE harvestman.job SET status = $4, error = $5, admitted = least(admitted, completed + failed + $3),
            sweep = true, completed_at = $2, expires_at = $2 + retention_ms
         WHERE id = $1 AND status = 'scraping'",
    )
    .bind_all(params![job, now, in_flight, status.as_str(), error])
    .execute(client)
    .await?;
    stop_shards(job).execute(client).await?;
    Ok(ended == 1)
}
