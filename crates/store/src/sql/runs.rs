//! Runs of extract and agent. Only the owner ends one, with result, ledger entry and event in one transaction.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::account::Account;
use crate::columns::Columns;
use crate::commit::{NewPage, Owner};
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::idempotency::IdempotentRequest;
use crate::job::{Idempotency, NewJob};
use crate::lease::Lease;
use crate::prepared::{PreparedDocument, compress, prepare_events};
use crate::rows::next_place_of;
use crate::rows::{decompress_texts, run_row};
use crate::run::{AgentOutcome, RunEnd, RunRow, RunStep, Runs, ThreadPlace};
use crate::sql::jobs::{insert_running_job, stop_shards};
use crate::sql::leases::owned_job;
use crate::sql::{Connection, Database, Snapshot, Transaction, statement, transact};
use crate::usage::UsageChange;
use crate::value::params;

/// Number of the page that holds the result of a run.
const RESULT: u64 = 1;

macro_rules! select_runs {
    ($rest:literal) => {
        statement!(concat!(
            "SELECT job.id, kind, status, request, error, credits, job.created_at, expires_at, zero_data_retention,
                origin, integration, completed_at, thread_id, thread_turn
             FROM harvestman.job LEFT JOIN harvestman.activity ON activity.job_id = job.id ",
            $rest
        ))
    };
}

impl<D: Database> Runs for D {
    async fn create_agent(
        &self,
        job: &NewJob,
        thread: Option<Uuid>,
        idempotency: Option<&Idempotency>,
    ) -> Result<AgentOutcome, StoreError> {
        let job = job.clone();
        let request = IdempotentRequest::of(&job, idempotency);
        transact!(self, job.created_at, |transaction, now| {
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
                statement!("UPDATE harvestman.job SET thread_id = $2, thread_turn = $3 WHERE id = $1")
                    .bind_all(params![job.id, place.thread, place.turn])
                    .execute(transaction)
                    .await?;
            }
            Ok(AgentOutcome::CREATED)
        })
    }

    async fn finish_run(&self, lease: &Lease, end: RunEnd, now: Timestamp) -> Result<bool, StoreError> {
        let body = compress(end.result.clone().into_iter().collect()).await?.pop();
        let document = body.map(PreparedDocument::of_text);
        let account = Account::of_lease(lease);
        let owner = Owner::of(lease);
        transact!(self, now, |transaction, now| {
            let Some(mut log) = owned_log(transaction, owner).await? else {
                return Ok(false);
            };
            let (status, done, event) = end.outcome();
            statement!(
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
            stop_shards(transaction, account.job).await?;
            let page = NewPage {
                seq: RESULT,
                key: None,
                document,
                credits: end.credits,
            };
            transaction.store_pages(&account, vec![page], now).await?;
            log.add(account.kind, event, end.event_data, now);
            transaction.save_events(account.job, &log).await?;
            transaction
                .add_to_sums(&account, UsageChange::credits(end.credits), now)
                .await?;
            Ok(true)
        })
    }

    async fn add_run_step(&self, lease: &Lease, step: RunStep, now: Timestamp) -> Result<bool, StoreError> {
        let (job, kind, owner) = (lease.job, lease.kind, Owner::of(lease));
        let RunStep {
            events,
            result,
            action,
        } = step;
        let events = prepare_events(events).await?;
        transact!(self, now, |transaction, now| {
            let Some(mut log) = owned_log(transaction, owner).await? else {
                return Ok(false);
            };
            for event in events {
                let (size, snapshot) = event.snapshot.unzip();
                statement!(
                    "INSERT INTO harvestman.run_event (job_id, no, event, size_bytes, zstd)
                     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                )
                .bind_all(params![job, event.number, event.event, size, snapshot])
                .execute(transaction)
                .await?;
            }
            if let Some(result) = result {
                statement!("UPDATE harvestman.job SET partial_result = $2 WHERE id = $1")
                    .bind_all(params![job, result])
                    .execute(transaction)
                    .await?;
            }
            if action.is_some() {
                log.add(kind, Event::Action, action, now);
                transaction.save_events(job, &log).await?;
            }
            Ok(true)
        })
    }

    async fn run_events(&self, job: JobId) -> Result<Vec<String>, StoreError> {
        let rows = statement!("SELECT event FROM harvestman.run_event WHERE job_id = $1 ORDER BY no")
            .bind(job)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(|row| row.text("event")).collect()
    }

    async fn run_snapshot(&self, job: JobId, number: u64) -> Result<Option<String>, StoreError> {
        let body = statement!(
            "SELECT size_bytes, zstd FROM harvestman.run_event WHERE job_id = $1 AND no = $2 AND zstd IS NOT NULL",
        )
        .bind_all(params![job, number])
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(decompress_texts(body).await?.pop())
    }

    async fn run(&self, team: TeamId, id: JobId, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let row = select_runs!(
            "WHERE job.id = $1 AND job.team_id = $2 AND kind IN ('extract', 'agent')
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))"
        )
        .bind_all(params![id, team, now])
        .fetch_optional(&mut snapshot)
        .await?;
        let body = statement!(
            "SELECT size_bytes, zstd FROM harvestman.page WHERE job_id = $1 AND seq = $2 AND zstd IS NOT NULL",
            sqlite: "SELECT size_bytes, zstd FROM page JOIN body ON body.id = page.body_id WHERE job_id = ?1 AND seq = ?2",
        )
        .bind_all(params![id, RESULT])
        .fetch_all(&mut snapshot)
        .await?;
        let partial = statement!("SELECT partial_result FROM harvestman.job WHERE id = $1")
            .bind(id)
            .fetch_optional(&mut snapshot)
            .await?;
        snapshot.end().await?;
        let Some(row) = row else { return Ok(None) };
        let mut run = run_row(&row)?;
        run.result = match (decompress_texts(body).await?.pop(), partial) {
            (None, Some(row)) => row.maybe_text("partial_result")?,
            (result, _) => result,
        };
        Ok(Some(run))
    }

    async fn thread(&self, team: TeamId, thread: Uuid, now: Timestamp) -> Result<Vec<RunRow>, StoreError> {
        select_runs!(
            "WHERE thread_id = $1 AND job.team_id = $2
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))
             ORDER BY thread_turn"
        )
        .bind_all(params![thread, team, now])
        .read_all(&mut self.reader().await?, run_row)
        .await
    }

    async fn agents(
        &self,
        team: TeamId,
        before: Option<Timestamp>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<RunRow>, StoreError> {
        select_runs!(
            "WHERE job.team_id = $1 AND kind = 'agent' AND ($2 IS NULL OR job.created_at < $2)
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))
             ORDER BY job.created_at DESC, job.id DESC LIMIT $4"
        )
        .bind_all(params![team, before, now, limit])
        .read_all(&mut self.reader().await?, run_row)
        .await
    }
}

