//! Checks of monitors. Updating the next time of a monitor claims its due check; only the owner of the newest lease
//! changes a check. Rows are locked in the order monitor, job, check.

use std::collections::BTreeMap;

use harvestman_core::api::monitor_response::{CheckStatus, CheckSummary, PageStatus};
use harvestman_core::ids::{JobId, MonitorId, ScrapeId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::account::{Account, portion_seq};
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::{JobKind, JobStatus};
use crate::lease::DAMAGED_JOB;
use crate::monitor::{
    CheckEnd, CheckLease, CheckPageChunk, CheckPortion, CheckRow, Checks, NewCheck, NewCheckPage,
    StartOutcome,
};
use crate::postgres::credits::charge_part;
use crate::postgres::jobs::end_early;
use crate::postgres::monitors::fail_check;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::{Postgres, events};
use crate::prepared::json_text;
use crate::rows::{check_event, check_lease, check_row, check_summary, missing_url, page_chunk, target_page};
use crate::sql::jobs::insert_job;
use crate::value::params;

impl Checks for Postgres {
    async fn start_check(&self, check: &NewCheck) -> Result<StartOutcome, StoreError> {
        let check = check.clone();
        let jobs = json_text(&check.jobs)?;
        self.write(check.job.created_at, move |transaction, _| {
            Box::pin(start(transaction, check, jobs))
        })
        .await
    }

    async fn lease_checks(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u64,
    ) -> Result<Vec<CheckLease>, StoreError> {
        let free =
            query("SELECT 1 FROM harvestman.monitor_check WHERE lease_until <= harvestman.clock($1) LIMIT 1")
                .bind(now)
                .fetch_optional(&*self.pool.connection().await?)
                .await?;
        if free.is_none() {
            return Ok(Vec::new());
        }
        let leased = self.write(now, move |transaction, now| {
            Box::pin(async move {
                query(
                    "UPDATE harvestman.monitor_check SET lease_until = $2, epoch = epoch + 1
                     FROM (SELECT id AS free FROM harvestman.monitor_check WHERE lease_until <= $1
                        ORDER BY id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED) AS checks
                     JOIN harvestman.job ON job.id = free
                     WHERE monitor_check.id = free
                     RETURNING monitor_check.id, monitor_id, epoch, monitor_check.status, jobs, team_id, key_id,
                        request, base, retention_ms",
                )
                .bind_all(params![now, now.0.saturating_add(lease_ms), limit])
                .fetch_all(transaction)
                .await
            })
        })
        .await?;
        let mut leases = Vec::with_capacity(leased.len());
        for row in &leased {
            match check_lease(row, row) {
                Ok(lease) => leases.push(lease),
                Err(error) => {
                    let check = JobId(row.id("id")?);
                    tracing::error!(check.id = %check, %error, "a stored check is damaged");
                    // Not in the same transaction, which has locked the check before its job.
                    let ended = self.write(now, move |transaction, now| {
                        Box::pin(async move {
                            end_early(transaction, check, (JobStatus::Failed, Some(DAMAGED_JOB)), now)
                                .await?;
                            fail_check(transaction, check, DAMAGED_JOB, now).await
                        })
                    });
                    if let Err(error) = ended.await {
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
        let (check, epoch) = (lease.check, lease.epoch);
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let done = query(
                    "UPDATE harvestman.monitor_check SET lease_until = $3
                     WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL",
                )
                .bind_all(params![check, epoch, now.0.saturating_add(lease_ms)])
                .execute(transaction)
                .await?;
                Ok(done == 1)
            })
        })
        .await
    }

    async fn begin_check(&self, lease: &CheckLease, now: Timestamp) -> Result<bool, StoreError> {
        let (check, epoch) = (lease.check, lease.epoch);
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let done = query(
                    "UPDATE harvestman.monitor_check SET status = 'running', started_at = coalesce(started_at, $3),
                        updated_at = $3
                     WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL",
                )
                .bind_all(params![check, epoch, now])
                .execute(transaction)
                .await?;
                Ok(done == 1)
            })
        })
        .await
    }

    async fn compared_pages(&self, check: JobId, target: u32) -> Result<u64, StoreError> {
        query("SELECT count(*) AS pages FROM harvestman.monitor_page WHERE check_id = $1 AND target = $2")
            .bind_all(params![check, target])
            .fetch_one(&*self.pool.connection().await?)
            .await?
            .count("pages")
    }

    async fn target_pages(
        &self,
        monitor: MonitorId,
        target: u32,
        pages: &[UrlKey],
    ) -> Result<Vec<(UrlKey, Option<ScrapeId>)>, StoreError> {
        let keys: Vec<Uuid> = pages.iter().map(|key| Uuid::from_bytes(key.to_bytes())).collect();
        query(
            "SELECT url_key, scrape_id FROM harvestman.monitor_url
             WHERE monitor_id = $1 AND target = $2 AND url_key = ANY ($3)",
        )
        .bind_all(params![monitor, target, keys])
        .read_all(&*self.pool.connection().await?, target_page)
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
        let (check, monitor, epoch) = (lease.check, lease.monitor, lease.epoch);
        let account = Account::of_check(lease);
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let Some(mut log) = owned_log(transaction, check, epoch).await? else {
                    return Ok(false);
                };
                let stored = query(
                    "SELECT count(*) AS pages FROM harvestman.monitor_page WHERE check_id = $1 AND target = $2",
                )
                .bind_all(params![check, target])
                .fetch_one(transaction)
                .await?;
                if stored.count("pages")? != after {
                    return Ok(false);
                }
                insert_pages(transaction, (check, target, after), &pages).await?;
                remember(transaction, (check, monitor, target), &pages).await?;
                for page in pages {
                    log.add(JobKind::Monitor, Event::CheckPage, Some(page.entry), now);
                }
                query("UPDATE harvestman.monitor_check SET target_results = $2 WHERE id = $1")
                    .bind_all(params![check, target_results])
                    .execute(transaction)
                    .await?;
                events::save(transaction, check, &log).await?;
                let part = (portion_seq(target, after), credits);
                charge(transaction, &account, part, now).await?;
                Ok(true)
            })
        })
        .await
    }

    async fn missing_urls(
        &self,
        lease: &CheckLease,
        target: u32,
        limit: u64,
    ) -> Result<Vec<(UrlKey, String, Option<ScrapeId>)>, StoreError> {
        query(
            "SELECT url_key, url, scrape_id FROM harvestman.monitor_url
             WHERE monitor_id = $1 AND target = $2 AND check_id <> $3 ORDER BY url COLLATE \"C\" LIMIT $4",
        )
        .bind_all(params![lease.monitor, target, lease.check, limit])
        .read_all(&*self.pool.connection().await?, missing_url)
        .await
    }

    async fn finish_check(
        &self,
        lease: &CheckLease,
        end: CheckEnd,
        now: Timestamp,
    ) -> Result<Option<CheckSummary>, StoreError> {
        let lease = lease.clone();
        self.write(now, move |transaction, now| {
            Box::pin(finish(transaction, lease, end, now))
        })
        .await
    }

    async fn checks(
        &self,
        monitor: MonitorId,
        status: Option<CheckStatus>,
        limit: u64,
        offset: u64,
        now: Timestamp,
    ) -> Result<Vec<CheckRow>, StoreError> {
        query(
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
        .read_all(&*self.pool.connection().await?, check_row)
        .await
    }

    async fn check(
        &self,
        monitor: MonitorId,
        check: JobId,
        now: Timestamp,
    ) -> Result<Option<CheckRow>, StoreError> {
        let connection = self.pool.connection().await?;
        let row = query(
            "SELECT monitor_check.*, request FROM harvestman.monitor_check JOIN harvestman.job USING (id)
             WHERE monitor_id = $1 AND monitor_check.id = $2
                AND (expires_at IS NULL OR expires_at > harvestman.clock($3))",
        )
        .bind_all(params![monitor, check, now])
        .fetch_optional(&connection)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let mut check_row = check_row(&row)?;
        if check_row.finished_at.is_none() {
            check_row.summary = summary(&connection, check).await?;
        }
        Ok(Some(check_row))
    }

    async fn check_pages(
        &self,
        check: JobId,
        status: Option<PageStatus>,
        skip: u64,
        limit: u64,
        max_bytes: usize,
    ) -> Result<CheckPageChunk, StoreError> {
        let rows = query(
            "SELECT entry FROM harvestman.monitor_page WHERE check_id = $1 AND ($2 IS NULL OR status = $2)
             ORDER BY target, no LIMIT $4 OFFSET $3",
        )
        .bind_all(params![
            check,
            status.map(PageStatus::as_str),
            skip,
            limit.saturating_add(1),
        ])
        .fetch_all(&*self.pool.connection().await?)
        .await?;
        page_chunk(&rows, limit, max_bytes)
    }
}

