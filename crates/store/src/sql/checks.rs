//! Checks of monitors. Updating the next time of a monitor claims its due check; only the owner of the newest lease
//! changes a check. Rows are locked in the order monitor, job, check.

use harvestman_core::api::monitor_response::{CheckStatus, CheckSummary, PageStatus};
use harvestman_core::ids::{JobId, MonitorId, ScrapeId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;

use crate::account::{Account, portion_seq};
use crate::columns::Columns;
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::{JobKind, JobStatus};
use crate::lease::DAMAGED_JOB;
use crate::monitor::{
    CheckEnd, CheckLease, CheckPageChunk, CheckPortion, CheckRow, Checks, NewCheck, StartOutcome,
};
use crate::prepared::json_text;
use crate::rows::{check_event, check_lease, check_row, check_summary, missing_url, page_chunk, target_page};
use crate::sql::jobs::{end_early, insert_job};
use crate::sql::monitors::{fail_check, forget_targets};
use crate::sql::{CheckPlace, Connection, Database, Snapshot, Transaction, statement, transact};
use crate::value::params;

impl<D: Database> Checks for D {
    async fn start_check(&self, check: &NewCheck) -> Result<StartOutcome, StoreError> {
        let check = check.clone();
        let jobs = json_text(&check.jobs)?;
        transact!(self, check.job.created_at, |transaction, _| {
            start(transaction, check, jobs).await
        })
    }

    async fn lease_checks(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u64,
    ) -> Result<Vec<CheckLease>, StoreError> {
        let free = statement!(
            "SELECT 1 FROM harvestman.monitor_check WHERE lease_until <= harvestman.clock($1) LIMIT 1",
        )
        .bind(now)
        .fetch_optional(&mut self.reader().await?)
        .await?;
        if free.is_none() {
            return Ok(Vec::new());
        }
        let leased = transact!(self, now, |transaction, now| {
            lease(transaction, (now, lease_ms, limit)).await
        })?;
        let mut leases = Vec::new();
        for leased in leased {
            match leased {
                Ok(lease) => leases.push(lease),
                Err(check) => {
                    // Not in the same transaction, which has locked the check before its job.
                    let ended = transact!(self, now, |transaction, now| {
                        fail_damaged(transaction, check, now).await
                    });
                    if let Err(error) = ended {
                        tracing::warn!(check.id = %check, %error, "cannot end a damaged check; retrying when its lease expires");
                    }
                }
            }
        }
        Ok(leases)
    }

    async fn renew_check(
        &self,
        lease: &CheckLease,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<bool, StoreError> {
        let done = statement!(
            "UPDATE harvestman.monitor_check SET lease_until = harvestman.clock($3) + $4
             WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL",
        )
        .bind_all(params![lease.check, lease.epoch, now, lease_ms])
        .write(self)
        .await?;
        Ok(done == 1)
    }

    async fn begin_check(&self, lease: &CheckLease, now: Timestamp) -> Result<bool, StoreError> {
        let done = statement!(
            "UPDATE harvestman.monitor_check SET status = 'running',
                started_at = coalesce(started_at, harvestman.clock($3)), updated_at = harvestman.clock($3)
             WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL",
        )
        .bind_all(params![lease.check, lease.epoch, now])
        .write(self)
        .await?;
        Ok(done == 1)
    }

    async fn compared_pages(&self, check: JobId, target: u32) -> Result<u64, StoreError> {
        stored_pages(&mut self.reader().await?, check, target).await
    }

    async fn target_pages(
        &self,
        monitor: MonitorId,
        target: u32,
        pages: &[UrlKey],
    ) -> Result<Vec<(UrlKey, Option<ScrapeId>)>, StoreError> {
        let keys: Vec<_> = pages.iter().map(|key| key.to_bytes()).collect();
        statement!(
            "SELECT url_key, scrape_id FROM harvestman.monitor_url
             WHERE monitor_id = $1 AND target = $2 AND url_key = ANY ($3)",
            sqlite: "SELECT url_key, scrape_id FROM monitor_url JOIN json_each(?3) AS key ON url_key = unhex(key.value)
             WHERE monitor_id = ?1 AND target = ?2",
        )
        .bind_all(params![monitor, target, keys])
        .read_all(&mut self.reader().await?, target_page)
        .await
    }

    async fn add_check_pages(
        &self,
        lease: &CheckLease,
        portion: CheckPortion,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let CheckPortion {
            target,
            after,
            pages,
            credits,
            target_results,
        } = portion;
        let (check, epoch) = (lease.check, lease.epoch);
        let place = CheckPlace {
            check,
            monitor: lease.monitor,
            target,
            after,
        };
        let account = Account::of_check(lease);
        transact!(self, now, |transaction, now| {
            let Some(mut log) = owned_log(transaction, check, epoch).await? else {
                return Ok(false);
            };
            if stored_pages(transaction, check, target).await? != after {
                return Ok(false);
            }
            transaction.store_check_pages(place, &pages).await?;
            for page in pages {
                log.add(JobKind::Monitor, Event::CheckPage, Some(page.entry), now);
            }
            statement!("UPDATE harvestman.monitor_check SET target_results = $2 WHERE id = $1")
                .bind_all(params![check, target_results])
                .run(transaction)
                .await?;
            transaction.save_events(check, &log).await?;
            let part = (portion_seq(target, after), credits);
            charge(transaction, &account, part, now).await?;
            Ok(true)
        })
    }

    async fn missing_urls(
        &self,
        lease: &CheckLease,
        target: u32,
        limit: u64,
    ) -> Result<Vec<(UrlKey, String, Option<ScrapeId>)>, StoreError> {
        statement!(
            "SELECT url_key, url, scrape_id FROM harvestman.monitor_url
             WHERE monitor_id = $1 AND target = $2 AND check_id <> $3 ORDER BY url COLLATE \"C\" LIMIT $4",
        )
        .bind_all(params![lease.monitor, target, lease.check, limit])
        .read_all(&mut self.reader().await?, missing_url)
        .await
    }

    async fn finish_check(
        &self,
        lease: &CheckLease,
        end: CheckEnd,
        now: Timestamp,
    ) -> Result<Option<CheckSummary>, StoreError> {
        let lease = lease.clone();
        transact!(self, now, |transaction, now| {
            finish(transaction, lease, end, now).await
        })
    }

    async fn checks(
        &self,
        monitor: MonitorId,
        status: Option<CheckStatus>,
        limit: u64,
        offset: u64,
        now: Timestamp,
    ) -> Result<Vec<CheckRow>, StoreError> {
        statement!(
            "SELECT monitor_check.*, request FROM harvestman.monitor_check JOIN harvestman.job USING (id)
             WHERE monitor_id = $1 AND ($2 IS NULL OR monitor_check.status = $2)
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))
             ORDER BY monitor_check.id DESC LIMIT $4 OFFSET $5",
        )
        .bind_all(params![
            monitor,
            status.map(CheckStatus::as_str),
            now,
            limit,
            offset
        ])
        .read_all(&mut self.reader().await?, check_row)
        .await
    }

    async fn check(
        &self,
        monitor: MonitorId,
        check: JobId,
        now: Timestamp,
    ) -> Result<Option<CheckRow>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let mut found = statement!(
            "SELECT monitor_check.*, request FROM harvestman.monitor_check JOIN harvestman.job USING (id)
             WHERE monitor_id = $1 AND monitor_check.id = $2
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))",
        )
        .bind_all(params![monitor, check, now])
        .read_optional(&mut snapshot, check_row)
        .await?;
        if let Some(running) = found.as_mut().filter(|check| check.finished_at.is_none()) {
            running.summary = summary(&mut snapshot, check).await?;
        }
        snapshot.end().await?;
        Ok(found)
    }

    async fn check_pages(
        &self,
        check: JobId,
        status: Option<PageStatus>,
        skip: u64,
        limit: u64,
        max_bytes: usize,
    ) -> Result<CheckPageChunk, StoreError> {
        let rows = statement!(
            "SELECT entry FROM harvestman.monitor_page WHERE check_id = $1 AND ($2 IS NULL OR status = $2)
             ORDER BY target, no LIMIT $4 OFFSET $3",
        )
        .bind_all(params![
            check,
            status.map(PageStatus::as_str),
            skip,
            limit.saturating_add(1),
        ])
        .fetch_all(&mut self.reader().await?)
        .await?;
        page_chunk(&rows, limit, max_bytes)
    }
}

