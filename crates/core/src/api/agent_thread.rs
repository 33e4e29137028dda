//! Models of `GET /v2/agent/threads/{id}` (docs/API.md section 10.4).

use harvestman_derive::response;
use serde_json::Value;
use uuid::Uuid;

use crate::api::agent::{AgentMode, Effort, StopReason};
use crate::api::error::ApiError;
use crate::api::query::Query;
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::time::Timestamp;

/// Query parameters of `GET /v2/agent/threads/{id}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadQuery {
    /// Whether to return the result of each run.
    pub include_data: bool,
}

impl ThreadQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            include_data: Query::parse(query).bool("includeData")?.unwrap_or(false),
        })
    }
}

wire_enum! {
    /// State of a thread.
    ThreadStatus {
        /// No run of the thread is in progress.
        Idle = "idle",
        /// A run of the thread is in progress.
        Running = "running",
    }
}

wire_enum! {
    /// State of a run in its thread.
    ThreadRunStatus {
        /// The run is in progress.
        Processing = "processing",
        /// The run has completed.
        Succeeded = "succeeded",
        /// The run failed.
        Failed = "failed",
        /// The run was cancelled.
        Cancelled = "cancelled",
        /// The run used its `maxCredits`.
        CreditLimit = "credit_limit_reached",
    }
}

impl ThreadRunStatus {
    /// Returns the word that jobs have for this state.
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "completed",
            Self::CreditLimit => "failed",
            Self::Processing | Self::Failed | Self::Cancelled => self.as_str(),
        }
    }
}

/// Response of `GET /v2/agent/threads/{id}`.
#[response]
pub struct AgentThreadResponse {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The thread.
    pub thread: AgentThread,
}

/// Conversation with an agent.
#[response]
pub struct AgentThread {
    /// Id of the thread: that of its first run.
    pub id: Uuid,
    /// Start time of its oldest stored run.
    pub created_at: Timestamp,
    /// Time of its last change: when its newest run started or ended.
    pub updated_at: Timestamp,
    /// State of the thread.
    pub status: ThreadStatus,
    /// Stored runs, oldest first.
    pub runs: Vec<AgentThreadRun>,
}

/// Run of a thread.
#[response]
pub struct AgentThreadRun {
    /// Id of the job.
    pub id: JobId,
    /// Number of the run in the thread, from 1.
    pub turn: u64,
    /// Kind of the result.
    pub mode: AgentMode,
    /// Task in words.
    pub prompt: String,
    /// URLs to look at first.
    pub urls: Option<Vec<String>>,
    /// JSON Schema of the result.
    pub schema: Option<Value>,
    /// Requested effort.
    pub effort: Option<Effort>,
    /// State of the run.
    pub status: ThreadRunStatus,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Start time of the run.
    pub created_at: Timestamp,
    /// End time of the run; null while it is in progress.
    #[serde(default)]
    #[nullable]
    pub finished_at: Option<Timestamp>,
    /// Credits that the run used; null while it is in progress.
    #[serde(default)]
    #[nullable]
    pub credits_used: Option<u64>,
    /// Message of the agent, or null.
    #[serde(default)]
    #[nullable]
    pub message: Option<String>,
    /// Result of the run; only with `includeData`.
    pub data: Option<Value>,
    /// What a run without a result has found; only with `includeData`.
    pub partial: Option<Value>,
    /// Whether `partial` matches the schema.
    pub partial_schema_valid: Option<bool>,
    /// Why a failed run stopped.
    pub stop_reason: Option<StopReason>,
}
