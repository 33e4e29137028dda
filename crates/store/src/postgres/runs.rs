//! Runs of extract and agent. Only the owner ends one, with result, ledger entry and event in one transaction.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::IdempotentRequest;
use crate::job::{Idempotency, NewJob};
use crate::lease::Lease;
use crate::postgres::commit::{PageRows, stop_shards};
use crate::postgres::credits::add_to_sums;
use crate::postgres::jobs::insert_running_job;
use crate::postgres::query::query;
use crate::postgres::{Postgres, events};
use crate::prepared::{PreparedDocument, compress, prepare_events};
use crate::rows::next_place_of;
use crate::run::{AgentOutcome, RESULT, RunEnd, RunStep, Runs, ThreadPlace};
use crate::usage::UsageChange;
use crate::value::params;

impl Runs for Postgres {
    async fn create_agent(
        &self,
        job: &NewJob,
        thread: Option<Uuid>,
        idempotency: Option<&Idempotency>,
    ) -> Result<AgentOutcome, StoreError> {
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        self.write(job.created_at, move |transaction, now| {
            Box::pin(async move {
                let place = match thread {
                    Some(thread) => next_place(transaction, &job, thread, now).await?.map(Some),
                    None => Ok(ThreadPlace::first(&job)),
                };
                // An earlier request with the key may have started the run of the thread that is in progress.
                let place = match place {
                    Ok(place) => place,
                    Err(refusal) => {
                        let earlier = request.find(transaction, now).await?;
                        return Ok(earlier.map_or(refusal, AgentOutcome::Job));
                    }
                };
                if let Some(earlier) = request.store_or_find(transaction, now).await? {
                    return Ok(AgentOutcome::Job(earlier));
                }
                insert_running_job(transaction, &job, now).await?;
                if let Some(place) = place {
                    query("UPDATE harvestman.job SET thread_id = $2, thread_turn = $3 WHERE id = $1")
                        .bind_all(params![job.id, place.thread, place.turn])
                        .execute(transaction)
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
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let Some(mut log) = owned_log(transaction, account.job, shard, epoch).await? else {
                    return Ok(false);
                };
                let (status, done, event) = end.outcome();
                query(
                    "UPDATE harvestman.job SET status = $2, admitted = 1, completed = $3, failed = 1 - $3,
                        credits = $4, error = $5, completed_at = $6, expires_at = $6 + retention_ms,
                        partial_result = CASE WHEN $7 THEN NULL ELSE partial_result END
                     WHERE id = $1",
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
                .execute(transaction)
                .await?;
                stop_shards(account.job).execute(transaction).await?;
                let page = NewPage {
                    seq: RESULT,
                    key: None,
                    document,
                    credits: end.credits,
                };
                PageRows::of(vec![page]).store(transaction, &account, now).await?;
                log.add(account.kind, event, end.event_data, now);
                events::save(transaction, account.job, &log).await?;
                add_to_sums(&account, UsageChange::credits(end.credits), now)
                    .execute_if(end.credits > 0, transaction)
                    .await?;
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
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let Some(mut log) = owned_log(transaction, job, shard, epoch).await? else {
                    return Ok(false);
                };
                for event in events {
                    let (size, snapshot) = event.snapshot.unzip();
                    query(
                        "INSERT INTO harvestman.run_event (job_id, no, event, size_bytes, zstd)
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                    )
                    .bind_all(params![job, event.number, event.event, size, snapshot])
                    .execute(transaction)
                    .await?;
                }
                if let Some(result) = result {
                    query("UPDATE harvestman.job SET partial_result = $2 WHERE id = $1")
                        .bind_all(params![job, result])
                        .execute(transaction)
                        .await?;
                }
                if action.is_some() {
                    log.add(kind, Event::Action, action, now);
                    events::save(transaction, job, &log).await?;
                }
                Ok(true)
            })
        })
        .await
    }
}

/// Locks the thread and returns the place of a run that continues it, or why it cannot.
async fn next_place(
    client: &Client,
    job: &NewJob,
    thread: Uuid,
    now: Timestamp,
) -> Result<Result<ThreadPlace, AgentOutcome>, StoreError> {
    // The statement after this one sees a run that another transaction added while this one waited.
    query(
        "SELECT 1 FROM harvestman.job WHERE thread_id = $1 AND team_id = $2 ORDER BY thread_turn LIMIT 1
         FOR NO KEY UPDATE",
    )
    .bind_all(params![thread, job.team])
    .fetch_optional(client)
    .await?;
    let row = query(
        "SELECT coalesce(max(thread_turn), 0) AS runs,
            count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $3) AS stored,
            count(*) FILTER (WHERE status = 'scraping') AS running
         FROM harvestman.job WHERE thread_id = $1 AND team_id = $2",
    )
    .bind_all(params![thread, job.team, now])
    .fetch_one(client)
    .await?;
    next_place_of(&row, thread)
}

/// Locks the job and returns its event log if this lease is still valid and the job is running.
pub(super) async fn owned_log(
    client: &Client,
    job: JobId,
    shard: u32,
    epoch: u64,
) -> Result<Option<EventLog>, StoreError> {
    let row = query(
        "SELECT webhook_events, event_count, last_event_at FROM harvestman.job
         WHERE id = $1 AND status = 'scraping' FOR NO KEY UPDATE",
    )
    .bind(job)
    .fetch_optional(client)
    .await?;
    let owned = query(
        "SELECT 1 FROM harvestman.shard WHERE job_id = $1 AND no = $2 AND epoch = $3 AND active
         FOR NO KEY UPDATE",
    )
    .bind_all(params![job, shard, epoch])
    .fetch_optional(client)
    .await?;
    row.filter(|_| owned.is_some())
        .map(|row| EventLog::read(&row))
        .transpose()
}
