//! `/v2/agent` (contract section 10.3).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Slot, Wire, wire};
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
#[derive(Clone, PartialEq, Debug)]
pub struct AgentRequest {
    /// The task.
    pub prompt: String,
    /// Where to look first.
    pub urls: Vec<TargetUrl>,
    /// Shape of the result.
    pub schema: Option<Map<String, Value>>,
    /// Credits, at most.
    pub max_credits: u64,
    /// Look at `urls` alone.
    pub strict_constrain_to_urls: bool,
    /// Model by name.
    pub model: Option<String>,
    /// How hard to try.
    pub effort: Option<Effort>,
    /// Where events go.
    pub webhook: Option<WebhookSpec>,
    /// What to give.
    pub mode: Option<AgentMode>,
    /// A conversation to go on with.
    pub thread_id: Option<Uuid>,
    /// As sent; without effect.
    pub exchange: Option<Value>,
    /// Where the visitor seems to come from.
    pub location: Location,
    /// Keep nothing once delivered; needs enablement.
    pub zero_data_retention: bool,
    /// Who sent it.
    pub caller: Caller,
}

impl AgentRequest {
    /// A request with every option at its default.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            urls: Vec::new(),
            schema: None,
            max_credits: DEFAULT_AGENT_CREDITS,
            strict_constrain_to_urls: false,
            model: None,
            effort: None,
            webhook: None,
            mode: None,
            thread_id: None,
            exchange: None,
            location: Location::default(),
            zero_data_retention: false,
            caller: Caller::default(),
        }
    }

    /// Refuses what the operator has not enabled. Errors: 403.
    pub fn check_enabled(&self, enabled: Enabled) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }
}

impl Wire for AgentRequest {
    fn read(f: &mut Fields) -> Self {
        Self {
            prompt: f.string("prompt", 1..=MAX_PROMPT_CHARS),
            urls: f.array("urls", 0..=MAX_LIST_ITEMS, |slot| slot.url()),
            schema: f.opt_map("schema"),
            max_credits: f.integer("maxCredits", 1..=Slot::UNBOUNDED, DEFAULT_AGENT_CREDITS),
            strict_constrain_to_urls: f.bool("strictConstrainToURLs", false),
            model: f.opt_string("model", 0..=MAX_SHORT_TEXT_CHARS),
            effort: f.opt_word("effort"),
            webhook: WebhookSpec::read(f, Family::Agent),
            mode: f.opt_word("mode"),
            thread_id: f.opt_uuid("threadId"),
            exchange: f.slot("exchange").map(Slot::any),
            location: f.opt_object("location", Location::read).unwrap_or_default(),
            zero_data_retention: f.bool("zeroDataRetention", false),
            caller: Caller::read_with_extras(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("prompt", &self.prompt);
        body.filled("urls", &self.urls);
        body.some("schema", &self.schema);
        body.differs("maxCredits", &self.max_credits, &DEFAULT_AGENT_CREDITS);
        body.differs("strictConstrainToURLs", &self.strict_constrain_to_urls, &false);
        body.some("model", &self.model);
        body.some("effort", &self.effort);
        body.some("webhook", &self.webhook);
        body.some("mode", &self.mode);
        body.some("threadId", &self.thread_id.map(|id| id.to_string()));
        body.some("exchange", &self.exchange);
        body.differs("location", &self.location, &Location::default());
        body.differs("zeroDataRetention", &self.zero_data_retention, &false);
        self.caller.write(body);
    }
}

wire!(AgentRequest);

/// Answer of `POST /v2/agent`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[serde(default)]
pub struct AgentSettings {
    /// Not shown.
    pub hidden: bool,
    /// Shown first.
    pub starred: bool,
}

/// What a run was asked for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
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
