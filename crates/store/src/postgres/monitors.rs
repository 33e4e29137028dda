//! Monitors: created, changed and deleted, each by conditional statements. The row of the team is locked while its
//! monitors are counted.

use harvestman_core::api::monitor_response::MonitorStatus;
use harvestman_core::ids::{JobId, MonitorId, TeamId};
use harvestman_core::page_version::monitor_tag;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;

use crate::error::StoreError;
use crate::limits;
use crate::monitor::{DueMonitor, MonitorRow, MonitorUpdate, Monitors, NewMonitor};
use crate::postgres::Postgres;
use crate::postgres::jobs::mark_cancelled;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::rows::{due_monitor, fetching_jobs, monitor_row};
use crate::value::params;

impl Monitors for Postgres {
    async fn create_monitor(&self, monitor: &NewMonitor, limit: u64) -> Result<bool, StoreError> {
        let monitor = monitor.clone();
        self.write(monitor.created_at, move |transaction, _| {
            Box::pin(async move {
                query("SELECT 1 FROM harvestman.team WHERE id = $1 FOR NO KEY UPDATE")
                    .bind(monitor.team)
                    .fetch_optional(transaction)
                    .await?;
                let created = query(
                    "INSERT INTO harvestman.monitor (id, team_id, key_id, status, request, base, next_run_at,
                        created_at, updated_at)
                     SELECT $1, $2, $3, 'active', $4, $5, $6, $7, $7 WHERE (SELECT count(*)
                        FROM harvestman.monitor WHERE team_id = $2 AND status <> 'deleted') < $8",
                )
                .bind_all(params![
                    monitor.id, monitor.team, monitor.key, monitor.request, monitor.base,
                    monitor.next_run_at, monitor.created_at, limit,
                ])
                .execute(transaction)
                .await?;
                Ok(created == 1)
            })
        })
        .await
    }

    async fn monitors(
        &self,
        team: TeamId,
        status: Option<MonitorStatus>,
        limit: u64,
        offset: u64,
    ) -> Result<Vec<MonitorRow>, StoreError> {
        query(
            "SELECT * FROM harvestman.monitor WHERE team_id = $1 AND status <> 'deleted'
                AND ($4 IS NULL OR status = $4)
             ORDER BY id DESC LIMIT $2 OFFSET $3",
        )
        .bind_all(params![team, limit, offset, status.map(MonitorStatus::as_str)])
        .read_all(&*self.pool.connection().await?, monitor_row)
        .await
    }

    async fn monitor(&self, team: TeamId, id: MonitorId) -> Result<Option<MonitorRow>, StoreError> {
        query("SELECT * FROM harvestman.monitor WHERE id = $1 AND team_id = $2 AND status <> 'deleted'")
            .bind_all(params![id, team])
            .read_optional(&*self.pool.connection().await?, monitor_row)
            .await
    }

    async fn update_monitor(
        &self,
        team: TeamId,
        id: MonitorId,
        update: MonitorUpdate,
    ) -> Result<bool, StoreError> {
        self.write(update.now, move |transaction, _| {
            Box::pin(async move {
                let changed = query(
                    "UPDATE harvestman.monitor SET request = $4, next_run_at = $5,
                        updated_at = greatest($6, updated_at + 1),
                        status = CASE WHEN $5 IS NULL THEN 'paused' ELSE 'active' END
                     WHERE id = $1 AND team_id = $2 AND updated_at = $3 AND status <> 'deleted'",
                )
                .bind_all(params![
                    id, team, update.seen, update.request, update.next_run_at, update.now,
                ])
                .execute(transaction)
                .await?;
                if changed == 0 {
                    return Ok(false);
                }
                query("DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND target = ANY ($2)")
                    .bind_all(params![id, update.changed_targets])
                    .execute(transaction)
                    .await?;
                Ok(true)
            })
        })
        .await
    }

    async fn delete_monitor(
        &self,
        team: TeamId,
        id: MonitorId,
        now: Timestamp,
    ) -> Result<Option<Vec<JobId>>, StoreError> {
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                let deleted = query(
                    "UPDATE harvestman.monitor SET status = 'deleted', next_run_at = NULL, check_id = NULL,
                        updated_at = greatest($3, updated_at + 1)
                     WHERE id = $1 AND team_id = $2 AND status <> 'deleted'",
                )
                .bind_all(params![id, team, now])
                .execute(transaction)
                .await?;
                if deleted == 0 {
                    return Ok(None);
                }
                let cancelled = cancel_check_jobs(transaction, id, now).await?;
                for statement in [
                    "UPDATE harvestman.job SET status = CASE status WHEN 'scraping' THEN 'cancelled' ELSE status END,
                        completed_at = coalesce(completed_at, $2), expires_at = $2
                     WHERE id IN (SELECT id FROM harvestman.monitor_check WHERE monitor_id = $1)",
                    "UPDATE harvestman.monitor_check SET status = 'failed', error = 'the monitor was deleted',
                        finished_at = $2, updated_at = $2, lease_until = NULL, epoch = epoch + 1
                     WHERE monitor_id = $1 AND lease_until IS NOT NULL",
                ] {
                    query(statement).bind_all(params![id, now]).execute(transaction).await?;
                }
                Ok(Some(cancelled))
            })
        })
        .await
    }

    async fn due_monitors(&self, now: Timestamp, limit: u64) -> Result<Vec<DueMonitor>, StoreError> {
        query(
            "SELECT id, team_id, next_run_at FROM harvestman.monitor WHERE next_run_at <= harvestman.clock($1)
             ORDER BY next_run_at LIMIT $2",
        )
        .bind_all(params![now, limit])
        .read_all(&*self.pool.connection().await?, due_monitor)
        .await
    }

    async fn postpone_monitor(
        &self,
        monitor: DueMonitor,
        now: Timestamp,
        delay_ms: u64,
    ) -> Result<(), StoreError> {
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                query("UPDATE harvestman.monitor SET next_run_at = $3 WHERE id = $1 AND next_run_at = $2")
                    .bind_all(params![monitor.id, monitor.due, now.0.saturating_add(delay_ms)])
                    .run(transaction)
                    .await
            })
        })
        .await
    }
}