async fn start(
    transaction: &mut impl Transaction,
    check: NewCheck,
    jobs: String,
) -> Result<StartOutcome, StoreError> {
    let (job, monitor) = (&check.job, check.monitor);
    let statement = match check.due {
        Some((due, next)) => statement!(
            "UPDATE harvestman.monitor SET next_run_at = $3, scheduled_at = harvestman.clock($4)
             WHERE id = $1 AND status = 'active' AND next_run_at = $2 RETURNING check_id",
        )
        .bind_all(params![monitor, due, next, job.created_at]),
        None => statement!(
            "SELECT check_id FROM harvestman.monitor WHERE id = $1 AND status <> 'deleted' FOR NO KEY UPDATE",
        )
        .bind(monitor),
    };
    let Some(row) = statement.fetch_optional(transaction).await? else {
        return Ok(StartOutcome::Stale);
    };
    let overlaps = row.maybe_id("check_id")?.is_some();
    if overlaps && check.due.is_none() {
        return Ok(StartOutcome::Overlap);
    }
    insert_job(transaction, job, 0, None).await?;
    let (status, ended, lease_until) = match overlaps {
        true => (CheckStatus::SkippedOverlap, Some(job.created_at), None),
        false => (CheckStatus::Queued, None, Some(Timestamp(0))),
    };
    statement!(
        "INSERT INTO harvestman.monitor_check (id, monitor_id, status, scheduled_for, finished_at, jobs,
            lease_until, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
    )
    .bind_all(params![
        job.id,
        monitor,
        status.as_str(),
        check.due.map(|(due, _)| due),
        ended,
        jobs,
        lease_until,
        job.created_at,
    ])
    .run(transaction)
    .await?;
    if overlaps {
        statement!(
            "UPDATE harvestman.job SET status = 'completed', completed_at = $2, expires_at = $2 + retention_ms
             WHERE id = $1",
        )
        .bind_all(params![job.id, job.created_at])
        .run(transaction)
        .await?;
        return Ok(StartOutcome::Overlap);
    }
    statement!("UPDATE harvestman.monitor SET check_id = $2, last_run_at = $3 WHERE id = $1")
        .bind_all(params![monitor, job.id, job.created_at])
        .run(transaction)
        .await?;
    Ok(StartOutcome::Started)
}

