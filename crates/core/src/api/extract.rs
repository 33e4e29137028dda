//! `POST /v2/extract` and `GET /v2/extract/{id}` (contract sections 10.1 and 10.2).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::url_field::{TargetUrl, trimmed};
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::ids::JobId;
use crate::limits::{MAX_EXTRACT_URLS, MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS};
use crate::time::Timestamp;
use crate::webhook::Family;

/// One place to extract from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtractTarget {
    /// The page, or the top of the site.
    pub url: TargetUrl,
    /// Written with `/*` at its end: the site below it.
    pub whole_site: bool,
}

impl ExtractTarget {
    /// Reads an address that may end in `/*`. Errors: the rest of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = trimmed(text);
        let (address, whole_site) = match text.strip_suffix("/*") {
            Some(address) => (format!("{address}/"), true),
            None => (text.to_owned(), false),
        };
        Ok(Self {
            url: TargetUrl::parse(&address)?,
            whole_site,
        })
    }
}

impl ToNode for ExtractTarget {
    fn to_node(&self) -> Node {
        match self.whole_site {
            true => format!("{}/*", self.url.given().trim_end_matches('/')).to_node(),
            false => self.url.to_node(),
        }
    }
}

/// Body of `POST /v2/extract`.
#[derive(Clone, PartialEq, Debug)]
pub struct ExtractRequest {
    /// Where from; may be empty with a prompt.
    pub urls: Vec<ExtractTarget>,
    /// What was among `urls` and is no address. Never written.
    pub invalid_urls: Vec<String>,
    /// What to extract, in words.
    pub prompt: Option<String>,
    /// What to extract, as JSON Schema.
    pub schema: Option<Map<String, Value>>,
    /// Instructions for the model.
    pub system_prompt: Option<String>,
    /// Other hosts belong too.
    pub allow_external_links: bool,
    /// Search the web for more.
    pub enable_web_search: bool,
    /// Subdomains belong too.
    pub include_subdomains: bool,
    /// Do not read sitemaps.
    pub ignore_sitemap: bool,
    /// Tell where each value comes from.
    pub show_sources: bool,
    /// Leave out what is no address instead of refusing everything.
    pub ignore_invalid_urls: bool,
    /// Pages, at most.
    pub limit: Option<u64>,
    /// Whole job, ms.
    pub timeout: Option<u64>,
    /// How pages are fetched.
    pub scrape_options: ScrapeOptions,
    /// `agent.model`.
    pub agent_model: Option<String>,
    /// Where events go.
    pub webhook: Option<WebhookSpec>,
    /// Tell which addresses were looked at.
    pub url_trace: bool,
    /// Who sent it.
    pub caller: Caller,
}

impl Default for ExtractRequest {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            invalid_urls: Vec::new(),
            prompt: None,
            schema: None,
            system_prompt: None,
            allow_external_links: false,
            enable_web_search: false,
            include_subdomains: true,
            ignore_sitemap: false,
            show_sources: false,
            ignore_invalid_urls: true,
            limit: None,
            timeout: None,
            scrape_options: ScrapeOptions::default(),
            agent_model: None,
            webhook: None,
            url_trace: false,
            caller: Caller::default(),
        }
    }
}

impl ExtractRequest {
    /// Every option with its value, defaults filled in.
    pub fn filled_options(&self) -> Map<String, Value> {
        let mut body = Body::default();
        body.some("prompt", &self.prompt);
        body.some("schema", &self.schema);
        body.some("systemPrompt", &self.system_prompt);
        body.put("allowExternalLinks", &self.allow_external_links);
        body.put("enableWebSearch", &self.enable_web_search);
        body.put("includeSubdomains", &self.include_subdomains);
        body.put("ignoreSitemap", &self.ignore_sitemap);
        body.put("showSources", &self.show_sources);
        body.put("ignoreInvalidURLs", &self.ignore_invalid_urls);
        body.some("limit", &self.limit);
        body.some("timeout", &self.timeout);
        body.put("scrapeOptions", &self.scrape_options.filled());
        body.put("urlTrace", &self.url_trace);
        body.into_map()
    }
}

