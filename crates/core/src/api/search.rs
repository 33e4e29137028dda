//! `POST /v2/search` (contract section 9). The answer is in [`crate::api::search_answer`].

use serde_json::{Map, Value};

use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::location::read_country;
use crate::api::options::ScrapeOptions;
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_SEARCH_LIMIT, DEFAULT_SEARCH_TIMEOUT_MS, MAX_LIST_ITEMS, MAX_SCRAPE_TIMEOUT_MS, MAX_SEARCH_LIMIT,
    MAX_SEARCH_QUERY_CHARS, MAX_SHORT_TEXT_CHARS,
};

wire_enum! {
    /// Where results come from.
    SourceKind {
        /// Pages.
        Web = "web",
        /// News.
        News = "news",
        /// Pictures.
        Images = "images",
    }
}

/// `alexandria` is sent by a client by itself: accepted and ignored.
const IGNORED_SOURCE: &str = "alexandria";

/// One source of results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Which.
    pub kind: SourceKind,
    /// Time filter of this source alone.
    pub tbs: Option<String>,
    /// Place of this source alone.
    pub location: Option<String>,
}

wire_enum! {
    /// Narrower kinds of results.
    Category {
        /// Code hosting.
        Github = "github",
        /// Papers.
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
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRequest {
    /// 1 to 500 characters.
    pub query: String,
    /// Results per source.
    pub limit: u64,
    /// Wanted sources, each kind once.
    pub sources: Vec<Source>,
    /// Narrower kinds; empty: all.
    pub categories: Vec<Category>,
    /// Only these hosts.
    pub include_domains: Vec<String>,
    /// Not these hosts.
    pub exclude_domains: Vec<String>,
    /// Time filter.
    pub tbs: Option<String>,
    /// Place.
    pub location: Option<String>,
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
    /// Leave out adult content.
    pub safe: Option<bool>,
    /// Whole call, ms.
    pub timeout: u64,
    /// Leave out results whose address is none.
    pub ignore_invalid_urls: bool,
    /// Describe results by the passage most relevant to the query.
    pub highlights: bool,
    /// Scrape every web and news result.
    pub scrape_options: Option<ScrapeOptions>,
    /// Who sent it.
    pub caller: Caller,
}

impl SearchRequest {
    /// A request with every option at its default.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: DEFAULT_SEARCH_LIMIT,
            sources: default_sources(),
            categories: Vec::new(),
            include_domains: Vec::new(),
            exclude_domains: Vec::new(),
            tbs: None,
            location: None,
            country: "US".to_owned(),
            safe: None,
            timeout: DEFAULT_SEARCH_TIMEOUT_MS,
            ignore_invalid_urls: false,
            highlights: true,
            scrape_options: None,
            caller: Caller::default(),
        }
    }

    /// Every option with its value, defaults filled in.
    pub fn filled_options(&self) -> Map<String, Value> {
        let mut body = Body::default();
        body.put("limit", &self.limit);
        body.put("sources", &self.sources);
        body.put("categories", &self.categories);
        body.put("includeDomains", &self.include_domains);
        body.put("excludeDomains", &self.exclude_domains);
        body.some("tbs", &self.tbs);
        body.some("location", &self.location);
        body.put("country", &self.country);
        body.some("safe", &self.safe);
        body.put("timeout", &self.timeout);
        body.put("ignoreInvalidURLs", &self.ignore_invalid_urls);
        body.put("highlights", &self.highlights);
        if let Some(options) = &self.scrape_options {
            body.put("scrapeOptions", &options.filled());
        }
        body.into_map()
    }

    /// Whether a kind of result is asked for.
    pub fn wants(&self, kind: SourceKind) -> bool {
        self.sources.iter().any(|source| source.kind == kind)
    }

    /// How results are scraped, if they are.
    pub fn scrapes(&self) -> Option<&ScrapeOptions> {
        self.scrape_options
            .as_ref()
            .filter(|options| !options.formats.is_empty())
    }

    /// Refuses categories that are not offered. Errors: 501 naming the category.
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

impl Wire for SearchRequest {
    fn read(f: &mut Fields) -> Self {
        f.slot("enterprise")
            .and_then(|slot| slot.array(0..=MAX_LIST_ITEMS, |item| Some(item.any())));
        let scrape_options = f.opt_object("scrapeOptions", |f| {
            (ScrapeOptions::read(f), Caller::read_with_extras(f))
        });
        let (scrape_options, inner) = scrape_options.unzip();
        let request = Self {
            query: f.string("query", 1..=MAX_SEARCH_QUERY_CHARS),
            limit: f.integer("limit", 1..=MAX_SEARCH_LIMIT, DEFAULT_SEARCH_LIMIT),
            sources: read_sources(f),
            categories: read_categories(f),
            include_domains: f.array("includeDomains", 0..=MAX_LIST_ITEMS, read_host),
            exclude_domains: f.array("excludeDomains", 0..=MAX_LIST_ITEMS, read_host),
            tbs: read_tbs(f),
            location: f
                .opt_string("location", 0..=MAX_SHORT_TEXT_CHARS)
                .filter(|text| !text.is_empty()),
            country: read_country(f, "country").unwrap_or_else(|| "US".to_owned()),
            safe: f.opt_bool("safe"),
            timeout: f.integer("timeout", 1..=MAX_SCRAPE_TIMEOUT_MS, DEFAULT_SEARCH_TIMEOUT_MS),
            ignore_invalid_urls: f.bool("ignoreInvalidURLs", false),
            highlights: f.bool("highlights", true),
            scrape_options,
            caller: Caller::read_with_extras(f).or(inner.unwrap_or_default()),
        };
        if !request.include_domains.is_empty() && !request.exclude_domains.is_empty() {
            f.fail(
                "excludeDomains",
                "must not be given together with `includeDomains`; send one of the two",
            );
        }
        request
    }

    fn write(&self, body: &mut Body) {
        body.put("query", &self.query);
        body.differs("limit", &self.limit, &DEFAULT_SEARCH_LIMIT);
        body.differs("sources", &self.sources, &default_sources());
        body.filled("categories", &self.categories);
        body.filled("includeDomains", &self.include_domains);
        body.filled("excludeDomains", &self.exclude_domains);
        body.some("tbs", &self.tbs);
        body.some("location", &self.location);
        body.differs("country", &self.country, &"US".to_owned());
        body.some("safe", &self.safe);
        body.differs("timeout", &self.timeout, &DEFAULT_SEARCH_TIMEOUT_MS);
        body.differs("ignoreInvalidURLs", &self.ignore_invalid_urls, &false);
        body.differs("highlights", &self.highlights, &true);
        body.some("scrapeOptions", &self.scrape_options);
        self.caller.write(body);
    }
}

wire!(SearchRequest);

fn default_sources() -> Vec<Source> {
    vec![Source {
        kind: SourceKind::Web,
        tbs: None,
        location: None,
    }]
}

/// Kinds collapse; with nothing left, the default is meant.
fn read_sources(f: &mut Fields) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for source in f.array("sources", 0..=MAX_LIST_ITEMS, |slot| {
        slot.object_or("type", read_source).flatten()
    }) {
        if sources.iter().all(|known| known.kind != source.kind) {
            sources.push(source);
        }
    }
    match sources.is_empty() {
        true => default_sources(),
        false => sources,
    }
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

fn read_categories(f: &mut Fields) -> Vec<Category> {
    let mut categories: Vec<Category> = Vec::new();
    let read = f.array("categories", 0..=MAX_LIST_ITEMS, |slot| {
        slot.object_or("type", |f| {
            let category = f.slot("type").map(Slot::word);
            if category.is_none() {
                f.fail("type", "is required: give `github`, `research` or `pdf`");
            }
            category.flatten()
        })
        .flatten()
    });
    for category in read {
        if !categories.contains(&category) {
            categories.push(category);
        }
    }
    categories
}

/// A host name without scheme, port or path; written in lower case.
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

/// `qdr:d`, `cdr:1,cd_min:1/31/2026,cd_max:2/28/2026`, `sbd:1`, joined by commas.
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
