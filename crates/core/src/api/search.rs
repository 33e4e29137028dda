//! Request of `POST /v2/search` (docs/API.md section 9). The response is in [`crate::api::search_response`].

use std::ops::RangeInclusive;

use harvestman_derive::Request;
use serde_json::Value;

use crate::api::body::{Node, ToNode};
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{FieldType, Fields, Schema, Slot, Wire, wire};
use crate::api::location::{DEFAULT_COUNTRY, read_country};
use crate::api::options::ScrapeOptions;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_SEARCH_LIMIT, DEFAULT_SEARCH_TIMEOUT_MS, MAX_LIST_ITEMS, MAX_SCRAPE_TIMEOUT_MS, MAX_SEARCH_LIMIT,
    MAX_SEARCH_QUERY_CHARS, MAX_SHORT_TEXT_CHARS,
};

wire_enum! {
    /// Source of search results.
    SourceKind {
        /// Web pages.
        Web = "web",
        /// News articles.
        News = "news",
        /// Images.
        Images = "images",
    }
}

/// Source that a client sends on its own; it is accepted and ignored.
const IGNORED_SOURCE: &str = "alexandria";

/// Source of search results with its own filters.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct SearchSource {
    /// Name of the source.
    #[field(name = "type", required = "`web`, `news` or `images`")]
    pub kind: SourceKind,
    /// Time filter of this source.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, read = read_tbs)]
    pub tbs: Option<String>,
    /// Place of the search in this source, in words.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, empty_is_absent)]
    pub location: Option<String>,
}

wire_enum! {
    /// Category of results.
    Category {
        /// Code hosting sites.
        Github = "github",
        /// Research papers.
        Research = "research",
        /// PDF files.
        Pdf = "pdf",
        /// Not offered here.
        Developer = "developer",
        /// Not offered here.
        Gov = "gov",
    }
}

impl Category {
    /// Words of the categories that this server offers.
    pub const OFFERED: &'static [&'static str] = &["github", "research", "pdf"];
}

/// Body of `POST /v2/search`.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check)]
pub struct SearchRequest {
    /// What to search for.
    #[field(
        required,
        bounds = 1..=MAX_SEARCH_QUERY_CHARS,
        label = "Query",
        example = r#""rust async runtime""#
    )]
    pub query: String,
    /// Maximum number of results per source.
    #[field(
        bounds = 1..=MAX_SEARCH_LIMIT,
        default = DEFAULT_SEARCH_LIMIT,
        label = "Result limit",
        group = "Main",
        unit = "results",
        example = "10"
    )]
    pub limit: u64,
    /// Sources to search, each once: names or objects with `type`.
    #[field(
        default = vec![SearchSource::new(SourceKind::Web)],
        bounds = (0..=MAX_LIST_ITEMS, ()),
        distinct = |source| source.kind,
        empty_is_absent,
        label = "Sources",
        group = "Main",
        example = r#"["web","news"]"#
    )]
    pub sources: Vec<SearchSource>,
    /// Return only results of these categories: names or objects with `type`. Empty: all.
    #[field(
        bounds = (0..=MAX_LIST_ITEMS, ()),
        read = read_categories,
        distinct = |category| *category,
        label = "Categories",
        group = "Filter",
        example = r#"["github"]"#
    )]
    pub categories: Vec<Category>,
    /// Return only results from these hosts. Empty: all.
    #[field(
        bounds = HOSTS,
        read = read_include_domains,
        label = "Include domains",
        group = "Filter",
        example = r#"["example.com"]"#
    )]
    pub include_domains: Vec<String>,
    /// Leave out results from these hosts.
    #[field(
        bounds = HOSTS,
        read = read_exclude_domains,
        label = "Exclude domains",
        group = "Filter",
        example = r#"["example.com"]"#
    )]
    pub exclude_domains: Vec<String>,
    /// Time filter: `qdr:d` (last day), `qdr:w`, `qdr:m`, `qdr:y`, or a range with `cdr:1`.
    #[field(
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        read = read_tbs,
        label = "Time filter",
        group = "Main",
        example = r#""qdr:w""#
    )]
    pub tbs: Option<String>,
    /// Place of the search, in words.
    #[field(
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        empty_is_absent,
        label = "Location",
        group = "Filter",
        example = r#""Berlin, Germany""#
    )]
    pub location: Option<String>,
    /// Country of the search, ISO 3166-1 alpha-2.
    #[field(
        default = DEFAULT_COUNTRY.to_owned(),
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        read = read_country,
        label = "Country",
        group = "Filter",
        example = r#""DE""#
    )]
    pub country: String,
    /// Leave out adult content. Default: the provider's.
    #[field(label = "Safe search", group = "Filter")]
    pub safe: Option<bool>,
    /// Time limit of the whole request.
    #[field(
        bounds = 1..=MAX_SCRAPE_TIMEOUT_MS,
        default = DEFAULT_SEARCH_TIMEOUT_MS,
        label = "Timeout",
        group = "Results",
        unit = "ms",
        example = "60000"
    )]
    pub timeout: u64,
    /// Leave out results with invalid URLs.
    #[field(name = "ignoreInvalidURLs", label = "Skip invalid URLs", group = "Results")]
    pub ignore_invalid_urls: bool,
    /// Describe each result by the passage that fits the query best.
    #[field(default = true, label = "Highlights", group = "Results")]
    pub highlights: bool,
    /// Scrape each web and news result with these options.
    #[field(read = ScrapeOptions::read_inner, example = r#"{"formats":["markdown"]}"#)]
    pub scrape_options: Option<ScrapeOptions>,
    /// Search modes of the hosted product. Values other than `default` get a warning.
    #[field(bounds = (0..=MAX_LIST_ITEMS, ()), hidden)]
    pub enterprise: Vec<Value>,
    /// Filter of the hosted product. A value gets a warning.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, empty_is_absent, hidden)]
    pub filter: Option<String>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of a list of host names.
