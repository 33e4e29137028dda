//! `POST /v2/batch/scrape` (docs/API.md section 8.1). The status of a batch is in
//! [`crate::api::job`].

use std::collections::HashSet;

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::problem::bad_field;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::ids::JobId;
use crate::limits::MAX_BATCH_URLS;
use crate::webhook::Family;

/// What clients send without their user's asking: an addition need not agree in it with its batch.
const SENT_UNASKED: &[&str] = &["maxAge", "skipTlsVerification"];

/// Body of `POST /v2/batch/scrape`. The options stand at the top level on the wire.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::read_urls)]
pub struct BatchScrapeRequest {
    /// URLs of the pages; duplicates are scraped once.
    #[field(
        required,
        manual,
        bounds = (1..=MAX_BATCH_URLS, ()),
        label = "URLs",
        example = r#"["https://example.com"]"#
    )]
    pub urls: Vec<TargetUrl>,
    /// The entries of `urls` that are no URLs; only with `ignore_invalid_urls`.
    #[field(skip)]
    pub invalid_urls: Vec<String>,
    /// Add the pages to this batch instead of starting one.
    #[field(
        label = "Append to batch",
        example = r#""018f2f9e-0000-7000-8000-000000000001""#
    )]
    pub append_to_id: Option<JobId>,
    /// Skip entries of `urls` that are no URLs instead of refusing the request.
    #[field(name = "ignoreInvalidURLs", default = true, label = "Skip invalid URLs")]
    pub ignore_invalid_urls: bool,
    /// What holds for every page.
    #[field(flatten)]
    pub batch: BatchOptions,
}

/// A batch without its pages: what the store keeps of the request, because pages have rows of their own.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct BatchOptions {
    /// How each page is fetched, and which parts of it are returned.
    #[field(flatten)]
    pub options: ScrapeOptions,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(
        bounds = Family::BatchScrape,
        unlisted,
        label = "Webhook",
        example = r#""https://example.com/hook""#
    )]
    pub webhook: Option<WebhookSpec>,
    /// Maximum number of pages in flight. Default: the team's limit.
    #[field(bounds = 1..=Slot::UNBOUNDED, label = "Concurrency", unit = "pages", example = "4")]
    pub max_concurrency: Option<u32>,
    /// Delete all content once it is delivered. The operator must enable it.
    #[field(label = "Zero data retention")]
    pub zero_data_retention: bool,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

impl BatchScrapeRequest {
    /// Reads `urls`; `ignoreInvalidURLs` decides what happens with those that are none.
    fn read_urls(&mut self, f: &mut Fields) {
        (self.urls, self.invalid_urls) = read_urls(f, self.ignore_invalid_urls);
    }

    /// Takes the entries of `urls` that were skipped, for the response; none without `ignoreInvalidURLs`.
    pub fn take_left_out(&mut self) -> Option<Vec<String>> {
        self.ignore_invalid_urls
            .then(|| std::mem::take(&mut self.invalid_urls))
    }
}

impl BatchOptions {
    /// Refuses an addition with other options than those of its batch; options that it leaves out are the batch's.
    /// Errors: 400.
    pub fn check_append(&self, batch: &Self) -> Result<(), ApiError> {
        let (added, known) = (self.without_caller(), batch.without_caller());
        let agrees = |field: &(&str, _)| {
            SENT_UNASKED.contains(&field.0) || known.fields().iter().any(|own| own == field)
        };
        if added.fields().iter().all(agrees) {
            return Ok(());
        }
        Err(bad_field(
            "appendToId",
            "adds pages to a batch that has other options: leave the options out, or start a new batch",
        ))
    }

    /// Refuses what the operator has not enabled. Errors: 403.
    pub fn check_enabled(&self, enabled: Enabled) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }

    fn without_caller(&self) -> Body {
        let anonymous = Self {
            caller: Caller::default(),
            ..self.clone()
        };
        anonymous.to_body()
    }
}

wire!(BatchScrapeRequest, BatchOptions);

fn read_urls(f: &mut Fields, ignore_invalid: bool) -> (Vec<TargetUrl>, Vec<String>) {
    let mut invalid = Vec::new();
    let mut seen = HashSet::new();
    let urls = f.opt_array("urls", 1..=MAX_BATCH_URLS, |slot| {
        let target = match slot.json().as_str().map(TargetUrl::parse) {
            Some(Ok(target)) => target,
            Some(Err(_)) if ignore_invalid => {
                invalid.push(slot.json().as_str().unwrap_or_default().to_owned());
                return None;
            }
            Some(Err(_)) | None => slot.url()?,
        };
        seen.insert(target.url.clone()).then_some(target)
    });
    match &urls {
        None if f.is_clean() => f.fail("urls", "is required: give an array of addresses"),
        Some(urls) if urls.is_empty() && f.is_clean() => {
            f.fail(
                "urls",
                "must contain at least one valid address such as https://example.com",
            );
        }
        _ => {}
    }
    (urls.unwrap_or_default(), invalid)
}

/// Answer of `POST /v2/batch/scrape`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct BatchStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The job.
    pub id: JobId,
    /// Absolute address of its status.
    #[serde(default)]
    pub url: String,
    /// What was left out; only with `ignoreInvalidURLs`.
    #[serde(default, rename = "invalidURLs", skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}

impl BatchStarted {
    /// A stored job; with what was left out, if that was asked for.
    pub fn new(id: JobId, url: String, invalid_urls: Option<Vec<String>>) -> Self {
        Self {
            success: true,
            id,
            url,
            invalid_urls,
        }
    }
}
