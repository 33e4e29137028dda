//! Models of `POST /v2/feedback` and `POST /v2/search/{id}/feedback` (docs/API.md section 9).

use std::ops::RangeInclusive;

use harvestman_derive::{Request, response};
use serde_json::{Map, Value};

use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Fields, wire};
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::limits::{MAX_SHORT_TEXT_CHARS, MAX_URL_CHARS};

/// Maximum items of a list.
const MAX_ITEMS: usize = 100;
/// Maximum characters of a note.
const MAX_NOTE_CHARS: usize = 4000;
/// Maximum bytes of `metadata`.
const MAX_METADATA_BYTES: usize = 8 * 1024;
/// Bounds of a list of short texts.
const TEXTS: (RangeInclusive<usize>, RangeInclusive<usize>) = (0..=MAX_ITEMS, 0..=MAX_SHORT_TEXT_CHARS);

wire_enum! {
    /// How useful a result was.
    Rating {
        /// Useful.
        Good = "good",
        /// Useful in part.
        Partial = "partial",
        /// Not useful.
        Bad = "bad",
    }
}

wire_enum! {
    /// Kind of request that feedback is about.
    RatedEndpoint {
        /// A search.
        Search = "search",
        /// A scrape.
        Scrape = "scrape",
        /// The conversion of a file.
        Parse = "parse",
        /// A map.
        Map = "map",
    }
}

/// A source that was useful.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct ValuableSource {
    /// URL of the source.
    #[field(required, bounds = 1..=MAX_URL_CHARS, example = r#""https://example.com""#)]
    pub url: String,
    /// What made it useful.
    #[field(bounds = 0..=MAX_NOTE_CHARS)]
    pub reason: Option<String>,
}

/// Content that was missing.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct MissingContent {
    /// What was missing.
    #[field(required, bounds = 1..=MAX_SHORT_TEXT_CHARS, example = r#""prices""#)]
    pub topic: String,
    /// Details.
    #[field(bounds = 0..=MAX_NOTE_CHARS)]
    pub description: Option<String>,
}

/// Body of `POST /v2/search/{id}/feedback`.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct SearchFeedback {
    /// How useful the result was.
    #[field(
        required = "`good`, `partial` or `bad`",
        label = "Rating",
        example = r#""good""#
    )]
    pub rating: Rating,
    /// What holds for every kind of request.
    #[field(flatten)]
    pub details: Details,
}

/// Details of feedback on any kind of request.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct Details {
    /// Sources that were useful.
    #[field(bounds = (0..=MAX_ITEMS, ()))]
    pub valuable_sources: Vec<ValuableSource>,
    /// Content that was missing.
    #[field(bounds = (0..=MAX_ITEMS, ()))]
    pub missing_content: Vec<MissingContent>,
    /// Better queries.
    #[field(bounds = 0..=MAX_NOTE_CHARS)]
    pub query_suggestions: Option<String>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Body of `POST /v2/feedback`.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check, refuse = Self::refuse_alexandria)]
pub struct Feedback {
    /// Kind of the request.
    #[field(
        required = "`search`, `scrape`, `parse` or `map`",
        label = "Endpoint",
        example = r#""scrape""#
    )]
    pub endpoint: RatedEndpoint,
    /// Id of the request, made within the last 24 hours.
    #[field(
        required,
        label = "Job",
        example = r#""018f2f9e-0000-7000-8000-000000000001""#
    )]
    pub job_id: JobId,
    /// How useful the result was.
    #[field(
        required = "`good`, `partial` or `bad`",
        label = "Rating",
        example = r#""good""#
    )]
    pub rating: Rating,
    /// Kinds of problems.
    #[field(bounds = TEXTS)]
    pub issues: Vec<String>,
    /// Tags of the caller's own.
    #[field(bounds = TEXTS)]
    pub tags: Vec<String>,
    /// Details.
    #[field(bounds = 0..=MAX_NOTE_CHARS, label = "Note")]
    pub note: Option<String>,
    /// URL of the page.
    #[field(bounds = 0..=MAX_URL_CHARS)]
    pub url: Option<String>,
    /// Pages of a document, from 1.
    #[field(bounds = (0..=MAX_ITEMS, 0..=u64::MAX))]
    pub page_numbers: Vec<u64>,
    /// Any JSON object, at most 8 KiB.
    pub metadata: Option<Map<String, Value>>,
    /// What holds for every kind of request.
    #[field(flatten)]
    pub details: Details,
}

impl Feedback {
    /// Rejects feedback on data that only the hosted product has.
    ///
    /// # Errors
    /// 501 for such a body.
    fn refuse_alexandria(body: &Value) -> Result<(), ApiError> {
        match body["endpoint"] == "alexandria" {
            false => Ok(()),
            true => Err(ApiError::new(
                ErrorCode::NotSupported,
                "This server has no data of `alexandria`, and takes no feedback on it.",
            )),
        }
    }

    fn check(&mut self, fields: &mut Fields) {
        let bytes = self
            .metadata
            .as_ref()
            .and_then(|metadata| serde_json::to_vec(metadata).ok());
        if bytes.is_some_and(|bytes| bytes.len() > MAX_METADATA_BYTES) {
            fields.fail(
                "metadata",
                format!("must be at most {MAX_METADATA_BYTES} bytes of JSON"),
            );
        }
    }
}

wire!(ValuableSource, MissingContent, SearchFeedback, Feedback);

/// Response to feedback.
#[response(Eq)]
pub struct FeedbackStored {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the feedback.
    pub feedback_id: String,
    /// Always 0: feedback is not paid for.
    #[serde(default)]
    pub credits_refunded: u64,
    /// Whether the request had feedback before, which is kept.
    pub already_submitted: Option<bool>,
}
