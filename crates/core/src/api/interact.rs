//! `POST` and `DELETE /v2/scrape/{jobId}/interact` (contract sections 6.11 and 6.12).

use serde::{Deserialize, Serialize};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::fields::{Decimal, Fields, Wire, wire};
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_EXECUTE_TIMEOUT_S, MAX_CODE_CHARS, MAX_EXECUTE_TIMEOUT_S, MAX_PROMPT_CHARS, MAX_SESSION_TTL_S,
    MAX_SHORT_TEXT_CHARS, MIN_SESSION_IDLE_S, MIN_SESSION_TTL_S,
};

wire_enum! {
    /// Language of code for a session.
    Language {
        /// Python with `page`.
        Python = "python",
        /// JavaScript with `page`.
        Node = "node",
        /// Browser commands, one per line.
        Bash = "bash",
    }
}

/// What a session shall do: exactly one of the two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Run code.
    Code {
        /// 1 to 100000 characters.
        code: String,
        /// Its language.
        language: Language,
    },
    /// Follow a description in words, 1 to 10000 characters.
    Prompt(String),
}

/// Body of `POST /v2/scrape/{jobId}/interact`.
#[derive(Clone, PartialEq, Debug)]
pub struct InteractRequest {
    /// What to do.
    pub task: Task,
    /// How long it may take, seconds.
    pub timeout: f64,
    /// Lifetime of a session that is created now, seconds.
    pub ttl: Option<u64>,
    /// Idle time of a session that is created now, seconds.
    pub activity_ttl: Option<u64>,
    /// A session to take over when one is created now.
    pub existing_session_id: Option<String>,
    /// Who sent it.
    pub caller: Caller,
}

impl InteractRequest {
    /// A request with every option at its default.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            timeout: DEFAULT_EXECUTE_TIMEOUT_S,
            ttl: None,
            activity_ttl: None,
            existing_session_id: None,
            caller: Caller::default(),
        }
    }

    /// How long it may take, ms.
    pub fn timeout_ms(&self) -> u64 {
        timeout_ms(self.timeout)
    }
}

impl Wire for InteractRequest {
    fn read(f: &mut Fields) -> Self {
        match (f.has("code"), f.has("prompt")) {
            (true, true) => f.fail(
                "prompt",
                "must not be given together with `code`; send one of the two",
            ),
            (false, false) => f.fail("code", "is required: give `code` or `prompt`"),
            (true, false) | (false, true) => {}
        }
        let code = f.opt_string("code", 1..=MAX_CODE_CHARS);
        let prompt = f.opt_string("prompt", 1..=MAX_PROMPT_CHARS);
        let language = f.word("language", Language::Node);
        let task = match (code, prompt) {
            (None, Some(prompt)) => Task::Prompt(prompt),
            (code, _) => Task::Code {
                code: code.unwrap_or_default(),
                language,
            },
        };
        Self {
            task,
            timeout: read_timeout(f),
            ttl: f.opt_integer("ttl", MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S),
            activity_ttl: f.opt_integer("activityTtl", MIN_SESSION_IDLE_S..=MAX_SESSION_TTL_S),
            existing_session_id: f.opt_string("existingSessionId", 1..=MAX_SHORT_TEXT_CHARS),
            caller: Caller::read(f),
        }
    }

    fn write(&self, body: &mut Body) {
        match &self.task {
            Task::Code { code, language } => {
                body.put("code", code);
                body.differs("language", language, &Language::Node);
            }
            Task::Prompt(prompt) => body.put("prompt", prompt),
        }
        body.differs("timeout", &self.timeout, &DEFAULT_EXECUTE_TIMEOUT_S);
        body.some("ttl", &self.ttl);
        body.some("activityTtl", &self.activity_ttl);
        body.some("existingSessionId", &self.existing_session_id);
        self.caller.write(body);
    }
}

wire!(InteractRequest);

/// Whole milliseconds of an execution timeout in seconds.
pub(crate) fn timeout_ms(timeout: f64) -> u64 {
    (timeout * 1000.0).ceil() as u64
}

/// Reads an execution timeout, seconds.
pub(crate) fn read_timeout(f: &mut Fields) -> f64 {
    let timeout = f.opt_number("timeout", Decimal::Between(1.0, MAX_EXECUTE_TIMEOUT_S));
    timeout.unwrap_or(DEFAULT_EXECUTE_TIMEOUT_S)
}

/// Answer of an execution, by interact or in a browser session (then without `output`).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecuteAnswer {
    /// Exit code 0 and not killed.
    pub success: bool,
    /// Read-only live view, for an iframe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_view_url: Option<String>,
    /// Live view that takes input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive_live_view_url: Option<String>,
    /// WebSocket address of the browser's debugging protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What a prompt led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Captured, cut at 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Captured, cut at 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Value of the last expression as text, or the final page snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// 0: success, 1: exception, 124: timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Stopped by the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed: Option<bool>,
    /// Only without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Answer of the end of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionEnded {
    /// Whether it ended as it should.
    pub success: bool,
    /// How long it lived, ms.
    pub session_duration_ms: u64,
    /// What it cost.
    pub credits_billed: u64,
    /// Only without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
