//! Deletes the data of jobs with zero data retention: the document of each page once it is delivered, and in any case
//! soon after the end of the job; then the URLs and errors. The numbers, URL keys and prices of pages stay. Deleted
//! rows stay in the files and the log of the server for a while, until it vacuums and recycles them.
//!
//! Never touches a job that keeps its pages.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;

use crate::error::StoreError;
use crate::limits;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::prepared::json_text;
use crate::rows::parse_progress;
use crate::value::params;

/// URLs that a job knows, and errors of those that failed.
pub(crate) const URLS: &[&str] = &[
    "DELETE FROM harvestman.job_url WHERE job_id = $1 AND url_key IN
        (SELECT url_key FROM harvestman.job_url WHERE job_id = $1 LIMIT $2)",
    "DELETE FROM harvestman.job_error WHERE job_id = $1 AND no IN
        (SELECT no FROM harvestman.job_error WHERE job_id = $1 LIMIT $2)",
];

/// Runs a statement that deletes a bounded part of a job.
pub(crate) async fn delete(client: &Client, statement: &'static str, job: JobId) -> Result<u64, StoreError> {
    query(statement)
        .bind_all(params![job, limits::EXPIRY_ROWS])
        .execute(client)
        .await
}

/// Deletes the document of a delivered webhook event, which is no longer pending.
pub(crate) async fn delete_delivered_document(
    client: &Client,
    job: JobId,
    event_no: u64,
) -> Result<(), StoreError> {
    let row = query(
        "SELECT seq FROM harvestman.outbox JOIN harvestman.job ON job.id = job_id
         WHERE job_id = $1 AND event_no = $2 AND zero_data_retention = 1 AND seq IS NOT NULL",
    )
    .bind_all(params![job, event_no])
    .fetch_optional(client)
    .await?;
    match row {
        Some(row) => {
            let seq = row.count("seq")?;
            delete_documents(client, job, seq.saturating_sub(1), seq, false).await
        }
        None => Ok(()),
    }
}

/// Deletes some overdue data of a job that has ended. Returns false when there is no such job.
pub(crate) async fn erase_ended(client: &Client, now: Timestamp) -> Result<bool, StoreError> {
    Ok(erase_urls(client).await? || delete_overdue(client, now).await?)
}

/// Deletes some URLs and errors of a job whose documents are gone; its row is cleared last.
async fn erase_urls(client: &Client) -> Result<bool, StoreError> {
    let row = query(
        "SELECT id FROM harvestman.job WHERE zero_data_retention = 3 LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    )
    .fetch_optional(client)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    let mut deleted = 0;
    for statement in URLS {
        deleted += delete(client, statement, job).await?;
    }
    if deleted > 0 {
        return Ok(true);
    }
    let shards = query("SELECT no, progress FROM harvestman.shard WHERE job_id = $1 FOR NO KEY UPDATE")
        .bind(job)
        .fetch_all(client)
        .await?;
    for row in &shards {
        let mut progress = parse_progress(row)?;
        progress.root = None;
        query("UPDATE harvestman.shard SET progress = $3 WHERE job_id = $1 AND no = $2")
            .bind_all(params![job, row.count("no")?, json_text(&progress)?])
            .execute(client)
            .await?;
    }
    query(
        // The request of a batch contains no URLs, and more pages may be added to it.
        "UPDATE harvestman.job SET zero_data_retention = 2, url = '', warnings = '[]', error = NULL,
            request = CASE kind WHEN 'batch_scrape' THEN request ELSE '{}' END
         WHERE id = $1",
    )
    .bind(job)
    .execute(client)
    .await?;
    Ok(true)
}

/// Marks a job that has nothing left to deliver, so that its URLs are deleted without delay. Returns false when there
/// is none.
pub(crate) async fn mark_delivered(client: &Client) -> Result<bool, StoreError> {
    let done = query(
        "UPDATE harvestman.job SET zero_data_retention = 3 WHERE id IN (
            SELECT id FROM harvestman.job WHERE zero_data_retention = 1 AND completed_at IS NOT NULL
                AND error_count = 0
                AND NOT EXISTS (SELECT 1 FROM harvestman.page WHERE job_id = job.id AND zstd IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM harvestman.job_url WHERE job_id = job.id AND robots_blocked)
                AND NOT EXISTS (SELECT 1 FROM harvestman.outbox WHERE job_id = job.id AND state = 'pending')
            LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)",
    )
    .execute(client)
    .await?;
    Ok(done > 0)
}

/// Deletes some documents of a job whose [`limits::ZERO_RETENTION_DELAY_MS`] have passed. Returns false when there is
/// no such job.
async fn delete_overdue(client: &Client, now: Timestamp) -> Result<bool, StoreError> {
    let row = query(
        "SELECT id, (SELECT min(seq) FROM harvestman.page WHERE job_id = job.id AND zstd IS NOT NULL) AS first
         FROM harvestman.job WHERE zero_data_retention = 1 AND completed_at <= $1
         ORDER BY completed_at LIMIT 1 FOR NO KEY UPDATE OF job SKIP LOCKED",
    )
    .bind(now.0.saturating_sub(limits::ZERO_RETENTION_DELAY_MS))
    .fetch_optional(client)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    match row.maybe_count("first")? {
        Some(first) => {
            let skip = first.saturating_sub(1);
            delete_documents(client, job, skip, skip + u64::from(limits::EXPIRY_ROWS), true).await?;
        }
        None => {
            query("UPDATE harvestman.job SET zero_data_retention = 3 WHERE id = $1")
                .bind(job)
                .execute(client)
                .await?;
        }
    }
    Ok(true)
}

/// Deletes documents of pages after `skip` up to `upto`; with `with_pending` also those that a pending webhook event
/// needs.
pub(super) async fn delete_documents(
    client: &Client,
    job: JobId,
    skip: u64,
    upto: u64,
    with_pending: bool,
) -> Result<(), StoreError> {
    query(
        "UPDATE harvestman.page SET zstd = NULL WHERE job_id = $1 AND seq > $2 AND seq <= $3 AND zstd IS NOT NULL
            AND EXISTS (SELECT 1 FROM harvestman.job WHERE id = $1 AND zero_data_retention = 1)
            AND ($4 OR NOT EXISTS (SELECT 1 FROM harvestman.outbox WHERE outbox.job_id = page.job_id
                AND outbox.seq = page.seq AND state = 'pending'))",
    )
    .bind_all(params![job, skip, upto, with_pending])
    .run(client)
    .await
}
