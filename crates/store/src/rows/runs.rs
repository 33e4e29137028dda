//! Scrapes and runs.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::page::Document;
use harvestman_core::ids::{JobId, TeamId};
use uuid::Uuid;

use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::rows::jobs::{parse_kind, parse_status};
use crate::rows::pages::decompress_texts;
use crate::run::{AgentOutcome, RunRow, ThreadPlace};
use crate::scrape::{OriginState, ScrapeOrigin, StoredScrape};

/// Builds a run, without its result, from a row of `job` and `activity`.
pub(crate) fn run_row(row: &impl Columns) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: JobId(row.id("id")?),
        kind: parse_kind(row)?,
        status: parse_status(row)?,
        request: row.text("request")?,
        error: row.maybe_text("error")?,
        credits: row.count("credits")?,
        created_at: row.time("created_at")?,
        completed_at: row.maybe_time("completed_at")?,
        thread: ThreadPlace::of(row.maybe_id("thread_id")?, row.maybe_count("thread_turn")?),
        expires_at: row.maybe_time("expires_at")?,
        zero_data_retention: row.count("zero_data_retention")? != 0,
        origin: row.maybe_text("origin")?,
        integration: row.maybe_text("integration")?,
        result: None,
    })
}

/// Builds the origin from a row of `job`.
pub(crate) fn origin(
    row: &impl Columns,
    url: String,
    state: OriginState,
) -> Result<ScrapeOrigin, StoreError> {
    Ok(ScrapeOrigin {
        team: TeamId(row.id("team_id")?),
        kind: parse_kind(row)?,
        url,
        request: row.text("request")?,
        zero_data_retention: row.count("zero_data_retention")? != 0,
        expires_at: row.maybe_time("expires_at")?,
        state,
    })
}

/// Returns the place of a run that continues a thread, or why it cannot, from a row with the numbers of its `runs`,
/// of those that are `stored`, and of those `running`.
pub(crate) fn next_place_of(
    row: &impl Columns,
    thread: Uuid,
) -> Result<Result<ThreadPlace, AgentOutcome>, StoreError> {
    Ok(ThreadPlace::next(
        thread,
        row.count("runs")?,
        row.count("stored")?,
        row.count("running")?,
    ))
}

/// Builds the origin of a page of a job from a row of `job` with the body of the page.
pub(crate) async fn origin_of_page(row: impl Columns + Send + 'static) -> Result<ScrapeOrigin, StoreError> {
    let mut found = origin(&row, row.text("url")?, OriginState::Ended)?;
    // A page deleted for zero data retention cannot be repeated, whatever its URL.
    if !found.zero_data_retention {
        let document = decompress_texts(vec![row]).await?.pop().unwrap_or_default();
        let document: Document = serde_json::from_str(&document).map_err(|_| bad_column("a document"))?;
        found.url = document.metadata.source_url.unwrap_or(found.url);
    }
    Ok(found)
}

/// Builds the result of a scrape without a document from a row with `status`, `answer_status` and `answer_body`.
pub(crate) fn result_of_scrape(row: &impl Columns) -> Result<Option<StoredScrape>, StoreError> {
    let running = row.text("status")? == "scraping";
    let answer = (row.maybe_count("answer_status")?, row.maybe_text("answer_body")?);
    Ok(match answer {
        _ if running => Some(StoredScrape::Running),
        (Some(status), Some(body)) => Some(StoredScrape::Failed {
            status: u16::try_from(status).unwrap_or(500),
            body,
        }),
        _ => None,
    })
}

/// Builds the error of a failed page of a larger job, as a single scrape would have returned it, from a row with
/// `code` and `message`.
pub(crate) fn failed_page(row: &impl Columns) -> Result<StoredScrape, StoreError> {
    let code = ErrorCode::parse(&row.text("code")?).unwrap_or(ErrorCode::Unknown);
    let error = ApiError::new(code, row.text("message")?);
    Ok(StoredScrape::Failed {
        status: error.status(),
        body: error.body().to_string(),
    })
}
