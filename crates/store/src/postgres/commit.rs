//! The commit of a batch, in three round trips whatever its size: (1) lock the job, fence, close the URLs that have an
//! outcome; (2) store outcomes, URLs and events, and admit; (3) write the job row, commit. Statements of a round trip
//! are sent together and run in order.
//!
//! Never admits more than the limit, never stores a page of a URL that is not open, never changes a job that has
//! ended, and never lets a former owner change anything.

mod batch_pages;
mod outcomes;
mod urls;

pub(crate) use batch_pages::{add_to_batch, insert_batch_pages};
pub(crate) use outcomes::PageRows;
pub(crate) use urls::{UrlRows, page_rows};

use std::collections::HashSet;

use futures_util::FutureExt;
use futures_util::future::{join, try_join, try_join_all, try_join4, try_join5};
use harvestman_core::crawl::{AdmittedUrl, Batch, CommitResponse, JobEnd, JobState, Snapshot};
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::account::Account;
use crate::commit::{CommitResult, Owner, add_warnings};
use crate::error::{CommitError, StoreError};
use crate::event::Event;
use crate::job::JobStatus;
use crate::lease::{Commits, Lease};
use crate::postgres::Postgres;
use crate::postgres::commit::outcomes::{OutcomeRows, closing};
use crate::postgres::credits::{add_to_sums, charge};
use crate::postgres::events::{EventLog, make_due};
use crate::postgres::query::{Query, query};
use crate::postgres::rows::{Columns, bad_column};
use crate::postgres::transaction::Transaction;
use crate::prepared::{PreparedSettled, json_text, prepare_settled};
use crate::rows::parse_status;
use crate::usage::UsageChange;
use crate::value::params;

/// Selects the commits that pass: those of the shard's owner, each once. With the feature `no-fence`, former owners
/// pass too; `cargo xtask faults` must detect that.
const FENCE: &str = match cfg!(feature = "no-fence") {
    false => "epoch = $3 AND last_batch = $4 - 1",
    true => "epoch >= $3",
};

/// A batch, ready to be written.
struct PreparedBatch {
    number: u64,
    settled: Vec<PreparedSettled>,
    offers: UrlRows,
    aliases: Vec<Uuid>,
    blocked: UrlRows,
    warnings: Vec<String>,
    progress: String,
    end: Option<JobEnd>,
}

impl PreparedBatch {
    async fn of(batch: &Batch) -> Result<Self, StoreError> {
        Ok(Self {
            number: batch.number,
            settled: prepare_settled(&batch.settled).await?,
            offers: UrlRows::of_offers(&batch.offers),
            aliases: batch
                .aliases
                .iter()
                .map(|key| Uuid::from_bytes(key.to_bytes()))
                .collect(),
            blocked: UrlRows::of_blocked(&batch.robots_blocked),
            warnings: batch.warnings.clone(),
            progress: json_text(&batch.progress)?,
            end: batch.end.clone(),
        })
    }
}

impl Commits for Postgres {
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
        let applied = self
            .detached(move |transaction| apply(transaction, owner, prepared, now, lease_ms).boxed())
            .await?;
        applied.response(batch.number, self.load_with_state(lease)).await
    }
}

async fn apply(
    transaction: Transaction,
    owner: Owner,
    batch: PreparedBatch,
    now: Timestamp,
    lease_ms: u64,
) -> Result<CommitResult, StoreError> {
    let outcome = match write(&transaction, owner, batch, now, lease_ms).await {
        Ok(WriteOutcome::Committed(applied, committed)) => {
            return transaction.ended_with(committed).await.map(|()| applied);
        }
        Ok(WriteOutcome::Refused(applied)) => Ok(applied),
        Err(error) => Err(error),
    };
    transaction.roll_back().await;
    outcome
}

enum WriteOutcome {
    /// The result if the COMMIT succeeded, and the outcome of the COMMIT.
    Committed(CommitResult, Result<(), StoreError>),
    /// Nothing may be stored.
    Refused(CommitResult),
}

