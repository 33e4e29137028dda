//! Deletes the data of jobs with zero data retention: the document of each page once it is delivered, and in
//! any case soon after the end of the job; then the URLs and errors. The numbers, URL keys and prices of
//! pages stay.
//!
//! Never touches a job that keeps its pages.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::limits;
use crate::sqlite::expiry::{URLS, delete};
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

/// Selects documents of pages after `?2` up to `?3`; with `?4` also those that a pending webhook event needs.
macro_rules! documents {
    ($statement:literal) => {
        concat!(
            $statement,
            " FROM page WHERE job_id = ?1 AND seq > ?2 AND seq <= ?3 AND body_id IS NOT NULL
                AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND zero_data_retention = 1)
                AND (?4 OR NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.job_id = page.job_id
                    AND outbox.seq = page.seq AND state = 'pending')))"
        )
    };
}

/// Deletes the document of a delivered webhook event, which is no longer pending.
pub(crate) async fn delete_delivered_document(
    connection: &mut SqliteConnection,
    job: JobId,
    event_no: u64,
) -> Result<(), StoreError> {
    let row = query(
        "SELECT seq FROM outbox JOIN job ON job.id = job_id
         WHERE job_id = ?1 AND event_no = ?2 AND zero_data_retention = 1 AND seq IS NOT NULL",
    )
    .bind_all(params![job, event_no])
    .fetch_optional(&mut *connection)
    .await?;
    match row {
        Some(row) => {
            let seq = row.count("seq")?;
            delete_documents(connection, job, seq.saturating_sub(1), seq, false).await
        }
        None => Ok(()),
    }
}

/// Deletes some overdue data of a job that has ended. Returns false when there is no such job.
pub(crate) async fn erase_ended(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(erase_urls(connection).await? || delete_overdue(connection, now).await?)
}

/// Deletes some URLs and errors of a job whose documents are gone; its row is cleared last.
async fn erase_urls(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let row = query("SELECT id FROM job WHERE zero_data_retention = 3 LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    let mut deleted = 0;
    for statement in URLS {
        deleted += delete(connection, statement, job).await?;
    }
    if deleted > 0 {
        return Ok(true);
    }
    for statement in [
        "UPDATE shard SET progress = json_set(progress, '$.root', NULL) WHERE job_id = ?1",
        // The request of a batch contains no URLs, and more pages may be added to it.
        "UPDATE job SET zero_data_retention = 2, url = '', warnings = '[]', error = NULL,
            request = CASE kind WHEN 'batch_scrape' THEN request ELSE '{}' END
         WHERE id = ?1",
    ] {
        query(statement).bind(job).execute(&mut *connection).await?;
    }
    Ok(true)
}

/// Marks a job that has nothing left to deliver, so that its URLs are deleted without delay. Returns false when there
/// is none.
pub(crate) async fn mark_delivered(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let done = query(
        "UPDATE job SET zero_data_retention = 3 WHERE id IN (
            SELECT id FROM job WHERE zero_data_retention = 1 AND completed_at IS NOT NULL AND error_count = 0
                AND NOT EXISTS (SELECT 1 FROM page WHERE job_id = job.id AND body_id IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM job_url WHERE job_id = job.id AND robots_blocked = 1)
                AND NOT EXISTS (SELECT 1 FROM outbox WHERE job_id = job.id AND state = 'pending')
            LIMIT 1)",
    )
    .execute(connection)
    .await?;
    Ok(done > 0)
}

/// Deletes some documents of a job whose [`limits::ZERO_RETENTION_DELAY_MS`] have passed. Returns false when there is
/// no such job.
async fn delete_overdue(connection: &mut SqliteConnection, now: Timestamp) -> Result<bool, StoreError> {
    let row = query(
        "SELECT id FROM job WHERE zero_data_retention = 1 AND completed_at <= ?1
         ORDER BY completed_at LIMIT 1",
    )
    .bind(now.0.saturating_sub(limits::ZERO_RETENTION_DELAY_MS))
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    let row = query("SELECT min(seq) AS first FROM page WHERE job_id = ?1 AND body_id IS NOT NULL")
        .bind(job)
        .fetch_one(&mut *connection)
        .await?;
    match row.maybe_count("first")? {
        Some(first) => {
            let skip = first.saturating_sub(1);
            delete_documents(connection, job, skip, skip + u64::from(limits::EXPIRY_ROWS), true).await?;
        }
        None => {
            query("UPDATE job SET zero_data_retention = 3 WHERE id = ?1")
                .bind(job)
                .execute(connection)
                .await?;
        }
    }
    Ok(true)
}

pub(super) async fn delete_documents(
    connection: &mut SqliteConnection,
    job: JobId,
    skip: u64,
    upto: u64,
    with_pending: bool,
) -> Result<(), StoreError> {
    // Body ids are reused: no page may refer to a deleted one.
    for statement in [
        documents!("DELETE FROM body WHERE id IN (SELECT body_id"),
        documents!("UPDATE page SET body_id = NULL WHERE (job_id, seq) IN (SELECT job_id, seq"),
    ] {
        query(statement)
            .bind_all(params![job, skip, upto, with_pending])
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
