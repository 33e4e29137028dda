//! Deletes the data of jobs with zero data retention: the document of each page once it is delivered, and in any case
//! soon after the end of the job; then the URLs and errors. The numbers, URL keys and prices of pages stay.
//!
//! Never touches a job that keeps its pages.

use harvestman_core::crawl::Progress;
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::prepared::json_text;
use crate::rows::parse_progress;
use crate::sql::{Connection, Statement, Transaction, delete_rows, statement};
use crate::value::params;

/// Deletes the document of a delivered webhook event, which is no longer pending.
pub(crate) async fn delete_delivered_document(
    transaction: &mut impl Transaction,
    job: JobId,
    event_no: u64,
) -> Result<(), StoreError> {
    let row = statement!(
        "SELECT seq FROM harvestman.outbox JOIN harvestman.job ON job.id = job_id
         WHERE job_id = $1 AND event_no = $2 AND zero_data_retention = 1 AND seq IS NOT NULL"
    )
    .bind_all(params![job, event_no])
    .fetch_optional(transaction)
    .await?;
    match row {
        Some(row) => {
            let seq = row.count("seq")?;
            transaction
                .delete_documents(job, seq.saturating_sub(1), seq, false)
                .await
        }
        None => Ok(()),
    }
}

/// Deletes some overdue data of a job that has ended. Returns false when there is no such job.
pub(crate) async fn erase_ended(
    transaction: &mut impl Transaction,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(erase_urls(transaction).await? || delete_overdue(transaction, now).await?)
}

/// Deletes some URLs and errors of a job whose documents are gone; its row is cleared last.
async fn erase_urls(connection: &mut impl Connection) -> Result<bool, StoreError> {
    let row = statement!(
        "SELECT id FROM harvestman.job WHERE zero_data_retention = 3 LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    if delete_some_of(connection, urls(), job).await? > 0 {
        return Ok(true);
    }
    let shards = statement!("SELECT no, progress FROM harvestman.shard WHERE job_id = $1 FOR NO KEY UPDATE")
        .bind(job)
        .fetch_all(connection)
        .await?;
    for row in &shards {
        let progress = Progress {
            root: None,
            ..parse_progress(row).unwrap_or_default()
        };
        statement!("UPDATE harvestman.shard SET progress = $3 WHERE job_id = $1 AND no = $2")
            .bind_all(params![job, row.count("no")?, json_text(&progress)?])
            .execute(connection)
            .await?;
    }
    // The request of a batch contains no URLs, and more pages may be added to it.
    statement!(
        "UPDATE harvestman.job SET zero_data_retention = 2, url = '', warnings = '[]', error = NULL,
            request = CASE kind WHEN 'batch_scrape' THEN request ELSE '{}' END
         WHERE id = $1"
    )
    .bind(job)
    .execute(connection)
    .await?;
    Ok(true)
}

/// Marks a job that has nothing left to deliver, so that its URLs are deleted without delay. Returns false when there
/// is none.
pub(crate) async fn mark_delivered(connection: &mut impl Connection) -> Result<bool, StoreError> {
    let done = statement!(
        "UPDATE harvestman.job SET zero_data_retention = 3 WHERE id IN (
            SELECT id FROM harvestman.job WHERE zero_data_retention = 1 AND completed_at IS NOT NULL
                AND error_count = 0
                AND NOT EXISTS (SELECT 1 FROM harvestman.page WHERE job_id = job.id AND zstd IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM harvestman.job_url WHERE job_id = job.id AND robots_blocked)
                AND NOT EXISTS (SELECT 1 FROM harvestman.outbox WHERE job_id = job.id AND state = 'pending')
            LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)",
        sqlite: "UPDATE job SET zero_data_retention = 3 WHERE id IN (
            SELECT id FROM job WHERE zero_data_retention = 1 AND completed_at IS NOT NULL AND error_count = 0
                AND NOT EXISTS (SELECT 1 FROM page WHERE job_id = job.id AND body_id IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM job_url WHERE job_id = job.id AND robots_blocked = 1)
                AND NOT EXISTS (SELECT 1 FROM outbox WHERE job_id = job.id AND state = 'pending')
            LIMIT 1)"
    )
    .execute(connection)
    .await?;
    Ok(done > 0)
}

/// Deletes some documents of a job whose [`limits::ZERO_RETENTION_DELAY_MS`] have passed. Returns false when there is
/// no such job.
async fn delete_overdue(transaction: &mut impl Transaction, now: Timestamp) -> Result<bool, StoreError> {
    let row = statement!(
        "SELECT id FROM harvestman.job WHERE zero_data_retention = 1 AND completed_at <= $1
         ORDER BY completed_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
    )
    .bind(now.0.saturating_sub(limits::ZERO_RETENTION_DELAY_MS))
    .fetch_optional(transaction)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let job = JobId(row.id("id")?);
    let row = statement!(
        "SELECT min(seq) AS first FROM harvestman.page WHERE job_id = $1 AND zstd IS NOT NULL",
        sqlite: "SELECT min(seq) AS first FROM page WHERE job_id = ?1 AND body_id IS NOT NULL"
    )
    .bind(job)
    .fetch_one(transaction)
    .await?;
    match row.maybe_count("first")? {
        Some(first) => {
            let skip = first.saturating_sub(1);
            transaction
                .delete_documents(job, skip, skip + u64::from(limits::EXPIRY_ROWS), true)
                .await?;
        }
        None => {
            statement!("UPDATE harvestman.job SET zero_data_retention = 3 WHERE id = $1")
                .bind(job)
                .execute(transaction)
                .await?;
        }
    }
    Ok(true)
}

/// Returns the statements that delete URLs that a job knows, and errors of those that failed.
pub(crate) fn urls() -> [Statement; 2] {
    [
        delete_rows!("job_url", "url_key", "job_id = $1", "$2"),
        delete_rows!("job_error", "no", "job_id = $1", "$2"),
    ]
}

/// Runs statements that each delete a bounded part of a job. Returns the number of deleted rows.
pub(crate) async fn delete_some_of(
    connection: &mut impl Connection,
    statements: impl IntoIterator<Item = Statement>,
    job: JobId,
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for delete in statements {
        deleted += delete
            .bind_all(params![job, limits::EXPIRY_ROWS])
            .execute(connection)
            .await?;
    }
    Ok(deleted)
}
