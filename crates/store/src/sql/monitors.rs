//! Monitors: created, changed and deleted, each by conditional statements.

use harvestman_core::api::monitor_response::MonitorStatus;
use harvestman_core::ids::{JobId, MonitorId, TeamId};
use harvestman_core::page_version::monitor_tag;
use harvestman_core::time::Timestamp;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::monitor::{DueMonitor, MonitorRow, MonitorUpdate, Monitors, NewMonitor};
use crate::rows::{due_monitor, fetching_jobs, monitor_row};
use crate::sql::jobs::mark_cancelled;
use crate::sql::{Connection, Database, delete_rows, statement, transact};
use crate::value::params;

impl<D: Database> Monitors for D {
    async fn create_monitor(&self, monitor: &NewMonitor, limit: u64) -> Result<bool, StoreError> {
        let monitor = monitor.clone();
        transact!(self, monitor.created_at, |transaction, _| {
            // While the monitors of the team are counted, none can be added.
            statement!("SELECT 1 FROM harvestman.team WHERE id = $1 FOR NO KEY UPDATE")
                .bind(monitor.team)
                .lock(transaction)
                .await?;
            let created = statement!(
                "INSERT INTO harvestman.monitor (id, team_id, key_id, status, request, base, next_run_at,
                    scheduled_at, created_at, updated_at)
                 SELECT $1, $2, $3, 'active', $4, $5, $6, harvestman.clock($7), $7, $7 WHERE (SELECT count(*)
                    FROM harvestman.monitor WHERE team_id = $2 AND status <> 'deleted') < $8",
            )
            .bind_all(params![
                monitor.id, monitor.team, monitor.key, monitor.request, monitor.base, monitor.next_run_at,
                monitor.created_at, limit,
            ])
            .execute(transaction)
            .await?;
            Ok(created == 1)
        })
    }

    async fn monitors(
        &self,
        team: TeamId,
        status: Option<MonitorStatus>,
        limit: u64,
        offset: u64,
    ) -> Result<Vec<MonitorRow>, StoreError> {
        statement!(
            "SELECT * FROM harvestman.monitor WHERE team_id = $1 AND status <> 'deleted'
                AND ($4 IS NULL OR status = $4)
             ORDER BY id DESC LIMIT $2 OFFSET $3",
        )
        .bind_all(params![team, limit, offset, status.map(MonitorStatus::as_str)])
        .read_all(&mut self.reader().await?, monitor_row)
        .await
    }

    async fn monitor(&self, team: TeamId, id: MonitorId) -> Result<Option<MonitorRow>, StoreError> {
        statement!("SELECT * FROM harvestman.monitor WHERE id = $1 AND team_id = $2 AND status <> 'deleted'")
            .bind_all(params![id, team])
            .read_optional(&mut self.reader().await?, monitor_row)
            .await
    }

    async fn update_monitor(
        &self,
        team: TeamId,
        id: MonitorId,
        update: MonitorUpdate,
    ) -> Result<bool, StoreError> {
        transact!(self, update.now, |transaction, _| {
            let changed = statement!(
                "UPDATE harvestman.monitor SET request = $4, next_run_at = $5,
                    scheduled_at = CASE WHEN next_run_at = $5 THEN scheduled_at ELSE harvestman.clock($6) END,
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
            forget_targets(transaction, id, update.changed_targets).await?;
            Ok(true)
        })
    }

    async fn delete_monitor(
        &self,
        team: TeamId,
        id: MonitorId,
        now: Timestamp,
    ) -> Result<Option<Vec<JobId>>, StoreError> {
        transact!(self, now, |transaction, now| {
            let deleted = statement!(
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
            for change in [
                    statement!(
                        "UPDATE harvestman.job
                     SET status = CASE status WHEN 'scraping' THEN 'cancelled' ELSE status END,
                        completed_at = coalesce(completed_at, $2), expires_at = $2
                     WHERE id IN (SELECT id FROM harvestman.monitor_check WHERE monitor_id = $1)"
                    ),
                    statement!(
                        "UPDATE harvestman.monitor_check SET status = 'failed', error = 'the monitor was deleted',
                        finished_at = $2, updated_at = $2, lease_until = NULL, epoch = epoch + 1
                     WHERE monitor_id = $1 AND lease_until IS NOT NULL"
                    ),
                ] {
                    change.bind_all(params![id, now]).run(transaction).await?;
                }
            Ok(Some(cancelled))
        })
    }

    async fn due_monitors(&self, now: Timestamp, limit: u64) -> Result<Vec<DueMonitor>, StoreError> {
        statement!(
            "SELECT id, team_id, next_run_at FROM harvestman.monitor WHERE next_run_at <= harvestman.clock($1)
             ORDER BY next_run_at LIMIT $2",
        )
        .bind_all(params![now, limit])
        .read_all(&mut self.reader().await?, due_monitor)
        .await
    }

    async fn postpone_monitor(
        &self,
        monitor: DueMonitor,
        now: Timestamp,
        delay_ms: u64,
    ) -> Result<(), StoreError> {
        statement!(
            "UPDATE harvestman.monitor
             SET next_run_at = harvestman.clock($3) + $4, scheduled_at = harvestman.clock($3)
             WHERE id = $1 AND next_run_at = $2",
        )
        .bind_all(params![monitor.id, monitor.due, now, delay_ms])
        .write(self)
        .await?;
        Ok(())
    }
}

/// Deletes what is known of the pages of these targets.
pub(super) async fn forget_targets(
    connection: &mut impl Connection,
    monitor: MonitorId,
    targets: Vec<u32>,
) -> Result<(), StoreError> {
    statement!(
        "DELETE FROM harvestman.monitor_url WHERE monitor_id = $1 AND target = ANY ($2)",
        sqlite: "DELETE FROM monitor_url WHERE monitor_id = ?1 AND target IN (SELECT value FROM json_each(?2))",
    )
    .bind_all(params![monitor, targets])
    .run(connection)
    .await
}

/// Cancels the jobs of the check that runs, and returns those that were running.
async fn cancel_check_jobs(
    connection: &mut impl Connection,
    monitor: MonitorId,
    now: Timestamp,
) -> Result<Vec<JobId>, StoreError> {
    let check = statement!(
        "SELECT id, jobs FROM harvestman.monitor_check WHERE monitor_id = $1 AND lease_until IS NOT NULL",
    )
    .bind(monitor)
    .fetch_optional(connection)
    .await?;
    let mut cancelled = Vec::new();
    if let Some(check) = check {
        for job in fetching_jobs(&check).unwrap_or_default() {
            if mark_cancelled(connection, job, now).await? {
                cancelled.push(job);
            }
        }
    }
    Ok(cancelled)
}

/// Fails a running check, and cancels its jobs. Does nothing if the id is that of another job.
pub(super) async fn fail_check(
    connection: &mut impl Connection,
    check: JobId,
    error: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let running = statement!(
        "SELECT monitor_id FROM harvestman.monitor_check WHERE id = $1 AND lease_until IS NOT NULL",
    )
    .bind(check)
    .fetch_optional(connection)
    .await?;
    let Some(row) = running else { return Ok(()) };
    cancel_check_jobs(connection, MonitorId(row.id("monitor_id")?), now).await?;
    statement!(
        "UPDATE harvestman.monitor_check SET status = 'failed', error = $2, finished_at = $3, updated_at = $3,
            lease_until = NULL, epoch = epoch + 1
         WHERE id = $1",
    )
    .bind_all(params![check, error, now])
    .run(connection)
    .await?;
    statement!("UPDATE harvestman.monitor SET check_id = NULL WHERE check_id = $1")
        .bind(check)
        .run(connection)
        .await
}

/// Pauses a monitor. Returns false if it is not active.
pub(super) async fn pause(
    connection: &mut impl Connection,
    monitor: MonitorId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let paused = statement!(
        "UPDATE harvestman.monitor SET status = 'paused', next_run_at = NULL, updated_at = greatest($2, updated_at + 1)
         WHERE id = $1 AND status = 'active'",
    )
    .bind_all(params![monitor, now])
    .execute(connection)
    .await?;
    Ok(paused == 1)
}

/// Makes some checks due that wait for a time in the future only because the clock has been set back.
pub(super) async fn move_due_times(
    connection: &mut impl Connection,
    now: Timestamp,
) -> Result<(), StoreError> {
    statement!(
        "UPDATE harvestman.monitor SET next_run_at = $1, scheduled_at = $1
         WHERE id IN (SELECT id FROM harvestman.monitor WHERE next_run_at > $1 AND scheduled_at > $2
            LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)",
    )
    .bind_all(params![
        now,
        now.0.saturating_add(limits::CLOCK_STEP_MS),
        limits::EXPIRY_ROWS
    ])
    .run(connection)
    .await
}

/// Deletes a part of a deleted monitor whose checks are gone, its row last. Returns false if there is none.
pub(super) async fn delete_some(connection: &mut impl Connection) -> Result<bool, StoreError> {
    let row = statement!(
        "SELECT id, team_id FROM harvestman.monitor WHERE status = 'deleted' AND NOT EXISTS
            (SELECT 1 FROM harvestman.monitor_check WHERE monitor_id = monitor.id)
         LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let id = MonitorId(row.id("id")?);
    let urls = delete_rows!("monitor_url", "target, url_key", "monitor_id = $1", "$2")
        .bind_all(params![id, limits::EXPIRY_ROWS])
        .execute(connection)
        .await?;
    let versions = delete_rows!("page_version", "url_key", "team_id = $1 AND tag = $2", "$3")
        .bind_all(params![row.id("team_id")?, monitor_tag(id), limits::EXPIRY_ROWS])
        .execute(connection)
        .await?;
    if urls + versions == 0 {
        statement!("DELETE FROM harvestman.monitor WHERE id = $1")
            .bind(id)
            .execute(connection)
            .await?;
    }
    Ok(true)
}
