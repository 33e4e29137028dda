//! Threads: agents that continue a conversation. A run knows the tasks and answers of the runs before it.

use harvestman_core::api::agent::{AgentMode, AgentRequest, StopReason};
use harvestman_core::api::agent_thread::{
    AgentThread, AgentThreadResponse, AgentThreadRun, ThreadRunStatus, ThreadStatus,
};
use harvestman_core::api::agent_trace::{TraceDetail, TraceEvent};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_store::{JobStatus, Lease, Principal, RunRow};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::status::{has_ended, partial_of, result_fields, run_error, take_field};
use crate::context::{Context, Engine};
use crate::error::{internal_error, is_outage};
use crate::{clock, limits, outage};

/// A completed run before this one.
pub(super) struct EarlierRun {
    pub(super) prompt: String,
    pub(super) answer: String,
    /// URLs that the user gave.
    pub(super) given_urls: Vec<TargetUrl>,
    /// URLs that the run may open: those that the user gave, and pages that the earlier run read.
    pub(super) known_urls: Vec<Url>,
}

/// Returns the last completed runs of the thread before the run of a lease, oldest first.
///
/// # Errors
/// If the store fails.
pub(super) async fn earlier_runs(
    context: &Context,
    lease: &Lease,
    thread: Uuid,
) -> Result<Vec<EarlierRun>, ApiError> {
    outage::retry(is_outage, || read_earlier_runs(context, lease, thread)).await
}

async fn read_earlier_runs(
    context: &Context,
    lease: &Lease,
    thread: Uuid,
) -> Result<Vec<EarlierRun>, ApiError> {
    let store = &context.store;
    let runs = store.thread(lease.team, thread, clock::now()).await?;
    let before = runs.iter().take_while(|run| run.id != lease.job);
    let completed: Vec<&RunRow> = before.filter(|run| run.status == JobStatus::Completed).collect();
    let skipped = completed.len().saturating_sub(limits::THREAD_RUNS_READ);
    let mut earlier = Vec::new();
    for run in &completed[skipped..] {
        let Some(run) = store.run(lease.team, run.id, clock::now()).await? else {
            continue;
        };
        let mut result = result_fields(&run);
        let answer = match take_field(&mut result, "data").or_else(|| take_field(&mut result, "message")) {
            Some(Value::String(text)) => text,
            Some(data) => data.to_string(),
            None => continue,
        };
        let request = AgentRequest::from_json(run.request.as_bytes())?;
        let mut known_urls: Vec<Url> = request.urls.iter().map(|url| url.url.clone()).collect();
        for event in store.run_events(run.id).await? {
            known_urls.extend(page_of(&event));
        }
        earlier.push(EarlierRun {
            prompt: request.prompt,
            answer: answer[..answer.floor_char_boundary(limits::THREAD_ANSWER_BYTES)].to_owned(),
            given_urls: request.urls,
            known_urls,
        });
    }
    Ok(earlier)
}

/// Returns the URL of the page that an event of a trace refers to.
fn page_of(event: &str) -> Option<Url> {
    let event: TraceEvent = serde_json::from_str(event).ok()?;
    match event.detail {
        TraceDetail::ArtifactUpdated { artifact } => Url::parse(&artifact.path?).ok(),
        _ => None,
    }
}

impl Engine {
    /// Returns a thread of the team with its runs.
    ///
    /// # Errors
    /// 404; 503 if the store fails.
    pub async fn agent_thread(
        &self,
        principal: &Principal,
        thread: Uuid,
        include_data: bool,
    ) -> Result<AgentThreadResponse, ApiError> {
        let store = &self.context.store;
        let rows = store.thread(principal.team, thread, clock::now()).await?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Err(no_thread());
        };
        let (created_at, updated_at) = (first.created_at, last.completed_at.unwrap_or(last.created_at));
        let status = match has_ended(last) {
            true => ThreadStatus::Idle,
            false => ThreadStatus::Running,
        };
        let mut runs = Vec::with_capacity(rows.len());
        let mut room = if include_data {
            limits::THREAD_DATA_BYTES
        } else {
            0
        };
        for row in &rows {
            if let Some(run) = store.run(principal.team, row.id, clock::now()).await? {
                let size = run.result.as_ref().map_or(0, String::len);
                runs.push(thread_run(&run, size <= room)?);
                room = room.saturating_sub(size);
            }
        }
        let thread = AgentThread {
            id: thread,
            created_at,
            updated_at,
            status,
            runs,
        };
        Ok(AgentThreadResponse {
            success: true,
            thread,
        })
    }
}

fn thread_run(run: &RunRow, with_data: bool) -> Result<AgentThreadRun, ApiError> {
    let request = AgentRequest::from_json(run.request.as_bytes())?;
    let mut result = result_fields(run);
    let (partial, partial_schema_valid) = partial_of(run, &request, &mut result).unzip();
    let urls: Vec<String> = request.urls.iter().map(|url| url.url.to_string()).collect();
    let message = take_field(&mut result, "message").and_then(|text| text.as_str().map(str::to_owned));
    let stop_reason = take_field(&mut result, "stopReason").map(serde_json::from_value);
    let stop_reason = stop_reason.transpose().map_err(internal_error)?;
    Ok(AgentThreadRun {
        id: run.id,
        turn: run.thread.map_or(1, |place| place.turn),
        mode: request.mode.unwrap_or(AgentMode::Extract),
        prompt: request.prompt,
        urls: (!urls.is_empty()).then_some(urls),
        schema: request.schema.map(Value::Object),
        effort: request.effort,
        status: match (run.status, stop_reason) {
            (JobStatus::Scraping, _) => ThreadRunStatus::Processing,
            (JobStatus::Completed, _) => ThreadRunStatus::Succeeded,
            (JobStatus::Cancelled, _) => ThreadRunStatus::Cancelled,
            (JobStatus::Failed, Some(StopReason::CreditLimit)) => ThreadRunStatus::CreditLimit,
            (JobStatus::Failed, _) => ThreadRunStatus::Failed,
        },
        error: run_error(run),
        created_at: run.created_at,
        finished_at: run.completed_at,
        credits_used: has_ended(run).then_some(run.credits),
        message,
        data: take_field(&mut result, "data").filter(|_| with_data),
        partial: partial.filter(|_| with_data),
        partial_schema_valid: partial_schema_valid.flatten(),
        stop_reason,
    })
}

/// Returns the error for a thread that the team does not have.
pub(super) fn no_thread() -> ApiError {
    ApiError::not_found("no such thread: its runs have expired, or it belongs to another team")
}
