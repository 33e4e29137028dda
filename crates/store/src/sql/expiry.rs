//! Deletes expired data, in steps small enough that commits are never held up. Every node does this; a step skips
//! rows that another node has locked.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::sql::cache::delete_aged;
use crate::sql::zero_retention::{delete_some_of, erase_ended, mark_delivered, urls};
use crate::sql::{
    Connection, Database, Statement, Transaction, delete_rows, files, monitors, outbox, sessions, statement,
    transact, uploads,
};
use crate::value::params;

fn events() -> [Statement; 2] {
    [
        delete_rows!("delivery", "event_no, attempt", "job_id = $1", "$2"),
        delete_rows!("outbox", "event_no", "job_id = $1", "$2"),
    ]
}

fn content() -> [Statement; 3] {
    [
        delete_rows!("page", "seq", "job_id = $1", "$2"),
        delete_rows!("monitor_page", "target, no", "check_id = $1", "$2"),
        delete_rows!("run_event", "no", "job_id = $1", "$2"),
    ]
}

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
pub(crate) async fn expire(database: &impl Database, now: Timestamp) -> Result<u64, StoreError> {
    transact!(database, now, |transaction, now| {
        outbox::move_due_times(transaction, now).await?;
        monitors::move_due_times(transaction, now).await
    })?;
    let mut deleted_jobs = 0;
    for _ in 0..limits::EXPIRY_STEPS {
        match transact!(database, now, |transaction, now| { step(transaction, now).await })? {
            Step::Idle => break,
            Step::Deleted => {}
            Step::Erased => database.clear_log(),
            Step::JobDeleted => deleted_jobs += 1,
        }
    }
    Ok(deleted_jobs)
}

async fn step(transaction: &mut impl Transaction, now: Timestamp) -> Result<Step, StoreError> {
    // First, because zero data retention has a time limit.
    if erase_ended(transaction, now).await? {
        return Ok(Step::Erased);
    }
    let expired = statement!(
        "SELECT id FROM harvestman.job WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED"
    )
    .bind(now)
    .fetch_optional(transaction)
    .await?;
    if let Some(row) = expired {
        return delete_some(transaction, JobId(row.id("id")?)).await;
    }
    let ended = statement!(
        "SELECT id FROM harvestman.job WHERE sweep LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
        sqlite: "SELECT id FROM job WHERE sweep = 1 LIMIT 1"
    )
    .fetch_optional(transaction)
    .await?;
    if let Some(row) = ended {
        return sweep(transaction, JobId(row.id("id")?)).await;
    }
    if files::expire(transaction, now).await? + uploads::expire(transaction, now).await? > 0
        || monitors::delete_some(transaction).await?
    {
        return Ok(Step::Deleted);
    }
    if mark_delivered(transaction).await? {
        return Ok(Step::Erased);
    }
    delete_old(transaction, now).await
}

/// Deletes a bounded part of an expired job, the job row last. Its ledger entries stay.
async fn delete_some(transaction: &mut impl Transaction, job: JobId) -> Result<Step, StoreError> {
    // Events first, so that no event is handed out whose page is gone.
    if delete_some_of(transaction, events(), job).await? > 0
        || transaction.delete_bodies(job).await? + delete_some_of(transaction, content(), job).await? > 0
        || delete_some_of(transaction, urls(), job).await? > 0
    {
        return Ok(Step::Deleted);
    }
    for delete in [
        statement!("DELETE FROM harvestman.shard WHERE job_id = $1"),
        statement!("DELETE FROM harvestman.monitor_check WHERE id = $1"),
        statement!("DELETE FROM harvestman.receiver WHERE job_id = $1"),
        statement!("DELETE FROM harvestman.job WHERE id = $1"),
    ] {
        delete.bind(job).execute(transaction).await?;
    }
    Ok(Step::JobDeleted)
}

/// Deletes spare URLs of a job that has ended: they can no longer be admitted. Keeps those with which another crawl
/// can continue the job.
async fn sweep(connection: &mut impl Connection, job: JobId) -> Result<Step, StoreError> {
    let deleted = statement!(
        "DELETE FROM harvestman.job_url WHERE job_id = $1 AND ctid = ANY (ARRAY
            (SELECT ctid FROM harvestman.job_url WHERE job_id = $1 AND waiting ORDER BY position LIMIT $2
             OFFSET (SELECT CASE WHEN kind = 'crawl' AND zero_data_retention = 0 THEN $3 ELSE 0 END
                FROM harvestman.job WHERE id = $1)))",
        sqlite: "DELETE FROM job_url WHERE job_id = ?1 AND url_key IN
            (SELECT url_key FROM job_url WHERE job_id = ?1 AND state = 'spare' ORDER BY position LIMIT ?2 OFFSET
                (SELECT iif(kind = 'crawl' AND zero_data_retention = 0, ?3, 0) FROM job WHERE id = ?1))"
    )
    .bind_all(params![job, limits::EXPIRY_ROWS, limits::SPARE_KEPT])
    .execute(connection)
    .await?;
    if deleted == 0 {
        statement!("UPDATE harvestman.job SET sweep = false WHERE id = $1")
            .bind(job)
            .execute(connection)
            .await?;
    }
    Ok(Step::Deleted)
}

/// Deletes idempotency keys, activity, ended sessions and cached responses that are too old to be used.
async fn delete_old(transaction: &mut impl Transaction, now: Timestamp) -> Result<Step, StoreError> {
    let mut deleted = 0;
    for (delete, kept_ms) in [
        (
            statement!(
                "DELETE FROM harvestman.idempotency WHERE (team_id, key) IN (SELECT team_id, key
                    FROM harvestman.idempotency WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
            ),
            limits::IDEMPOTENCY_MS,
        ),
        (
            statement!(
                "DELETE FROM harvestman.activity WHERE job_id IN (SELECT job_id
                    FROM harvestman.activity WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
            ),
            limits::ACTIVITY_MS,
        ),
        (
            statement!(
                "DELETE FROM harvestman.feedback WHERE id IN (SELECT id
                    FROM harvestman.feedback WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
            ),
            limits::FEEDBACK_MS,
        ),
    ] {
        deleted += delete
            .bind_all(params![now.0.saturating_sub(kept_ms), limits::EXPIRY_ROWS])
            .execute(transaction)
            .await?;
    }
    deleted += sessions::delete_old(transaction, now).await?
        + delete_aged(transaction, now).await?
        + transaction.delete_old_limits(now).await?;
    Ok(if deleted > 0 { Step::Deleted } else { Step::Idle })
}
