//! `POST /v2/crawl` and `GET /v2/crawl/active` (contract sections 6.1 and 6.4). The status of a
//! job is in [`crate::api::job`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Decimal, Fields, Slot, Wire, wire};
use crate::api::options::ScrapeOptions;
use crate::api::url_field::TargetUrl;
use crate::api::webhook::WebhookSpec;
use crate::api::wire_enum::wire_enum;
use crate::ids::{JobId, TeamId};
use crate::limits::{
    DEFAULT_CRAWL_LIMIT, MAX_CRAWL_DELAY_S, MAX_PATTERN_CHARS, MAX_PATTERNS, MAX_PATTERNS_CHARS,
    MAX_PROMPT_CHARS, MAX_SHORT_TEXT_CHARS,
};
use crate::time::Timestamp;
use crate::webhook::Family;

wire_enum! {
    /// What sitemaps are used for.
    SitemapMode {
        /// Not at all.
        Skip = "skip",
        /// Beside links.
        Include = "include",
        /// Instead of links.
        Only = "only",
    }
}

/// What the operator has switched on (contract section 5 rule 9, section 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Enabled {
    /// `ignoreRobotsTxt` and `robotsUserAgent`.
    pub ignore_robots: bool,
    /// `zeroDataRetention`.
    pub zero_data_retention: bool,
}

impl Enabled {
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

    /// Errors: 403 when zero data retention is asked for and not enabled.
    pub fn check_zero_data_retention(self, asked: bool) -> Result<(), ApiError> {
        Self::check(self.zero_data_retention, asked, "zeroDataRetention")
    }
}

/// Body of `POST /v2/crawl`.
#[derive(Clone, PartialEq, Debug)]
pub struct CrawlRequest {
    /// The seed.
    pub url: TargetUrl,
    /// Options in words; explicitly set fields win.
    pub prompt: Option<String>,
    /// Regular expressions of paths that do not belong.
    pub exclude_paths: Vec<String>,
    /// Regular expressions of paths that belong; empty: all.
    pub include_paths: Vec<String>,
    /// Deepest discovery depth that is fetched; absent: any.
    pub max_discovery_depth: Option<u32>,
    /// What sitemaps are used for.
    pub sitemap: SitemapMode,
    /// URLs that differ by their query are the same page.
    pub ignore_query_parameters: bool,
    /// URLs that differ by `www.`, scheme, trailing slash or index file are the same page.
    pub deduplicate_similar_urls: bool,
    /// Match patterns on the whole URL.
    pub regex_on_full_url: bool,
    /// Pages to fetch, at most.
    pub limit: u64,
    /// Siblings and parents of the seed belong too.
    pub crawl_entire_domain: bool,
    /// Other hosts belong too, one hop.
    pub allow_external_links: bool,
    /// Subdomains belong too.
    pub allow_subdomains: bool,
    /// Do not ask robots.txt; needs enablement.
    pub ignore_robots_txt: bool,
    /// Product token matched against robots.txt; needs enablement.
    pub robots_user_agent: Option<String>,
    /// Pause between the starts of two fetches, seconds; see [`CrawlRequest::delay_ms`].
    pub delay: Option<f64>,
    /// Pages in flight at once; absent: the team limit.
    pub max_concurrency: Option<u32>,
    /// Where events go.
    pub webhook: Option<WebhookSpec>,
    /// How each page is fetched and what is made of it.
    pub scrape_options: ScrapeOptions,
    /// Keep nothing once delivered; needs enablement.
    pub zero_data_retention: bool,
    /// Who sent it.
    pub caller: Caller,
}

impl CrawlRequest {
    /// A request with every option at its default.
    pub fn new(url: impl Into<TargetUrl>) -> Self {
        Self {
            url: url.into(),
            prompt: None,
            exclude_paths: Vec::new(),
            include_paths: Vec::new(),
            max_discovery_depth: None,
            sitemap: SitemapMode::Include,
            ignore_query_parameters: false,
            deduplicate_similar_urls: true,
            regex_on_full_url: false,
            limit: DEFAULT_CRAWL_LIMIT,
            crawl_entire_domain: false,
            allow_external_links: false,
            allow_subdomains: false,
            ignore_robots_txt: false,
            robots_user_agent: None,
            delay: None,
            max_concurrency: None,
            webhook: None,
            scrape_options: ScrapeOptions::default(),
            zero_data_retention: false,
            caller: Caller::default(),
        }
    }

