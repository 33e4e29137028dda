//! Models of `POST /v2/map` (docs/API.md section 6.5).

use std::collections::BTreeMap;

use harvestman_derive::{Request, response};

use crate::api::caller::Caller;
use crate::api::crawl::{PATTERNS, SitemapMode, check_patterns};
use crate::api::fields::{Fields, Slot, wire};
use crate::api::location::Location;
use crate::api::url_field::TargetUrl;
use crate::ids::JobId;
use crate::limits::{DEFAULT_MAP_LIMIT, MAX_MAP_LIMIT, MAX_PROMPT_CHARS};

/// Body of `POST /v2/map`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(check = Self::check)]
pub struct MapRequest {
    /// URL of the site.
    #[field(required, label = "URL", example = r#""https://example.com""#)]
    pub url: TargetUrl,
    /// Sort the URLs by relevance to these words.
    #[field(
        bounds = 0..=MAX_PROMPT_CHARS,
        empty_is_absent,
        label = "Search",
        group = "Main",
        example = r#""pricing""#
    )]
    pub search: Option<String>,
    /// Whether to list the URLs of the site's sitemaps.
    #[field(default = SitemapMode::Include, label = "Sitemap", group = "Main")]
    pub sitemap: SitemapMode,
    /// List URLs of subdomains too.
    #[field(default = true, label = "Subdomains", group = "Scope")]
    pub include_subdomains: bool,
    /// Leave out URLs with a query.
    #[field(default = true, label = "Ignore query", group = "Scope")]
    pub ignore_query_parameters: bool,
    /// List only URLs at or below the path of `url`.
    #[field(label = "Below the path only", group = "Scope")]
    pub filter_by_path: bool,
    /// Treat URLs that differ only by `www.`, scheme, trailing slash or index file as one.
    #[field(
        name = "deduplicateSimilarURLs",
        default = true,
        label = "Merge similar URLs",
        group = "Scope"
    )]
    pub deduplicate_similar_urls: bool,
    /// List the URLs of the team's cached pages too.
    #[field(default = true, label = "Cached pages", group = "Scope")]
    pub use_index: bool,
    /// Fetch sitemaps even if a cached copy exists.
    #[field(label = "Ignore cache", group = "Network")]
    pub ignore_cache: bool,
    /// Maximum number of URLs.
    #[field(
        bounds = 1..=MAX_MAP_LIMIT,
        default = DEFAULT_MAP_LIMIT,
        label = "URL limit",
        group = "Main",
        unit = "URLs",
        example = "1000"
    )]
    pub limit: u64,
    /// Time limit of the whole request. Default: none.
    #[field(
        bounds = 1..=Slot::UNBOUNDED,
        label = "Timeout",
        group = "Network",
        unit = "ms",
        example = "30000"
    )]
    pub timeout: Option<u64>,
    /// Country and languages of the visitor.
    #[field(
        label = "Location",
        group = "Network",
        example = r#"{"country":"DE","languages":["de"]}"#
    )]
    pub location: Location,
    /// Regular expressions; only matching paths are listed. Empty: all.
    #[field(bounds = PATTERNS, label = "Include paths", group = "Scope", example = r#"["^/blog/"]"#)]
    pub include_paths: Vec<String>,
    /// Regular expressions; matching paths are left out.
    #[field(bounds = PATTERNS, label = "Exclude paths", group = "Scope", example = r#"["^/admin/"]"#)]
    pub exclude_paths: Vec<String>,
    /// Match path patterns against the whole URL.
    #[field(name = "regexOnFullURL", label = "Match full URL", group = "Scope")]
    pub regex_on_full_url: bool,
    /// Request headers for the site.
    #[field(label = "Headers", group = "Network", example = r#"{"Cookie":"name=value"}"#)]
    pub headers: BTreeMap<String, String>,
    /// List URLs of other sites. True gets a warning.
    #[field(hidden)]
    pub allow_external_links: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl MapRequest {
    fn check(&mut self, fields: &mut Fields) {
        check_patterns(fields, &self.include_paths, &self.exclude_paths);
    }
}

wire!(MapRequest);

/// Response of `POST /v2/map`.
#[response(Eq, Default)]
pub struct MapResponse {
    /// Always true.
    pub success: bool,
    /// Id of the call.
    pub id: Option<JobId>,
    /// URLs found, best first.
    pub links: Vec<MapLink>,
    /// Warning about the result.
    pub warning: Option<String>,
}

/// URL found by a map.
#[response(Eq, Default)]
pub struct MapLink {
    /// Absolute URL without fragment.
    pub url: String,
    /// Title, if known.
    pub title: Option<String>,
    /// Description, if known.
    pub description: Option<String>,
}