async fn start(client: &Client, check: NewCheck, jobs: String) -> Result<StartOutcome, StoreError> {
    let (job, monitor) = (&check.job, check.monitor);
    let statement = match check.due {
        Some((due, next)) => query(
            "UPDATE harvestman.monitor SET next_run_at = $3
             WHERE id = $1 AND status = 'active' AND next_run_at = $2 RETURNING check_id",
        )
        .bind_all(params![monitor, due, next]),
        None => query(
            "SELECT check_id FROM harvestman.monitor WHERE id = $1 AND status <> 'deleted' FOR NO KEY UPDATE",
        )
        .bind(monitor),
    };
    let Some(row) = statement.fetch_optional(client).await? else {
        return Ok(StartOutcome::Stale);
    };
    let overlaps = row.maybe_id("check_id")?.is_some();
    if overlaps && check.due.is_none() {
        return Ok(StartOutcome::Overlap);
    }
    insert_job(&mut &*client, job, 0, None).await?;
    let (status, ended, lease_until) = match overlaps {
        true => (CheckStatus::SkippedOverlap, Some(job.created_at.0), None),
        false => (CheckStatus::Queued, None, Some(0_u64)),
    };
    query(
        "INSERT INTO harvestman.monitor_check (id, monitor_id, status, scheduled_for, finished_at, jobs,
            lease_until, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
    )
    .bind_all(params![
        job.id,
        monitor,
        status.as_str(),
        check.due.map(|(due, _)| due.0),
        ended,
        jobs,
        lease_until,
        job.created_at,
    ])
    .execute(client)
    .await?;
    if overlaps {
        query(
            "UPDATE harvestman.job SET status = 'completed', completed_at = $2, expires_at = $2 + retention_ms
             WHERE id = $1",
        )
        .bind_all(params![job.id, job.created_at])
        .execute(client)
        .await?;
        return Ok(StartOutcome::Overlap);
    }
    query("UPDATE harvestman.monitor SET check_id = $2, last_run_at = $3 WHERE id = $1")
        .bind_all(params![monitor, job.id, job.created_at])
        .execute(client)
        .await?;
    Ok(StartOutcome::Started)
}

