//! Jobs after their start: looked up, cancelled and ended early.

use harvestman_core::crawl::Progress;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::event::{Event, EventLog};
use crate::job::{CancelOutcome, JobKind, JobRow, JobStatus, Jobs};
use crate::prepared::json_text;
use crate::rows::{begun_pages, job_row, parse_kind, parse_status};
use crate::sql::{Connection, Database, Transaction, statement};
use crate::value::params;

macro_rules! select_jobs {
    ($rest:literal) => {
        statement!(concat!(
            "SELECT id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, failed,
                credits, created_at, completed_at, expires_at, retention_ms, warnings, error, zero_data_retention
             FROM harvestman.job ",
            $rest
        ))
    };
}

impl<D: Database> Jobs for D {
    async fn cancel(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<CancelOutcome, StoreError> {
        self.transact(now, move |transaction, now| {
            Box::pin(async move {
                let row = statement!(
                    "SELECT status, kind, webhook_events, event_count, last_event_at FROM harvestman.job
                     WHERE id = $1 AND team_id = $2 AND (expires_at IS NULL OR expires_at > $3)
                     FOR NO KEY UPDATE",
                )
                .bind_all(params![job, team, now])
                .fetch_optional(transaction)
                .await?;
                let Some(row) = row else {
                    return Ok(CancelOutcome::NotFound);
                };
                match parse_status(&row)? {
                    JobStatus::Scraping => {
                        mark_cancelled(transaction, job, now).await?;
                        let kind = parse_kind(&row)?;
                        if kind == JobKind::Agent {
                            let mut log = EventLog::read(&row)?;
                            log.add_end(kind, Event::Cancelled, now);
                            transaction.save_events(job, &log).await?;
                        }
                        Ok(CancelOutcome::Cancelled(kind))
                    }
                    status => Ok(CancelOutcome::AlreadyEnded(status)),
                }
            })
        })
        .await
    }

    async fn job(&self, team: TeamId, job: JobId, now: Timestamp) -> Result<Option<JobRow>, StoreError> {
        select_jobs!(
            "WHERE id = $1 AND team_id = $2 AND (expires_at IS NULL OR expires_at > harvestman.clock($3))"
        )
        .bind_all(params![job, team, now])
        .read_optional(&mut self.reader().await?, job_row)
        .await
    }

    async fn active(&self, team: TeamId) -> Result<Vec<JobRow>, StoreError> {
        select_jobs!(
            "WHERE team_id = $1 AND kind = 'crawl' AND status = 'scraping' ORDER BY created_at DESC, id DESC"
        )
        .bind(team)
        .read_all(&mut self.reader().await?, job_row)
        .await
    }

    async fn recent_jobs(
        &self,
        team: TeamId,
        search: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<JobRow>, StoreError> {
        select_jobs!(
            "WHERE team_id = $1 AND kind <> 'monitor' AND (expires_at IS NULL OR expires_at > harvestman.clock($2))
                AND ($3::text IS NULL OR strpos(lower(url), lower($3::text)) > 0)
             ORDER BY id DESC LIMIT $4"
        )
        .bind_all(params![team, now, search, limit])
        .read_all(&mut self.reader().await?, job_row).await
    }
}

/// Marks a job as cancelled. Pages whose fetch had not begun no longer count as admitted, so that `admitted` is the
/// number of pages attempted. Returns false if the job was not running.
pub(crate) async fn mark_cancelled(
    connection: &mut impl Connection,
    job: JobId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    end_early(connection, job, (JobStatus::Cancelled, None), now).await
}

/// Ends a job that has not ended yet, with a state and the error. Returns false if it has.
pub(crate) async fn end_early(
    connection: &mut impl Connection,
    job: JobId,
    (status, error): (JobStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    let shards = statement!("SELECT progress FROM harvestman.shard WHERE job_id = $1")
        .bind(job)
        .fetch_all(connection)
        .await?;
    let in_flight = match begun_pages(&shards) {
        Ok(begun) => begun,
        Err(_) => {
            // It cannot be read.
            statement!("UPDATE harvestman.shard SET progress = $2 WHERE job_id = $1")
                .bind_all(params![job, json_text(&Progress::default())?])
                .execute(connection)
                .await?;
            0
        }
    };
    let ended = statement!(
        "UPDATE harvestman.job SET status = $4, error = $5, admitted = least(admitted, completed + failed + $3),
            sweep = true, completed_at = $2, expires_at = $2 + retention_ms
         WHERE id = $1 AND status = 'scraping'",
    )
    .bind_all(params![job, now, in_flight, status.as_str(), error])
    .execute(connection)
    .await?;
    statement!("UPDATE harvestman.shard SET active = false WHERE job_id = $1")
        .bind(job)
        .execute(connection)
        .await?;
    Ok(ended == 1)
}