async fn write(
    transaction: &Transaction,
    owner: Owner,
    mut batch: PreparedBatch,
    now: Timestamp,
    lease_ms: u64,
) -> Result<WriteOutcome, StoreError> {
    // First round trip.
    let begun = transaction.begin(now);
    let job = JobInCommit::select(owner.job).fetch_optional(transaction);
    let fence = fence(owner, &batch, now, lease_ms).execute(transaction);
    let closed = closing(owner.job, &batch).fetch_all(transaction);
    let ((begun, job), (fence, closed)) = join(join(begun, job), join(fence, closed)).await;
    // In the order of the statements, so that the first failure is reported.
    let (now, job, passed, closed) = (begun?, job?, fence? == 1, closed?);
    if !passed {
        let applied = match is_repeated(transaction, owner, batch.number).await? {
            true => CommitResult::Repeated,
            false => CommitResult::LeaseLost,
        };
        return Ok(WriteOutcome::Refused(applied));
    }
    let ended = CommitResult::Committed(Vec::new(), JobState::Ended);
    let Some((mut job, JobStatus::Scraping)) = job
        .as_ref()
        .map(|row| JobInCommit::read(row, owner))
        .transpose()?
    else {
        let committed = transaction.batch_execute("COMMIT").await;
        return Ok(WriteOutcome::Committed(
            ended,
            committed.map_err(StoreError::from),
        ));
    };

    // Second round trip.
    let open: Result<HashSet<_>, _> = closed.iter().map(|row| row.id("url_key")).collect();
    let mut outcomes = OutcomeRows::default();
    job.settle(std::mem::take(&mut batch.settled), open?, &mut outcomes, now);
    let mut admitted = job.store(transaction, &batch, outcomes, now).await?;

    // Third round trip, and one more if the owner was wrong about the end.
    job.warn(std::mem::take(&mut batch.warnings));
    let mut state = JobState::Running;
    if let Some(end) = batch.end {
        if job.open() == 0 {
            job.end(end, now);
            state = JobState::Ended;
        } else {
            // The owner believes that nothing is left: return every open URL.
            admitted = job.open_urls(transaction).await?;
        }
    }
    let mut last = job.last_statements(now)?;
    last.retain(|(_, wanted)| *wanted);
    let statements = try_join_all(
        last.into_iter()
            .map(|(statement, _)| statement.execute(transaction)),
    );
    let (written, committed) = join(statements, transaction.batch_execute("COMMIT")).await;
    // A statement that failed turns the COMMIT into a ROLLBACK.
    let outcome = written.and(committed.map_err(StoreError::from));
    Ok(WriteOutcome::Committed(
        CommitResult::Committed(admitted, state),
        outcome,
    ))
}

/// Returns the statement that extends the lease if epoch and batch number match.
fn fence(owner: Owner, batch: &PreparedBatch, now: Timestamp, lease_ms: u64) -> Query {
    query(format!(
        "UPDATE harvestman.shard SET last_batch = $4, lease_until = harvestman.clock($5) + $6, progress = $7
         WHERE job_id = $1 AND no = $2 AND {FENCE}",
    ))
    .bind_all(params![
        owner.job,
        owner.shard,
        owner.epoch,
        batch.number,
        now,
        lease_ms,
        batch.progress.clone(),
    ])
}

/// Returns whether this owner has committed this batch before.
async fn is_repeated(client: &Client, owner: Owner, number: u64) -> Result<bool, StoreError> {
    let row = query("SELECT epoch, last_batch FROM harvestman.shard WHERE job_id = $1 AND no = $2")
        .bind_all(params![owner.job, owner.shard])
        .fetch_optional(client)
        .await?;
    match row {
        Some(row) => Ok(row.count("epoch")? == owner.epoch && row.count("last_batch")? == number),
        None => Ok(false),
    }
}

/// The job row during a commit: read and locked once, changed in memory, written once.
pub(crate) struct JobInCommit {
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
    warnings: Vec<String>,
    /// Credits and pages of this commit.
    used: UsageChange,
    /// Status, error and time of the end, if this commit ends the job.
    ended: Option<(JobStatus, Option<String>, Timestamp)>,
}

impl JobInCommit {
    /// Returns the statement that reads and locks the row.
    fn select(job: JobId) -> Query {
        query(
            "SELECT status, team_id, key_id, kind, page_limit, admitted, completed, failed, credits, url_count,
                next_position, error_count, event_count, last_event_at, webhook_events, warnings, expires_at
             FROM harvestman.job WHERE id = $1 FOR NO KEY UPDATE",
        )
        .bind(job)
    }

    fn read(row: &Row, owner: Owner) -> Result<(Self, JobStatus), StoreError> {
        let status = parse_status(row)?;
        let job = Self {
            account: Account::read(row, owner.job)?,
            shard: owner.shard,
            page_limit: row.count("page_limit")?,
            admitted: row.count("admitted")?,
            completed: row.count("completed")?,
            failed: row.count("failed")?,
            credits: row.count("credits")?,
            url_count: row.count("url_count")?,
            next_position: row.count("next_position")?,
            error_count: row.count("error_count")?,
            events: EventLog::read(row)?,
            warnings: serde_json::from_str(&row.text("warnings")?).map_err(|_| bad_column("warnings"))?,
            used: UsageChange::default(),
            ended: None,
        };
        Ok((job, status))
    }

    /// Returns the number of admitted URLs without an outcome.
    fn open(&self) -> u64 {
        self.admitted.saturating_sub(self.completed + self.failed)
    }

    /// Adds warnings, each text once.
    fn warn(&mut self, sentences: impl IntoIterator<Item = String>) {
        add_warnings(&mut self.warnings, sentences);
    }

    fn event(&mut self, event: Event, now: Timestamp) {
        self.events.add(self.account.kind, event, None, now);
    }

