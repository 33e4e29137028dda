//! Models of `POST /v2/support/docs-search` (docs/API.md section 6.10).

use harvestman_derive::{Request, response};

use crate::api::caller::Caller;
use crate::api::fields::wire;
use crate::limits::{MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS};

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
    /// Id of a job of the team; the answer starts with its error.
    #[field(
        bounds = 1..=MAX_SHORT_TEXT_CHARS,
        label = "Job",
        example = r#""01920000-0000-7000-8000-00000000000a""#
    )]
    pub job_id: Option<String>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(DocsSearchRequest);

/// Response of `POST /v2/support/docs-search`.
#[response(Eq, Default)]
pub struct DocsResponse {
    /// Always true.
    pub success: bool,
    /// Id of the request.
    pub request_id: String,
    /// Answer to the question; it says so if nothing was found.
    pub answer: String,
    /// Sources of the answer.
    pub evidence: Vec<Evidence>,
    /// Tokens that the model used; zero without a model.
    pub usage: ModelUsage,
    /// Duration, ms.
    pub duration_ms: u64,
}

/// Source of an answer.
#[response(Eq, Default)]
pub struct Evidence {
    /// Path in the embedded reference.
    pub path_or_url: String,
    /// Reason why it is a source.
    pub reason: String,
}

/// Tokens that a model used.
#[response(Copy, Eq, Default)]
pub struct ModelUsage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Sum of input and output tokens.
    pub total_tokens: u64,
}
