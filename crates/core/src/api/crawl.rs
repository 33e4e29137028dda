//! Models of `POST /v2/crawl` and `GET /v2/crawl/active` (docs/API.md sections 6.1 and 6.4). The status of a
//! job is in [`crate::api::job`].

use std::ops::RangeInclusive;

use harvestman_derive::{Request, response};
use serde_json::{Map, Value};

use crate::api::body::{Node, ToNode};
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Decimal, FieldType, Fields, Schema, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::ids::{JobId, TeamId};
use crate::limits::{
    DEFAULT_CRAWL_LIMIT, DEFAULT_MONITOR_CRAWL_LIMIT, MAX_CRAWL_DELAY_S, MAX_PATTERN_CHARS, MAX_PATTERNS,
    MAX_PATTERNS_CHARS, MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS,
};
use crate::time::Timestamp;
use crate::webhook::Family;

wire_enum! {
    /// Use of sitemaps.
    SitemapMode {
        /// Sitemaps are not read.
        Skip = "skip",
        /// Sitemaps are used in addition to links.
        Include = "include",
        /// Sitemaps are used instead of links.
        Only = "only",
    }
}

/// Options that the operator has enabled (docs/API.md section 5 rule 9, section 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EnabledOptions {
    /// Whether `ignoreRobotsTxt` and `robotsUserAgent` are enabled.
    pub ignore_robots: bool,
    /// Whether `zeroDataRetention` is enabled.
    pub zero_data_retention: bool,
}

impl EnabledOptions {
    fn check(allowed: bool, asked: bool, option: &str) -> Result<(), ApiError> {
        if allowed || !asked {
            return Ok(());
        }
        Err(ApiError::new(
            ErrorCode::Forbidden,
            format!(
                "`{option}` is not enabled on this server; leave it out or ask the operator to enable it."
            ),
        ))
    }

    /// Checks that zero data retention is enabled if it is requested.
    ///
    /// # Errors
    /// 403 if it is requested and not enabled.
    pub fn check_zero_data_retention(self, asked: bool) -> Result<(), ApiError> {
        Self::check(self.zero_data_retention, asked, "zeroDataRetention")
    }
}

