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
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::ids::JobId;
use crate::limits::MAX_BATCH_URLS;
use crate::webhook::Family;

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
            options: ScrapeOptions::read(f),
            webhook: WebhookSpec::read(f, Family::BatchScrape),
            append_to_id: f.opt_uuid("appendToId").map(JobId),
            ignore_invalid_urls,
            max_concurrency: f.opt_u32("maxConcurrency", 1),
            zero_data_retention: f.bool("zeroDataRetention", false),
            caller: Caller::read_with_extras(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("urls", &self.urls);
        self.options.write(body);
        body.some("webhook", &self.webhook);
        body.some("appendToId", &self.append_to_id.map(|id| id.to_string()));
        body.differs("ignoreInvalidURLs", &self.ignore_invalid_urls, &true);
        body.some("maxConcurrency", &self.max_concurrency);
        body.differs("zeroDataRetention", &self.zero_data_retention, &false);
        self.caller.write(body);
    }
}

wire!(BatchScrapeRequest);

fn read_urls(f: &mut Fields, ignore_invalid: bool) -> (Vec<TargetUrl>, Vec<String>) {
    let mut invalid = Vec::new();
    let mut seen = HashSet::new();
    let urls = f.opt_array("urls", 1..=MAX_BATCH_URLS, |slot| {
        if ignore_invalid
            && let Some(text) = slot.json().as_str()
            && TargetUrl::parse(text).is_err()
        {
            invalid.push(text.to_owned());
            return None;
        }
        slot.url().filter(|target| seen.insert(target.url.clone()))
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
    /// A stored job for a request.
    pub fn new(id: JobId, url: String, request: &BatchScrapeRequest) -> Self {
        let invalid_urls = request.ignore_invalid_urls.then(|| request.invalid_urls.clone());
        Self {
            success: true,
            id,
            url,
            invalid_urls,
        }
    }
}
