//! `POST /v2/support/docs-search` (contract section 6.10).

use serde::{Deserialize, Serialize};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::fields::{Fields, Wire, wire};
use crate::limits::MAX_PROMPT_CHARS;

/// Body of `POST /v2/support/docs-search`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocsSearchRequest {
    /// What the caller wants to know.
    pub question: String,
    /// Who sent it.
    pub caller: Caller,
}

impl Wire for DocsSearchRequest {
    fn read(f: &mut Fields) -> Self {
        Self {
            question: f.string("question", 1..=MAX_PROMPT_CHARS),
            caller: Caller::read(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("question", &self.question);
        self.caller.write(body);
    }
}

wire!(DocsSearchRequest);

/// Answer of `POST /v2/support/docs-search`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DocsAnswer {
    /// Always true.
    pub success: bool,
    /// The request.
    pub request_id: String,
    /// The answer; says so when nothing was found.
    pub answer: String,
    /// Where it comes from.
    pub evidence: Vec<Evidence>,
    /// What the model used; zero without one.
    pub usage: ModelUsage,
    /// How long it took, ms.
    pub duration_ms: u64,
}

/// One source of an answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// Place in the embedded reference.
    pub path_or_url: String,
    /// Why it is a source.
    pub reason: String,
}

/// Tokens that a model used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUsage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}