impl Wire for ExtractRequest {
    fn read(f: &mut Fields) -> Self {
        let ignore_invalid_urls = f.bool("ignoreInvalidURLs", true);
        let (urls, invalid_urls) = read_urls(f, ignore_invalid_urls);
        let prompt = f
            .opt_string("prompt", 0..=MAX_PROMPT_CHARS)
            .filter(|prompt| !prompt.is_empty());
        let agent = f.opt_object("agent", |f| f.opt_string("model", 0..=MAX_SHORT_TEXT_CHARS));
        let (scrape_options, inner) = ScrapeOptions::read_inner(f);
        if urls.is_empty() && prompt.is_none() && f.is_clean() {
            f.fail("urls", "is required: give `urls`, `prompt` or both");
        }
        Self {
            urls,
            invalid_urls,
            prompt,
            schema: f.opt_map("schema"),
            system_prompt: f.opt_string("systemPrompt", 0..=MAX_PROMPT_CHARS),
            allow_external_links: f.bool("allowExternalLinks", false),
            enable_web_search: f.bool("enableWebSearch", false),
            include_subdomains: f.bool("includeSubdomains", true),
            ignore_sitemap: f.bool("ignoreSitemap", false),
            show_sources: f.bool("showSources", false),
            ignore_invalid_urls,
            limit: f.opt_integer("limit", 1..=Slot::UNBOUNDED),
            timeout: f.opt_integer("timeout", 1..=Slot::UNBOUNDED),
            scrape_options,
            agent_model: agent.flatten(),
            webhook: WebhookSpec::read(f, Family::Extract),
            url_trace: f.bool("urlTrace", false),
            caller: Caller::read_with_extras(f).or(inner),
        }
    }

    fn write(&self, body: &mut Body) {
        body.filled("urls", &self.urls);
        body.some("prompt", &self.prompt);
        body.some("schema", &self.schema);
        body.some("systemPrompt", &self.system_prompt);
        body.differs("allowExternalLinks", &self.allow_external_links, &false);
        body.differs("enableWebSearch", &self.enable_web_search, &false);
        body.differs("includeSubdomains", &self.include_subdomains, &true);
        body.differs("ignoreSitemap", &self.ignore_sitemap, &false);
        body.differs("showSources", &self.show_sources, &false);
        body.differs("ignoreInvalidURLs", &self.ignore_invalid_urls, &true);
        body.some("limit", &self.limit);
        body.some("timeout", &self.timeout);
        self.scrape_options.write_inner(body);
        if let Some(model) = &self.agent_model {
            let mut agent = Body::default();
            agent.put("model", model);
            body.put("agent", &agent);
        }
        body.some("webhook", &self.webhook);
        body.differs("urlTrace", &self.url_trace, &false);
        self.caller.write(body);
    }
}

wire!(ExtractRequest);

fn read_urls(f: &mut Fields, ignore_invalid: bool) -> (Vec<ExtractTarget>, Vec<String>) {
    let mut invalid = Vec::new();
    let urls = f.array("urls", 0..=MAX_EXTRACT_URLS, |slot| {
        let Some(text) = slot.json().as_str().map(str::to_owned) else {
            return slot.string(1..=1).and(None);
        };
        match ExtractTarget::parse(&text) {
            Ok(target) => Some(target),
            Err(_) if ignore_invalid => {
                invalid.push(text);
                None
            }
            Err(message) => slot.fail(message),
        }
    });
    (urls, invalid)
}

/// Answer of `POST /v2/extract`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The job.
    pub id: JobId,
    /// Addresses looked at; only with `urlTrace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_trace: Option<Vec<Value>>,
    /// What was left out.
    #[serde(default, rename = "invalidURLs", skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}

wire_enum! {
    /// State of an extract.
    ExtractStatus {
        /// Running.
        Processing = "processing",
        /// Done.
        Completed = "completed",
        /// Could not be made.
        Failed = "failed",
        /// Cancelled by the caller.
        Cancelled = "cancelled",
    }
}

/// Answer of `GET /v2/extract/{id}`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractAnswer {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// State.
    pub status: ExtractStatus,
    /// What was extracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why it could not be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Until when it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Credits times 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<u64>,
    /// Where each value comes from; only with `showSources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Value>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}