/// Body of `POST /v2/crawl`.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check)]
pub struct CrawlRequest {
    /// URL where the crawl starts.
    #[field(required, label = "URL", example = r#""https://example.com""#)]
    pub url: TargetUrl,
    /// Description of the crawl in words; explicit options take precedence.
    #[field(
        bounds = 0..=MAX_PROMPT_CHARS,
        empty_is_absent,
        label = "Prompt",
        example = r#""Only the blog posts of this year""#
    )]
    pub prompt: Option<String>,
    /// Regular expressions; matching paths are skipped.
    #[field(bounds = PATTERNS, label = "Exclude paths", group = "Scope", example = r#"["^/admin/"]"#)]
    pub exclude_paths: Vec<String>,
    /// Regular expressions; only matching paths are crawled. Empty: all.
    #[field(bounds = PATTERNS, label = "Include paths", group = "Scope", example = r#"["^/blog/"]"#)]
    pub include_paths: Vec<String>,
    /// Links away from the start; 0 is the start page and the pages of sitemaps. Default: unlimited.
    #[field(bounds = 0..=Slot::UNBOUNDED, label = "Depth", group = "Main", example = "3")]
    pub max_discovery_depth: Option<u32>,
    /// Whether to crawl the pages that the site's sitemaps list.
    #[field(default = SitemapMode::Include, label = "Sitemap", group = "Main")]
    pub sitemap: SitemapMode,
    /// Treat URLs that differ only by their query as one page.
    #[field(label = "Ignore query", group = "Scope")]
    pub ignore_query_parameters: bool,
    /// Treat URLs that differ only by `www.`, scheme, trailing slash or index file as one page.
    #[field(
        name = "deduplicateSimilarURLs",
        default = true,
        label = "Merge similar URLs",
        group = "Scope"
    )]
    pub deduplicate_similar_urls: bool,
    /// Match path patterns against the whole URL.
    #[field(name = "regexOnFullURL", label = "Match full URL", group = "Scope")]
    pub regex_on_full_url: bool,
    /// Maximum number of pages.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        default = DEFAULT_CRAWL_LIMIT,
        label = "Page limit",
        group = "Main",
        unit = "pages",
        example = "100"
    )]
    pub limit: u64,
    /// Also crawl pages of the same host that are not below the path of the start URL.
    #[field(label = "Entire domain", group = "Scope")]
    pub crawl_entire_domain: bool,
    /// Crawl pages of other sites that are linked to; their own links are not followed.
    #[field(label = "External links", group = "Scope")]
    pub allow_external_links: bool,
    /// Crawl every host below the same registrable domain.
    #[field(label = "Subdomains", group = "Scope")]
    pub allow_subdomains: bool,
    /// Ignore robots.txt. The operator must enable it.
    #[field(label = "Ignore robots.txt", group = "Pace")]
    pub ignore_robots_txt: bool,
    /// Product token to match in robots.txt. The operator must enable it.
    #[field(
        bounds = 1..=MAX_SHORT_TEXT_CHARS,
        read = read_agent,
        label = "Robots user agent",
        group = "Pace",
        example = r#""MyBot""#
    )]
    pub robots_user_agent: Option<String>,
    /// Pause between the starts of two requests to a host.
    ///
    /// See [`CrawlRequest::delay_ms`].
    #[field(
        bounds = Decimal::PositiveUpTo(MAX_CRAWL_DELAY_S),
        label = "Delay",
        group = "Pace",
        unit = "seconds",
        example = "1"
    )]
    pub delay: Option<f64>,
    /// Maximum number of pages in flight. Default: the team's limit.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        label = "Concurrency",
        group = "Pace",
        unit = "pages",
        example = "4"
    )]
    pub max_concurrency: Option<u32>,
    /// Receiver of events: a URL, or an object with `url`, `headers`, `metadata` and `events`.
    #[field(
        bounds = Family::Crawl,
        unlisted,
        label = "Webhook",
        group = "Webhook",
        example = r#""https://example.com/hook""#
    )]
    pub webhook: Option<WebhookSpec>,
    /// How each page is fetched, and which parts of it are returned.
    #[field(read = ScrapeOptions::read_inner, example = r#"{"formats":["markdown"]}"#)]
    pub scrape_options: ScrapeOptions,
    /// Delete all content once it is delivered. The operator must enable it.
    #[field(label = "Zero data retention", group = "Pace")]
    pub zero_data_retention: bool,
    /// Older form of `sitemap`: true is `skip`.
    #[field(hidden)]
    pub ignore_sitemap: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of a list of path patterns.
pub(crate) const PATTERNS: (RangeInclusive<usize>, RangeInclusive<usize>) =
    (0..=MAX_PATTERNS, 0..=MAX_PATTERN_CHARS);

impl CrawlRequest {
    /// Returns the pause between the starts of two requests to a host, ms, rounded up.
    pub fn delay_ms(&self) -> Option<u64> {
        self.delay.map(|seconds| (seconds * 1000.0).ceil() as u64)
    }

    /// Checks that the operator has enabled the requested options.
    ///
    /// # Errors
    /// 403 with the name of the option that is not enabled.
    pub fn check_enabled(&self, enabled: EnabledOptions) -> Result<(), ApiError> {
        EnabledOptions::check(enabled.ignore_robots, self.ignore_robots_txt, "ignoreRobotsTxt")?;
        EnabledOptions::check(
            enabled.ignore_robots,
            self.robots_user_agent.is_some(),
            "robotsUserAgent",
        )?;
        enabled.check_zero_data_retention(self.zero_data_retention)
    }

    fn check(&mut self, fields: &mut Fields) {
        check_patterns(fields, &self.include_paths, &self.exclude_paths);
        if std::mem::take(&mut self.ignore_sitemap) {
            if fields.has_read("sitemap") && self.sitemap != SitemapMode::Skip {
                fields.fail("ignoreSitemap", "contradicts `sitemap`; leave it out");
            }
            self.sitemap = SitemapMode::Skip;
        }
    }
}

/// Options of a crawl of a monitor, whose URL is a field next to them. Without `limit` it has
/// [`DEFAULT_MONITOR_CRAWL_LIMIT`].
#[derive(Clone, PartialEq, Debug)]
pub struct CrawlOptions(Box<CrawlRequest>);

