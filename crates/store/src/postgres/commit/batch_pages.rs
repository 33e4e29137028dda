//! The pages of a batch scrape: stored when it starts, or added to it later. They are inserted as spare URLs, and
//! raise the page limit by their number; the owner's next commit admits them.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use super::urls::{self, NewUrl, UrlRows};
use super::{select, write_row};
use crate::commit::{JobInCommit, Owner};
use crate::error::StoreError;
use crate::event::Event;
use crate::idempotency::IdempotentRequest;
use crate::job::{AddPagesOutcome, CreateOutcome, JobStatus};
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::value::params;

/// See [`crate::Store::add_pages`].
pub(crate) async fn add_to_batch(
    transaction: &mut Transaction,
    request: IdempotentRequest,
    lists: Vec<UrlRows>,
    now: Timestamp,
) -> Result<AddPagesOutcome, StoreError> {
    match request.store_or_find(transaction, now).await? {
        None => {}
        Some(CreateOutcome::Repeated(id)) => return Ok(AddPagesOutcome::Repeated(id)),
        Some(_) => return Ok(AddPagesOutcome::KeyReused),
    }
    let outcome = add(transaction, &request, lists, now).await?;
    if !matches!(outcome, AddPagesOutcome::Added(_)) {
        // The idempotency key of a refused request is not stored.
        transaction.undo();
    }
    Ok(outcome)
}

async fn add(
    client: &Client,
    request: &IdempotentRequest,
    lists: Vec<UrlRows>,
    now: Timestamp,
) -> Result<AddPagesOutcome, StoreError> {
    let Some(row) = select(request.job).fetch_optional(client).await? else {
        return Ok(AddPagesOutcome::NotFound);
    };
    let (mut job, status) = JobInCommit::read(&row, Owner::of_batch(request.job))?;
    if row.maybe_time("expires_at")?.is_some_and(|at| at <= now) {
        return Ok(AddPagesOutcome::NotFound);
    }
    let pages = lists.iter().map(UrlRows::len).sum();
    if let Some(refusal) = job.refusal_of_pages(status, request.team, pages) {
        return Ok(refusal);
    }
    let new = add_pages(&mut job, client, &lists).await?;
    if new > 0 {
        if status != JobStatus::Scraping {
            reopen(client, request.job, now).await?;
            job.event(Event::Started, now);
        }
        write_row(client, &job, now).await?;
    }
    Ok(AddPagesOutcome::Added(new))
}

/// Stores the pages of a batch scrape that was just inserted.
pub(crate) async fn insert_batch_pages(
    client: &Client,
    job: JobId,
    lists: &[UrlRows],
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = select(job).fetch_one(client).await?;
    let (mut job, _) = JobInCommit::read(&row, Owner::of_batch(job))?;
    job.page_limit = 0;
    add_pages(&mut job, client, lists).await?;
    write_row(client, &job, now).await
}

/// Lets an ended job be leased again at once. With zero data retention, its pages are deleted again after delivery.
async fn reopen(client: &Client, job: JobId, now: Timestamp) -> Result<(), StoreError> {
    query("UPDATE harvestman.job SET zero_data_retention = least(zero_data_retention, 1) WHERE id = $1")
        .bind(job)
        .execute(client)
        .await?;
    query(
        "UPDATE harvestman.shard SET active = true, node = NULL, lease_until = 0, free_at = $2
         WHERE job_id = $1",
    )
    .bind_all(params![job, now])
    .run(client)
    .await
}

/// Inserts the pages that are new and raises the page limit by their number. Returns that number.
async fn add_pages(job: &mut JobInCommit, client: &Client, lists: &[UrlRows]) -> Result<u64, StoreError> {
    let (known, limit) = (job.url_count, job.page_limit);
    for list in lists {
        job.page_limit += list.len();
        let (first, room) = (job.take_positions(list.len()), job.rows_left());
        job.url_count += urls::insert(job.account.job, job.shard, first, list, NewUrl::Spare, room)
            .execute(client)
            .await?;
    }
    let new = job.url_count - known;
    job.page_limit = limit + new;
    Ok(new)
}