async fn finish(
    client: &Client,
    lease: CheckLease,
    end: CheckEnd,
    now: Timestamp,
) -> Result<Option<CheckSummary>, StoreError> {
    let check = lease.check;
    query("SELECT 1 FROM harvestman.monitor WHERE id = $1 FOR NO KEY UPDATE")
        .bind(lease.monitor)
        .fetch_optional(client)
        .await?;
    let Some(mut log) = owned_log(client, check, lease.epoch).await? else {
        return Ok(None);
    };
    let summary = summary(client, check).await?;
    query(
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
    .execute(client)
    .await?;
    query("DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND target = ANY ($2)")
        .bind_all(params![lease.monitor, end.changed_targets])
        .execute(client)
        .await?;
    query("UPDATE harvestman.monitor SET check_id = NULL, last_summary = $3 WHERE id = $1 AND check_id = $2")
        .bind_all(params![lease.monitor, check, json_text(&summary)?])
        .execute(client)
        .await?;
    let status = match end.status {
        CheckStatus::Failed => "failed",
        _ => "completed",
    };
    query(
        "UPDATE harvestman.job SET status = $2, error = $3, completed_at = $4, expires_at = $4 + retention_ms
         WHERE id = $1",
    )
    .bind_all(params![check, status, end.error.clone(), now])
    .execute(client)
    .await?;
    let data = check_event(&lease, end.status, &summary, end.error);
    log.add(JobKind::Monitor, Event::CheckCompleted, Some(data), now);
    events::save(client, check, &log).await?;
    charge(client, &Account::of_check(&lease), (0, end.credits), now).await?;
    Ok(Some(summary))
}

/// Charges a part of a check, given as (seq, credits). Must be the last statement of its transaction.
async fn charge(
    client: &Client,
    account: &Account,
    (seq, credits): (u64, u32),
    now: Timestamp,
) -> Result<(), StoreError> {
    if credits == 0 {
        return Ok(());
    }
    for add in [
        "UPDATE harvestman.monitor_check SET credits = credits + $2 WHERE id = $1",
        "UPDATE harvestman.job SET credits = credits + $2 WHERE id = $1",
    ] {
        query(add)
            .bind_all(params![account.job, credits])
            .execute(client)
            .await?;
    }
    charge_part(client, account, "call", (seq, credits), now).await
}

/// Locks the job of a check and the check, and returns the event log if this lease is still valid.
async fn owned_log(client: &Client, check: JobId, epoch: u64) -> Result<Option<EventLog>, StoreError> {
    let row = query(
        "SELECT webhook_events, event_count, last_event_at FROM harvestman.job WHERE id = $1 FOR NO KEY UPDATE",
    )
    .bind(check)
    .fetch_optional(client)
    .await?;
    let owned = query(
        "SELECT 1 FROM harvestman.monitor_check WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL
         FOR NO KEY UPDATE",
    )
    .bind_all(params![check, epoch])
    .fetch_optional(client)
    .await?;
    row.filter(|_| owned.is_some())
        .map(|row| EventLog::read(&row))
        .transpose()
}

async fn insert_pages(
    client: &Client,
    (check, target, after): (JobId, u32, u64),
    pages: &[NewCheckPage],
) -> Result<(), StoreError> {
    query(
        "INSERT INTO harvestman.monitor_page (check_id, target, no, status, entry)
         SELECT $1, $2, $3 + new.no, new.status, new.entry
         FROM unnest($4, $5) WITH ORDINALITY AS new (status, entry, no)",
    )
    .bind_all(params![
        check,
        target,
        after,
        pages.iter().map(|page| page.status.as_str()).collect::<Vec<_>>(),
        pages.iter().map(|page| page.entry.clone()).collect::<Vec<_>>(),
    ])
    .run(client)
    .await
}

/// Stores what the next check needs to know of pages; deletes pages that are gone. Of several pages with the same
/// URL, the last one counts.
async fn remember(
    client: &Client,
    (check, monitor, target): (JobId, MonitorId, u32),
    pages: &[NewCheckPage],
) -> Result<(), StoreError> {
    let by_key: BTreeMap<Uuid, &NewCheckPage> = pages
        .iter()
        .map(|page| (Uuid::from_bytes(page.key.to_bytes()), page))
        .collect();
    let (gone, seen): (Vec<_>, Vec<_>) = by_key
        .into_iter()
        .partition(|(_, page)| page.status == PageStatus::Removed);
    query("DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND target = $2 AND url_key = ANY ($3)")
        .bind_all(params![
            monitor,
            target,
            gone.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        ])
        .execute_if(!gone.is_empty(), client)
        .await?;
    query(
        "INSERT INTO harvestman.monitor_url AS old (monitor_id, target, check_id, url_key, url, scrape_id)
         SELECT $1, $2, $3, new.key, new.url, new.scrape FROM unnest($4, $5, $6) AS new (key, url, scrape)
         ON CONFLICT (monitor_id, target, url_key) DO UPDATE SET url = excluded.url,
            scrape_id = coalesce(excluded.scrape_id, old.scrape_id), check_id = excluded.check_id",
    )
    .bind_all(params![
        monitor,
        target,
        check,
        seen.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        seen.iter().map(|(_, page)| page.url.clone()).collect::<Vec<_>>(),
        seen.iter()
            .map(|(_, page)| page.scrape.map(|scrape| scrape.0))
            .collect::<Vec<_>>(),
    ])
    .execute_if(!seen.is_empty(), client)
    .await?;
    Ok(())
}

async fn summary(client: &Client, check: JobId) -> Result<CheckSummary, StoreError> {
    let rows = query(
        "SELECT status, count(*) AS pages FROM harvestman.monitor_page WHERE check_id = $1 GROUP BY status",
    )
    .bind(check)
    .fetch_all(client)
    .await?;
    check_summary(&rows)
}
