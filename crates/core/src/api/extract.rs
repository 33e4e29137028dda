//! Models of `POST /v2/extract` and `GET /v2/extract/{id}` (docs/API.md sections 10.1 and 10.2).

use harvestman_derive::{Request, response};
use serde_json::{Map, Value};

use crate::api::body::{Node, ToNode};
use crate::api::caller::Caller;
use crate::api::fields::{FieldType, Fields, Schema, Slot, wire};
use crate::api::options::ScrapeOptions;
use crate::api::url_field::{TargetUrl, trim_spaces};
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::limits::{MAX_EXTRACT_URLS, MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS};
use crate::time::Timestamp;
use crate::webhook::Family;

/// Page or site to extract from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtractTarget {
    /// URL of the page, or of the root of the site.
    pub url: TargetUrl,
    /// Whether the URL ended in `/*`, which means the site below it.
    pub whole_site: bool,
}

impl ExtractTarget {
    /// Parses a URL that may end in `/*`.
    ///
    /// # Errors
    /// The reason, as the rest of a sentence that begins with the name of the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = trim_spaces(text);
        let (url, whole_site) = match text.strip_suffix("/*") {
            Some(site) => (format!("{site}/"), true),
            None => (text.to_owned(), false),
        };
        Ok(Self {
            url: TargetUrl::parse(&url)?,
            whole_site,
        })
    }
}

impl ToNode for ExtractTarget {
    fn to_node(&self) -> Node {
        match self.whole_site {
            true => format!("{}/*", self.url.as_sent().trim_end_matches('/')).to_node(),
            false => self.url.to_node(),
        }
    }
}

/// Body of `POST /v2/extract`.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check)]
pub struct ExtractRequest {
    /// URLs to extract from; `/*` at the end means the site below. Without URLs, a search for the prompt finds pages.
    #[field(
        manual,
        unlisted,
        bounds = (0..=MAX_EXTRACT_URLS, ()),
        label = "URLs",
        group = "Main",
        example = r#"["https://example.com/*"]"#
    )]
    pub urls: Vec<ExtractTarget>,
    /// Invalid URLs in `urls`.
    #[field(skip)]
    pub invalid_urls: Vec<String>,
    /// What to extract, in words.
    #[field(
        bounds = 0..=MAX_PROMPT_CHARS,
        empty_is_absent,
        label = "Prompt",
        group = "Main",
        example = r#""Names and prices of the products""#
    )]
    pub prompt: Option<String>,
    /// JSON Schema of the data to extract.
    #[field(
        label = "Schema",
        example = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#
    )]
    pub schema: Option<Map<String, Value>>,
    /// Instructions for the model.
    #[field(bounds = 0..=MAX_PROMPT_CHARS, label = "System prompt", group = "Result")]
    pub system_prompt: Option<String>,
    /// Follow links to other hosts too.
    #[field(label = "External links", group = "Scope")]
    pub allow_external_links: bool,
    /// Search the web for more pages.
    #[field(label = "Web search", group = "Scope")]
    pub enable_web_search: bool,
    /// Include subdomains of the sites.
    #[field(default = true, label = "Subdomains", group = "Scope")]
    pub include_subdomains: bool,
    /// Do not read sitemaps.
    #[field(label = "Ignore sitemap", group = "Scope")]
    pub ignore_sitemap: bool,
    /// Return the source of each value.
    #[field(label = "Show sources", group = "Result")]
    pub show_sources: bool,
    /// Skip invalid URLs in `urls` instead of refusing the request.
    #[field(
        name = "ignoreInvalidURLs",
        default = true,
        label = "Skip invalid URLs",
        group = "Result"
    )]
    pub ignore_invalid_urls: bool,
    /// Maximum number of pages. Default: 20.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        label = "Page limit",
        group = "Scope",
        unit = "pages",
        example = "20"
    )]
    pub limit: Option<u64>,
    /// Time limit of the whole job. Default: 30 minutes.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        label = "Timeout",
        group = "Result",
        unit = "ms",
        example = "60000"
    )]
    pub timeout: Option<u64>,
    /// How pages are fetched.
    #[field(read = ScrapeOptions::read_inner, example = r#"{"onlyMainContent":false}"#)]
    pub scrape_options: ScrapeOptions,
    /// The model that extracts: an object with `model`. A model other than the operator's has no effect; the result
    /// then has a `warning`.
    #[field(
        unlisted,
        label = "Agent",
        group = "Result",
        example = r#"{"model":"default"}"#
    )]
    pub agent: Option<ExtractAgent>,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(
        bounds = Family::Extract,
        unlisted,
        label = "Webhook",
        group = "Webhook",
        example = r#""https://example.com/hook""#
    )]
    pub webhook: Option<WebhookSpec>,
    /// Return the URLs that were visited.
    #[field(name = "urlTrace", label = "URL trace", group = "Result")]
    pub url_trace: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// The model that extracts.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct ExtractAgent {
    /// Name of the model.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS)]
    pub model: Option<String>,
}

