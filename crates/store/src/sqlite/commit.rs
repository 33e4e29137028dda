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

use harvestman_core::crawl::{Batch, CommitResponse, JobEnd, JobState, Snapshot};
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::commit::{CommitResult, Owner, add_warnings};
use crate::error::{CommitError, StoreError};
use crate::job::{JobStatus, WebhookEvents};
use crate::lease::{Commits, Lease};
use crate::rows::parse_status;
use crate::sqlite::Sqlite;
use crate::sqlite::credits::add_to_sums;
use crate::sqlite::events::{Event, EventLog};
use crate::sqlite::jobs::stop_shards;
use crate::sqlite::prepared::{PreparedBatch, json_text};
use crate::sqlite::query::query;
use crate::sqlite::rows::{Columns, bad_column};
use crate::usage::UsageChange;
use crate::value::params;

impl Commits for Sqlite {
    async fn load(&self, lease: &Lease) -> Result<Snapshot, StoreError> {
        Ok(self.load_with_state(lease).await?.0)
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
        let applied = self
            .writer
            .run(move |connection| Box::pin(apply(connection, owner, prepared, now, until)))
            .await?;
        applied.response(batch.number, self.load_with_state(lease)).await
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
    let mut job = match JobInCommit::read(connection, owner.job, owner.shard).await? {
        Some((job, JobStatus::Scraping)) => job,
        _ => return Ok(CommitResult::Committed(Vec::new(), JobState::Ended)),
    };
    job.settle(connection, batch.settled, now).await?;
    job.record_aliases(connection, &batch.aliases).await?;
    job.record_robots_blocked(connection, &batch.robots_blocked)
        .await?;
    job.offer(connection, &batch.offers).await?;
    let mut admitted = job.admit(connection).await?;
    job.warn(batch.warnings);
    let mut state = JobState::Running;
    if let Some(end) = batch.end {
        if job.open() == 0 {
            job.end(connection, end, now).await?;
            state = JobState::Ended;
        } else {
            // The owner believes that nothing is left: return every open URL.
            admitted = job.open_urls(connection).await?;
        }
    }
    job.write(connection, now).await?;
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

/// The job row during a commit: read once, changed in memory, written once.
struct JobInCommit {
    account: Account,
    shard: u32,
    page_limit: u64,
    admitted: u64,
    completed: u64,
    failed: u64,
    credits: u64,
    url_count: u64,
    next_position: u64,
    error_count: u64,
    events: EventLog,
    webhook: WebhookEvents,
    warnings: Vec<String>,
    /// Credits and pages of this commit.
    used: UsageChange,
    /// Status, error and time of the end, if this commit ends the job.
    ended: Option<(JobStatus, Option<String>, Timestamp)>,
}

impl JobInCommit {
    async fn read(
        connection: &mut SqliteConnection,
        job: JobId,
        shard: u32,
    ) -> Result<Option<(Self, JobStatus)>, StoreError> {
        let row = query(
            "SELECT status, team_id, key_id, kind, page_limit, admitted, completed, failed, credits, url_count,
                next_position, error_count, event_count, last_event_at, webhook_events, warnings
             FROM job WHERE id = ?1",
        )
        .bind(job)
        .fetch_optional(connection)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let webhook =
            i64::try_from(row.count("webhook_events")?).map_err(|_| bad_column("webhook_events"))?;
        let status = parse_status(&row)?;
        let job = Self {
            account: Account::read(&row, job)?,
            shard,
            page_limit: row.count("page_limit")?,
            admitted: row.count("admitted")?,
            completed: row.count("completed")?,
            failed: row.count("failed")?,
            credits: row.count("credits")?,
            url_count: row.count("url_count")?,
            next_position: row.count("next_position")?,
            error_count: row.count("error_count")?,
            events: EventLog {
                count: row.count("event_count")?,
                last_at: row.count("last_event_at")?,
            },
            webhook: WebhookEvents::from_bits(webhook),
            warnings: serde_json::from_str(&row.text("warnings")?).map_err(|_| bad_column("warnings"))?,
            used: UsageChange::default(),
            ended: None,
        };
        Ok(Some((job, status)))
    }

    /// Returns the number of admitted URLs without an outcome.
    fn open(&self) -> u64 {
        self.admitted.saturating_sub(self.completed + self.failed)
    }

    /// Adds warnings, each text once.
    fn warn(&mut self, sentences: impl IntoIterator<Item = String>) {
        add_warnings(&mut self.warnings, sentences);
    }

    async fn event(
        &mut self,
        connection: &mut SqliteConnection,
        event: Event,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if event.is_subscribed(self.webhook) {
            self.events
                .add(connection, self.account.job, self.account.kind, event, now)
                .await?;
        }
        Ok(())
    }

    /// Ends the job and adds its last event. Completed and failed crawls and batch scrapes end only here.
    async fn end(
        &mut self,
        connection: &mut SqliteConnection,
        end: JobEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (status, error, event) = match end {
            JobEnd::Completed => (JobStatus::Completed, None, Event::Completed),
            JobEnd::Failed { error } => (JobStatus::Failed, Some(error), Event::Failed),
        };
        self.ended = Some((status, error, now));
        self.event(connection, event, now).await?;
        stop_shards(connection, self.account.job).await
    }

    /// Writes the row. A job that did not end in this transaction is running.
    async fn write(self, connection: &mut SqliteConnection, now: Timestamp) -> Result<(), StoreError> {
        let (status, error, ended_at) = match self.ended {
            None => (JobStatus::Scraping, None, None),
            Some((status, error, at)) => (status, error, Some(at)),
        };
        query(
            "UPDATE job SET admitted = ?2, completed = ?3, failed = ?4, credits = ?5, url_count = ?6,
                next_position = ?7, error_count = ?8, event_count = ?9, last_event_at = ?10, warnings = ?11,
                status = ?12, error = ?13, completed_at = ?14, expires_at = ?14 + retention_ms,
                sweep = ?14 IS NOT NULL, page_limit = ?15
             WHERE id = ?1",
        )
        .bind_all(params![
            self.account.job,
            self.admitted,
            self.completed,
            self.failed,
            self.credits,
            self.url_count,
            self.next_position,
            self.error_count,
            self.events.count,
            self.events.last_at,
            json_text(&self.warnings)?,
            status.as_str(),
            error,
            ended_at,
            self.page_limit,
        ])
        .execute(&mut *connection)
        .await?;
        add_to_sums(connection, &self.account, self.used, now).await
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sqlx::{AssertSqlSafe, Connection};

    use super::*;
    use crate::sqlite::migrate::{self, MIGRATIONS};

    #[tokio::test]
    async fn updates_of_job_urls_search_by_primary_key() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        migrate::migrate(&mut connection, Path::new(":memory:"), MIGRATIONS)
            .await
            .unwrap();
        for statement in [outcomes::CLOSE_URLS, urls::BLOCK_URLS] {
            let plan = query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            let plan: Vec<String> = plan.iter().map(|step| step.text("detail").unwrap()).collect();
            let by_key = "SEARCH job_url USING PRIMARY KEY (job_id=? AND url_key=?)";
            assert_eq!(plan[0], by_key, "{plan:?}");
        }
    }
}
