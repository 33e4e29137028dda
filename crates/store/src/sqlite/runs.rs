//! Runs of extract and agent. Only the owner ends one, with result, ledger entry and event in one
//! transaction.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::IdempotentRequest;
use crate::job::{Idempotency, NewJob};
use crate::lease::Lease;
use crate::rows::next_place_of;
use crate::run::{AgentOutcome, RESULT, RunEnd, RunStep, Runs, ThreadPlace};
use crate::sqlite::commit::insert_pages;
use crate::sqlite::credits::add_to_sums;
use crate::sqlite::jobs::{find_earlier_request, insert_running_job, stop_shards};
use crate::sqlite::prepared::{PreparedDocument, compress, prepare_events};
use crate::sqlite::query::query;
use crate::sqlite::{Sqlite, events};
use crate::usage::UsageChange;
use crate::value::params;

impl Runs for Sqlite {
    async fn create_agent(
        &self,
        job: &NewJob,
        thread: Option<Uuid>,
        idempotency: Option<&Idempotency>,
    ) -> Result<AgentOutcome, StoreError> {
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        self.write(move |connection| {
            Box::pin(async move {
                let key = request.idempotency.as_ref();
                if let Some(earlier) = find_earlier_request(connection, job.team, key, job.created_at).await?
                {
                    return Ok(AgentOutcome::Job(earlier));
                }
                let place = match thread {
                    Some(thread) => match next_place(connection, &job, thread).await? {
                        Ok(place) => Some(place),
                        Err(refusal) => return Ok(refusal),
                    },
                    None => ThreadPlace::first(&job),
                };
                insert_running_job(connection, &request, &job).await?;
                if let Some(place) = place {
                    query("UPDATE job SET thread_id = ?2, thread_turn = ?3 WHERE id = ?1")
                        .bind_all(params![job.id, place.thread, place.turn])
                        .execute(&mut *connection)
                        .await?;
                }
                Ok(AgentOutcome::CREATED)
            })
        })
        .await
    }

    async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError> {
        let body = compress(end.result.clone().into_iter().collect()).await?.pop();
        let document = body.map(PreparedDocument::of_text);
        let account = Account::of_lease(lease);
        let (shard, epoch) = (lease.shard, lease.epoch);
        self.write(move |connection| {
                Box::pin(async move {
                    if !owns(connection, account.job, shard, epoch).await? {
                        return Ok(false);
                    }
                    let (status, done, event) = end.outcome();
                    let row = query(
                        "UPDATE job SET status = ?2, admitted = 1, completed = ?3, failed = 1 - ?3, credits = ?4, error = ?5,
                            completed_at = ?6, expires_at = ?6 + retention_ms,
                            partial_result = CASE WHEN ?7 THEN NULL ELSE partial_result END
                         WHERE id = ?1 AND status = 'scraping'
                         RETURNING webhook_events, event_count, last_event_at",
                    )
                    .bind_all(params![
                        account.job,
                        status.as_str(),
                        done,
                        end.credits,
                        end.error,
                        now,
                        end.result.is_some(),
                    ])
                    .fetch_optional(&mut *connection)
                    .await?;
                    let Some(row) = row else { return Ok(false) };
                    stop_shards(connection, account.job).await?;
                    let page = NewPage {
                        seq: RESULT,
                        key: None,
                        document,
                        credits: end.credits,
                    };
                    insert_pages(connection, &account, vec![page], now).await?;
                    let mut log = EventLog::read(&row)?;
                    log.add(account.kind, event, end.event_data, now);
                    events::save(connection, account.job, &log).await?;
                    add_to_sums(connection, &account, UsageChange::credits(end.credits), now).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn add_run_step(&self, lease: &Lease, step: RunStep, now: Timestamp) -> Result<bool, StoreError> {
        let (job, kind, shard, epoch) = (lease.job, lease.kind, lease.shard, lease.epoch);
        let RunStep {
            events,
            result,
            action,
        } = step;
        let events = prepare_events(events).await?;
        self.write(move |connection| {
                Box::pin(async move {
                    if !owns(connection, job, shard, epoch).await? {
                        return Ok(false);
                    }
                    for event in events {
                        let (size, snapshot) = event.snapshot.unzip();
                        query("INSERT OR IGNORE INTO run_event (job_id, no, event, size_bytes, zstd) VALUES (?1, ?2, ?3, ?4, ?5)")
                            .bind_all(params![job, event.number, event.event, size, snapshot])
                            .execute(&mut *connection)
                            .await?;
                    }
                    if let Some(result) = result {
                        query("UPDATE job SET partial_result = ?2 WHERE id = ?1")
                            .bind_all(params![job, result])
                            .execute(&mut *connection)
                            .await?;
                    }
                    if let Some(action) = action {
                        let row = query("SELECT webhook_events, event_count, last_event_at FROM job WHERE id = ?1")
                            .bind(job)
                            .fetch_one(&mut *connection)
                            .await?;
                        let mut log = EventLog::read(&row)?;
                        log.add(kind, Event::Action, Some(action), now);
                        events::save(connection, job, &log).await?;
                    }
                    Ok(true)
                })
            })
            .await
    }
}

/// Returns the place of a run that continues a thread, or why it cannot.
async fn next_place(
    connection: &mut SqliteConnection,
    job: &NewJob,
    thread: Uuid,
) -> Result<Result<ThreadPlace, AgentOutcome>, StoreError> {
    let row = query(
        "SELECT coalesce(max(thread_turn), 0) AS runs,
            count(*) FILTER (WHERE expires_at IS NULL OR expires_at > ?3) AS stored,
            count(*) FILTER (WHERE status = 'scraping') AS running
         FROM job WHERE thread_id = ?1 AND team_id = ?2",
    )
    .bind_all(params![thread, job.team, job.created_at])
    .fetch_one(connection)
    .await?;
    next_place_of(&row, thread)
}

/// Returns whether this lease is still valid.
pub(crate) async fn owns(
    connection: &mut SqliteConnection,
    job: JobId,
    shard: u32,
    epoch: u64,
) -> Result<bool, StoreError> {
    let row = query("SELECT 1 FROM shard WHERE job_id = ?1 AND no = ?2 AND epoch = ?3 AND active = 1")
        .bind_all(params![job, shard, epoch])
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}
