//! `scrapeOptions` (docs/API.md section 4.1): how a page is fetched, and which parts of it are returned. Used
//! by scrape, crawl, batch scrape, search, extract and monitors; parse accepts a subset.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use harvestman_derive::Request;

use crate::api::action::Action;
use crate::api::body::{Node, ToNode};
use crate::api::caller::Caller;
use crate::api::fields::{FieldType, Fields, Schema, Slot, Wire, wire};
use crate::api::format::{ChangeTracking, Format, FormatKind, read_formats};
use crate::api::location::{Location, Profile};
use crate::api::parser::{Parser, PdfParser};
use crate::api::wire_enum::{WireEnum, wire_enum};
use crate::limits::{
    DEFAULT_MAX_AGE_MS, DEFAULT_SCRAPE_TIMEOUT_MS, LOCKDOWN_MAX_AGE_MS, MAX_ACTIONS, MAX_LIST_ITEMS,
    MAX_SCRAPE_TIMEOUT_MS, MAX_SELECTOR_CHARS, MAX_WAIT_MS, MIN_SCRAPE_TIMEOUT_MS,
};

wire_enum! {
    /// Class of proxy pools of the operator.
    Proxy {
        /// Low-cost proxies.
        Basic = "basic",
        /// High-quality proxies.
        Enhanced = "enhanced",
        /// Older name of `enhanced`.
        Stealth = "stealth",
        /// `basic` first, then `enhanced`.
        Auto = "auto",
    }
}

wire_enum! {
    /// Strictness of the search for personal data.
    RedactMode {
        /// Rules, and the language model for names if one is configured.
        Accurate = "accurate",
        /// Like `accurate`, and in doubt text is replaced.
        Aggressive = "aggressive",
        /// Rules only, which find no names.
        Fast = "fast",
    }
}

wire_enum! {
    /// Kind of personal data.
    PiiEntity {
        /// Names of people.
        Person = "PERSON",
        /// E-mail addresses.
        Email = "EMAIL",
        /// Telephone numbers.
        Phone = "PHONE",
        /// Places.
        Location = "LOCATION",
        /// Card and account numbers.
        Financial = "FINANCIAL",
        /// Keys and passwords.
        Secret = "SECRET",
    }
}

wire_enum! {
    /// Replacement of personal data.
    ReplaceStyle {
        /// The kind of data, for example `<EMAIL>`.
        Tag = "tag",
        /// As many asterisks as characters.
        Mask = "mask",
        /// Nothing: the data is removed.
        Remove = "remove",
    }
}

/// What `redactPII` removes.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct RedactPii {
    /// How carefully personal data is searched for.
    #[field(default = RedactMode::Accurate)]
    pub mode: RedactMode,
    /// Kinds of personal data to remove.
    #[field(default = PiiEntity::ALL.to_vec(), bounds = (0..=MAX_LIST_ITEMS, ()))]
    pub entities: Vec<PiiEntity>,
    /// What replaces the personal data.
    #[field(default = ReplaceStyle::Tag)]
    pub replace_style: ReplaceStyle,
}

