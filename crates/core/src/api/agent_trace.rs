//! Models of `GET /v2/agent/{id}/trace` and `GET /v2/agent/{id}/snapshots/{snapshot}` (docs/API.md section 10.4).

use harvestman_derive::response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::api::error::ApiError;
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::time::Timestamp;

/// Query parameters of `GET /v2/agent/{id}/trace`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceQuery {
    /// Whether to list the browser sessions of the run.
    pub live_view: bool,
}

impl TraceQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            live_view: Query::parse(query).bool("liveView")?.unwrap_or(false),
        })
    }
}

/// Response of `GET /v2/agent/{id}/trace`.
#[response]
pub struct AgentTrace {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// Events in order.
    pub events: Vec<TraceEvent>,
    /// Credits that the run used.
    pub credits_used: Option<u64>,
    /// Browser sessions of the run, always empty: an agent reads pages and opens no session. Only with `liveView`.
    pub active_browser_sessions: Option<Vec<Value>>,
    /// Whether the run stores no content. Its trace has only start and end then.
    #[serde(default)]
    pub zero_data_retention: bool,
}

/// Event of a trace.
#[response]
pub struct TraceEvent {
    /// Version of the format of events: 1.
    pub schema_version: u32,
    /// Id of the event.
    pub event_id: Uuid,
    /// Id of the job.
    pub run_id: JobId,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Number of the event in the trace, from 1.
    pub producer_sequence: u64,
    /// Agent that caused the event.
    pub agent: TraceAgent,
    /// What happened.
    #[serde(flatten)]
    pub detail: TraceDetail,
}

/// Agent that caused an event.
#[response(Eq)]
pub struct TraceAgent {
    /// Id of the agent: that of the job.
    pub id: String,
    /// Role of the agent: `orchestrator`.
    pub role: String,
    /// Name of the agent.
    pub name: String,
}

/// What happened, by `type`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum TraceDetail {
    /// The run started.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A message about the run.
    #[serde(rename = "progress.reported")]
    ProgressReported {
        /// Always `working`.
        phase: String,
        /// The message.
        message: String,
    },
    /// A tool was called.
    #[serde(rename = "tool_call.started")]
    ToolCallStarted {
        /// Id of the call.
        tool_call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Arguments of the call.
        parameters: Value,
    },
    /// A tool returned.
    #[serde(rename = "tool_call.finished")]
    ToolCallFinished {
        /// Id of the call.
        tool_call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Beginning of the text that the model got.
        result: Value,
    },
    /// A page was read, or the result was written.
    #[serde(rename = "artifact.updated")]
    ArtifactUpdated {
        /// What it is, and where its content is.
        artifact: TraceArtifact,
    },
    /// The run ended.
    #[serde(rename = "run.finished")]
    RunFinished {
        /// How the run ended.
        outcome: RunOutcome,
        /// Why the run failed.
        error: Option<TraceError>,
    },
}

wire_enum! {
    /// How a run ended.
    RunOutcome {
        /// With a result.
        Succeeded = "succeeded",
        /// Without a result.
        Failed = "failed",
        /// By the caller.
        Cancelled = "cancelled",
        /// Without a result when `maxCredits` were used.
        CreditLimit = "credit_limit_reached",
    }
}

wire_enum! {
    /// Kind of a snapshot.
    SnapshotKind {
        /// A page as the model read it.
        Markdown = "markdown",
        /// The result.
        Json = "json",
    }
}

/// Reference to a snapshot.
#[response(Eq)]
pub struct TraceArtifact {
    /// Kind of the content.
    pub kind: SnapshotKind,
    /// Id of the artifact: the URL of a page, or `result`.
    pub artifact_id: String,
    /// URL of a page.
    pub path: Option<String>,
    /// Id of the snapshot, for `GET /v2/agent/{id}/snapshots/{snapshot}`.
    pub snapshot_id: Uuid,
    /// Change of the artifact: `init`.
    pub change: String,
    /// Tool call that caused the change.
    pub source_tool_call_id: Option<String>,
}

wire_enum! {
    /// Kind of a failure.
    TraceErrorCode {
        /// The caller cancelled the run.
        Cancelled = "cancelled",
        /// `maxCredits` were used.
        CreditLimit = "credit_limit_reached",
        /// The credits of the team were used.
        InsufficientCredits = "insufficient_credits",
        /// Another failure.
        Internal = "internal",
    }
}

/// Why a run failed.
#[response(Eq)]
pub struct TraceError {
    /// Kind of the failure.
    pub code: TraceErrorCode,
    /// Part that failed: `agent`.
    pub source: String,
    /// Whether the same run may succeed later.
    pub retryable: bool,
    /// The error of the run.
    pub message: String,
}

/// Response of `GET /v2/agent/{id}/snapshots/{snapshot}`.
#[response(Eq)]
pub struct AgentSnapshot {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// Id of the snapshot.
    pub snapshot_id: Uuid,
    /// The content.
    pub snapshot: String,
}

/// Returns the id of a run's event, which is also the id of its snapshot: the job id with the event number encoded
/// in it.
pub fn event_id(run: JobId, number: u64) -> Uuid {
    Uuid::from_u128(run.0.as_u128() ^ u128::from(number))
}

/// Returns the number of the event that has this id.
pub fn event_number(run: JobId, id: Uuid) -> Option<u64> {
    u64::try_from(run.0.as_u128() ^ id.as_u128()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_written_flat_and_read_again() {
        let run = JobId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001));
        let event = TraceEvent {
            schema_version: 1,
            event_id: event_id(run, 2),
            run_id: run,
            occurred_at: Timestamp(1),
            producer_sequence: 2,
            agent: TraceAgent {
                id: run.to_string(),
                role: "orchestrator".to_owned(),
                name: "agent".to_owned(),
            },
            detail: TraceDetail::RunFinished {
                outcome: RunOutcome::Failed,
                error: None,
            },
        };
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(
            (&written["type"], &written["outcome"], &written["error"]),
            (&json!("run.finished"), &json!("failed"), &Value::Null)
        );
        assert_eq!(serde_json::from_value::<TraceEvent>(written).unwrap(), event);
    }

    #[test]
    fn the_id_of_an_event_has_its_number() {
        let run = JobId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001));
        assert_ne!(event_id(run, 1), event_id(run, 2));
        assert_eq!(event_number(run, event_id(run, 7)), Some(7));
        assert_eq!(event_number(run, Uuid::nil()), None);
    }
}