impl ExtractRequest {
    /// Reads `urls`. Invalid entries are skipped with `ignoreInvalidURLs` and are problems without it.
    fn check(&mut self, fields: &mut Fields) {
        (self.urls, self.invalid_urls) = read_urls(fields, self.ignore_invalid_urls);
        if !self.urls.is_empty() || !fields.is_clean() {
            return;
        }
        if self.prompt.is_none() {
            fields.fail("urls", "is required: give `urls`, `prompt` or both");
        } else if !self.invalid_urls.is_empty() && !self.enable_web_search {
            fields.fail("urls", "contains no valid URL");
        }
    }
}

wire!(ExtractRequest, ExtractAgent);

/// A URL that may end in `/*`.
impl FieldType for ExtractTarget {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        TargetUrl::schema(())
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let text = slot.json().as_str().map(Self::parse);
        match text {
            Some(Ok(target)) => Some(target),
            Some(Err(message)) => slot.fail(message),
            None => slot.string(1..=1).and(None),
        }
    }

    fn placeholder() -> Self {
        Self {
            url: TargetUrl::placeholder(),
            whole_site: false,
        }
    }
}

fn read_urls(fields: &mut Fields, ignore_invalid: bool) -> (Vec<ExtractTarget>, Vec<String>) {
    let mut invalid = Vec::new();
    let read = |slot: Slot<'_>| match slot.json().as_str() {
        Some(text) if ignore_invalid && ExtractTarget::parse(text).is_err() => {
            invalid.push(text.to_owned());
            None
        }
        _ => ExtractTarget::from_slot(slot, ()),
    };
    let urls = fields
        .slot("urls")
        .and_then(|slot| slot.array(0..=MAX_EXTRACT_URLS, read));
    (urls.unwrap_or_default(), invalid)
}

/// Response of `POST /v2/extract`.
#[response]
pub struct ExtractStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// URLs that the extract starts from; only with `urlTrace`.
    pub url_trace: Option<Vec<TracedUrl>>,
    /// Skipped entries of `urls`.
    #[serde(rename = "invalidURLs")]
    pub invalid_urls: Option<Vec<String>>,
}

/// URL that an extract starts from.
#[response(Eq)]
pub struct TracedUrl {
    /// The URL as requested.
    pub url: String,
}

wire_enum! {
    /// State of an extract.
    ExtractStatus {
        /// The extract is running.
        Processing = "processing",
        /// The extract has completed.
        Completed = "completed",
        /// The extract failed.
        Failed = "failed",
        /// The caller cancelled the extract.
        Cancelled = "cancelled",
    }
}

/// Response of `GET /v2/extract/{id}`.
#[response]
pub struct ExtractResponse {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// State of the extract.
    pub status: ExtractStatus,
    /// Extracted data.
    pub data: Option<Value>,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Time until which the result can be read.
    pub expires_at: Option<Timestamp>,
    /// Tokens used: 15 per credit.
    pub tokens_used: Option<u64>,
    /// Credits used.
    pub credits_used: Option<u64>,
    /// Source of each value; only with `showSources`.
    pub sources: Option<Value>,
    /// What a run without a result has found so far.
    pub partial: Option<Value>,
    /// Warning about the result.
    pub warning: Option<String>,
}
