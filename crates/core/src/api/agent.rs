//! Models of `/v2/agent` (docs/API.md section 10.3).

use harvestman_derive::{Request, response};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::caller::Caller;
use crate::api::crawl::EnabledOptions;
use crate::api::error::ApiError;
use crate::api::fields::{Slot, wire};
use crate::api::location::Location;
use crate::api::query::Query;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::limits::{DEFAULT_AGENT_CREDITS, MAX_LIST_ITEMS, MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS};
use crate::time::Timestamp;
use crate::webhook::Family;

wire_enum! {
    /// Amount of work that the agent puts into a task.
    Effort {
        /// Little work.
        Low = "low",
        /// A moderate amount of work.
        Medium = "medium",
        /// A lot of work.
        High = "high",
    }
}

wire_enum! {
    /// Kind of result that the agent returns.
    AgentMode {
        /// Structured data.
        Extract = "extract",
        /// A conversation.
        Chat = "chat",
    }
}

/// Body of `POST /v2/agent`.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct AgentRequest {
    /// The task, in words.
    #[field(
        required,
        bounds = 1..=MAX_PROMPT_CHARS,
        label = "Prompt",
        group = "Main",
        example = r#""Find the founders of Example Inc.""#
    )]
    pub prompt: String,
    /// URLs to look at first.
    #[field(
        bounds = (0..=MAX_LIST_ITEMS, ()),
        label = "URLs",
        group = "Main",
        example = r#"["https://example.com"]"#
    )]
    pub urls: Vec<TargetUrl>,
    /// JSON Schema of the result.
    #[field(
        label = "Schema",
        example = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#
    )]
    pub schema: Option<Map<String, Value>>,
    /// Maximum number of credits that the agent spends.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        default = DEFAULT_AGENT_CREDITS,
        label = "Credit limit",
        group = "Work",
        unit = "credits",
        example = "500"
    )]
    pub max_credits: u64,
    /// Open only the pages in `urls`.
    #[field(name = "strictConstrainToURLs", label = "Only these URLs", group = "Work")]
    pub strict_constrain_to_urls: bool,
    /// Name of the model. A model other than the operator's has no effect; the result then has a `warning`.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, label = "Model", group = "Work")]
    pub model: Option<String>,
    /// How much work the agent puts into the task. Default: `medium`.
    #[field(label = "Effort", group = "Work")]
    pub effort: Option<Effort>,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(
        bounds = Family::Agent,
        label = "Webhook",
        group = "Webhook",
        example = r#""https://example.com/hook""#
    )]
    pub webhook: Option<WebhookSpec>,
    /// Whether to return data or to have a conversation. Default: `extract`.
    #[field(label = "Mode", group = "Result")]
    pub mode: Option<AgentMode>,
    /// `threadId` of the conversation to continue; all of its runs must have ended.
    #[field(
        label = "Thread",
        group = "Result",
        example = r#""018f2f9e-0000-7000-8000-000000000001""#
    )]
    pub thread_id: Option<Uuid>,
    /// Accepted without effect; the result then has a `warning`.
    #[field(hidden)]
    pub exchange: Option<Value>,
    /// Country and languages of the visitor.
    #[field(
        label = "Location",
        group = "Network",
        example = r#"{"country":"DE","languages":["de"]}"#
    )]
    pub location: Location,
    /// Delete all content once it is delivered. The operator must enable it.
    #[field(label = "Zero data retention", group = "Result")]
    pub zero_data_retention: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl AgentRequest {
    /// Checks that the operator has enabled the requested options.
    ///
    /// # Errors
    /// 403 if an option is not enabled.
    pub fn check_enabled(&self, enabled: EnabledOptions) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }
}

wire!(AgentRequest);

/// Response of `POST /v2/agent`.
#[response(Eq)]
pub struct AgentStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// Id of the conversation.
    pub thread_id: Option<Uuid>,
    /// Number of the turn in the conversation, from 1.
    pub thread_turn: Option<u64>,
}

/// Response of `DELETE /v2/agent/{id}` and `DELETE /v2/extract/{id}`.
#[response(Copy, Eq)]
pub struct AgentCancelled {
    /// Always true.
    pub success: bool,
}