pub(crate) const HOSTS: (RangeInclusive<usize>, RangeInclusive<usize>) =
    (0..=MAX_LIST_ITEMS, 1..=MAX_SHORT_TEXT_CHARS);

impl SearchRequest {
    fn check(&mut self, fields: &mut Fields) {
        if !self.include_domains.is_empty() && !self.exclude_domains.is_empty() {
            fields.fail(
                "excludeDomains",
                "must not be given together with `includeDomains`; send one of the two",
            );
        }
    }

    /// Returns whether the request has a source of this kind.
    pub fn wants(&self, kind: SourceKind) -> bool {
        self.sources.iter().any(|source| source.kind == kind)
    }

    /// Returns the options for scraping the results, or `None` if they are not scraped.
    pub fn scrapes(&self) -> Option<&ScrapeOptions> {
        self.scrape_options
            .as_ref()
            .filter(|options| !options.formats.is_empty())
    }

    /// Checks that the requested categories are offered.
    ///
    /// # Errors
    /// 501 with the name of a category that is not offered.
    pub fn check_offered(&self) -> Result<(), ApiError> {
        match self
            .categories
            .iter()
            .find(|category| !Category::OFFERED.contains(&category.as_str()))
        {
            None => Ok(()),
            Some(category) => Err(ApiError::new(
                ErrorCode::NotSupported,
                format!("The search category `{category}` is not offered by this server; leave it out."),
            )),
        }
    }
}

wire!(SearchRequest);

fn read_categories(fields: &mut Fields) -> Option<Vec<Category>> {
    fields.slot("categories")?.array(0..=MAX_LIST_ITEMS, |slot| {
        let read = |fields: &mut Fields| fields.tag("`github`, `research` or `pdf`");
        slot.object_or("type", read).flatten()
    })
}

pub(crate) fn read_include_domains(fields: &mut Fields) -> Option<Vec<String>> {
    fields
        .slot("includeDomains")?
        .array(0..=MAX_LIST_ITEMS, read_host)
}

pub(crate) fn read_exclude_domains(fields: &mut Fields) -> Option<Vec<String>> {
    fields
        .slot("excludeDomains")?
        .array(0..=MAX_LIST_ITEMS, read_host)
}

/// Reads a host name without scheme, port or path, and converts it to lower case.
fn read_host(slot: Slot<'_>) -> Option<String> {
    let is_host = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '.' | '_' | '*'))
    };
    match slot.json().as_str() {
        Some(text) if !is_host(text) => {
            slot.fail("must be a host name such as example.com, without scheme or path")
        }
        _ => slot
            .string(1..=MAX_SHORT_TEXT_CHARS)
            .map(|host| host.to_lowercase()),
    }
}

/// Reads a time filter: `qdr:d`, `cdr:1,cd_min:1/31/2026,cd_max:2/28/2026` or `sbd:1`, joined by commas.
fn read_tbs(fields: &mut Fields) -> Option<String> {
    let tbs = fields
        .value::<String>("tbs", 0..=MAX_SHORT_TEXT_CHARS)
        .filter(|tbs| !tbs.is_empty())?;
    let is_part = |part: &str| match part.split_once(':') {
        Some(("qdr", span)) => {
            let unit = span.trim_end_matches(|c: char| c.is_ascii_digit());
            matches!(unit, "h" | "d" | "w" | "m" | "y")
        }
        Some(("cdr" | "sbd", flag)) => matches!(flag, "0" | "1"),
        Some(("cd_min" | "cd_max", date)) => {
            let numbers: Vec<&str> = date.split('/').collect();
            let is_number =
                |text: &&str| !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
            numbers.len() == 3 && numbers.iter().all(is_number)
        }
        _ => false,
    };
    if !tbs.split(',').all(|part| is_part(part.trim())) {
        fields.fail(
            "tbs",
            "must be a time filter such as qdr:d, or cdr:1,cd_min:1/31/2026,cd_max:2/28/2026",
        );
        return None;
    }
    Some(tbs)
}

impl ToNode for SearchSource {
    fn to_node(&self) -> Node {
        let body = self.to_body();
        match body.fields().len() {
            1 => self.kind.to_node(),
            _ => Node::Object(body),
        }
    }
}

/// A name, or an object with `type`.
impl FieldType for SearchSource {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        Schema::OneOf(vec![
            SourceKind::schema(()),
            Schema::Object(Self::NAME, Self::fields()),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let read = |fields: &mut Fields| match fields.text("type") {
            Some(IGNORED_SOURCE) => {
                fields.ignore_rest();
                None
            }
            _ => Some(Self::read(fields)),
        };
        slot.object_or("type", read).flatten()
    }

    fn placeholder() -> Self {
        Self::new(SourceKind::Web)
    }
}