    /// Stores outcomes and URLs, and admits. Returns the admitted URLs.
    async fn store(
        &mut self,
        client: &Client,
        batch: &PreparedBatch,
        outcomes: OutcomeRows,
        now: Timestamp,
    ) -> Result<Vec<AdmittedUrl>, StoreError> {
        let job = self.account.job;
        let OutcomeRows { pages, errors } = outcomes;
        // Room for new rows, counting each earlier row as if it were new: never too many.
        let room = self.rows_left();
        let blocked_room = room.saturating_sub(batch.aliases.len() as u64);
        let offers_room = blocked_room.saturating_sub(batch.blocked.len());
        let (some_aliases, some_blocked) = (!batch.aliases.is_empty(), batch.blocked.len() > 0);
        let free = self.page_limit.saturating_sub(self.admitted);
        let aliases_at = self.take_positions(batch.aliases.len() as u64);
        let blocked_at = self.take_positions(batch.blocked.len());
        let offers_at = self.take_positions(batch.offers.len());
        let has_pages = !pages.is_empty();
        let (versions, has_versions) = pages.versions(job, now);
        let ledger = charge(&self.account, "page", &pages.charges(), now);
        let urls = try_join4(
            urls::hide_aliases(job, &batch.aliases).execute_if(some_aliases, client),
            urls::insert_aliases(job, self.shard, aliases_at, &batch.aliases)
                .execute_if(some_aliases, client),
            urls::block(job, &batch.blocked).execute_if(some_blocked, client),
            urls::insert(
                job,
                self.shard,
                blocked_at,
                &batch.blocked,
                urls::NewUrl::Blocked,
                blocked_room,
            )
            .execute_if(some_blocked, client),
        );
        let admitting = async {
            match free + batch.offers.len() {
                0 => Ok(Vec::new()),
                _ => {
                    let offers = &batch.offers;
                    urls::admit(job, free, self.shard, offers_at, offers, offers_room)
                        .fetch_all(client)
                        .await
                }
            }
        };
        let outcomes = try_join5(
            admitting,
            versions.execute_if(has_versions, client),
            pages.insert(job, now).execute_if(has_pages, client),
            ledger.execute_if(has_pages, client),
            errors.insert(job, now).execute_if(!errors.is_empty(), client),
        );
        let ((_, alias_count, _, blocked_count), (admitted, ..)) = try_join(urls, outcomes).await?;
        let (offer_count, admitted) = urls::admitted(&admitted)?;
        self.url_count += alias_count + blocked_count + offer_count;
        for (list, room, added) in [
            (&batch.blocked, blocked_room, blocked_count),
            (&batch.offers, offers_room, offer_count),
        ] {
            if list.len() > room && added >= room {
                self.warn_if_left_out(client, list).await?;
            }
        }
        self.admitted += admitted.len() as u64;
        Ok(admitted)
    }

    /// Ends the job and adds its last event. Completed and failed crawls and batch scrapes end only here.
    fn end(&mut self, end: JobEnd, now: Timestamp) {
        let (status, error, event) = match end {
            JobEnd::Completed => (JobStatus::Completed, None, Event::Completed),
            JobEnd::Failed { error } => (JobStatus::Failed, Some(error), Event::Failed),
        };
        self.ended = Some((status, error, now));
        self.event(event, now);
    }

    /// Returns the statements that write the row and what depends on it, and whether each is needed. A job that did
    /// not end in this transaction is running.
    fn last_statements(mut self, now: Timestamp) -> Result<Vec<(Query, bool)>, StoreError> {
        let job = self.account.job;
        let (has_ended, has_events) = (self.ended.is_some(), !self.events.is_empty());
        let events = self.events.insert(job);
        let (status, error, ended_at) = match self.ended {
            None => (JobStatus::Scraping, None, None),
            Some((status, error, at)) => (status, error, Some(at.0)),
        };
        let row = query(
            "UPDATE harvestman.job SET admitted = $2, completed = $3, failed = $4, credits = $5, url_count = $6,
                next_position = $7, error_count = $8, event_count = $9, last_event_at = $10, warnings = $11,
                status = $12, error = $13, completed_at = $14, expires_at = $14 + retention_ms,
                sweep = $14 IS NOT NULL, page_limit = $15
             WHERE id = $1",
        )
        .bind_all(params![
            job,
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
        ]);
        Ok(vec![
            (row, true),
            (stop_shards(job), has_ended),
            (events, has_events),
            (make_due(job, self.events.last_at), has_events),
            (
                add_to_sums(&self.account, self.used, now),
                self.used != UsageChange::default(),
            ),
        ])
    }

    /// Writes the row outside a commit.
    async fn write(self, client: &Client, now: Timestamp) -> Result<(), StoreError> {
        for (statement, wanted) in self.last_statements(now)? {
            statement.execute_if(wanted, client).await?;
        }
        Ok(())
    }
}

/// Returns the statement that prevents any shard of the job from being leased again.
pub(crate) fn stop_shards(job: JobId) -> Query {
    query("UPDATE harvestman.shard SET active = false WHERE job_id = $1").bind(job)
}
