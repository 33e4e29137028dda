//! The pages of a batch scrape: stored when it starts, or added to it later. They are inserted as spare URLs,
//! and raise the page limit by their number; the owner's next commit admits them.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::{AddPagesOutcome, JobKind, JobStatus};
use crate::limits;
use crate::sqlite::commit::JobInCommit;
use crate::sqlite::events::Event;
use crate::sqlite::jobs::{EarlierRequest, IdempotentRequest, store_idempotency_key};
use crate::sqlite::prepared::UrlList;
use crate::sqlite::query::query;
use crate::value::params;

/// A batch scrape has one shard.
const SHARD: u32 = 0;

/// See [`crate::Store::add_pages`].
pub(crate) async fn add_to_batch(
    connection: &mut SqliteConnection,
    request: IdempotentRequest,
    lists: Vec<UrlList>,
) -> Result<AddPagesOutcome, StoreError> {
    if let Some(earlier) = request.find_earlier_request(connection).await? {
        return Ok(match earlier {
            EarlierRequest::Same(id) => AddPagesOutcome::Repeated(id),
            EarlierRequest::OtherBody => AddPagesOutcome::KeyReused,
        });
    }
    let is_batch = query(
        "SELECT 1 AS there FROM job WHERE id = ?1 AND team_id = ?2 AND kind = ?3
            AND (expires_at IS NULL OR expires_at > ?4)",
    )
    .bind_all(params![
        request.job,
        request.team,
        JobKind::BatchScrape.as_str(),
        request.at,
    ])
    .fetch_optional(&mut *connection)
    .await?;
    let Some((mut job, status)) = JobInCommit::read(connection, request.job, SHARD)
        .await?
        .filter(|_| is_batch.is_some())
    else {
        return Ok(AddPagesOutcome::NotFound);
    };
    if status == JobStatus::Cancelled {
        return Ok(AddPagesOutcome::Cancelled);
    }
    let more: u64 = lists.iter().map(|list| list.len).sum();
    if job.url_count.saturating_add(more) > limits::PAGES_PER_BATCH {
        return Ok(AddPagesOutcome::Full);
    }
    let new = job.add_batch_pages(connection, &lists).await?;
    if new > 0 {
        if status != JobStatus::Scraping {
            reopen(connection, request.job).await?;
            job.event(connection, Event::Started, request.at).await?;
        }
        job.write(connection, request.at).await?;
    }
    store_idempotency_key(connection, &request).await?;
    Ok(AddPagesOutcome::Added(new))
}

/// Stores the pages of a batch scrape that was just inserted.
pub(crate) async fn insert_batch_pages(
    connection: &mut SqliteConnection,
    job: JobId,
    lists: &[UrlList],
    now: Timestamp,
) -> Result<(), StoreError> {
    if let Some((mut job, _)) = JobInCommit::read(connection, job, SHARD).await? {
        job.page_limit = 0;
        job.add_batch_pages(connection, lists).await?;
        job.write(connection, now).await?;
    }
    Ok(())
}

/// Lets an ended job be leased again at once. With zero data retention, its pages are deleted again after
/// delivery.
async fn reopen(connection: &mut SqliteConnection, job: JobId) -> Result<(), StoreError> {
    query("UPDATE job SET zero_data_retention = min(zero_data_retention, 1) WHERE id = ?1")
        .bind(job)
        .execute(&mut *connection)
        .await?;
    query("UPDATE shard SET active = 1, owner = NULL, lease_until = 0 WHERE job_id = ?1")
        .bind(job)
        .execute(connection)
        .await?;
    Ok(())
}

impl JobInCommit {
    /// Inserts the pages that are new and raises the page limit by their number. Returns that number.
    async fn add_batch_pages(
        &mut self,
        connection: &mut SqliteConnection,
        lists: &[UrlList],
    ) -> Result<u64, StoreError> {
        let known = self.url_count;
        let limit = self.page_limit;
        for list in lists {
            self.page_limit += list.len;
            self.offer(connection, list).await?;
        }
        let new = self.url_count - known;
        self.page_limit = limit + new;
        Ok(new)
    }
}
