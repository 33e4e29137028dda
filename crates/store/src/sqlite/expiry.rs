//! Deletes expired data, in steps small enough that commits are never held up.

use std::sync::atomic::Ordering;

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::sql::cache::delete_aged;
use crate::sql::{files, sessions, uploads};
use crate::sqlite::monitors;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::writer::Writer;
use crate::sqlite::zero_retention::{erase_ended, mark_delivered};
use crate::value::params;

const EVENTS: &[&str] = &[
    "DELETE FROM delivery WHERE job_id = ?1 AND (event_no, attempt) IN
        (SELECT event_no, attempt FROM delivery WHERE job_id = ?1 LIMIT ?2)",
    "DELETE FROM outbox WHERE job_id = ?1 AND event_no IN
        (SELECT event_no FROM outbox WHERE job_id = ?1 LIMIT ?2)",
];

const CONTENT: &[&str] = &[
    "DELETE FROM body WHERE id IN (SELECT body_id FROM page WHERE job_id = ?1 ORDER BY seq LIMIT ?2)",
    "DELETE FROM page WHERE job_id = ?1 AND seq IN
        (SELECT seq FROM page WHERE job_id = ?1 ORDER BY seq LIMIT ?2)",
    "DELETE FROM monitor_page WHERE check_id = ?1 AND (target, no) IN
        (SELECT target, no FROM monitor_page WHERE check_id = ?1 LIMIT ?2)",
    "DELETE FROM run_event WHERE job_id = ?1 AND no IN (SELECT no FROM run_event WHERE job_id = ?1 LIMIT ?2)",
];

/// URLs that a job knows, and errors of those that failed.
pub(crate) const URLS: &[&str] = &[
    "DELETE FROM job_url WHERE job_id = ?1 AND url_key IN
        (SELECT url_key FROM job_url WHERE job_id = ?1 LIMIT ?2)",
    "DELETE FROM job_error WHERE job_id = ?1 AND no IN
        (SELECT no FROM job_error WHERE job_id = ?1 LIMIT ?2)",
];

/// Result of one step.
enum Step {
    /// Nothing to delete.
    Idle,
    /// Deleted rows.
    Deleted,
    /// Deleted content that must not stay in the log.
    Erased,
    /// Deleted the last row of a job.
    JobDeleted,
}

/// See [`crate::Store::expire`].
pub(super) async fn expire(writer: &Writer, now: Timestamp) -> Result<u64, StoreError> {
    let mut deleted_jobs = 0;
    for _ in 0..limits::EXPIRY_STEPS {
        match writer
            .run(move |connection| Box::pin(step(connection, now)))
            .await?
        {
            Step::Idle => break,
            Step::Deleted => {}
            Step::Erased => writer.checkpoint.store(true, Ordering::Relaxed),
            Step::JobDeleted => deleted_jobs += 1,
        }
    }
    Ok(deleted_jobs)
}

async fn step(connection: &mut SqliteConnection, now: Timestamp) -> Result<Step, StoreError> {
    // First, because zero data retention has a time limit.
    if erase_ended(connection, now).await? {
        return Ok(Step::Erased);
    }
    let expired = query("SELECT id FROM job WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 1")
        .bind(now)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = expired {
        return delete_some(connection, JobId(row.id("id")?)).await;
    }
    let ended = query("SELECT id FROM job WHERE sweep = 1 LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = ended {
        return sweep(connection, JobId(row.id("id")?)).await;
    }
    if files::expire(connection, now).await? + uploads::expire(connection, now).await? > 0
        || monitors::delete_some(connection).await?
    {
        return Ok(Step::Deleted);
    }
    if mark_delivered(connection).await? {
        return Ok(Step::Erased);
    }
    delete_old(connection, now).await
}

/// Deletes a bounded part of an expired job, the job row last. Its ledger entries stay.
async fn delete_some(connection: &mut SqliteConnection, job: JobId) -> Result<Step, StoreError> {
    // Events first, so that no event is handed out whose page is gone.
    for statements in [EVENTS, CONTENT, URLS] {
        let mut deleted = 0;
        for statement in statements {
            deleted += delete(connection, statement, job).await?;
        }
        if deleted > 0 {
            return Ok(Step::Deleted);
        }
    }
    for statement in [
        "DELETE FROM receiver WHERE job_id = ?1",
        "DELETE FROM shard WHERE job_id = ?1",
        "DELETE FROM monitor_check WHERE id = ?1",
        "DELETE FROM job WHERE id = ?1",
    ] {
        query(statement).bind(job).execute(&mut *connection).await?;
    }
    Ok(Step::JobDeleted)
}

/// Deletes spare URLs of a job that has ended: they can no longer be admitted. Keeps those with which another crawl
/// can continue the job.
async fn sweep(connection: &mut SqliteConnection, job: JobId) -> Result<Step, StoreError> {
    let deleted = query(
        "DELETE FROM job_url WHERE job_id = ?1 AND url_key IN
            (SELECT url_key FROM job_url WHERE job_id = ?1 AND state = 'spare' ORDER BY position LIMIT ?2 OFFSET
                (SELECT iif(kind = 'crawl' AND zero_data_retention = 0, ?3, 0) FROM job WHERE id = ?1))",
    )
    .bind_all(params![job, limits::EXPIRY_ROWS, limits::SPARE_KEPT])
    .execute(&mut *connection)
    .await?;
    if deleted == 0 {
        query("UPDATE job SET sweep = 0 WHERE id = ?1")
            .bind(job)
            .execute(connection)
            .await?;
    }
    Ok(Step::Deleted)
}

/// Deletes idempotency keys, activity, ended sessions and cached responses that are too old to be used.
async fn delete_old(connection: &mut SqliteConnection, now: Timestamp) -> Result<Step, StoreError> {
    let idempotency = query(
        "DELETE FROM idempotency WHERE (team_id, key) IN
            (SELECT team_id, key FROM idempotency WHERE created_at <= ?1 LIMIT ?2)",
    )
    .bind_all(params![
        now.0.saturating_sub(limits::IDEMPOTENCY_MS),
        limits::EXPIRY_ROWS
    ])
    .execute(&mut *connection)
    .await?;
    let activity = query(
        "DELETE FROM activity WHERE job_id IN (SELECT job_id FROM activity WHERE created_at <= ?1 LIMIT ?2)",
    )
    .bind_all(params![
        now.0.saturating_sub(limits::ACTIVITY_MS),
        limits::EXPIRY_ROWS
    ])
    .execute(&mut *connection)
    .await?;
    let feedback =
        query("DELETE FROM feedback WHERE id IN (SELECT id FROM feedback WHERE created_at <= ?1 LIMIT ?2)")
            .bind_all(params![
                now.0.saturating_sub(limits::FEEDBACK_MS),
                limits::EXPIRY_ROWS
            ])
            .execute(&mut *connection)
            .await?;
    let deleted = idempotency
        + activity
        + feedback
        + sessions::delete_old(connection, now).await?
        + delete_aged(connection, now).await?;
    Ok(if deleted > 0 { Step::Deleted } else { Step::Idle })
}

pub(crate) async fn delete(
    connection: &mut SqliteConnection,
    statement: &'static str,
    job: JobId,
) -> Result<u64, StoreError> {
    query(statement)
        .bind_all(params![job, limits::EXPIRY_ROWS])
        .execute(connection)
        .await
}
