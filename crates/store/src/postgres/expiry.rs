//! Deletes expired data, in steps small enough that commits are never held up. Every node does this; a step skips
//! rows that another node has locked.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;

use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::monitors;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::zero_retention::{URLS, delete, erase_ended, mark_delivered};
use crate::sql::cache::delete_aged;
use crate::sql::{files, sessions, uploads};
use crate::value::params;

const EVENTS: &[&str] = &[
    "DELETE FROM harvestman.delivery WHERE job_id = $1 AND (event_no, attempt) IN
        (SELECT event_no, attempt FROM harvestman.delivery WHERE job_id = $1 LIMIT $2)",
    "DELETE FROM harvestman.outbox WHERE job_id = $1 AND event_no IN
        (SELECT event_no FROM harvestman.outbox WHERE job_id = $1 LIMIT $2)",
];

const CONTENT: &[&str] = &[
    "DELETE FROM harvestman.page WHERE job_id = $1 AND seq IN
        (SELECT seq FROM harvestman.page WHERE job_id = $1 ORDER BY seq LIMIT $2)",
    "DELETE FROM harvestman.monitor_page WHERE check_id = $1 AND (target, no) IN
        (SELECT target, no FROM harvestman.monitor_page WHERE check_id = $1 LIMIT $2)",
    "DELETE FROM harvestman.run_event WHERE job_id = $1 AND no IN
        (SELECT no FROM harvestman.run_event WHERE job_id = $1 LIMIT $2)",
];

/// Result of one step.
enum Step {
    /// Nothing to delete.
    Idle,
    /// Deleted rows.
    Deleted,
    /// Deleted the last row of a job.
    JobDeleted,
}

/// See [`crate::Store::expire`].
pub(super) async fn expire(store: &Postgres, now: Timestamp) -> Result<u64, StoreError> {
    let mut deleted_jobs = 0;
    for _ in 0..limits::EXPIRY_STEPS {
        match store
            .write(now, |transaction, now| Box::pin(step(transaction, now)))
            .await?
        {
            Step::Idle => break,
            Step::Deleted => {}
            Step::JobDeleted => deleted_jobs += 1,
        }
    }
    Ok(deleted_jobs)
}

async fn step(client: &Client, now: Timestamp) -> Result<Step, StoreError> {
    // First, because zero data retention has a time limit.
    if erase_ended(client, now).await? {
        return Ok(Step::Deleted);
    }
    let expired = query(
        "SELECT id FROM harvestman.job WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .bind(now)
    .fetch_optional(client)
    .await?;
    if let Some(row) = expired {
        return delete_some(client, JobId(row.id("id")?)).await;
    }
    let ended = query("SELECT id FROM harvestman.job WHERE sweep LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED")
        .fetch_optional(client)
        .await?;
    if let Some(row) = ended {
        return sweep(client, JobId(row.id("id")?)).await;
    }
    if files::expire(&mut &*client, now).await? + uploads::expire(&mut &*client, now).await? > 0
        || monitors::delete_some(client).await?
        || mark_delivered(client).await?
    {
        return Ok(Step::Deleted);
    }
    delete_old(client, now).await
}

/// Deletes a bounded part of an expired job, the job row last. Its ledger entries stay.
async fn delete_some(client: &Client, job: JobId) -> Result<Step, StoreError> {
    // Events first, so that no event is handed out whose page is gone.
    for statements in [EVENTS, CONTENT, URLS] {
        let mut deleted = 0;
        for statement in statements {
            deleted += delete(client, statement, job).await?;
        }
        if deleted > 0 {
            return Ok(Step::Deleted);
        }
    }
    for statement in [
        "DELETE FROM harvestman.shard WHERE job_id = $1",
        "DELETE FROM harvestman.monitor_check WHERE id = $1",
        "DELETE FROM harvestman.receiver WHERE job_id = $1",
        "DELETE FROM harvestman.job WHERE id = $1",
    ] {
        query(statement).bind(job).execute(client).await?;
    }
    Ok(Step::JobDeleted)
}

/// Deletes spare URLs of a job that has ended: they can no longer be admitted. Keeps those with which another crawl
/// can continue the job.
async fn sweep(client: &Client, job: JobId) -> Result<Step, StoreError> {
    let deleted = query(
        "DELETE FROM harvestman.job_url WHERE job_id = $1 AND url_key IN
            (SELECT url_key FROM harvestman.job_url WHERE job_id = $1 AND waiting ORDER BY position LIMIT $2
             OFFSET (SELECT CASE WHEN kind = 'crawl' AND zero_data_retention = 0 THEN $3 ELSE 0 END
                FROM harvestman.job WHERE id = $1))",
    )
    .bind_all(params![job, limits::EXPIRY_ROWS, limits::SPARE_KEPT])
    .execute(client)
    .await?;
    if deleted == 0 {
        query("UPDATE harvestman.job SET sweep = false WHERE id = $1")
            .bind(job)
            .execute(client)
            .await?;
    }
    Ok(Step::Deleted)
}

/// Deletes idempotency keys, activity, ended sessions and cached responses that are too old to be used.
async fn delete_old(client: &Client, now: Timestamp) -> Result<Step, StoreError> {
    let mut deleted = 0;
    for (statement, kept_ms) in [
        (
            "DELETE FROM harvestman.idempotency WHERE (team_id, key) IN (SELECT team_id, key
                FROM harvestman.idempotency WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
            limits::IDEMPOTENCY_MS,
        ),
        (
            "DELETE FROM harvestman.activity WHERE job_id IN (SELECT job_id
                FROM harvestman.activity WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
            limits::ACTIVITY_MS,
        ),
        (
            "DELETE FROM harvestman.rate_window WHERE subject IN (SELECT subject
                FROM harvestman.rate_window WHERE since <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
            limits::SHARED_ROWS_MS,
        ),
        (
            "DELETE FROM harvestman.host WHERE host IN (SELECT host FROM harvestman.host
                WHERE greatest(next_at, paused_until) <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
            limits::SHARED_ROWS_MS,
        ),
        (
            "DELETE FROM harvestman.feedback WHERE id IN (SELECT id
                FROM harvestman.feedback WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)",
            limits::FEEDBACK_MS,
        ),
    ] {
        deleted += query(statement)
            .bind_all(params![now.0.saturating_sub(kept_ms), limits::EXPIRY_ROWS])
            .execute(client)
            .await?;
    }
    deleted += sessions::delete_old(&mut &*client, now).await? + delete_aged(&mut &*client, now).await?;
    Ok(if deleted > 0 { Step::Deleted } else { Step::Idle })
}
