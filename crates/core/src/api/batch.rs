//! `POST /v2/batch/scrape` (contract section 8.1). The status of a batch is in
//! [`crate::api::job`].

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Wire, wire};
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
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BatchScrapeRequest {
    /// The pages, each once, never empty.
    pub urls: Vec<TargetUrl>,
    /// What was among `urls` and is no address; only with `ignore_invalid_urls`. Never written.
    pub invalid_urls: Vec<String>,
    /// How each page is fetched and what is made of it.
    pub options: ScrapeOptions,
    /// Where events go.
    pub webhook: Option<WebhookSpec>,
    /// A batch to which the pages are added.
    pub append_to_id: Option<JobId>,
    /// Leave out what is no address instead of refusing everything.
    pub ignore_invalid_urls: bool,
    /// Pages in flight at once; absent: the team limit.
    pub max_concurrency: Option<u32>,
    /// Keep nothing once delivered; needs enablement.
    pub zero_data_retention: bool,
    /// Who sent it.
    pub caller: Caller,
}

impl BatchScrapeRequest {
    /// A request with every option at its default.
    pub fn new(urls: Vec<TargetUrl>) -> Self {
        Self {
            urls,
            ignore_invalid_urls: true,
            ..Self::default()
        }
    }

    /// Takes out what was left out of `urls`, for the answer; nothing without `ignoreInvalidURLs`.
    pub fn take_left_out(&mut self) -> Option<Vec<String>> {
        self.ignore_invalid_urls
            .then(|| std::mem::take(&mut self.invalid_urls))
    }

    /// Refuses an addition with other options than those of the batch; what it leaves out it takes over.
    /// Errors: 400.
    pub fn check_append(&self, batch: &StoredBatch) -> Result<(), ApiError> {
        let (asked, known) = (self.options_body(), batch.0.options_body());
        let agrees = |field: &(&str, _)| {
            SENT_UNASKED.contains(&field.0) || known.fields().iter().any(|own| own == field)
        };
        if asked.fields().iter().all(agrees) {
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
}

impl Wire for BatchScrapeRequest {
    fn read(f: &mut Fields) -> Self {
        let ignore_invalid_urls = f.bool("ignoreInvalidURLs", true);
        let (urls, invalid_urls) = read_urls(f, ignore_invalid_urls);
        Self {
            urls,
            invalid_urls,
            append_to_id: f.opt_uuid("appendToId").map(JobId),
            ignore_invalid_urls,
            ..Self::read_options(f)
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("urls", &self.urls);
        body.some("appendToId", &self.append_to_id.map(|id| id.to_string()));
        body.differs("ignoreInvalidURLs", &self.ignore_invalid_urls, &true);
        body.extend(self.options_body());
        self.caller.write(body);
    }
}

impl BatchScrapeRequest {
    /// Reads what holds for every page, and the caller.
    fn read_options(f: &mut Fields) -> Self {
        Self {
            options: ScrapeOptions::read(f),
            webhook: WebhookSpec::read(f, Family::BatchScrape),
            max_concurrency: f.opt_u32("maxConcurrency", 1),
            zero_data_retention: f.bool("zeroDataRetention", false),
            caller: Caller::read_with_extras(f),
            ..Self::new(Vec::new())
        }
    }

    /// Writes what holds for every page.
    fn options_body(&self) -> Body {
        let mut body = Body::default();
        self.options.write(&mut body);
        body.some("webhook", &self.webhook);
        body.some("maxConcurrency", &self.max_concurrency);
        body.differs("zeroDataRetention", &self.zero_data_retention, &false);
        body
    }
}

/// A batch as it is stored: its request without the pages, which have rows of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredBatch(pub BatchScrapeRequest);

impl Wire for StoredBatch {
    fn read(f: &mut Fields) -> Self {
        Self(BatchScrapeRequest::read_options(f))
    }

    fn write(&self, body: &mut Body) {
        body.extend(self.0.options_body());
        self.0.caller.write(body);
    }
}

wire!(BatchScrapeRequest, StoredBatch);

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