    /// Pause between the starts of two fetches, ms, rounded up.
    pub fn delay_ms(&self) -> Option<u64> {
        self.delay.map(|seconds| (seconds * 1000.0).ceil() as u64)
    }

    /// Refuses what the operator has not enabled. Errors: 403 naming the option.
    pub fn check_enabled(&self, enabled: Enabled) -> Result<(), ApiError> {
        Enabled::check(enabled.ignore_robots, self.ignore_robots_txt, "ignoreRobotsTxt")?;
        Enabled::check(
            enabled.ignore_robots,
            self.robots_user_agent.is_some(),
            "robotsUserAgent",
        )?;
        enabled.check_zero_data_retention(self.zero_data_retention)
    }

    /// The crawl options of an active crawl: every option with its value, defaults filled in,
    /// `scrapeOptions` among them; without `url`, `webhook` and the caller.
    pub fn filled_options(&self) -> Map<String, Value> {
        let mut body = Body::default();
        body.some("prompt", &self.prompt);
        body.put("excludePaths", &self.exclude_paths);
        body.put("includePaths", &self.include_paths);
        body.some("maxDiscoveryDepth", &self.max_discovery_depth);
        body.put("sitemap", &self.sitemap);
        body.put("ignoreQueryParameters", &self.ignore_query_parameters);
        body.put("deduplicateSimilarURLs", &self.deduplicate_similar_urls);
        body.put("regexOnFullURL", &self.regex_on_full_url);
        body.put("limit", &self.limit);
        body.put("crawlEntireDomain", &self.crawl_entire_domain);
        body.put("allowExternalLinks", &self.allow_external_links);
        body.put("allowSubdomains", &self.allow_subdomains);
        body.put("ignoreRobotsTxt", &self.ignore_robots_txt);
        body.some("robotsUserAgent", &self.robots_user_agent);
        body.some("delay", &self.delay);
        body.some("maxConcurrency", &self.max_concurrency);
        body.put("zeroDataRetention", &self.zero_data_retention);
        body.put("scrapeOptions", &self.scrape_options.filled());
        body.into_map()
    }
}

impl CrawlRequest {
    /// Reads every field but `url`.
    pub(crate) fn read_options(f: &mut Fields, url: TargetUrl) -> Self {
        let (scrape_options, inner) = ScrapeOptions::read_inner(f);
        let request = Self {
            url,
            prompt: f
                .opt_string("prompt", 0..=MAX_PROMPT_CHARS)
                .filter(|prompt| !prompt.is_empty()),
            exclude_paths: read_patterns(f, "excludePaths"),
            include_paths: read_patterns(f, "includePaths"),
            max_discovery_depth: f.opt_u32("maxDiscoveryDepth", 0),
            sitemap: f.word("sitemap", SitemapMode::Include),
            ignore_query_parameters: f.bool("ignoreQueryParameters", false),
            deduplicate_similar_urls: f.bool("deduplicateSimilarURLs", true),
            regex_on_full_url: f.bool("regexOnFullURL", false),
            limit: f.integer("limit", 1..=Slot::UNBOUNDED, DEFAULT_CRAWL_LIMIT),
            crawl_entire_domain: f.bool("crawlEntireDomain", false),
            allow_external_links: f.bool("allowExternalLinks", false),
            allow_subdomains: f.bool("allowSubdomains", false),
            ignore_robots_txt: f.bool("ignoreRobotsTxt", false),
            robots_user_agent: read_agent(f),
            delay: f.opt_number("delay", Decimal::PositiveUpTo(MAX_CRAWL_DELAY_S)),
            max_concurrency: f.opt_u32("maxConcurrency", 1),
            webhook: WebhookSpec::read(f, Family::Crawl),
            scrape_options,
            zero_data_retention: f.bool("zeroDataRetention", false),
            caller: Caller::read_with_extras(f).or(inner),
        };
        check_patterns(f, &request.include_paths, &request.exclude_paths);
        request
    }