/// How a page is fetched, and which parts of it are returned.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(check = Self::check)]
pub struct ScrapeOptions {
    /// Parts of the page to return, each type once: names or objects with `type`. Empty: metadata only.
    #[field(
        default = vec![Format::Markdown],
        bounds = (0..=MAX_LIST_ITEMS, ()),
        read = read_formats,
        distinct = Format::kind,
        example = r#"["markdown","links"]"#
    )]
    pub formats: Vec<Format>,
    /// Return only the main content, without navigation, headers and footers.
    #[field(default = true, label = "Main content only", group = "Page")]
    pub only_main_content: bool,
    /// Remove leftovers such as share bars from the Markdown in a second pass.
    #[field(label = "Clean content", group = "Page")]
    pub only_clean_content: bool,
    /// CSS selectors; only matching elements are kept.
    #[field(bounds = SELECTORS, label = "Include tags", group = "Page", example = r#"["article"]"#)]
    pub include_tags: Vec<String>,
    /// CSS selectors; matching elements are removed.
    #[field(bounds = SELECTORS, label = "Exclude tags", group = "Page", example = r#"[".advertisement"]"#)]
    pub exclude_tags: Vec<String>,
    /// Accept a cached copy up to this age; 0 always fetches. Default: 2 days. Ignored with `changeTracking`.
    ///
    /// See [`ScrapeOptions::max_age_ms`] for the value that applies.
    #[field(
        bounds = 0..=Slot::UNBOUNDED,
        effective = Self::max_age_ms,
        label = "Maximum cache age",
        group = "Network",
        unit = "ms",
        example = "0"
    )]
    pub max_age: Option<u64>,
    /// Use only the cache, with a copy of at least this age.
    #[field(
        bounds = 0..=Slot::UNBOUNDED,
        label = "Minimum cache age",
        group = "Network",
        unit = "ms",
        example = "0"
    )]
    pub min_age: Option<u64>,
    /// Request headers for the site.
    #[field(label = "Headers", group = "Network", example = r#"{"Cookie":"name=value"}"#)]
    pub headers: BTreeMap<String, String>,
    /// Extra wait after the page has loaded, in the browser; at most half of `timeout`.
    #[field(
        bounds = 0..=MAX_WAIT_MS,
        label = "Wait after load",
        group = "Browser",
        unit = "ms",
        example = "1000"
    )]
    pub wait_for: u64,
    /// Use the viewport and user agent of a phone.
    #[field(label = "Mobile", group = "Browser")]
    pub mobile: bool,
    /// Accept invalid TLS certificates. Default: true, or false when headers or actions are sent.
    ///
    /// See [`ScrapeOptions::verify_tls`] for the value that applies.
    #[field(effective = Self::skips_tls_verification, label = "Skip TLS verification", group = "Network")]
    pub skip_tls_verification: Option<bool>,
    /// Time limit of the whole scrape, queueing included.
    #[field(
        bounds = MIN_SCRAPE_TIMEOUT_MS..=MAX_SCRAPE_TIMEOUT_MS,
        default = DEFAULT_SCRAPE_TIMEOUT_MS,
        label = "Timeout",
        group = "Network",
        unit = "ms",
        example = "60000"
    )]
    pub timeout: u64,
    /// Parsers of documents: names or objects with `type`. Empty: documents are returned as base64.
    #[field(
        default = Parser::defaults(),
        bounds = (0..=MAX_LIST_ITEMS, ()),
        distinct = Parser::kind,
        label = "Parsers",
        group = "Page",
        example = r#"["pdf"]"#
    )]
    pub parsers: Vec<Parser>,
    /// Browser actions between loading the page and reading it.
    #[field(
        bounds = (0..=MAX_ACTIONS, ()),
        label = "Actions",
        group = "Browser",
        example = r##"[{"type":"click","selector":"#more"}]"##
    )]
    pub actions: Vec<Action>,
    /// Country and languages of the visitor.
    #[field(
        label = "Location",
        group = "Network",
        example = r#"{"country":"DE","languages":["de"]}"#
    )]
    pub location: Location,
    /// Replace `data:` images in Markdown with a placeholder.
    #[field(default = true, label = "Remove inline images", group = "Page")]
    pub remove_base64_images: bool,
    /// Block advertisements, trackers and consent banners.
    #[field(default = true, label = "Block ads", group = "Page")]
    pub block_ads: bool,
    /// Fetch the page over HTTP only, even if its content seems to need a browser.
    ///
    /// Options that require the browser still use it.
    #[field(label = "Fast mode", group = "Browser")]
    pub fast_mode: bool,
    /// Class of the operator's proxies; `auto` changes to `enhanced` if the site blocks `basic`.
    #[field(default = Proxy::Auto, label = "Proxy", group = "Network")]
    pub proxy: Proxy,
    /// Store the page in the cache.
    ///
    /// See [`ScrapeOptions::stores_in_cache`] for the value that applies.
    #[field(default = true, effective = Self::stores_in_cache, label = "Store in cache", group = "Network")]
    pub store_in_cache: bool,
    /// Never contact the site; use only the cache.
    #[field(label = "Lockdown", group = "Network")]
    pub lockdown: bool,
    /// Browser profile whose cookies and storage are used.
    #[field(
        label = "Profile",
        group = "Browser",
        example = r#"{"name":"shop","saveChanges":false}"#
    )]
    pub profile: Option<Profile>,
    /// Replace personal data in every text: true, or an object with `mode`, `entities` and `replaceStyle`.
    #[field(
        name = "redactPII",
        label = "Redact personal data",
        group = "Page",
        example = "true"
    )]
    pub redact_pii: Option<RedactPii>,
}

/// Headers that may hold secrets, in lower case.
pub const PRIVATE_HEADERS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// Bounds of a list of CSS selectors.
const SELECTORS: (RangeInclusive<usize>, RangeInclusive<usize>) =
    (0..=MAX_LIST_ITEMS, 1..=MAX_SELECTOR_CHARS);

impl ScrapeOptions {
    /// Returns whether the request has a format of this kind.
    pub fn wants(&self, kind: FormatKind) -> bool {
        self.formats.iter().any(|format| format.kind() == kind)
    }

    /// Returns whether TLS certificates are verified. Unless the request decides, they are verified only if
    /// it has headers or actions, which may carry secrets.
    pub fn verify_tls(&self) -> bool {
        match self.skip_tls_verification {
            Some(skip) => !skip,
            None => !self.headers.is_empty() || !self.actions.is_empty(),
        }
    }

    /// Returns the options for a page whose origin the caller did not name: without the headers that may hold secrets.
    /// Returns `None` if there are no such headers. Like any page requested with headers, it does not use the cache.
    pub fn without_private_headers(&self) -> Option<Self> {
        let mut headers = self.headers.clone();
        headers.retain(|name, _| !is_private_header(name));
        (headers.len() < self.headers.len()).then(|| Self {
            headers,
            skip_tls_verification: Some(self.skips_tls_verification()),
            max_age: Some(0),
            store_in_cache: false,
            ..self.clone()
        })
    }

