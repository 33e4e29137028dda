//! Jobs, their shards, URLs and errors.

use harvestman_core::crawl::{AdmittedUrl, JobState, ProcessingCounts, Progress, Snapshot};
use harvestman_core::ids::{JobId, KeyId, ScrapeId, TeamId};
use harvestman_core::time::Timestamp;
use url::Url;

use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::job::{JobError, JobKind, JobRow, JobStatus};
use crate::lease::{DueWork, Lease};
use crate::prepared::parse_source;
use crate::signal::JobSignal;
use crate::value::{Value, params};

/// Parses the kind of a job, from a row with `kind`.
pub(crate) fn parse_kind(row: &impl Columns) -> Result<JobKind, StoreError> {
    row.parsed("kind", JobKind::parse)
}

/// Parses the status of a job, from a row with `status`.
pub(crate) fn parse_status(row: &impl Columns) -> Result<JobStatus, StoreError> {
    row.parsed("status", JobStatus::parse)
}

/// Parses the progress of a shard, from a row with `progress`.
pub(crate) fn parse_progress(row: &impl Columns) -> Result<Progress, StoreError> {
    serde_json::from_str(&row.text("progress")?).map_err(|_| bad_column("progress"))
}

/// Builds a snapshot without URLs, and whether the job still runs, from a row of `shard` and `job`.
pub(crate) fn snapshot(row: &impl Columns) -> Result<(Snapshot, JobState), StoreError> {
    let snapshot = Snapshot {
        last_batch: row.count("last_batch")?,
        progress: parse_progress(row)?,
        admitted: row.count("admitted")?,
        completed: row.count("completed")?,
        failed: row.count("failed")?,
        ..Snapshot::default()
    };
    Ok((snapshot, job_state(row)?))
}

/// Returns whether a job still runs, from a row with `status`.
fn job_state(row: &impl Columns) -> Result<JobState, StoreError> {
    Ok(match parse_status(row)? {
        JobStatus::Scraping => JobState::Running,
        JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled => JobState::Ended,
    })
}

/// Counts the pages whose fetch has begun, from rows of shards with `progress`.
pub(crate) fn begun_pages(shards: &[impl Columns]) -> Result<u64, StoreError> {
    let mut begun = 0;
    for row in shards {
        begun += parse_progress(row)?.begun.len() as u64;
    }
    Ok(begun)
}

/// Adds up how the pages of a job were processed, from rows of shards with `progress`.
pub(crate) fn sum_of_paces(shards: &[impl Columns]) -> Result<ProcessingCounts, StoreError> {
    let mut sum = ProcessingCounts::default();
    for row in shards {
        let of_shard = parse_progress(row)?.pace;
        sum.in_browser += of_shard.in_browser;
        sum.waited += of_shard.waited;
        sum.retried += of_shard.retried;
    }
    Ok(sum)
}

/// Builds the lease of a shard from the row of its job. `shard` and `epoch` are its number and fencing token.
pub(crate) fn lease(
    row: &impl Columns,
    job: JobId,
    (shard, epoch): (u32, u64),
    until: Timestamp,
) -> Result<Lease, StoreError> {
    Ok(Lease {
        job,
        team: TeamId(row.id("team_id")?),
        key: row.maybe_id("key_id")?.map(KeyId),
        kind: parse_kind(row)?,
        url: row.text("url")?,
        request: row.text("request")?,
        base: row.text("base")?,
        page_limit: row.count("page_limit")?,
        shard,
        epoch,
        until,
        created_at: row.time("created_at")?,
    })
}

/// Builds the due work from a row with a flag for each kind.
pub(crate) fn due_work(row: &impl Columns) -> Result<DueWork, StoreError> {
    Ok(DueWork {
        shards: row.flag("shards")?,
        events: row.flag("events")?,
        checks: row.flag("checks")?,
    })
}

/// Builds the state of a job from a row with its counters and `settled`.
pub(crate) fn job_signal(row: &impl Columns) -> Result<JobSignal, StoreError> {
    Ok(JobSignal {
        job: JobId(row.id("id")?),
        status: parse_status(row)?,
        page_limit: row.count("page_limit")?,
        admitted: row.count("admitted")?,
        settled: row.count("settled")?,
        events: row.count("event_count")?,
    })
}

/// Builds a job from a row of `job`.
pub(crate) fn job_row(row: &impl Columns) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: JobId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        key: row.maybe_id("key_id")?.map(KeyId),
        kind: parse_kind(row)?,
        url: row.text("url")?,
        request: row.text("request")?,
        status: parse_status(row)?,
        page_limit: row.count("page_limit")?,
        admitted: row.count("admitted")?,
        completed: row.count("completed")?,
        failed: row.count("failed")?,
        credits: row.count("credits")?,
        created_at: row.time("created_at")?,
        completed_at: row.maybe_time("completed_at")?,
        expires_at: row.maybe_time("expires_at")?,
        retention_ms: row.count("retention_ms")?,
        warnings: serde_json::from_str(&row.text("warnings")?).map_err(|_| bad_column("warnings"))?,
        error: row.maybe_text("error")?,
        zero_data_retention: row.count("zero_data_retention")? > 0,
    })
}

/// Returns the `request`, `url`, `base`, `warnings` and `created_at` of a job, with defaults for those that cannot be read.
pub(crate) fn readable_job(row: &impl Columns, now: Timestamp) -> Vec<Value> {
    let is_list = |text: &String| serde_json::from_str::<Vec<String>>(text).is_ok();
    params![
        row.text("request").unwrap_or_else(|_| "{}".to_owned()),
        row.text("url").unwrap_or_default(),
        row.text("base").unwrap_or_default(),
        row.text("warnings")
            .ok()
            .filter(is_list)
            .unwrap_or_else(|| "[]".to_owned()),
        row.time("created_at").unwrap_or(now),
    ]
}

/// Builds an error list entry from a row with `scrape_id`, `at`, `url`, `code` and `message`.
pub(crate) fn job_error(row: &impl Columns) -> Result<JobError, StoreError> {
    Ok(JobError {
        id: ScrapeId(row.id("scrape_id")?),
        at: row.time("at")?,
        url: row.text("url")?,
        code: row.text("code")?,
        message: row.text("message")?,
    })
}

/// Builds an admitted URL from a row with `url_key`, `url`, `depth` and `source`.
pub(crate) fn admitted_url(row: &impl Columns) -> Result<AdmittedUrl, StoreError> {
    Ok(AdmittedUrl {
        key: row.url_key("url_key")?,
        url: Url::parse(&row.text("url")?).map_err(|_| bad_column("url"))?,
        depth: u32::try_from(row.count("depth")?).map_err(|_| bad_column("depth"))?,
        source: row.parsed("source", parse_source)?,
        attempts: 0,
    })
}
