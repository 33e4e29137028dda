//! Checks of monitors. Updating the next time of a monitor claims its due check; only the owner of the newest lease
//! changes a check.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::api::monitor_response::{CheckStatus, CheckSummary, PageStatus};
use harvestman_core::ids::{JobId, MonitorId, ScrapeId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;

use crate::account::{Account, portion_seq};
use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::{JobKind, JobStatus};
use crate::lease::DAMAGED_JOB;
use crate::monitor::{
    CheckEnd, CheckLease, CheckPageChunk, CheckPortion, CheckRow, Checks, NewCheck, NewCheckPage,
    StartOutcome,
};
use crate::rows::{check_event, check_lease, check_row, check_summary, missing_url, page_chunk, target_page};
use crate::sql::jobs::insert_job;
use crate::sqlite::credits::charge_call;
use crate::sqlite::jobs::end_early;
use crate::sqlite::monitors::fail_check;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::{Sqlite, events};
use crate::value::params;

impl Checks for Sqlite {
    async fn start_check(&self, check: &NewCheck) -> Result<StartOutcome, StoreError> {
        let check = check.clone();
        let jobs = json_text(&check.jobs)?;
        self.write(move |connection| Box::pin(start(connection, check, jobs)))
            .await
    }

    async fn lease_checks(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u64,
    ) -> Result<Vec<CheckLease>, StoreError> {
        let free = query("SELECT 1 FROM monitor_check WHERE lease_until <= ?1 LIMIT 1")
            .bind(now)
            .fetch_optional(&self.readers)
            .await?;
        if free.is_none() {
            return Ok(Vec::new());
        }
        self.write(move |connection| {
            Box::pin(async move {
                let leased = query(
                    "UPDATE monitor_check SET lease_until = ?2, epoch = epoch + 1 WHERE id IN (
                        SELECT id FROM monitor_check WHERE lease_until <= ?1 ORDER BY id LIMIT ?3)
                     RETURNING id, monitor_id, epoch, status, jobs",
                )
                .bind_all(params![now, now.0.saturating_add(lease_ms), limit])
                .fetch_all(&mut *connection)
                .await?;
                let mut leases = Vec::with_capacity(leased.len());
                for row in leased {
                    let check = JobId(row.id("id")?);
                    let job =
                        query("SELECT team_id, key_id, request, base, retention_ms FROM job WHERE id = ?1")
                            .bind(check)
                            .fetch_one(&mut *connection)
                            .await?;
                    match check_lease(&row, &job) {
                        Ok(lease) => leases.push(lease),
                        Err(error) => {
                            tracing::error!(check.id = %check, %error, "a stored check is damaged");
                            end_early(connection, check, (JobStatus::Failed, Some(DAMAGED_JOB)), now).await?;
                            fail_check(connection, check, DAMAGED_JOB, now).await?;
                        }
                    }
                }
                Ok(leases)
            })
        })
        .await
    }

    async fn renew_check(
        &self,
        lease: &CheckLease,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<bool, StoreError> {
        let done = query(
            "UPDATE monitor_check SET lease_until = ?3
             WHERE id = ?1 AND epoch = ?2 AND lease_until IS NOT NULL",
        )
        .bind_all(params![lease.check, lease.epoch, now.0.saturating_add(lease_ms)])
        .write(&self.writer)
        .await?;
        Ok(done == 1)
    }

    async fn begin_check(&self, lease: &CheckLease, now: Timestamp) -> Result<bool, StoreError> {
        let done = query(
            "UPDATE monitor_check SET status = 'running', started_at = coalesce(started_at, ?3),
                updated_at = ?3
             WHERE id = ?1 AND epoch = ?2 AND lease_until IS NOT NULL",
        )
        .bind_all(params![lease.check, lease.epoch, now])
        .write(&self.writer)
        .await?;
        Ok(done == 1)
    }

    async fn compared_pages(&self, check: JobId, target: u32) -> Result<u64, StoreError> {
        let row = query("SELECT count(*) AS pages FROM monitor_page WHERE check_id = ?1 AND target = ?2")
            .bind_all(params![check, target])
            .fetch_one(&self.readers)
            .await?;
        row.count("pages")
    }

    async fn target_pages(
        &self,
        monitor: MonitorId,
        target: u32,
        pages: &[UrlKey],
    ) -> Result<Vec<(UrlKey, Option<ScrapeId>)>, StoreError> {
        let keys: Vec<_> = pages.iter().map(|key| key.to_bytes()).collect();
        query(
            "SELECT url_key, scrape_id FROM monitor_url JOIN json_each(?3) AS key ON url_key = unhex(key.value)
             WHERE monitor_id = ?1 AND target = ?2",
        )
        .bind_all(params![monitor, target, keys])
        .read_all(&self.readers, target_page).await
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
        self.write(move |connection| {
            Box::pin(async move {
                let found = query(
                    "SELECT (SELECT count(*) FROM monitor_page WHERE check_id = ?1 AND target = ?3) AS pages,
                        webhook_events, event_count, last_event_at
                     FROM monitor_check JOIN job USING (id)
                     WHERE id = ?1 AND epoch = ?2 AND lease_until IS NOT NULL",
                )
                .bind_all(params![check, epoch, target])
                .fetch_optional(&mut *connection)
                .await?;
                let Some(row) = found.filter(|row| row.count("pages").ok() == Some(after)) else {
                    return Ok(false);
                };
                let mut log = EventLog::read(&row)?;
                for (no, page) in (after + 1..).zip(pages) {
                    add_page(connection, (check, target, no), &page).await?;
                    remember(connection, (check, monitor, target), &page).await?;
                    log.add(JobKind::Monitor, Event::CheckPage, Some(page.entry), now);
                }
                query("UPDATE monitor_check SET target_results = ?2 WHERE id = ?1")
                    .bind_all(params![check, target_results])
                    .execute(&mut *connection)
                    .await?;
                events::save(connection, check, &log).await?;
                charge(connection, &account, portion_seq(target, after), credits, now).await?;
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
            "SELECT url_key, url, scrape_id FROM monitor_url
             WHERE monitor_id = ?1 AND target = ?2 AND check_id <> ?3 ORDER BY url LIMIT ?4",
        )
        .bind_all(params![lease.monitor, target, lease.check, limit])
        .read_all(&self.readers, missing_url)
        .await
    }

    async fn finish_check(
        &self,
        lease: &CheckLease,
        end: CheckEnd,
        now: Timestamp,
    ) -> Result<Option<CheckSummary>, StoreError> {
        let lease = lease.clone();
        self.write(move |connection| Box::pin(finish(connection, lease, end, now)))
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
            "SELECT monitor_check.*, request FROM monitor_check JOIN job USING (id)
             WHERE monitor_id = ?1 AND (?2 IS NULL OR monitor_check.status = ?2)
                AND (expires_at IS NULL OR expires_at > ?3)
             ORDER BY monitor_check.id DESC LIMIT ?4 OFFSET ?5",
        )
        .bind_all(params![
            monitor,
            status.map(CheckStatus::as_str),
            now,
            limit,
            offset
        ])
        .read_all(&self.readers, check_row)
        .await
    }

    async fn check(
        &self,
        monitor: MonitorId,
        check: JobId,
        now: Timestamp,
    ) -> Result<Option<CheckRow>, StoreError> {
        let mut transaction = self.readers.begin().await?;
        let row = query(
            "SELECT monitor_check.*, request FROM monitor_check JOIN job USING (id)
             WHERE monitor_id = ?1 AND monitor_check.id = ?2 AND (expires_at IS NULL OR expires_at > ?3)",
        )
        .bind_all(params![monitor, check, now])
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let mut check_row = check_row(&row)?;
        if check_row.finished_at.is_none() {
            check_row.summary = summary(&mut transaction, check).await?;
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
            "SELECT entry FROM monitor_page WHERE check_id = ?1 AND (?2 IS NULL OR status = ?2)
             ORDER BY target, no LIMIT ?4 OFFSET ?3",
        )
        .bind_all(params![
            check,
            status.map(PageStatus::as_str),
            skip,
            limit.saturating_add(1),
        ])
        .fetch_all(&self.readers)
        .await?;
        page_chunk(&rows, limit, max_bytes)
    }
}

async fn start(
    connection: &mut SqliteConnection,
    check: NewCheck,
    jobs: String,
) -> Result<StartOutcome, StoreError> {
    let (job, monitor) = (&check.job, check.monitor);
    let row =
        match check.due {
            Some((due, next)) => query(
                "UPDATE monitor SET next_run_at = ?3 WHERE id = ?1 AND status = 'active' AND next_run_at = ?2
                 RETURNING check_id",
            )
            .bind_all(params![monitor, due, next])
            .fetch_optional(&mut *connection)
            .await?,
            None => {
                query("SELECT check_id FROM monitor WHERE id = ?1 AND status <> 'deleted'")
                    .bind(monitor)
                    .fetch_optional(&mut *connection)
                    .await?
            }
        };
    let Some(row) = row else {
        return Ok(StartOutcome::Stale);
    };
    let overlaps = row.maybe_id("check_id")?.is_some();
    if overlaps && check.due.is_none() {
        return Ok(StartOutcome::Overlap);
    }
    insert_job(connection, job, 0, None).await?;
    let (status, ended, lease_until) = match overlaps {
        true => (CheckStatus::SkippedOverlap, Some(job.created_at), None),
        false => (CheckStatus::Queued, None, Some(Timestamp(0))),
    };
    query(
        "INSERT INTO monitor_check (id, monitor_id, status, scheduled_for, finished_at, jobs, lease_until, created_at,
            updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
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
    .execute(&mut *connection)
    .await?;
    if overlaps {
        query(
            "UPDATE job SET status = 'completed', completed_at = ?2, expires_at = ?2 + retention_ms WHERE id = ?1",
        )
        .bind_all(params![job.id, job.created_at])
        .execute(connection)
        .await?;
        return Ok(StartOutcome::Overlap);
    }
    query("UPDATE monitor SET check_id = ?2, last_run_at = ?3 WHERE id = ?1")
        .bind_all(params![monitor, job.id, job.created_at])
        .execute(connection)
        .await?;
    Ok(StartOutcome::Started)
}

async fn finish(
    connection: &mut SqliteConnection,
    lease: CheckLease,
    end: CheckEnd,
    now: Timestamp,
) -> Result<Option<CheckSummary>, StoreError> {
    let check = lease.check;
    let summary = summary(connection, check).await?;
    let ended = query(
        "UPDATE monitor_check SET status = ?3, error = ?4, finished_at = ?5, updated_at = ?5, summary = ?6,
            target_results = ?7, credits = credits + ?8, lease_until = NULL
         WHERE id = ?1 AND epoch = ?2 AND lease_until IS NOT NULL",
    )
    .bind_all(params![
        check,
        lease.epoch,
        end.status.as_str(),
        end.error.clone(),
        now,
        json_text(&summary)?,
        end.target_results,
        end.job_credits,
    ])
    .execute(&mut *connection)
    .await?;
    if ended == 0 {
        return Ok(None);
    }
    query("DELETE FROM monitor_url WHERE monitor_id = ?1 AND target IN (SELECT value FROM json_each(?2))")
        .bind_all(params![lease.monitor, end.changed_targets])
        .execute(&mut *connection)
        .await?;
    query("UPDATE monitor SET check_id = NULL, last_summary = ?3 WHERE id = ?1 AND check_id = ?2")
        .bind_all(params![lease.monitor, check, json_text(&summary)?])
        .execute(&mut *connection)
        .await?;
    let status = match end.status {
        CheckStatus::Failed => "failed",
        _ => "completed",
    };
    let row = query(
        "UPDATE job SET status = ?2, error = ?3, completed_at = ?4, expires_at = ?4 + retention_ms
         WHERE id = ?1 RETURNING webhook_events, event_count, last_event_at",
    )
    .bind_all(params![check, status, end.error.clone(), now])
    .fetch_one(&mut *connection)
    .await?;
    let data = check_event(&lease, end.status, &summary, end.error);
    let mut log = EventLog::read(&row)?;
    log.add(JobKind::Monitor, Event::CheckCompleted, Some(data), now);
    events::save(connection, check, &log).await?;
    charge(connection, &Account::of_check(&lease), 0, end.credits, now).await?;
    Ok(Some(summary))
}

/// Charges a part of a check. Must be the last statement of its transaction.
async fn charge(
    connection: &mut SqliteConnection,
    account: &Account,
    seq: u64,
    credits: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    if credits == 0 {
        return Ok(());
    }
    for add in [
        "UPDATE monitor_check SET credits = credits + ?2 WHERE id = ?1",
        "UPDATE job SET credits = credits + ?2 WHERE id = ?1",
    ] {
        query(add)
            .bind_all(params![account.job, credits])
            .execute(&mut *connection)
            .await?;
    }
    charge_call(connection, account, seq, credits, now).await
}

async fn add_page(
    connection: &mut SqliteConnection,
    (check, target, no): (JobId, u32, u64),
    page: &NewCheckPage,
) -> Result<(), StoreError> {
    query("INSERT INTO monitor_page (check_id, target, no, status, entry) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind_all(params![
            check,
            target,
            no,
            page.status.as_str(),
            page.entry.clone()
        ])
        .run(connection)
        .await
}

/// Stores what the next check needs to know of a page; deletes a page that is gone.
async fn remember(
    connection: &mut SqliteConnection,
    (check, monitor, target): (JobId, MonitorId, u32),
    page: &NewCheckPage,
) -> Result<(), StoreError> {
    let key = page.key.to_bytes().to_vec();
    if page.status == PageStatus::Removed {
        query("DELETE FROM monitor_url WHERE monitor_id = ?1 AND target = ?2 AND url_key = ?3")
            .bind_all(params![monitor, target, key])
            .execute(connection)
            .await?;
        return Ok(());
    }
    query(
        "INSERT INTO monitor_url (monitor_id, target, url_key, url, scrape_id, check_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (monitor_id, target, url_key) DO UPDATE SET url = excluded.url,
            scrape_id = coalesce(excluded.scrape_id, scrape_id), check_id = excluded.check_id",
    )
    .bind_all(params![
        monitor,
        target,
        key,
        page.url.clone(),
        page.scrape,
        check
    ])
    .run(connection)
    .await
}

async fn summary(connection: &mut SqliteConnection, check: JobId) -> Result<CheckSummary, StoreError> {
    let rows =
        query("SELECT status, count(*) AS pages FROM monitor_page WHERE check_id = ?1 GROUP BY status")
            .bind(check)
            .fetch_all(connection)
            .await?;
    check_summary(&rows)
}