/// Locks the thread and returns the place of a run that continues it, or why it cannot.
async fn next_place(
    connection: &mut impl Transaction,
    job: &NewJob,
    thread: Uuid,
    now: Timestamp,
) -> Result<Result<ThreadPlace, AgentOutcome>, StoreError> {
    // The statement after this one sees a run that another transaction added while this one waited.
    statement!(
        "SELECT 1 FROM harvestman.job WHERE thread_id = $1 AND team_id = $2 ORDER BY thread_turn LIMIT 1
         FOR NO KEY UPDATE",
    )
    .bind_all(params![thread, job.team])
    .lock(connection)
    .await?;
    let row = statement!(
        "SELECT coalesce(max(thread_turn), 0) AS runs,
            count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $3) AS stored,
            count(*) FILTER (WHERE status = 'scraping') AS running
         FROM harvestman.job WHERE thread_id = $1 AND team_id = $2",
    )
    .bind_all(params![thread, job.team, now])
    .fetch_one(connection)
    .await?;
    next_place_of(&row, thread)
}

/// Locks the job and returns its event log if this lease is still valid and the job is running.
async fn owned_log(connection: &mut impl Connection, owner: Owner) -> Result<Option<EventLog>, StoreError> {
    let row = owned_job(connection, owner).await?;
    row.map(|row| EventLog::read(&row)).transpose()
}