impl CrawlOptions {
    /// Returns the options as a request. Its URL is a placeholder for the field next to the options.
    pub fn request(&self) -> &CrawlRequest {
        &self.0
    }
}

impl ToNode for CrawlOptions {
    fn to_node(&self) -> Node {
        let mut body = self.0.to_body().without(&["url", "limit"]);
        body.put("limit", &self.0.limit);
        Node::Object(body)
    }
}

impl FieldType for CrawlOptions {
    type Bounds = ();

    const HINT: &'static str = CrawlRequest::HINT;

    fn schema((): ()) -> Schema {
        let mut fields = CrawlRequest::fields();
        fields.retain(|field| !["url", "scrapeOptions"].contains(&field.name));
        if let Some(limit) = fields.iter_mut().find(|field| field.name == "limit") {
            limit.default = Some(DEFAULT_MONITOR_CRAWL_LIMIT.to_node());
        }
        Schema::Object("CrawlOptions", fields)
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let read = |fields: &mut Fields| {
            fields.supply("url", TargetUrl::placeholder().as_sent());
            let has_limit = fields.has("limit");
            let mut request = CrawlRequest::read(fields);
            if !has_limit {
                request.limit = DEFAULT_MONITOR_CRAWL_LIMIT;
            }
            request
        };
        slot.object(read).map(|request| Self(Box::new(request)))
    }

    fn placeholder() -> Self {
        Self(Box::new(CrawlRequest::placeholder()))
    }
}

wire!(CrawlRequest);

/// Checks the bounds of both pattern lists together.
pub(crate) fn check_patterns(fields: &mut Fields, include: &[String], exclude: &[String]) {
    let (name, lists) = ("includePaths", include.len() + exclude.len());
    if lists > MAX_PATTERNS {
        fields.fail(
            name,
            format!("must have at most {MAX_PATTERNS} patterns together with `excludePaths`, not {lists}"),
        );
    }
    let chars: usize = include
        .iter()
        .chain(exclude)
        .map(|pattern| pattern.chars().count())
        .sum();
    if chars > MAX_PATTERNS_CHARS {
        fields.fail(
            name,
            format!(
                "must have at most {MAX_PATTERNS_CHARS} characters together with `excludePaths`, not {chars}"
            ),
        );
    }
}

fn read_agent(fields: &mut Fields) -> Option<String> {
    let agent = fields.value::<String>("robotsUserAgent", 1..=MAX_SHORT_TEXT_CHARS)?;
    if agent.chars().any(char::is_control) {
        fields.fail(
            "robotsUserAgent",
            "must not contain line breaks or control characters",
        );
    }
    Some(agent)
}

/// Response to the start of a crawl, batch scrape or extract.
#[response(Eq)]
pub struct JobStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// Id of the job.
    pub id: JobId,
    /// Absolute URL of the job status.
    #[serde(default)]
    pub url: String,
    /// Warning about the interpretation of `prompt`.
    pub warning: Option<String>,
}

impl JobStarted {
    /// Creates the response for a stored job.
    pub fn new(id: JobId, url: String) -> Self {
        Self {
            success: true,
            id,
            url,
            warning: None,
        }
    }
}

/// Response of `GET /v2/crawl/active`.
#[response(Default)]
pub struct ActiveCrawls {
    /// Always true.
    pub success: bool,
    /// Running crawls, newest first.
    pub crawls: Vec<ActiveCrawl>,
}

/// Running crawl.
#[response]
pub struct ActiveCrawl {
    /// Id of the job.
    pub id: JobId,
    /// Id of the team that owns the crawl.
    pub team_id: TeamId,
    /// Start URL of the crawl.
    pub url: String,
    /// Start time of the crawl.
    #[serde(rename = "created_at")]
    pub created_at: Option<Timestamp>,
    /// Crawl options with defaults filled in, including `scrapeOptions`.
    #[serde(default)]
    pub options: Map<String, Value>,
}

impl ActiveCrawl {
    /// Creates the entry for a stored request.
    pub fn new(id: JobId, team_id: TeamId, created_at: Timestamp, request: &CrawlRequest) -> Self {
        Self {
            id,
            team_id,
            url: request.url.as_sent().to_owned(),
            created_at: Some(created_at),
            options: request.filled_options(),
        }
    }
}