/// Leases checks, given (now, duration, limit). Returns the ids of those that are damaged as errors.
async fn lease(
    transaction: &mut impl Transaction,
    (now, lease_ms, limit): (Timestamp, u64, u64),
) -> Result<Vec<Result<CheckLease, JobId>>, StoreError> {
    let rows = statement!(
        "UPDATE harvestman.monitor_check SET lease_until = $2, epoch = epoch + 1 WHERE id IN (
            SELECT id FROM harvestman.monitor_check WHERE lease_until <= $1
            ORDER BY id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)
         RETURNING id, monitor_id, epoch, status, jobs",
    )
    .bind_all(params![now, now.0.saturating_add(lease_ms), limit])
    .fetch_all(transaction)
    .await?;
    let mut leases = Vec::with_capacity(rows.len());
    for row in rows {
        let check = JobId(row.id("id")?);
        let job = statement!(
            "SELECT team_id, key_id, request, base, retention_ms FROM harvestman.job WHERE id = $1",
        )
        .bind(check)
        .fetch_one(transaction)
        .await?;
        leases.push(check_lease(&row, &job).map_err(|error| {
            tracing::error!(check.id = %check, %error, "a stored check is damaged");
            check
        }));
    }
    Ok(leases)
}

/// Fails a check whose row is damaged. Its receiver gets the event unless that is damaged as well.
async fn fail_damaged(
    transaction: &mut impl Transaction,
    check: JobId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let ended = end_early(transaction, check, (JobStatus::Failed, Some(DAMAGED_JOB)), now).await?;
    fail_check(transaction, check, DAMAGED_JOB, now).await?;
    let row = statement!(
        "SELECT monitor_id, webhook_events, event_count, last_event_at
         FROM harvestman.monitor_check JOIN harvestman.job USING (id) WHERE id = $1",
    )
    .bind(check)
    .fetch_one(transaction)
    .await?;
    if let Ok(mut log) = EventLog::read(&row)
        && ended
    {
        let summary = summary(transaction, check).await.unwrap_or_default();
        let ids = (MonitorId(row.id("monitor_id")?), check);
        let data = check_event(ids, CheckStatus::Failed, &summary, Some(DAMAGED_JOB.to_owned()));
        log.add(JobKind::Monitor, Event::CheckCompleted, Some(data), now);
        transaction.save_events(check, &log).await?;
    }
    Ok(())
}

