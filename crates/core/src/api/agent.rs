//! `/v2/agent` (docs/API.md section 10.3).

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
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
    /// How hard the agent tries.
    Effort {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// A lot.
        High = "high",
    }
}

wire_enum! {
    /// What the agent gives.
    AgentMode {
        /// Data.
        Extract = "extract",
        /// Conversation.
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
        example = r#""Find the founders of Example Inc.""#
    )]
    pub prompt: String,
    /// URLs to look at first.
    #[field(bounds = (0..=MAX_LIST_ITEMS, ()), label = "URLs", example = r#"["https://example.com"]"#)]
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
        unit = "credits",
        example = "500"
    )]
    pub max_credits: u64,
    /// Open no pages but those of `urls`.
    #[field(name = "strictConstrainToURLs", label = "Only these URLs")]
    pub strict_constrain_to_urls: bool,
    /// Name of the model.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, label = "Model")]
    pub model: Option<String>,
    /// How much work the agent puts into the task. Default: `medium`.
    #[field(label = "Effort")]
    pub effort: Option<Effort>,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(bounds = Family::Agent, label = "Webhook", example = r#""https://example.com/hook""#)]
    pub webhook: Option<WebhookSpec>,
    /// Whether to return data or to have a conversation. Default: `extract`.
    #[field(label = "Mode")]
    pub mode: Option<AgentMode>,
    /// Conversation to continue.
    #[field(label = "Thread", example = r#""018f2f9e-0000-7000-8000-000000000001""#)]
    pub thread_id: Option<Uuid>,
    /// Accepted as sent, without effect.
    #[field(hidden)]
    pub exchange: Option<Value>,
    /// Country and languages of the visitor.
    #[field(label = "Location", example = r#"{"country":"DE","languages":["de"]}"#)]
    pub location: Location,
    /// Delete all content once it is delivered. The operator must enable it.
    #[field(label = "Zero data retention")]
    pub zero_data_retention: bool,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

impl AgentRequest {
    /// Refuses what the operator has not enabled. Errors: 403.
    pub fn check_enabled(&self, enabled: Enabled) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }
}

wire!(AgentRequest);

/// Answer of `POST /v2/agent`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The job.
    pub id: JobId,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Uuid>,
    /// Its turn, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u64>,
}

/// Response of `DELETE /v2/agent/{id}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct AgentCancelled {
    /// Always true.
    pub success: bool,
}

wire_enum! {
    /// State of an agent; a cancelled one is `failed` with the error `cancelled`.
    AgentStatus {
        /// Running.
        Processing = "processing",
        /// Done.
        Completed = "completed",
        /// Could not do it.
        Failed = "failed",
    }
}

/// Answer of `GET /v2/agent/{id}`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentAnswer {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// State.
    pub status: AgentStatus,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Model by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Until when it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<u64>,
    /// What the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the result is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
}

/// Query of `GET /v2/agent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AgentsQuery {
    /// Only runs before this moment.
    pub before: Option<Timestamp>,
}

impl AgentsQuery {
    /// Reads a query string. Errors: 400.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        Ok(Self {
            before: Query::parse(query)
                .integer("before", 0..=Slot::UNBOUNDED)?
                .map(Timestamp),
        })
    }
}

/// Answer of `GET /v2/agent`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Agents {
    /// Always true.
    pub success: bool,
    /// Newest first, 20 per answer.
    pub agents: Vec<AgentEntry>,
    /// Address of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    /// The job.
    pub id: JobId,
    /// When it was started.
    pub created_at: Timestamp,
    /// What it is about.
    #[serde(default)]
    pub target_hint: String,
    /// As sent.
    #[serde(default)]
    pub origin: Option<String>,
    /// As sent.
    #[serde(default)]
    pub integration: Option<String>,
    /// Marks of the list.
    #[serde(default)]
    pub settings: AgentSettings,
    /// State.
    pub status: AgentStatus,
    /// What was asked for.
    #[serde(default)]
    pub options: AgentEntryOptions,
}

/// Marks of a run in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentSettings {
    /// Not shown.
    pub hidden: bool,
    /// Shown first.
    pub starred: bool,
}

/// What a run was asked for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentEntryOptions {
    /// The task.
    pub prompt: String,
    /// Where to look first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<Vec<String>>,
    /// Shape of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Model by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}