    /// Writes every field but `url` and `scrapeOptions`.
    pub(crate) fn options_body(&self) -> Body {
        let mut body = Body::default();
        body.some("prompt", &self.prompt);
        body.filled("excludePaths", &self.exclude_paths);
        body.filled("includePaths", &self.include_paths);
        body.some("maxDiscoveryDepth", &self.max_discovery_depth);
        body.differs("sitemap", &self.sitemap, &SitemapMode::Include);
        body.differs("ignoreQueryParameters", &self.ignore_query_parameters, &false);
        body.differs("deduplicateSimilarURLs", &self.deduplicate_similar_urls, &true);
        body.differs("regexOnFullURL", &self.regex_on_full_url, &false);
        body.differs("limit", &self.limit, &DEFAULT_CRAWL_LIMIT);
        body.differs("crawlEntireDomain", &self.crawl_entire_domain, &false);
        body.differs("allowExternalLinks", &self.allow_external_links, &false);
        body.differs("allowSubdomains", &self.allow_subdomains, &false);
        body.differs("ignoreRobotsTxt", &self.ignore_robots_txt, &false);
        body.some("robotsUserAgent", &self.robots_user_agent);
        body.some("delay", &self.delay);
        body.some("maxConcurrency", &self.max_concurrency);
        body.some("webhook", &self.webhook);
        body.differs("zeroDataRetention", &self.zero_data_retention, &false);
        self.caller.write(&mut body);
        body
    }
}

impl Wire for CrawlRequest {
    fn read(f: &mut Fields) -> Self {
        let url = f.url("url");
        Self::read_options(f, url)
    }

    fn write(&self, body: &mut Body) {
        body.put("url", &self.url);
        body.extend(self.options_body());
        self.scrape_options.write_inner(body);
    }
}

wire!(CrawlRequest);

/// Reads a list of patterns; whether they compile is decided by the scope.
pub(crate) fn read_patterns(f: &mut Fields, name: &'static str) -> Vec<String> {
    f.strings(name, 0..=MAX_PATTERNS, 0..=MAX_PATTERN_CHARS)
}

/// Bounds of both lists together.
pub(crate) fn check_patterns(f: &mut Fields, include: &[String], exclude: &[String]) {
    let (name, lists) = ("includePaths", include.len() + exclude.len());
    if lists > MAX_PATTERNS {
        f.fail(
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
        f.fail(
            name,
            format!(
                "must have at most {MAX_PATTERNS_CHARS} characters together with `excludePaths`, not {chars}"
            ),
        );
    }
}

fn read_agent(f: &mut Fields) -> Option<String> {
    let agent = f.opt_string("robotsUserAgent", 1..=MAX_SHORT_TEXT_CHARS)?;
    if agent.chars().any(char::is_control) {
        f.fail(
            "robotsUserAgent",
            "must not contain line breaks or control characters",
        );
    }
    Some(agent)
}

/// Answer of the start of a crawl, batch scrape or extract.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobStarted {
    /// Always true.
    #[serde(default)]
    pub success: bool,
    /// The job.
    pub id: JobId,
    /// Absolute address of its status.
    #[serde(default)]
    pub url: String,
    /// What the caller should know of how its `prompt` was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl JobStarted {
    /// A stored job.
    pub fn new(id: JobId, url: String) -> Self {
        Self {
            success: true,
            id,
            url,
            warning: None,
        }
    }
}

/// Answer of `GET /v2/crawl/active`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActiveCrawls {
    /// Always true.
    pub success: bool,
    /// Newest first.
    pub crawls: Vec<ActiveCrawl>,
}

/// A running crawl.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCrawl {
    /// The job.
    pub id: JobId,
    /// Its owner.
    pub team_id: TeamId,
    /// The seed.
    pub url: String,
    /// When it was started.
    #[serde(default, rename = "created_at", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Crawl options with defaults filled in, `scrapeOptions` among them.
    #[serde(default)]
    pub options: Map<String, Value>,
}

impl ActiveCrawl {
    /// The entry for a stored request.
    pub fn new(id: JobId, team_id: TeamId, created_at: Timestamp, request: &CrawlRequest) -> Self {
        Self {
            id,
            team_id,
            url: request.url.given().to_owned(),
            created_at: Some(created_at),
            options: request.filled_options(),
        }
    }
}