async fn finish(
    transaction: &mut impl Transaction,
    lease: CheckLease,
    end: CheckEnd,
    now: Timestamp,
) -> Result<Option<CheckSummary>, StoreError> {
    let check = lease.check;
    statement!("SELECT 1 FROM harvestman.monitor WHERE id = $1 FOR NO KEY UPDATE")
        .bind(lease.monitor)
        .lock(transaction)
        .await?;
    let Some(mut log) = owned_log(transaction, check, lease.epoch).await? else {
        return Ok(None);
    };
    let summary = summary(transaction, check).await?;
    statement!(
        "UPDATE harvestman.monitor_check SET status = $2, error = $3, finished_at = $4, updated_at = $4, summary = $5,
            target_results = $6, credits = credits + $7, lease_until = NULL
         WHERE id = $1",
    )
    .bind_all(params![
        check,
        end.status.as_str(),
        end.error.clone(),
        now,
        json_text(&summary)?,
        end.target_results,
        end.job_credits,
    ])
    .run(transaction)
    .await?;
    forget_targets(transaction, lease.monitor, end.changed_targets).await?;
    statement!(
        "UPDATE harvestman.monitor SET check_id = NULL, last_summary = $3 WHERE id = $1 AND check_id = $2",
    )
    .bind_all(params![lease.monitor, check, json_text(&summary)?])
    .run(transaction)
    .await?;
    let status = match end.status {
        CheckStatus::Failed => JobStatus::Failed,
        _ => JobStatus::Completed,
    };
    statement!(
        "UPDATE harvestman.job SET status = $2, error = $3, completed_at = $4, expires_at = $4 + retention_ms
         WHERE id = $1",
    )
    .bind_all(params![check, status.as_str(), end.error.clone(), now])
    .run(transaction)
    .await?;
    let data = check_event((lease.monitor, check), end.status, &summary, end.error);
    log.add(JobKind::Monitor, Event::CheckCompleted, Some(data), now);
    transaction.save_events(check, &log).await?;
    charge(transaction, &Account::of_check(&lease), (0, end.credits), now).await?;
    Ok(Some(summary))
}

/// Charges a part of a check, given as (seq, credits). Must be the last statement of its transaction.
async fn charge(
    transaction: &mut impl Transaction,
    account: &Account,
    (seq, credits): (u64, u32),
    now: Timestamp,
) -> Result<(), StoreError> {
    if credits == 0 {
        return Ok(());
    }
    for add in [
        statement!("UPDATE harvestman.monitor_check SET credits = credits + $2 WHERE id = $1"),
        statement!("UPDATE harvestman.job SET credits = credits + $2 WHERE id = $1"),
    ] {
        add.bind_all(params![account.job, credits])
            .run(transaction)
            .await?;
    }
    transaction.charge(account, "call", (seq, credits), now).await
}

/// Locks the job of a check and the check, and returns the event log if this lease is still valid.
async fn owned_log(
    transaction: &mut impl Transaction,
    check: JobId,
    epoch: u64,
) -> Result<Option<EventLog>, StoreError> {
    let row = statement!(
        "SELECT webhook_events, event_count, last_event_at FROM harvestman.job WHERE id = $1 FOR NO KEY UPDATE",
    )
    .bind(check)
    .fetch_optional(transaction)
    .await?;
    let owned = statement!(
        "SELECT 1 FROM harvestman.monitor_check WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL
         FOR NO KEY UPDATE",
    )
    .bind_all(params![check, epoch])
    .fetch_optional(transaction)
    .await?;
    row.filter(|_| owned.is_some())
        .map(|row| EventLog::read(&row))
        .transpose()
}

async fn stored_pages(
    connection: &mut impl Connection,
    check: JobId,
    target: u32,
) -> Result<u64, StoreError> {
    statement!("SELECT count(*) AS pages FROM harvestman.monitor_page WHERE check_id = $1 AND target = $2")
        .bind_all(params![check, target])
        .fetch_one(connection)
        .await?
        .count("pages")
}

async fn summary(connection: &mut impl Connection, check: JobId) -> Result<CheckSummary, StoreError> {
    let rows = statement!(
        "SELECT status, count(*) AS pages FROM harvestman.monitor_page WHERE check_id = $1 GROUP BY status",
    )
    .bind(check)
    .fetch_all(connection)
    .await?;
    check_summary(&rows)
}
