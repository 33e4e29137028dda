//! Models of `POST /v2/batch/scrape` (docs/API.md section 8.1). The status of a batch is in
//! [`crate::api::job`].

use std::collections::HashSet;

use harvestman_derive::{Request, response};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::EnabledOptions;
use crate::api::error::ApiError;
use crate::api::fields::{FieldType, Fields, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::problem::bad_field;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::ids::JobId;
use crate::limits::MAX_BATCH_URLS;
use crate::webhook::Family;

/// Fields that clients set without a user's request. In these fields, a request that adds pages may differ
/// from its batch.
const CLIENT_DEFAULTS: &[&str] = &["maxAge", "skipTlsVerification"];

/// Body of `POST /v2/batch/scrape`. The scrape options are top-level fields of the body.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::read_urls)]
pub struct BatchScrapeRequest {
    /// URLs of the pages; duplicates are scraped once.
    #[field(
        required,
        manual,
        bounds = (1..=MAX_BATCH_URLS, ()),
        label = "URLs",
        group = "Main",
        example = r#"["https://example.com"]"#
    )]
    pub urls: Vec<TargetUrl>,
    /// Invalid URLs in `urls`; only with `ignore_invalid_urls`.
    #[field(skip)]
    pub invalid_urls: Vec<String>,
    /// Add the pages to this batch instead of starting one.
    #[field(
        label = "Append to batch",
        group = "Batch",
        example = r#""018f2f9e-0000-7000-8000-000000000001""#
    )]
    pub append_to_id: Option<JobId>,
    /// Skip invalid URLs in `urls` instead of refusing the request.
    #[field(
        name = "ignoreInvalidURLs",
        default = true,
        label = "Skip invalid URLs",
        group = "Batch"
    )]
    pub ignore_invalid_urls: bool,
    /// What holds for every page.
    #[field(flatten)]
    pub batch: BatchOptions,
}

/// Options of a batch, without its URLs. The store keeps only these as the request, because pages have rows
/// of their own.
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
        group = "Webhook",
        example = r#""https://example.com/hook""#
    )]
    pub webhook: Option<WebhookSpec>,
    /// Maximum number of pages in flight. Default: the team's limit.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        label = "Concurrency",
        group = "Batch",
        unit = "pages",
        example = "4"
    )]
    pub max_concurrency: Option<u32>,
    /// Delete all content once it is delivered. The operator must enable it.
    #[field(label = "Zero data retention", group = "Batch")]
    pub zero_data_retention: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl BatchScrapeRequest {
    /// Reads `urls`. Invalid entries are skipped with `ignoreInvalidURLs` and are problems without it.
    fn read_urls(&mut self, fields: &mut Fields) {
        (self.urls, self.invalid_urls) = read_urls(fields, self.ignore_invalid_urls);
    }

    /// Takes the skipped entries of `urls` for the response. Returns `None` without `ignoreInvalidURLs`.
    pub fn take_invalid_urls(&mut self) -> Option<Vec<String>> {
        self.ignore_invalid_urls
            .then(|| std::mem::take(&mut self.invalid_urls))
    }
}

impl BatchOptions {
    /// Checks that a request that adds pages has the same options as its batch. Options that the request
    /// leaves out are those of the batch.
    ///
    /// # Errors
    /// 400 if an option differs.
    pub fn check_append(&self, batch: &Self) -> Result<(), ApiError> {
        let (added, known) = (self.without_caller(), batch.without_caller());
        let agrees = |field: &(&str, _)| {
            CLIENT_DEFAULTS.contains(&field.0) || known.fields().iter().any(|own| own == field)
        };
        if added.fields().iter().all(agrees) {
            return Ok(());
        }
        Err(bad_field(
            "appendToId",
            "adds pages to a batch that has other options: leave the options out, or start a new batch",
        ))
    }

    /// Checks that the operator has enabled the requested options.
    ///
    /// # Errors
    /// 403 if an option is not enabled.
    pub fn check_enabled(&self, enabled: EnabledOptions) -> Result<(), ApiError> {
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

fn read_urls(fields: &mut Fields, ignore_invalid: bool) -> (Vec<TargetUrl>, Vec<String>) {
    let mut invalid = Vec::new();
    let mut seen = HashSet::new();
    let read = |slot: Slot<'_>| {
        let target = match slot.json().as_str().map(TargetUrl::parse) {
            Some(Ok(target)) => target,
            Some(Err(_)) if ignore_invalid => {
                invalid.push(slot.json().as_str().unwrap_or_default().to_owned());
                return None;
            }
            Some(Err(_)) | None => TargetUrl::from_slot(slot, ())?,
        };
        seen.insert(target.url.clone()).then_some(target)
    };
    let urls = fields
        .slot("urls")
        .and_then(|slot| slot.array(1..=MAX_BATCH_URLS, read));
    match &urls {
        None if fields.is_clean() => fields.fail("urls", "is required: give an array of URLs"),
        Some(urls) if urls.is_empty() && fields.is_clean() => {
            fields.fail(
                "urls",
                "must contain at least one valid URL such as https://example.com",
            );
        }
        _ => {}
    }
    (urls.unwrap_or_default(), invalid)
}

/// Response of `POST /v2/batch/scrape`.
#[response(Eq)]
pub struct BatchStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// Absolute URL of the job status.
    #[serde(default)]
    pub url: String,
    /// Skipped entries of `urls`; only with `ignoreInvalidURLs`.
    #[serde(rename = "invalidURLs")]
    pub invalid_urls: Option<Vec<String>>,
}

impl BatchStarted {
    /// Creates the response for a stored job. `invalid_urls` are the skipped entries, if the request allows
    /// them.
    pub fn new(id: JobId, url: String, invalid_urls: Option<Vec<String>>) -> Self {
        Self {
            success: true,
            id,
            url,
            invalid_urls,
        }
    }
}
