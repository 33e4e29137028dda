//! The commit of a batch: fence, job row, outcomes, known URLs, admission, end, counters, credits. All of it
//! in one transaction, once, or not at all.
//!
//! Never admits more than the limit, never stores a page of a URL that is not open, never changes a job that
//! has ended, and never lets a former owner change anything.

mod batch_pages;
mod outcomes;
mod urls;

pub(crate) use batch_pages::{add_to_batch, insert_batch_pages};
pub(crate) use outcomes::insert_pages;

use sqlx::sqlite::SqliteConnection;

use harvestman_core::crawl::{Batch, CommitResponse, JobState, Snapshot};
use harvestman_core::time::Timestamp;

use crate::commit::{CommitResult, JobInCommit, Owner};
use crate::error::{CommitError, StoreError};
use crate::job::JobStatus;
use crate::lease::{Commits, Lease};
use crate::sql::jobs::stop_shards;
use crate::sql::{snapshot, transact};
use crate::sqlite::credits::add_to_sums;
use crate::sqlite::prepared::PreparedBatch;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::{Sqlite, events};
use crate::value::params;

impl Commits for Sqlite {
    async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError> {
        Ok(snapshot::load(self, lease).await?.0)
    }

    async fn commit(
        &self,
        lease: &Lease,
        batch: &Batch,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<CommitResponse, CommitError> {
        let owner = Owner::of(lease);
        let prepared = PreparedBatch::of(batch).await?;
        let until = now.0.saturating_add(lease_ms);
        let applied = transact!(self, |connection| {
            apply(connection, owner, prepared, now, until).await
        })?;
        applied.response(batch.number, snapshot::load(self, lease)).await
    }
}

async fn apply(
    connection: &mut SqliteConnection,
    owner: Owner,
    batch: PreparedBatch,
    now: Timestamp,
    until: u64,
) -> Result<CommitResult, StoreError> {
    match fence(connection, owner, &batch, until).await? {
        Fence::Passed => {}
        Fence::Repeated => return Ok(CommitResult::Repeated),
        Fence::Lost => return Ok(CommitResult::LeaseLost),
    }
    let mut job = match read(connection, owner, now).await? {
        Some((job, JobStatus::Scraping)) => job,
        _ => return Ok(CommitResult::Committed(Vec::new(), JobState::Ended)),
    };
    outcomes::settle(&mut job, connection, batch.settled, now).await?;
    urls::record_aliases(&mut job, connection, &batch.aliases).await?;
    urls::record_robots_blocked(&mut job, connection, &batch.robots_blocked).await?;
    urls::offer(&mut job, connection, &batch.offers).await?;
    let mut admitted = urls::admit(&mut job, connection).await?;
    job.warn(batch.warnings);
    let mut state = JobState::Running;
    if let Some(end) = batch.end {
        if job.open() == 0 {
            job.end(end, now);
            state = JobState::Ended;
        } else {
            // The owner believes that nothing is left: return every open URL.
            admitted = urls::open_urls(&job, connection).await?;
        }
    }
    write(connection, &job, now).await?;
    Ok(CommitResult::Committed(admitted, state))
}

enum Fence {
    Passed,
    Repeated,
    Lost,
}

/// Extends the lease if epoch and batch number match.
async fn fence(
    connection: &mut SqliteConnection,
    owner: Owner,
    batch: &PreparedBatch,
    until: u64,
) -> Result<Fence, StoreError> {
    let fitting = query(
        "UPDATE shard SET last_batch = ?4, lease_until = ?5, progress = ?6
         WHERE job_id = ?1 AND no = ?2 AND epoch = ?3 AND last_batch = ?4 - 1",
    )
    .bind_all(params![
        owner.job,
        owner.shard,
        owner.epoch,
        batch.number,
        until,
        batch.progress.clone(),
    ])
    .execute(&mut *connection)
    .await?;
    if fitting == 1 {
        return Ok(Fence::Passed);
    }
    let row = query("SELECT epoch, last_batch FROM shard WHERE job_id = ?1 AND no = ?2")
        .bind_all(params![owner.job, owner.shard])
        .fetch_optional(connection)
        .await?;
    match row {
        Some(row) if row.count("epoch")? == owner.epoch && row.count("last_batch")? == batch.number => {
            Ok(Fence::Repeated)
        }
        _ => Ok(Fence::Lost),
    }
}

/// Reads the row of a job that has not expired.
async fn read(
    connection: &mut SqliteConnection,
    owner: Owner,
    now: Timestamp,
) -> Result<Option<(JobInCommit, JobStatus)>, StoreError> {
    let row = query(
        "SELECT status, team_id, key_id, kind, page_limit, admitted, completed, failed, credits, url_count,
            next_position, error_count, event_count, last_event_at, webhook_events, warnings
         FROM job WHERE id = ?1 AND (expires_at IS NULL OR expires_at > ?2)",
    )
    .bind_all(params![owner.job, now])
    .fetch_optional(connection)
    .await?;
    row.map(|row| JobInCommit::read(&row, owner)).transpose()
}

/// Writes the row and what depends on it.
async fn write(
    connection: &mut SqliteConnection,
    job: &JobInCommit,
    now: Timestamp,
) -> Result<(), StoreError> {
    let id = job.account.job;
    events::insert(connection, id, &job.events).await?;
    if job.has_ended() {
        stop_shards(connection, id).await?;
    }
    query(
        "UPDATE job SET admitted = ?2, completed = ?3, failed = ?4, credits = ?5, url_count = ?6,
            next_position = ?7, error_count = ?8, event_count = ?9, last_event_at = ?10, warnings = ?11,
            status = ?12, error = ?13, completed_at = ?14, expires_at = ?14 + retention_ms,
            sweep = ?14 IS NOT NULL, page_limit = ?15
         WHERE id = ?1",
    )
    .bind_all(job.values()?)
    .execute(&mut *connection)
    .await?;
    add_to_sums(connection, &job.account, job.used, now).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_database;

    #[tokio::test]
    async fn updates_of_job_urls_search_by_primary_key() {
        let mut connection = test_database::empty().await;
        for statement in [outcomes::CLOSE_URLS, urls::BLOCK_URLS] {
            let plan = test_database::plan(&mut connection, statement).await;
            let by_key = "SEARCH job_url USING PRIMARY KEY (job_id=? AND url_key=?)";
            assert_eq!(plan[0], by_key, "{plan:?}");
        }
    }
}
