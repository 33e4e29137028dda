//! Reads what an agent did: its trace, and the contents that the trace refers to.

use harvestman_core::api::agent::StopReason;
use harvestman_core::api::agent_trace::{
    AgentSnapshot, AgentTrace, RunOutcome, SnapshotKind, TraceArtifact, TraceDetail, TraceError,
    TraceErrorCode, TraceEvent, event_id, event_number,
};
use harvestman_core::api::error::ApiError;
use harvestman_core::ids::JobId;
use harvestman_store::{JobStatus, Principal, RunRow};
use uuid::Uuid;

use super::progress::{FIRST_EVENT, trace_event};
use super::status::{has_ended, result_fields, run_error, take_field};
use crate::context::Engine;
use crate::error::internal_error;

impl Engine {
    /// Returns the trace of an agent of the team, with its browser sessions if requested. The start, result and end
    /// are not stored as events: they come from the run itself.
    ///
    /// # Errors
    /// 404; 503 if the store fails.
    pub async fn agent_trace(
        &self,
        principal: &Principal,
        id: JobId,
        live_view: bool,
    ) -> Result<AgentTrace, ApiError> {
        let run = self.read_agent(principal, id).await?;
        let mut events = vec![trace_event(
            id,
            FIRST_EVENT,
            run.created_at,
            TraceDetail::RunStarted,
        )];
        for event in self.context.store.run_events(id).await? {
            let event: TraceEvent = serde_json::from_str(&event).map_err(internal_error)?;
            events.push(event);
        }
        if let Some(ended_at) = run.completed_at {
            let mut next = events.len() as u64 + 1;
            if answer(&run).is_some() {
                let artifact = result_artifact(id, next);
                let detail = TraceDetail::ArtifactUpdated { artifact };
                events.push(trace_event(id, next, ended_at, detail));
                next += 1;
            }
            events.push(trace_event(id, next, ended_at, end(&run)?));
        }
        Ok(AgentTrace {
            success: true,
            id,
            events,
            credits_used: has_ended(&run).then_some(run.credits),
            active_browser_sessions: live_view.then(Vec::new),
            zero_data_retention: run.zero_data_retention,
        })
    }

    /// Returns content that the trace of an agent of the team refers to.
    ///
    /// # Errors
    /// 404; 503 if the store fails.
    pub async fn agent_snapshot(
        &self,
        principal: &Principal,
        id: JobId,
        snapshot: Uuid,
    ) -> Result<AgentSnapshot, ApiError> {
        let run = self.read_agent(principal, id).await?;
        let store = &self.context.store;
        let number = event_number(id, snapshot).unwrap_or_default();
        let text = match store.run_snapshot(id, number).await? {
            Some(text) => Some(text),
            None => {
                let stored = store.run_events(id).await?.len() as u64;
                answer(&run).filter(|_| number == FIRST_EVENT + stored + 1)
            }
        };
        let text = text.ok_or_else(|| {
            ApiError::not_found("no such snapshot; the trace of the run lists the snapshots")
        })?;
        Ok(AgentSnapshot {
            success: true,
            id,
            snapshot_id: snapshot,
            snapshot: text,
        })
    }
}

fn result_artifact(run: JobId, number: u64) -> TraceArtifact {
    TraceArtifact {
        kind: SnapshotKind::Json,
        artifact_id: "result".to_owned(),
        path: None,
        snapshot_id: event_id(run, number),
        change: "init".to_owned(),
        source_tool_call_id: None,
    }
}

/// Returns the result of a completed run as text.
fn answer(run: &RunRow) -> Option<String> {
    if run.status != JobStatus::Completed || run.zero_data_retention {
        return None;
    }
    let mut result = result_fields(run);
    let answer = take_field(&mut result, "data").or_else(|| take_field(&mut result, "message"))?;
    Some(answer.to_string())
}

fn end(run: &RunRow) -> Result<TraceDetail, ApiError> {
    let reason: Option<StopReason> = take_field(&mut result_fields(run), "stopReason")
        .map(serde_json::from_value::<StopReason>)
        .transpose()
        .map_err(internal_error)?;
    let (outcome, code) = match (run.status, reason) {
        (JobStatus::Cancelled, _) => (RunOutcome::Cancelled, TraceErrorCode::Cancelled),
        (JobStatus::Completed | JobStatus::Scraping, _) => (RunOutcome::Succeeded, TraceErrorCode::Internal),
        (JobStatus::Failed, Some(StopReason::CreditLimit)) => {
            (RunOutcome::CreditLimit, TraceErrorCode::CreditLimit)
        }
        (JobStatus::Failed, Some(StopReason::InsufficientCredits)) => {
            (RunOutcome::Failed, TraceErrorCode::InsufficientCredits)
        }
        (JobStatus::Failed, _) => (RunOutcome::Failed, TraceErrorCode::Internal),
    };
    let error = run_error(run).map(|message| TraceError {
        code,
        source: "agent".to_owned(),
        retryable: run.status == JobStatus::Failed,
        message,
    });
    Ok(TraceDetail::RunFinished { outcome, error })
}
