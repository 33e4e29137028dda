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
use tokio_postgres::Row;
use uuid::Uuid;

use crate::commit::{CommitResult, JobInCommit, NewOutcomes, Owner};
use crate::error::{CommitError, StoreError};
use crate::job::JobStatus;
use crate::lease::{Commits, Lease};
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::commit::outcomes::{closing, insert_errors};
use crate::postgres::credits::{add_to_sums, charge};
use crate::postgres::events;
use crate::postgres::query::{Query, query};
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::prepared::{PreparedUrl, json_text, prepare_urls};
use crate::sql::outbox::make_due;
use crate::sql::snapshot;
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
    settled: Vec<PreparedUrl>,
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
            settled: prepare_urls(&batch.settled).await?,
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
        let applied = self
            .detached(move |transaction| apply(transaction, owner, prepared, now, lease_ms).boxed())
            .await?;
        applied.response(batch.number, snapshot::load(self, lease)).await
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
    let job = select(owner.job).fetch_optional(transaction);
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
        return Ok(WriteOutcome::Committed(ended, committed));
    };

    // Second round trip.
    let key = |row: &Row| Ok(row.url_key("url_key")?.to_bytes());
    let open: Result<HashSet<_>, StoreError> = closed.iter().map(key).collect();
    let outcomes = job.settle(std::mem::take(&mut batch.settled), open?, now);
    let mut admitted = store(&mut job, transaction, &batch, outcomes, now).await?;

    // Third round trip, and one more if the owner was wrong about the end.
    job.warn(std::mem::take(&mut batch.warnings));
    let mut state = JobState::Running;
    if let Some(end) = batch.end {
        if job.open() == 0 {
            job.end(end, now);
            state = JobState::Ended;
        } else {
            // The owner believes that nothing is left: return every open URL.
            admitted = urls::open_urls(&job, transaction).await?;
        }
    }
    let mut last = last_statements(&job, now)?;
    last.retain(|(_, wanted)| *wanted);
    let statements = try_join_all(
        last.into_iter()
            .map(|(statement, _)| statement.execute(transaction)),
    );
    let (written, committed) = join(statements, transaction.batch_execute("COMMIT")).await;
    // A statement that failed turns the COMMIT into a ROLLBACK.
    let outcome = written.and(committed);
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

/// Returns the statement that reads and locks the row of a job.
fn select(job: JobId) -> Query {
    query(
        "SELECT status, team_id, key_id, kind, page_limit, admitted, completed, failed, credits, url_count,
            next_position, error_count, event_count, last_event_at, webhook_events, warnings, expires_at
         FROM harvestman.job WHERE id = $1 FOR NO KEY UPDATE",
    )
    .bind(job)
}

/// Stores outcomes and URLs, and admits. Returns the admitted URLs.
async fn store(
    job: &mut JobInCommit,
    client: &Client,
    batch: &PreparedBatch,
    outcomes: NewOutcomes,
    now: Timestamp,
) -> Result<Vec<AdmittedUrl>, StoreError> {
    let id = job.account.job;
    let (pages, errors) = (PageRows::of(outcomes.pages), outcomes.errors);
    // Room for new rows, counting each earlier row as if it were new: never too many.
    let room = job.rows_left();
    let blocked_room = room.saturating_sub(batch.aliases.len() as u64);
    let offers_room = blocked_room.saturating_sub(batch.blocked.len());
    let (some_aliases, some_blocked) = (!batch.aliases.is_empty(), batch.blocked.len() > 0);
    let free = job.page_limit.saturating_sub(job.admitted);
    let aliases_at = job.take_positions(batch.aliases.len() as u64);
    let blocked_at = job.take_positions(batch.blocked.len());
    let offers_at = job.take_positions(batch.offers.len());
    let has_pages = !pages.is_empty();
    let (versions, has_versions) = pages.versions(id, now);
    let ledger = charge(&job.account, "page", &pages.charges(), now);
    let urls = try_join4(
        urls::hide_aliases(id, &batch.aliases).execute_if(some_aliases, client),
        urls::insert_aliases(id, job.shard, aliases_at, &batch.aliases).execute_if(some_aliases, client),
        urls::block(id, &batch.blocked).execute_if(some_blocked, client),
        urls::insert(
            id,
            job.shard,
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
                urls::admit(id, free, job.shard, offers_at, offers, offers_room)
                    .fetch_all(client)
                    .await
            }
        }
    };
    let outcomes = try_join5(
        admitting,
        versions.execute_if(has_versions, client),
        pages.insert(id, now).execute_if(has_pages, client),
        ledger.execute_if(has_pages, client),
        insert_errors(id, &errors, now).execute_if(!errors.is_empty(), client),
    );
    let ((_, alias_count, _, blocked_count), (admitted, ..)) = try_join(urls, outcomes).await?;
    let (offer_count, admitted) = urls::admitted(&admitted)?;
    job.url_count += alias_count + blocked_count + offer_count;
    for (list, room, added) in [
        (&batch.blocked, blocked_room, blocked_count),
        (&batch.offers, offers_room, offer_count),
    ] {
        if list.len() > room && added >= room {
            urls::warn_if_left_out(job, client, list).await?;
        }
    }
    job.admitted += admitted.len() as u64;
    Ok(admitted)
}

/// Returns the statements that write the row and what depends on it, and whether each is needed.
fn last_statements(job: &JobInCommit, now: Timestamp) -> Result<Vec<(Query, bool)>, StoreError> {
    let id = job.account.job;
    let has_events = !job.events.added.is_empty();
    let row = query(
        "UPDATE harvestman.job SET admitted = $2, completed = $3, failed = $4, credits = $5, url_count = $6,
            next_position = $7, error_count = $8, event_count = $9, last_event_at = $10, warnings = $11,
            status = $12, error = $13, completed_at = $14, expires_at = $14 + retention_ms,
            sweep = $14 IS NOT NULL, page_limit = $15
         WHERE id = $1",
    )
    .bind_all(job.values()?);
    Ok(vec![
        (row, true),
        (stop_shards(id), job.has_ended()),
        (events::insert(id, &job.events), has_events),
        (make_due(id, job.events.last_at).into(), has_events),
        (
            add_to_sums(&job.account, job.used, now),
            job.used != UsageChange::default(),
        ),
    ])
}

/// Writes the row outside a commit.
async fn write_row(client: &Client, job: &JobInCommit, now: Timestamp) -> Result<(), StoreError> {
    for (statement, wanted) in last_statements(job, now)? {
        statement.execute_if(wanted, client).await?;
    }
    Ok(())
}

/// Returns the statement that prevents any shard of the job from being leased again.
pub(crate) fn stop_shards(job: JobId) -> Query {
    query("UPDATE harvestman.shard SET active = false WHERE job_id = $1").bind(job)
}
