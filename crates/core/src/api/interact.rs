//! Models of `POST` and `DELETE /v2/scrape/{jobId}/interact` (docs/API.md sections 6.11 and 6.12).

use harvestman_derive::{Request, response};

use crate::api::caller::Caller;
use crate::api::fields::{Decimal, Fields, wire};
use crate::api::session_file::SessionFile;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_EXECUTE_TIMEOUT_S, MAX_CODE_CHARS, MAX_EXECUTE_TIMEOUT_S, MAX_PROMPT_CHARS, MAX_SESSION_TTL_S,
    MAX_SHORT_TEXT_CHARS, MIN_SESSION_IDLE_S, MIN_SESSION_TTL_S,
};

wire_enum! {
    /// Language of code that runs in a session.
    Language {
        /// Python with the variable `page`.
        Python = "python",
        /// JavaScript with the variable `page`.
        Node = "node",
        /// Browser commands, one per line.
        Bash = "bash",
    }
}

/// Task of a session: either code or a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Code to run.
    Code {
        /// Code, 1 to 100000 characters.
        code: String,
        /// Language of the code.
        language: Language,
    },
    /// Instructions in words, 1 to 10000 characters.
    Prompt(String),
}

/// Body of `POST /v2/scrape/{jobId}/interact`.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check)]
pub struct InteractRequest {
    /// Code to run; `page` is the page of the session.
    #[field(bounds = 1..=MAX_CODE_CHARS, label = "Code", example = r#""await page.title()""#)]
    code: Option<String>,
    /// Language of the code.
    #[field(default = Language::Node, label = "Language")]
    language: Language,
    /// What to do, in words.
    #[field(bounds = 1..=MAX_PROMPT_CHARS, label = "Prompt", example = r#""Click the login button""#)]
    prompt: Option<String>,
    /// Time limit of the execution.
    #[field(
        bounds = EXECUTE_TIMEOUT,
        default = DEFAULT_EXECUTE_TIMEOUT_S,
        label = "Timeout",
        unit = "seconds",
        example = "30"
    )]
    pub timeout: f64,
    /// Lifetime of a session that this request creates. Default: 600.
    #[field(
        bounds = MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S,
        label = "Lifetime",
        unit = "seconds",
        example = "600"
    )]
    pub ttl: Option<u64>,
    /// Idle time after which a session that this request creates ends. Default: 300.
    #[field(
        bounds = MIN_SESSION_IDLE_S..=MAX_SESSION_TTL_S,
        label = "Idle time",
        unit = "seconds",
        example = "300"
    )]
    pub activity_ttl: Option<u64>,
    /// Session to use instead of creating one.
    #[field(bounds = 1..=MAX_SHORT_TEXT_CHARS, label = "Session")]
    pub existing_session_id: Option<String>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of the time limit of an execution, seconds.
pub(crate) const EXECUTE_TIMEOUT: Decimal = Decimal::Between(1.0, MAX_EXECUTE_TIMEOUT_S);

impl InteractRequest {
    /// Returns a request with every option at its default.
    pub fn new(task: Task) -> Self {
        match task {
            Task::Code { code, language } => Self {
                code: Some(code),
                language,
                ..Self::default()
            },
            Task::Prompt(prompt) => Self {
                prompt: Some(prompt),
                ..Self::default()
            },
        }
    }

    /// Returns the task.
    pub fn task(&self) -> Task {
        match (&self.code, &self.prompt) {
            (None, Some(prompt)) => Task::Prompt(prompt.clone()),
            (code, _) => Task::Code {
                code: code.clone().unwrap_or_default(),
                language: self.language,
            },
        }
    }

    fn check(&mut self, fields: &mut Fields) {
        match (fields.has_read("code"), fields.has_read("prompt")) {
            (true, true) => fields.fail(
                "prompt",
                "must not be given together with `code`; send one of the two",
            ),
            (false, false) => fields.fail("code", "is required: give `code` or `prompt`"),
            (true, false) | (false, true) => {}
        }
    }

    /// Returns the time limit of the execution, ms.
    pub fn timeout_ms(&self) -> u64 {
        timeout_ms(self.timeout)
    }
}

wire!(InteractRequest);

/// Converts an execution timeout from seconds to whole milliseconds.
pub(crate) fn timeout_ms(timeout: f64) -> u64 {
    (timeout * 1000.0).ceil() as u64
}

/// Response to an execution by interact or in a browser session. Only interact returns `output`.
#[response(Eq, Default)]
pub struct ExecuteResponse {
    /// Whether the exit code is 0 and the execution was not killed.
    pub success: bool,
    /// URL of the read-only live view, for an iframe.
    pub live_view_url: Option<String>,
    /// URL of the live view that accepts input.
    pub interactive_live_view_url: Option<String>,
    /// WebSocket URL of the browser's debugging protocol.
    pub cdp_url: Option<String>,
    /// Id of the session.
    pub session_id: Option<String>,
    /// Result of a prompt.
    pub output: Option<String>,
    /// Standard output, truncated at 1 MiB.
    pub stdout: Option<String>,
    /// Standard error, truncated at 1 MiB.
    pub stderr: Option<String>,
    /// Value of the last expression as text, or the final page snapshot.
    pub result: Option<String>,
    /// Exit code: 0 is success, 1 an exception, 124 a timeout.
    pub exit_code: Option<i32>,
    /// Whether the timeout stopped the execution.
    pub killed: Option<bool>,
    /// Error message; absent on success.
    pub error: Option<String>,
    /// Files of the session so far; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SessionFile>,
}

/// Response to the end of a session.
#[response(Eq, Default)]
pub struct SessionEnded {
    /// Whether the session ended normally.
    pub success: bool,
    /// Lifetime of the session, ms.
    pub session_duration_ms: u64,
    /// Credits billed for the session.
    pub credits_billed: u64,
    /// Error message; absent on success.
    pub error: Option<String>,
}
