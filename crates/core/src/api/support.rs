//! `POST /v2/support/docs-search` (docs/API.md section 6.10).

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};

use crate::api::caller::Caller;
use crate::api::fields::wire;
use crate::limits::MAX_PROMPT_CHARS;

/// Body of `POST /v2/support/docs-search`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct DocsSearchRequest {
    /// Question about this product.
    #[field(
        required,
        bounds = 1..=MAX_PROMPT_CHARS,
        label = "Question",
        example = r#""How do I limit a crawl?""#
    )]
    pub question: String,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(DocsSearchRequest);

/// Answer of `POST /v2/support/docs-search`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// Place in the embedded reference.
    pub path_or_url: String,
    /// Why it is a source.
    pub reason: String,
}

/// Tokens that a model used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUsage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}
