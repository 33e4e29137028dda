//! The pages of a batch scrape: stored when it starts, or added to it later. They are inserted as spare URLs,
//! and raise the page limit by their number; the owner's next commit admits them.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use super::{read, urls, write};
use crate::commit::{JobInCommit, Owner};
use crate::error::StoreError;
use crate::event::Event;
use crate::idempotency::IdempotentRequest;
use crate::job::{AddPagesOutcome, CreateOutcome, JobStatus};
use crate::sqlite::prepared::UrlList;
use crate::sqlite::query::query;

/// See [`crate::Store::add_pages`].
pub(crate) async fn add_to_batch(
    connection: &mut SqliteConnection,
    request: IdempotentRequest,
    lists: Vec<UrlList>,
    now: Timestamp,
) -> Result<AddPagesOutcome, StoreError> {
    match request.find(connection, now).await? {
        None => {}
        Some(CreateOutcome::Repeated(id)) => return Ok(AddPagesOutcome::Repeated(id)),
        Some(_) => return Ok(AddPagesOutcome::KeyReused),
    }
    let Some((mut job, status)) = read(connection, Owner::of_batch(request.job), now).await? else {
        return Ok(AddPagesOutcome::NotFound);
    };
    let pages = lists.iter().map(|list| list.len).sum();
    if let Some(refusal) = job.refusal_of_pages(status, request.team, pages) {
        return Ok(refusal);
    }
    let new = add_pages(&mut job, connection, &lists).await?;
    if new > 0 {
        if status != JobStatus::Scraping {
            reopen(connection, request.job).await?;
            job.event(Event::Started, now);
        }
        write(connection, &job, now).await?;
    }
    request.store_or_find(connection, now).await?;
    Ok(AddPagesOutcome::Added(new))
}

/// Stores the pages of a batch scrape that was just inserted.
pub(crate) async fn insert_batch_pages(
    connection: &mut SqliteConnection,
    job: JobId,
    lists: &[UrlList],
    now: Timestamp,
) -> Result<(), StoreError> {
    if let Some((mut job, _)) = read(connection, Owner::of_batch(job), now).await? {
        job.page_limit = 0;
        add_pages(&mut job, connection, lists).await?;
        write(connection, &job, now).await?;
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
        .run(connection)
        .await
}

/// Inserts the pages that are new and raises the page limit by their number. Returns that number.
async fn add_pages(
    job: &mut JobInCommit,
    connection: &mut SqliteConnection,
    lists: &[UrlList],
) -> Result<u64, StoreError> {
    let (known, limit) = (job.url_count, job.page_limit);
    for list in lists {
        job.page_limit += list.len;
        urls::offer(job, connection, list).await?;
    }
    let new = job.url_count - known;
    job.page_limit = limit + new;
    Ok(new)
}
