//! Creating jobs, adding pages to them, and idempotency keys.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::{Offer, Progress};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::{IdempotentRequest, earlier_request};
use crate::job::{AddPagesOutcome, CreateOutcome, Idempotency, NewJob, NewJobs};
use crate::limits;
use crate::sql::activity::insert_activity;
pub(crate) use crate::sql::jobs::{end_early, mark_cancelled};
use crate::sqlite::commit::{add_to_batch, insert_batch_pages};
use crate::sqlite::prepared::{json_text, page_lists};
use crate::sqlite::query::query;
use crate::sqlite::{Sqlite, events};
use crate::value::params;

impl NewJobs for Sqlite {
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

/// Prevents any shard of the job from being leased again.
pub(crate) async fn stop_shards(connection: &mut SqliteConnection, job: JobId) -> Result<(), StoreError> {
    query("UPDATE shard SET active = 0 WHERE job_id = ?1")
        .bind(job)
        .run(connection)
        .await
}
