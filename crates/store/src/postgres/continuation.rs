//! Crawls that continue an earlier one. The URLs of the earlier crawl are copied into the new job; those that still
//! have to be fetched become spare, so that the first commit admits them.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::continuation::{Continuations, KnownUrls};
use crate::error::StoreError;
use crate::job::{ContinueOutcome, NewJob};
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::prepared::json_text;
use crate::rows::parse_progress;
use crate::sql::jobs::insert_running_job;
use crate::value::params;

impl Continuations for Postgres {
    async fn continue_crawl(&self, job: &NewJob, earlier: JobId) -> Result<ContinueOutcome, StoreError> {
        let job = job.clone();
        self.write(job.created_at, move |transaction, now| {
            Box::pin(async move { continue_crawl(transaction, &job, earlier, now).await })
        })
        .await
    }

    async fn urls_left(&self, job: JobId) -> Result<u64, StoreError> {
        query(
            "SELECT count(*) AS urls FROM harvestman.job_url
             WHERE job_id = $1 AND state IN ('spare', 'open', 'failed')",
        )
        .bind(job)
        .fetch_one(&self.pool.connection().await?)
        .await?
        .count("urls")
    }
}

async fn continue_crawl(
    client: &mut Transaction,
    job: &NewJob,
    earlier: JobId,
    now: Timestamp,
) -> Result<ContinueOutcome, StoreError> {
    let row = query(
        "SELECT count(*) AS urls, coalesce(max(position), 0) AS last_position,
            count(*) FILTER (WHERE state IN ('spare', 'open', 'failed')) AS left_over,
            count(*) FILTER (WHERE source = 'seed' AND state IN ('spare', 'open', 'failed')) AS seeds_left
         FROM harvestman.job_url WHERE job_id = $1",
    )
    .bind(earlier)
    .fetch_one(client)
    .await?;
    let known = KnownUrls::read(&row)?;
    if let Some(refusal) = known.refusal() {
        return Ok(refusal);
    }
    let shard = query("SELECT progress FROM harvestman.shard WHERE job_id = $1 AND no = 0")
        .bind(earlier)
        .fetch_one(client)
        .await?;
    let progress = known.progress(parse_progress(&shard)?);
    insert_running_job(client, job, now).await?;
    query("UPDATE harvestman.shard SET progress = $2 WHERE job_id = $1")
        .bind_all(params![job.id, json_text(&progress)?])
        .execute(client)
        .await?;
    // The copied URLs are not in `url_count`, which bounds what the job adds.
    query("UPDATE harvestman.job SET next_position = $2 WHERE id = $1")
        .bind_all(params![job.id, known.next_position])
        .execute(client)
        .await?;
    query(
        "INSERT INTO harvestman.job_url (job_id, url_key, shard, state, position, depth, source, url)
         SELECT $2, url_key, 0, CASE WHEN left_over THEN 'spare' ELSE 'known' END, position, depth, source,
            CASE WHEN left_over THEN url END
         FROM (SELECT *, state IN ('spare', 'open', 'failed') AS left_over
            FROM harvestman.job_url WHERE job_id = $1) AS earlier
         WHERE NOT (left_over AND source = 'seed') ORDER BY url_key",
    )
    .bind_all(params![earlier, job.id])
    .execute(client)
    .await?;
    Ok(ContinueOutcome::Created(known.left))
}
