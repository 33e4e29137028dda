//! Creating, looking up and cancelling jobs, and idempotency keys.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::{Offer, Progress};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::activity::activity_values;
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::{IdempotentRequest, earlier_request};
use crate::job::{
    AddPagesOutcome, CancelOutcome, CreateOutcome, Idempotency, JobKind, JobRow, JobStatus, Jobs, NewJob,
};
use crate::limits;
use crate::rows::{begun_pages, job_row, parse_kind, parse_status};
use crate::sqlite::commit::{add_to_batch, insert_batch_pages};
use crate::sqlite::prepared::{json_text, page_lists};
use crate::sqlite::query::query;
use crate::sqlite::{Sqlite, events};
use crate::value::params;

macro_rules! select_jobs {
    ($rest:literal) => {
        concat!(
            "SELECT id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, failed,
                credits, created_at, completed_at, expires_at, retention_ms, warnings, error, zero_data_retention
             FROM job ",
            $rest
        )
    };
}

impl Jobs for Sqlite {
    async fn create_batch(
        &self,
        job: &NewJob,
        pages: Vec<Offer>,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        let lists = page_lists(pages).await?;
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        self.write(move |connection| {
            Box::pin(async move {
                let key = request.idempotency.as_ref();
                if let Some(earlier) = find_earlier_request(connection, job.team, key, job.created_at).await?
                {
                    return Ok(earlier);
                }
                insert_running_job(connection, &request, &job).await?;
                if !lists.is_empty() {
                    insert_batch_pages(connection, job.id, &lists, job.created_at).await?;
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
        let lists = page_lists(pages).await?;
        let request = IdempotentRequest {
            team,
            job,
            idempotency: idempotency.cloned(),
        };
        self.write(move |connection| Box::pin(add_to_batch(connection, request, lists, now)))
            .await
    }

    async fn find_earlier_request(
        &self,
        team: TeamId,
        idempotency: &Idempotency,
        now: Timestamp,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        let mut connection = self.readers.acquire().await?;
        find_earlier_request(&mut connection, team, Some(idempotency), now).await
    }

    async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<CancelOutcome, StoreError> {
        self.write(move |connection| {
            Box::pin(async move {
                let row = query(
                    "SELECT status, kind, webhook_events, event_count, last_event_at FROM job
                     WHERE id = ?1 AND team_id = ?2 AND (expires_at IS NULL OR expires_at > ?3)",
                )
                .bind_all(params![job, team, now])
                .fetch_optional(&mut *connection)
                .await?;
                let Some(row) = row else {
                    return Ok(CancelOutcome::NotFound);
                };
                match parse_status(&row)? {
                    JobStatus::Scraping => {
                        mark_cancelled(connection, job, now).await?;
                        let kind = parse_kind(&row)?;
                        if kind == JobKind::Agent {
                            let mut log = EventLog::read(&row)?;
                            log.add_end(kind, Event::Cancelled, now);
                            events::save(connection, job, &log).await?;
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
            "WHERE id = ?1 AND team_id = ?2 AND (expires_at IS NULL OR expires_at > ?3)"
        ))
        .bind_all(params![job, team, now])
        .read_optional(&self.readers, job_row)
        .await
    }

    async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        query(select_jobs!(
            "WHERE team_id = ?1 AND kind = 'crawl' AND status = 'scraping' ORDER BY created_at DESC, id DESC"
        ))
        .bind(team)
        .read_all(&self.readers, job_row)
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
            "WHERE team_id = ?1 AND kind <> 'monitor' AND (expires_at IS NULL OR expires_at > ?2)
                AND (?3 IS NULL OR instr(lower(url), lower(?3)) > 0)
             ORDER BY id DESC LIMIT ?4"
        ))
        .bind_all(params![team, now, search, i64::from(limit)])
        .read_all(&self.readers, job_row)
        .await
    }
}

/// Returns the result of an earlier request of the team with the idempotency key.
pub(crate) async fn find_earlier_request(
    connection: &mut SqliteConnection,
    team: TeamId,
    idempotency: Option<&Idempotency>,
    now: Timestamp,
) -> Result<Option<CreateOutcome>, StoreError> {
    let Some(entry) = idempotency else {
        return Ok(None);
    };
    query(
        "SELECT job_id, body_hash = ?3 AS same FROM idempotency
         WHERE team_id = ?1 AND key = ?2 AND created_at > ?4",
    )
    .bind_all(params![
        team,
        &entry.key,
        entry.body_hash.to_vec(),
        now.0.saturating_sub(limits::IDEMPOTENCY_MS),
    ])
    .read_optional(connection, earlier_request)
    .await
}

/// Stores the idempotency key of a request.
pub(crate) async fn store_idempotency_key(
    connection: &mut SqliteConnection,
    request: &IdempotentRequest,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(entry) = &request.idempotency else {
        return Ok(());
    };
    query(
        "INSERT INTO idempotency (team_id, key, body_hash, job_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (team_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
            created_at = excluded.created_at",
    )
    .bind_all(params![
        request.team,
        &entry.key,
        entry.body_hash.to_vec(),
        request.job,
        now,
    ])
    .run(connection)
    .await
}

/// Inserts the job row; for `admitted` see [`NewJob::values`].
pub(crate) async fn insert_job(
    connection: &mut SqliteConnection,
    job: &NewJob,
    admitted: u32,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO job (id, team_id, key_id, kind, url, request, status, page_limit, admitted, webhook_events,
            zero_data_retention, retention_ms, created_at, base)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'scraping', ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .bind_all(job.values(admitted))
    .execute(&mut *connection)
    .await?;
    if job.webhook.is_some() {
        events::insert_receiver(connection, job).await?;
    }
    Ok(())
}

/// Inserts a job with its shard, activity entry, `started` event and idempotency entry.
pub(crate) async fn insert_running_job(
    connection: &mut SqliteConnection,
    request: &IdempotentRequest,
    job: &NewJob,
) -> Result<(), StoreError> {
    store_idempotency_key(connection, request, job.created_at).await?;
    insert_job(connection, job, 0).await?;
    query("INSERT INTO shard (job_id, no, progress) VALUES (?1, 0, ?2)")
        .bind_all(params![job.id, json_text(&Progress::default())?])
        .execute(&mut *connection)
        .await?;
    insert_activity(connection, job, None).await?;
    let mut log = EventLog::of(job.webhook.unwrap_or_default());
    log.add(job.kind, Event::Started, None, job.created_at);
    events::save(connection, job.id, &log).await
}

/// Inserts the activity entry; for `end` see [`activity_values`].
pub(crate) async fn insert_activity(
    connection: &mut SqliteConnection,
    job: &NewJob,
    end: Option<(JobStatus, Option<String>)>,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO activity (job_id, team_id, key_id, endpoint, target, origin, integration, created_at,
            outcome, failure, username)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind_all(activity_values(job, end))
    .run(connection)
    .await
}

/// Marks a job as cancelled. Pages whose fetch had not begun no longer count as admitted, so that `admitted`
/// is the number of pages attempted. Returns false if the job was not running.
pub(crate) async fn mark_cancelled(
    connection: &mut SqliteConnection,
    job: JobId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    end_early(connection, job, (JobStatus::Cancelled, None), now).await
}

/// Ends a job that has not ended yet, with a state and the error. Returns false if it has.
pub(crate) async fn end_early(
    connection: &mut SqliteConnection,
    job: JobId,
    (status, error): (JobStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    let shards = query("SELECT progress FROM shard WHERE job_id = ?1")
        .bind(job)
        .fetch_all(&mut *connection)
        .await?;
    let in_flight = match begun_pages(&shards) {
        Ok(begun) => begun,
        Err(_) => {
            // It cannot be read.
            query("UPDATE shard SET progress = ?2 WHERE job_id = ?1")
                .bind_all(params![job, json_text(&Progress::default())?])
                .execute(&mut *connection)
                .await?;
            0
        }
    };
    let ended = query(
        "UPDATE job SET status = ?4, error = ?5, admitted = min(admitted, completed + failed + ?3),
            sweep = 1, completed_at = ?2, expires_at = ?2 + retention_ms
         WHERE id = ?1 AND status = 'scraping'",
    )
    .bind_all(params![job, now, in_flight, status.as_str(), error])
    .execute(&mut *connection)
    .await?;
    stop_shards(connection, job).await?;
    Ok(ended == 1)
}

/// Prevents any shard of the job from being leased again.
pub(crate) async fn stop_shards(connection: &mut SqliteConnection, job: JobId) -> Result<(), StoreError> {
    query("UPDATE shard SET active = 0 WHERE job_id = ?1")
        .bind(job)
        .run(connection)
        .await
}
