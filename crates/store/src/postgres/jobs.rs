//! Creating jobs, adding pages to them, and idempotency keys.

use harvestman_core::crawl::{Offer, Progress};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::{IdempotentRequest, earlier_request};
use crate::job::{AddPagesOutcome, CreateOutcome, Idempotency, JobStatus, NewJob, NewJobs};
use crate::limits;
use crate::postgres::commit::{add_to_batch, insert_batch_pages, page_rows};
use crate::postgres::events::insert_receiver;
use crate::postgres::query::query;
use crate::postgres::{Postgres, events};
use crate::prepared::json_text;
use crate::sql::activity::insert_activity;
use crate::sql::jobs;
use crate::value::params;

impl NewJobs for Postgres {
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
    insert_activity(&mut &*client, job, None).await?;
    let mut log = EventLog::of(job.webhook.unwrap_or_default());
    log.add(job.kind, Event::Started, None, now);
    events::save(client, job.id, &log).await
}

/// See [`jobs::mark_cancelled`].
pub(super) async fn mark_cancelled(
    mut client: &Client,
    job: JobId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    jobs::mark_cancelled(&mut client, job, now).await
}

/// See [`jobs::end_early`].
pub(super) async fn end_early(
    mut client: &Client,
    job: JobId,
    end: (JobStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    jobs::end_early(&mut client, job, end, now).await
}