wire_enum! {
    /// Why an agent ended without a result.
    StopReason {
        /// All steps of its effort were used.
        StepLimit = "step_limit",
        /// `maxCredits` were used.
        CreditLimit = "credit_limit_reached",
        /// The credits of the team were used.
        InsufficientCredits = "insufficient_credits",
        /// The time of the run was over.
        TimeLimit = "time_limit",
        /// The model gave no valid result.
        InvalidResult = "invalid_result",
        /// The model could not be used.
        ModelError = "model_error",
    }
}

wire_enum! {
    /// State of an agent run. A cancelled run is `failed` with the error `cancelled`.
    AgentStatus {
        /// The run is in progress.
        Processing = "processing",
        /// The run has completed.
        Completed = "completed",
        /// The run failed or was cancelled.
        Failed = "failed",
    }
}

/// Error of a run that was cancelled.
pub const CANCELLED: &str = "cancelled";

impl AgentStatus {
    /// Returns the state of a run with this error in one word: `cancelled` for a cancelled run.
    pub fn word(self, error: Option<&str>) -> &'static str {
        match error {
            Some(CANCELLED) => CANCELLED,
            _ => self.as_str(),
        }
    }
}

/// Response of `GET /v2/agent/{id}`.
#[response]
pub struct AgentResponse {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// State of the run.
    pub status: AgentStatus,
    /// Result of the run.
    pub data: Option<Value>,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Time until which the result can be read.
    pub expires_at: Option<Timestamp>,
    /// Credits that the run used.
    pub credits_used: Option<u64>,
    /// Message of the agent.
    pub message: Option<String>,
    /// What a run without a result has found so far: of a running, failed or cancelled run with a schema.
    pub partial: Option<Value>,
    /// Whether `partial` matches the schema.
    pub partial_schema_valid: Option<bool>,
    /// Why a failed run stopped.
    pub stop_reason: Option<StopReason>,
    /// Options without effect, and what else limits the result.
    pub warning: Option<String>,
    /// Requested effort.
    pub effort: Option<Effort>,
    /// Requested kind of result.
    pub mode: Option<AgentMode>,
    /// Id of the conversation.
    pub thread_id: Option<Uuid>,
    /// Number of the turn in the conversation, from 1.
    pub thread_turn: Option<u64>,
}

/// Query parameters of `GET /v2/agent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AgentsQuery {
    /// Upper bound of the start time: only runs that started before it are returned.
    pub before: Option<Timestamp>,
}

impl AgentsQuery {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 if a parameter is invalid.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            before: Query::parse(query)
                .integer("before", 0..=Slot::UNBOUNDED)?
                .map(Timestamp),
        })
    }
}

/// Response of `GET /v2/agent`.
#[response(Default)]
pub struct Agents {
    /// Always true.
    pub success: bool,
    /// Agent runs, newest first, about 20 per response. Runs of the same millisecond are never parted.
    pub agents: Vec<AgentEntry>,
    /// URL of the next page of the list.
    pub next: Option<String>,
}

/// Agent run in a list.
#[response]
pub struct AgentEntry {
    /// Id of the job.
    pub id: JobId,
    /// Start time of the run.
    pub created_at: Timestamp,
    /// First URL of the request, or the beginning of the prompt.
    #[serde(default)]
    pub target_hint: String,
    /// `origin` as sent in the request, or `api` if it has none.
    #[serde(default)]
    #[nullable]
    pub origin: Option<String>,
    /// `integration` as sent in the request.
    #[serde(default)]
    #[nullable]
    pub integration: Option<String>,
    /// Display settings of the run.
    #[serde(default)]
    pub settings: AgentSettings,
    /// State of the run.
    pub status: AgentStatus,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Requested options.
    #[serde(default)]
    pub options: AgentEntryOptions,
    /// Id of the conversation.
    pub thread_id: Option<Uuid>,
    /// Number of the turn in the conversation, from 1.
    pub thread_turn: Option<u64>,
}

/// Display settings of an agent run in a list.
#[response(Copy, Eq, Default)]
pub struct AgentSettings {
    /// Whether the run is hidden.
    pub hidden: bool,
    /// Whether the run is shown first.
    pub starred: bool,
}

/// Requested options of an agent run.
#[response(Default)]
pub struct AgentEntryOptions {
    /// Task in words.
    pub prompt: String,
    /// URLs to look at first.
    pub urls: Option<Vec<String>>,
    /// JSON Schema of the result.
    pub schema: Option<Value>,
    /// Name of the model as sent in the request, else of the operator's; `none` without either.
    pub model: Option<String>,
    /// Requested effort.
    pub effort: Option<Effort>,
}