    /// Returns whether the result may be stored in the cache. Results with `redactPII` are not stored, because the
    /// cache holds pages as received. A result with zero data retention must never be stored; the caller checks that.
    pub fn stores_in_cache(&self) -> bool {
        self.store_in_cache
            && self.headers.is_empty()
            && self.actions.is_empty()
            && self.profile.is_none()
            && self.redact_pii.is_none()
    }

    /// Returns the maximum age of a cached copy, ms; 0 means always fetch.
    ///
    /// Requests with `changeTracking` always fetch, so that the current page is compared: clients send a
    /// `maxAge` that their user did not choose. Of the other requests, those that set no `maxAge` and only read
    /// the cache accept every retained copy.
    pub fn max_age_ms(&self) -> u64 {
        match self.max_age {
            _ if self.wants(FormatKind::ChangeTracking) => 0,
            Some(max_age) => max_age,
            None if self.cache_only() => LOCKDOWN_MAX_AGE_MS,
            None => DEFAULT_MAX_AGE_MS,
        }
    }

    /// Returns the options of `changeTracking`, if the request has that format.
    pub fn change_tracking(&self) -> Option<&ChangeTracking> {
        self.formats.iter().find_map(|format| match format {
            Format::ChangeTracking(tracking) => Some(tracking),
            _ => None,
        })
    }

    /// Returns the options of the PDF parser; `None` if a PDF is not parsed at all.
    pub fn pdf_parser(&self) -> Option<&PdfParser> {
        self.parsers.iter().find_map(|parser| match parser {
            Parser::Pdf(pdf) => Some(pdf),
            Parser::Image => None,
        })
    }

    /// Returns whether the result may only come from the cache.
    pub fn cache_only(&self) -> bool {
        self.lockdown || self.min_age.is_some()
    }

    /// Reads `scrapeOptions` as part of another request. Caller fields in it apply where the request itself has
    /// none. `zeroDataRetention` is an option of whole requests, so it may only be false.
    pub(crate) fn read_inner<T: From<Self>>(fields: &mut Fields) -> Option<T> {
        let (options, caller) = fields.slot("scrapeOptions")?.object(|options| {
            let read = (Self::read(options), Caller::read(options));
            if options.value::<bool>("zeroDataRetention", ()) == Some(true) {
                options.fail(
                    "zeroDataRetention",
                    "must be false or left out; endpoints that support it take it at the top level of the request",
                );
            }
            read
        })?;
        fields.inherit(caller.to_body().into_map());
        Some(options.into())
    }

    fn skips_tls_verification(&self) -> bool {
        !self.verify_tls()
    }

    fn check(&mut self, fields: &mut Fields) {
        if !fields.is_clean() {
            return;
        }
        if self.wants(FormatKind::ChangeTracking) && !self.wants(FormatKind::Markdown) {
            fields.fail(
                "formats",
                "must also contain `markdown` when they contain `changeTracking`",
            );
        }
        if self.wants(FormatKind::ChangeTracking) && self.cache_only() {
            fields.fail(
                "formats",
                "cannot contain `changeTracking`, which fetches the page, together with `lockdown` or `minAge`",
            );
        }
        if self.wait_for > self.timeout / 2 {
            let most = self.timeout / 2;
            fields.fail(
                "waitFor",
                format!("must be at most half of `timeout`, here {most} ms; raise `timeout`"),
            );
        }
        let waits: u64 = self.actions.iter().map(Action::wait_ms).sum();
        if !self.actions.is_empty() && waits + self.wait_for > MAX_WAIT_MS {
            let sum = waits + self.wait_for;
            fields.fail(
                "actions",
                format!("must wait at most {MAX_WAIT_MS} ms in total, `waitFor` included, not {sum}"),
            );
        }
    }
}

wire!(ScrapeOptions);

/// Returns whether a header may hold secrets, so that only origins that the caller named get it.
pub fn is_private_header(name: &str) -> bool {
    PRIVATE_HEADERS
        .iter()
        .any(|private| name.eq_ignore_ascii_case(private))
}

impl ToNode for RedactPii {
    fn to_node(&self) -> Node {
        let body = self.to_body();
        match body.is_empty() {
            true => true.to_node(),
            false => Node::Object(body),
        }
    }
}

/// `true` stands for all defaults, `false` for absence.
impl FieldType for RedactPii {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        let object = Schema::Object(Self::NAME, Self::fields());
        Schema::OneOf(vec![Schema::Boolean, object])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        if slot.json().is_boolean() {
            return slot.bool()?.then(Self::default);
        }
        if !slot.json().is_object() {
            return slot.fail("must be true, false or an object");
        }
        slot.object(Wire::read)
    }

    fn placeholder() -> Self {
        Self::default()
    }
}
