//! `POST /v2/map` (contract section 6.5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::{SitemapMode, check_patterns, read_patterns};
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::header_field;
use crate::api::location::Location;
use crate::api::url_field::TargetUrl;
use crate::ids::JobId;
use crate::limits::{DEFAULT_MAP_LIMIT, MAX_MAP_LIMIT, MAX_PROMPT_CHARS};

/// Body of `POST /v2/map`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapRequest {
    /// The site.
    pub url: TargetUrl,
    /// Order by relevance to this.
    pub search: Option<String>,
    /// What sitemaps are used for.
    pub sitemap: SitemapMode,
    /// Subdomains belong too.
    pub include_subdomains: bool,
    /// Leave out URLs with a query.
    pub ignore_query_parameters: bool,
    /// Do not use sitemaps kept from earlier.
    pub ignore_cache: bool,
    /// Links, at most.
    pub limit: u64,
    /// Whole call, ms.
    pub timeout: Option<u64>,
    /// Where the visitor seems to come from.
    pub location: Location,
    /// Regular expressions of paths that belong; empty: all.
    pub include_paths: Vec<String>,
    /// Regular expressions of paths that do not belong.
    pub exclude_paths: Vec<String>,
    /// Match patterns on the whole URL.
    pub regex_on_full_url: bool,
    /// Sent to the target.
    pub headers: BTreeMap<String, String>,
    /// Who sent it.
    pub caller: Caller,
}

impl MapRequest {
    /// A request with every option at its default.
    pub fn new(url: impl Into<TargetUrl>) -> Self {
        Self {
            url: url.into(),
            search: None,
            sitemap: SitemapMode::Include,
            include_subdomains: true,
            ignore_query_parameters: true,
            ignore_cache: false,
            limit: DEFAULT_MAP_LIMIT,
            timeout: None,
            location: Location::default(),
            include_paths: Vec::new(),
            exclude_paths: Vec::new(),
            regex_on_full_url: false,
            headers: BTreeMap::new(),
            caller: Caller::default(),
        }
    }
}

impl MapRequest {
    /// Every option with its value, also where that is the default.
    pub fn filled_options(&self) -> Map<String, Value> {
        let mut body = Body::default();
        body.some("search", &self.search);
        body.put("sitemap", &self.sitemap);
        body.put("includeSubdomains", &self.include_subdomains);
        body.put("ignoreQueryParameters", &self.ignore_query_parameters);
        body.put("ignoreCache", &self.ignore_cache);
        body.put("limit", &self.limit);
        body.some("timeout", &self.timeout);
        body.put("location", &self.location);
        body.put("includePaths", &self.include_paths);
        body.put("excludePaths", &self.exclude_paths);
        body.put("regexOnFullURL", &self.regex_on_full_url);
        body.put("headers", &self.headers);
        match serde_json::to_value(&body) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }
}

impl Wire for MapRequest {
    fn read(f: &mut Fields) -> Self {
        let request = Self {
            url: f.url("url"),
            search: f
                .opt_string("search", 0..=MAX_PROMPT_CHARS)
                .filter(|search| !search.is_empty()),
            sitemap: f.word("sitemap", SitemapMode::Include),
            include_subdomains: f.bool("includeSubdomains", true),
            ignore_query_parameters: f.bool("ignoreQueryParameters", true),
            ignore_cache: f.bool("ignoreCache", false),
            limit: f.integer("limit", 1..=MAX_MAP_LIMIT, DEFAULT_MAP_LIMIT),
            timeout: f.opt_integer("timeout", 1..=Slot::UNBOUNDED),
            location: f.opt_object("location", Location::read).unwrap_or_default(),
            include_paths: read_patterns(f, "includePaths"),
            exclude_paths: read_patterns(f, "excludePaths"),
            regex_on_full_url: f.bool("regexOnFullURL", false),
            headers: header_field::read(f, "headers"),
            caller: Caller::read_with_extras(f),
        };
        for without_effect in [
            "allowExternalLinks",
            "filterByPath",
            "useIndex",
            "deduplicateSimilarURLs",
        ] {
            f.opt_bool(without_effect);
        }
        check_patterns(f, &request.include_paths, &request.exclude_paths);
        request
    }

    fn write(&self, body: &mut Body) {
        body.put("url", &self.url);
        body.some("search", &self.search);
        body.differs("sitemap", &self.sitemap, &SitemapMode::Include);
        body.differs("includeSubdomains", &self.include_subdomains, &true);
        body.differs("ignoreQueryParameters", &self.ignore_query_parameters, &true);
        body.differs("ignoreCache", &self.ignore_cache, &false);
        body.differs("limit", &self.limit, &DEFAULT_MAP_LIMIT);
        body.some("timeout", &self.timeout);
        body.differs("location", &self.location, &Location::default());
        body.filled("includePaths", &self.include_paths);
        body.filled("excludePaths", &self.exclude_paths);
        body.differs("regexOnFullURL", &self.regex_on_full_url, &false);
        body.filled("headers", &self.headers);
        self.caller.write(body);
    }
}

wire!(MapRequest);

/// Answer of `POST /v2/map`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MapAnswer {
    /// Always true.
    pub success: bool,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<JobId>,
    /// What was found, best first.
    pub links: Vec<MapLink>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// One found address.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MapLink {
    /// Absolute, without fragment.
    pub url: String,
    /// Title, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
