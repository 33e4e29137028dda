//! Request of `POST /v2/search` (docs/API.md section 9). The response is in [`crate::api::search_answer`].

use std::ops::RangeInclusive;

use harvestman_derive::Request;
use serde_json::Value;

use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Field, FieldType, Fields, Schema, Slot, wire};
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Kind of the source.
    pub kind: SourceKind,
    /// Time filter for this source only.
    pub tbs: Option<String>,
    /// Place for this source only.
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
        unit = "results",
        example = "10"
    )]
    pub limit: u64,
    /// Sources to search, each once: names or objects with `type`.
    #[field(
        default = default_sources(),
        bounds = (0..=MAX_LIST_ITEMS, ()),
        read = read_sources,
        label = "Sources",
        example = r#"["web","news"]"#
    )]
    pub sources: Vec<Source>,
    /// Return only results of these categories: names or objects with `type`. Empty: all.
    #[field(
        bounds = (0..=MAX_LIST_ITEMS, ()),
        read = read_categories,
        label = "Categories",
        example = r#"["github"]"#
    )]
    pub categories: Vec<Category>,
    /// Return only results of these hosts. Empty: all.
    #[field(
        bounds = HOSTS,
        read = read_include_domains,
        label = "Include domains",
        example = r#"["example.com"]"#
    )]
    pub include_domains: Vec<String>,
    /// Leave out results of these hosts.
    #[field(
        bounds = HOSTS,
        read = read_exclude_domains,
        label = "Exclude domains",
        example = r#"["example.com"]"#
    )]
    pub exclude_domains: Vec<String>,
    /// Time filter: `qdr:d` (last day), `qdr:w`, `qdr:m`, `qdr:y`, or a range with `cdr:1`.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, read = read_tbs, label = "Time filter", example = r#""qdr:w""#)]
    pub tbs: Option<String>,
    /// Place of the search, in words.
    #[field(
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        empty_is_absent,
        label = "Location",
        example = r#""Berlin, Germany""#
    )]
    pub location: Option<String>,
    /// Country of the search, ISO 3166-1 alpha-2.
    #[field(
        default = DEFAULT_COUNTRY.to_owned(),
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        read = read_country,
        label = "Country",
        example = r#""DE""#
    )]
    pub country: String,
    /// Leave out adult content. Default: the provider's.
    #[field(label = "Safe search")]
    pub safe: Option<bool>,
    /// Time limit of the whole request.
    #[field(
        bounds = 1..=MAX_SCRAPE_TIMEOUT_MS,
        default = DEFAULT_SEARCH_TIMEOUT_MS,
        label = "Timeout",
        unit = "ms",
        example = "60000"
    )]
    pub timeout: u64,
    /// Leave out results that are no URLs.
    #[field(name = "ignoreInvalidURLs", label = "Skip invalid URLs")]
    pub ignore_invalid_urls: bool,
    /// Describe each result by the passage that fits the query best.
    #[field(default = true, label = "Highlights")]
    pub highlights: bool,
    /// Scrape each web and news result with these options.
    #[field(read = ScrapeOptions::read_inner, example = r#"{"formats":["markdown"]}"#)]
    pub scrape_options: Option<ScrapeOptions>,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

/// Bounds of a list of host names.
const HOSTS: (RangeInclusive<usize>, RangeInclusive<usize>) = (0..=MAX_LIST_ITEMS, 1..=MAX_SHORT_TEXT_CHARS);

impl SearchRequest {
    fn check(&mut self, f: &mut Fields) {
        f.value::<Vec<Value>>("enterprise", (0..=MAX_LIST_ITEMS, ()));
        if !self.include_domains.is_empty() && !self.exclude_domains.is_empty() {
            f.fail(
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
            .find(|category| matches!(category, Category::Developer | Category::Gov))
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

fn default_sources() -> Vec<Source> {
    vec![Source::placeholder()]
}

/// Reads `sources`. Duplicates of a kind collapse into the first. Returns `None`, which means the default, if
/// no source is left.
fn read_sources(f: &mut Fields) -> Option<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::new();
    for source in f.value::<Vec<Source>>("sources", (0..=MAX_LIST_ITEMS, ()))? {
        if sources.iter().all(|known| known.kind != source.kind) {
            sources.push(source);
        }
    }
    (!sources.is_empty()).then_some(sources)
}

fn read_source(f: &mut Fields) -> Option<Source> {
    let Some(slot) = f.slot("type") else {
        f.fail("type", "is required: give `web`, `news` or `images`");
        return None;
    };
    if slot.json() == IGNORED_SOURCE {
        f.ignore_rest();
        return None;
    }
    let kind = slot.word();
    let tbs = read_tbs(f);
    let location = f
        .opt_string("location", 0..=MAX_SHORT_TEXT_CHARS)
        .filter(|text| !text.is_empty());
    Some(Source {
        kind: kind?,
        tbs,
        location,
    })
}

fn read_categories(f: &mut Fields) -> Option<Vec<Category>> {
    let mut categories: Vec<Category> = Vec::new();
    let read = f.opt_array("categories", 0..=MAX_LIST_ITEMS, |slot| {
        slot.object_or("type", |f| {
            let category = f.slot("type").map(Slot::word);
            if category.is_none() {
                f.fail("type", "is required: give `github`, `research` or `pdf`");
            }
            category.flatten()
        })
        .flatten()
    })?;
    for category in read {
        if !categories.contains(&category) {
            categories.push(category);
        }
    }
    Some(categories)
}

fn read_include_domains(f: &mut Fields) -> Option<Vec<String>> {
    f.opt_array("includeDomains", 0..=MAX_LIST_ITEMS, read_host)
}

fn read_exclude_domains(f: &mut Fields) -> Option<Vec<String>> {
    f.opt_array("excludeDomains", 0..=MAX_LIST_ITEMS, read_host)
}

/// Reads a host name without scheme, port or path, and converts it to lower case.
pub(crate) fn read_host(slot: Slot<'_>) -> Option<String> {
    let is_host = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '*'))
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
fn read_tbs(f: &mut Fields) -> Option<String> {
    let tbs = f
        .opt_string("tbs", 0..=MAX_SHORT_TEXT_CHARS)
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
        f.fail(
            "tbs",
            "must be a time filter such as qdr:d, or cdr:1,cd_min:1/31/2026,cd_max:2/28/2026",
        );
        return None;
    }
    Some(tbs)
}

impl ToNode for Source {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        body.put("type", &self.kind);
        body.some("tbs", &self.tbs);
        body.some("location", &self.location);
        match body.fields().len() {
            1 => self.kind.to_node(),
            _ => Node::Object(body),
        }
    }
}

/// A name, or an object with `type`.
impl FieldType for Source {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let text = |name, help| Field::new(name, help, String::schema(0..=MAX_SHORT_TEXT_CHARS));
        let fields = vec![
            Field {
                required: true,
                ..Field::new("type", "Name of the source.", SourceKind::schema(()))
            },
            text("tbs", "Time filter of this source."),
            text("location", "Place of the search in this source, in words."),
        ];
        Schema::OneOf(vec![
            SourceKind::schema(()),
            Schema::Object("SearchSource", fields),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.object_or("type", read_source).flatten()
    }

    fn placeholder() -> Self {
        Self {
            kind: SourceKind::Web,
            tbs: None,
            location: None,
        }
    }
}
