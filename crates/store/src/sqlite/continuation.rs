//! Crawls that continue an earlier one. The URLs of the earlier crawl are copied into the new job; those that still
//! have to be fetched become spare, so that the first commit admits them.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;

use crate::continuation::{Continuations, KnownUrls};
use crate::error::StoreError;
use crate::job::{ContinueOutcome, NewJob};
use crate::rows::parse_progress;
use crate::sql::jobs::insert_running_job;
use crate::sqlite::Sqlite;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

impl Continuations for Sqlite {
    async fn continue_crawl(&self, job: &NewJob, earlier: JobId) -> Result<ContinueOutcome, StoreError> {
        let job = job.clone();
        self.write(move |connection| Box::pin(async move { continue_crawl(connection, &job, earlier).await }))
            .await
    }

    async fn urls_left(&self, job: JobId) -> Result<u64, StoreError> {
        let row = query(
            "SELECT count(*) AS urls FROM job_url WHERE job_id = ?1 AND state IN ('spare', 'open', 'failed')",
        )
        .bind(job)
        .fetch_one(&self.readers)
        .await?;
        row.count("urls")
    }
}

async fn continue_crawl(
    connection: &mut SqliteConnection,
    job: &NewJob,
    earlier: JobId,
) -> Result<ContinueOutcome, StoreError> {
    let row = query(
        "SELECT count(*) AS urls, coalesce(max(position), 0) AS last_position, progress,
            coalesce(sum(state IN ('spare', 'open', 'failed')), 0) AS left_over,
            coalesce(sum(source = 'seed' AND state IN ('spare', 'open', 'failed')), 0) AS seeds_left
         FROM job_url JOIN shard ON shard.job_id = job_url.job_id AND no = 0 WHERE job_url.job_id = ?1",
    )
    .bind(earlier)
    .fetch_one(&mut *connection)
    .await?;
    let known = KnownUrls::read(&row)?;
    if let Some(refusal) = known.refusal() {
        return Ok(refusal);
    }
    let progress = known.progress(parse_progress(&row)?);
    insert_running_job(connection, job, job.created_at).await?;
    query("UPDATE shard SET progress = ?2 WHERE job_id = ?1")
        .bind_all(params![job.id, json_text(&progress)?])
        .execute(&mut *connection)
        .await?;
    // The copied URLs are not in `url_count`, which bounds what the job adds.
    query("UPDATE job SET next_position = ?2 WHERE id = ?1")
        .bind_all(params![job.id, known.next_position])
        .execute(&mut *connection)
        .await?;
    query(
        "INSERT INTO job_url (job_id, url_key, shard, state, position, depth, source, host_key, url)
         SELECT ?2, url_key, 0, iif(left_over, 'spare', 'known'), position, depth, source,
            iif(left_over, host_key, NULL), iif(left_over, url, NULL)
         FROM (SELECT *, state IN ('spare', 'open', 'failed') AS left_over FROM job_url WHERE job_id = ?1)
         WHERE NOT (left_over AND source = 'seed') ORDER BY url_key",
    )
    .bind_all(params![earlier, job.id])
    .execute(connection)
    .await?;
    Ok(ContinueOutcome::Created(known.left))
}
