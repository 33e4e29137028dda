//! Crawls that continue an earlier one. The URLs of the earlier crawl are copied into the new job; those that still
//! have to be fetched become spare, so that the first commit admits them.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::continuation::{Continuations, KnownUrls};
use crate::error::StoreError;
use crate::job::{ContinueOutcome, NewJob};
use crate::prepared::json_text;
use crate::rows::parse_progress;
use crate::sql::jobs::insert_running_job;
use crate::sql::{Database, Transaction, statement, transact};
use crate::value::params;

impl<D: Database> Continuations for D {
    async fn continue_crawl(&self, job: &NewJob, earlier: JobId) -> Result<ContinueOutcome, StoreError> {
        let job = job.clone();
        transact!(self, job.created_at, |transaction, now| {
            continue_crawl(transaction, &job, earlier, now).await
        })
    }

    async fn urls_left(&self, job: JobId) -> Result<u64, StoreError> {
        statement!(
            "SELECT count(*) AS urls FROM harvestman.job_url
             WHERE job_id = $1 AND state IN ('spare', 'open', 'failed')",
        )
        .bind(job)
        .fetch_one(&mut self.reader().await?)
        .await?
        .count("urls")
    }
}

async fn continue_crawl(
    transaction: &mut impl Transaction,
    job: &NewJob,
    earlier: JobId,
    now: Timestamp,
) -> Result<ContinueOutcome, StoreError> {
    let row = statement!(
        "SELECT count(*) AS urls, coalesce(max(position), 0) AS last_position,
            count(*) FILTER (WHERE state IN ('spare', 'open', 'failed')) AS left_over,
            count(*) FILTER (WHERE source = 'seed' AND state IN ('spare', 'open', 'failed')) AS seeds_left
         FROM harvestman.job_url WHERE job_id = $1",
    )
    .bind(earlier)
    .fetch_one(transaction)
    .await?;
    let known = KnownUrls::read(&row)?;
    if let Some(refusal) = known.refusal() {
        return Ok(refusal);
    }
    let shard = statement!("SELECT progress FROM harvestman.shard WHERE job_id = $1 AND no = 0")
        .bind(earlier)
        .fetch_one(transaction)
        .await?;
    let progress = known.progress(parse_progress(&shard)?);
    insert_running_job(transaction, job, now).await?;
    statement!("UPDATE harvestman.shard SET progress = $2 WHERE job_id = $1")
        .bind_all(params![job.id, json_text(&progress)?])
        .run(transaction)
        .await?;
    // The copied URLs are not in `url_count`, which bounds what the job adds.
    statement!("UPDATE harvestman.job SET next_position = $2 WHERE id = $1")
        .bind_all(params![job.id, known.next_position])
        .run(transaction)
        .await?;
    // Only SQLite stores the host of a URL.
    statement!(
        "INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, url
            /*sqlite , host_key*/)
         SELECT $2, url_key, 0, CASE WHEN left_over THEN 'spare' ELSE 'known' END, position, depth, source,
            CASE WHEN left_over THEN url END /*sqlite , CASE WHEN left_over THEN host_key END*/
         FROM (SELECT *, state IN ('spare', 'open', 'failed') AS left_over
            FROM harvestman.job_url WHERE job_id = $1) AS earlier
         WHERE NOT (left_over AND source = 'seed') ORDER BY url_key",
    )
    .bind_all(params![earlier, job.id])
    .run(transaction)
    .await?;
    Ok(ContinueOutcome::Created(known.left))
}
