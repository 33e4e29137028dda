//! Monitors, their checks, and the pages of a check.

use harvestman_core::api::monitor_response::{CheckStatus, CheckSummary, MonitorStatus, PageStatus};
use harvestman_core::ids::{JobId, KeyId, MonitorId, ScrapeId, TeamId};
use harvestman_core::url_key::UrlKey;
use serde_json::json;

use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::monitor::{CheckLease, CheckPageChunk, CheckRow, DueMonitor, MonitorRow};

fn parse_check_status(row: &impl Columns) -> Result<CheckStatus, StoreError> {
    row.parsed("status", CheckStatus::parse)
}

/// Builds a check from a row of `monitor_check` with the `request` of its job.
pub(crate) fn check_row(row: &impl Columns) -> Result<CheckRow, StoreError> {
    Ok(CheckRow {
        id: JobId(row.id("id")?),
        monitor: MonitorId(row.id("monitor_id")?),
        status: parse_check_status(row)?,
        scheduled_for: row.maybe_time("scheduled_for")?,
        started_at: row.maybe_time("started_at")?,
        finished_at: row.maybe_time("finished_at")?,
        summary: serde_json::from_str(&row.text("summary")?).map_err(|_| bad_column("summary"))?,
        target_results: row.maybe_text("target_results")?,
        error: row.maybe_text("error")?,
        credits: row.count("credits")?,
        request: row.text("request")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// Builds a monitor from a row of `monitor`.
pub(crate) fn monitor_row(row: &impl Columns) -> Result<MonitorRow, StoreError> {
    let summary = row.maybe_text("last_summary")?;
    Ok(MonitorRow {
        id: MonitorId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        key: row.maybe_id("key_id")?.map(KeyId),
        status: row.parsed("status", MonitorStatus::parse)?,
        request: row.text("request")?,
        base: row.text("base")?,
        next_run_at: row.maybe_time("next_run_at")?,
        last_run_at: row.maybe_time("last_run_at")?,
        check: row.maybe_id("check_id")?.map(JobId),
        last_summary: summary
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|_| bad_column("last_summary"))?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// Builds a due monitor from a row of `monitor`.
pub(crate) fn due_monitor(row: &impl Columns) -> Result<DueMonitor, StoreError> {
    Ok(DueMonitor {
        id: MonitorId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        due: row.time("next_run_at")?,
    })
}

fn check_jobs(check: &impl Columns) -> Result<Vec<JobId>, StoreError> {
    serde_json::from_str(&check.text("jobs")?).map_err(|_| bad_column("jobs"))
}

/// Reads the ids of the jobs that fetch pages for a check. Searches are fetched by the check's own job.
pub(crate) fn fetching_jobs(check: &impl Columns) -> Result<Vec<JobId>, StoreError> {
    let own = JobId(check.id("id")?);
    let jobs = check_jobs(check)?.into_iter();
    Ok(jobs.filter(|job| *job != own).collect())
}

/// Builds the lease of a check from its row and the row of its job, which may be the same row.
pub(crate) fn check_lease(check: &impl Columns, job: &impl Columns) -> Result<CheckLease, StoreError> {
    Ok(CheckLease {
        check: JobId(check.id("id")?),
        monitor: MonitorId(check.id("monitor_id")?),
        team: TeamId(job.id("team_id")?),
        key: job.maybe_id("key_id")?.map(KeyId),
        epoch: check.count("epoch")?,
        running: parse_check_status(check)? == CheckStatus::Running,
        request: job.text("request")?,
        base: job.text("base")?,
        retention_ms: job.count("retention_ms")?,
        jobs: check_jobs(check)?,
    })
}

/// Builds the summary of a check from a row per `status` with the number of its `pages`.
pub(crate) fn check_summary(rows: &[impl Columns]) -> Result<CheckSummary, StoreError> {
    let mut summary = CheckSummary::default();
    for row in rows {
        let status = row.parsed("status", PageStatus::parse)?;
        let pages = row.count("pages")?;
        summary.total_pages += pages;
        *match status {
            PageStatus::Same => &mut summary.same,
            PageStatus::New => &mut summary.new,
            PageStatus::Changed => &mut summary.changed,
            PageStatus::Removed => &mut summary.removed,
            PageStatus::Error => &mut summary.error,
        } = pages;
    }
    Ok(summary)
}

/// Returns the data of the event at the end of a check.
pub(crate) fn check_event(
    (monitor, check): (MonitorId, JobId),
    status: CheckStatus,
    summary: &CheckSummary,
    error: Option<String>,
) -> String {
    let mut data = json!({ "monitorId": monitor, "checkId": check, "status": status, "summary": summary });
    if let Some(error) = error {
        data["error"] = error.into();
    }
    data.to_string()
}

/// Builds a known page of a target from a row with `url_key` and `scrape_id`.
pub(crate) fn target_page(row: &impl Columns) -> Result<(UrlKey, Option<ScrapeId>), StoreError> {
    Ok((row.url_key("url_key")?, row.maybe_id("scrape_id")?.map(ScrapeId)))
}

/// Builds a page that a check did not find from a row with `url_key`, `url` and `scrape_id`.
pub(crate) fn missing_url(row: &impl Columns) -> Result<(UrlKey, String, Option<ScrapeId>), StoreError> {
    let (key, scrape) = target_page(row)?;
    Ok((key, row.text("url")?, scrape))
}

/// Collects at most `limit` entries from rows with `entry`, and at most `max_bytes` of them but always one.
pub(crate) fn page_chunk(
    rows: &[impl Columns],
    limit: u64,
    max_bytes: usize,
) -> Result<CheckPageChunk, StoreError> {
    let mut chunk = CheckPageChunk::default();
    let mut bytes = 0;
    for row in rows {
        let entry = row.text("entry")?;
        bytes += entry.len();
        let fits = chunk.entries.is_empty() || bytes <= max_bytes;
        if !fits || chunk.entries.len() as u64 == limit {
            chunk.more = true;
            break;
        }
        chunk.entries.push(entry);
    }
    Ok(chunk)
}