/// Cancels the jobs of the check that runs, and returns those that were running.
async fn cancel_check_jobs(
    client: &Client,
    monitor: MonitorId,
    now: Timestamp,
) -> Result<Vec<JobId>, StoreError> {
    let check = query(
        "SELECT id, jobs FROM harvestman.monitor_check WHERE monitor_id = $1 AND lease_until IS NOT NULL",
    )
    .bind(monitor)
    .fetch_optional(client)
    .await?;
    let mut cancelled = Vec::new();
    if let Some(check) = check {
        for job in fetching_jobs(&check).unwrap_or_default() {
            if mark_cancelled(client, job, now).await? {
                cancelled.push(job);
            }
        }
    }
    Ok(cancelled)
}

/// Fails a running check, and cancels its jobs. Does nothing if the id is that of another job.
pub(super) async fn fail_check(
    client: &Client,
    check: JobId,
    error: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let running =
        query("SELECT monitor_id FROM harvestman.monitor_check WHERE id = $1 AND lease_until IS NOT NULL")
            .bind(check)
            .fetch_optional(client)
            .await?;
    let Some(row) = running else { return Ok(()) };
    cancel_check_jobs(client, MonitorId(row.id("monitor_id")?), now).await?;
    query(
        "UPDATE harvestman.monitor_check SET status = 'failed', error = $2, finished_at = $3, updated_at = $3,
            lease_until = NULL, epoch = epoch + 1
         WHERE id = $1",
    )
    .bind_all(params![check, error, now])
    .run(client)
    .await?;
    query("UPDATE harvestman.monitor SET check_id = NULL WHERE check_id = $1")
        .bind(check)
        .run(client)
        .await
}

/// Pauses a monitor. Returns false if it is not active.
pub(super) async fn pause(client: &Client, monitor: MonitorId, now: Timestamp) -> Result<bool, StoreError> {
    let paused = query(
        "UPDATE harvestman.monitor SET status = 'paused', next_run_at = NULL, updated_at = greatest($2, updated_at + 1)
         WHERE id = $1 AND status = 'active'",
    )
    .bind_all(params![monitor, now])
    .execute(client)
    .await?;
    Ok(paused == 1)
}

/// Deletes a part of a deleted monitor whose checks are gone, its row last. Returns false if there is none.
pub(super) async fn delete_some(client: &Client) -> Result<bool, StoreError> {
    let row = query(
        "SELECT id, team_id FROM harvestman.monitor WHERE status = 'deleted' AND NOT EXISTS
            (SELECT 1 FROM harvestman.monitor_check WHERE monitor_id = monitor.id)
         LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .fetch_optional(client)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let id = MonitorId(row.id("id")?);
    let urls = query(
        "DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND (target, url_key) IN
            (SELECT target, url_key FROM harvestman.monitor_url WHERE monitor_id = $1 LIMIT $2)",
    )
    .bind_all(params![id, limits::EXPIRY_ROWS])
    .execute(client)
    .await?;
    let versions = query(
        "DELETE FROM harvestman.page_version WHERE team_id = $1 AND tag = $2 AND url_key IN
            (SELECT url_key FROM harvestman.page_version WHERE team_id = $1 AND tag = $2 LIMIT $3)",
    )
    .bind_all(params![row.id("team_id")?, monitor_tag(id), limits::EXPIRY_ROWS])
    .execute(client)
    .await?;
    if urls + versions == 0 {
        query("DELETE FROM harvestman.monitor WHERE id = $1")
            .bind(id)
            .execute(client)
            .await?;
    }
    Ok(true)
}
