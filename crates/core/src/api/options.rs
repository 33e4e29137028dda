//! `scrapeOptions` (contract section 4.1): how a page is fetched and what is made of it. Used by
//! scrape, crawl, batch scrape, search, extract, monitors; parse takes a subset.

use std::collections::BTreeMap;

use crate::api::action::Action;
use crate::api::body::{Body, Node, ToNode};
use crate::api::caller::Caller;
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::format::{ChangeTracking, Format, FormatKind, read_formats};
use crate::api::header_field;
use crate::api::location::{Location, Profile};
use crate::api::parser::Parser;
use crate::api::wire_enum::{WireEnum, wire_enum};
use crate::limits::{
    DEFAULT_MAX_AGE_MS, DEFAULT_SCRAPE_TIMEOUT_MS, LOCKDOWN_MAX_AGE_MS, MAX_ACTIONS, MAX_LIST_ITEMS,
    MAX_SCRAPE_TIMEOUT_MS, MAX_SELECTOR_CHARS, MAX_WAIT_MS, MIN_SCRAPE_TIMEOUT_MS,
};

wire_enum! {
    /// Which proxy pool of the operator is used.
    Proxy {
        /// The cheap one.
        Basic = "basic",
        /// The good one.
        Enhanced = "enhanced",
        /// Older name of `enhanced`.
        Stealth = "stealth",
        /// The cheap one, then the good one.
        Auto = "auto",
    }
}

wire_enum! {
    /// How carefully personal data is looked for.
    RedactMode {
        /// With a model where there is one.
        Accurate = "accurate",
        /// Rather too much than too little.
        Aggressive = "aggressive",
        /// Rules only.
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
    /// What stands in place of personal data.
    ReplaceStyle {
        /// The kind, as in `<EMAIL>`.
        Tag = "tag",
        /// As many stars.
        Mask = "mask",
        /// Nothing.
        Remove = "remove",
    }
}

/// What `redactPII` removes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedactPii {
    /// How carefully.
    pub mode: RedactMode,
    /// Which kinds.
    pub entities: Vec<PiiEntity>,
    /// What stands in their place.
    pub replace_style: ReplaceStyle,
}

impl Default for RedactPii {
    fn default() -> Self {
        Self {
            mode: RedactMode::Accurate,
            entities: PiiEntity::ALL.to_vec(),
            replace_style: ReplaceStyle::Tag,
        }
    }
}

/// How a page is fetched and what is made of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ScrapeOptions {
    /// Parts of the page, each type once; empty: metadata only.
    pub formats: Vec<Format>,
    /// Drop navigation, header, footer and the like.
    pub only_main_content: bool,
    /// Drop leftovers in a second pass.
    pub only_clean_content: bool,
    /// CSS selectors; when given, only matches are kept.
    pub include_tags: Vec<String>,
    /// CSS selectors removed.
    pub exclude_tags: Vec<String>,
    /// Age up to which a cached copy is used, ms; see [`ScrapeOptions::max_age_ms`].
    pub max_age: Option<u64>,
    /// Cache only: age from which a cached copy is used, ms.
    pub min_age: Option<u64>,
    /// Sent to the target.
    pub headers: BTreeMap<String, String>,
    /// Extra wait after load, ms.
    pub wait_for: u64,
    /// Be a phone.
    pub mobile: bool,
    /// As sent; see [`ScrapeOptions::verify_tls`].
    pub skip_tls_verification: Option<bool>,
    /// Whole scrape including queueing, ms.
    pub timeout: u64,
    /// Document parsers; empty: documents are returned as base64.
    pub parsers: Vec<Parser>,
    /// Steps between load and the taking of content.
    pub actions: Vec<Action>,
    /// Where the visitor seems to come from.
    pub location: Location,
    /// Replace `data:` pictures in Markdown.
    pub remove_base64_images: bool,
    /// Block advertisements and cookie banners.
    pub block_ads: bool,
    /// Proxy pool.
    pub proxy: Proxy,
    /// As sent; see [`ScrapeOptions::stores_in_cache`].
    pub store_in_cache: bool,
    /// Never contact the target.
    pub lockdown: bool,
    /// Browser profile.
    pub profile: Option<Profile>,
    /// Remove personal data.
    pub redact_pii: Option<RedactPii>,
}

impl Default for ScrapeOptions {
    fn default() -> Self {
        Self {
            formats: vec![Format::Markdown],
            only_main_content: true,
            only_clean_content: false,
            include_tags: Vec::new(),
            exclude_tags: Vec::new(),
            max_age: None,
            min_age: None,
            headers: BTreeMap::new(),
            wait_for: 0,
            mobile: false,
            skip_tls_verification: None,
            timeout: DEFAULT_SCRAPE_TIMEOUT_MS,
            parsers: Parser::defaults(),
            actions: Vec::new(),
            location: Location::default(),
            remove_base64_images: true,
            block_ads: true,
            proxy: Proxy::Auto,
            store_in_cache: true,
            lockdown: false,
            profile: None,
            redact_pii: None,
        }
    }
}

impl ScrapeOptions {
    /// Whether a format is asked for.
    pub fn wants(&self, kind: FormatKind) -> bool {
        self.formats.iter().any(|format| format.kind() == kind)
    }

    /// Whether certificates are checked: when the caller says so, or sends headers or actions
    /// (which may carry secrets) without saying anything.
    pub fn verify_tls(&self) -> bool {
        match self.skip_tls_verification {
            Some(skip) => !skip,
            None => !self.headers.is_empty() || !self.actions.is_empty(),
        }
    }

    /// Whether only a browser can do this.
    pub fn forces_browser(&self) -> bool {
        self.wait_for > 0
            || self.mobile
            || !self.actions.is_empty()
            || self.profile.is_some()
            || self.wants(FormatKind::Screenshot)
            || self.wants(FormatKind::Branding)
    }

    /// Whether the result may be put into the cache. Never with zero data retention, which the
    /// caller checks.
    pub fn stores_in_cache(&self) -> bool {
        self.store_in_cache && self.headers.is_empty() && self.actions.is_empty() && self.profile.is_none()
    }

    /// Age up to which a cached copy is used, ms; 0: always fetch. Where only the cache may answer, any
    /// age that is kept unless the caller says otherwise. A comparison with the last scrape is one with the page
    /// as it is now, unless the caller says otherwise.
    pub fn max_age_ms(&self) -> u64 {
        self.max_age.unwrap_or(match self {
            _ if self.cache_only() => LOCKDOWN_MAX_AGE_MS,
            _ if self.wants(FormatKind::ChangeTracking) => 0,
            _ => DEFAULT_MAX_AGE_MS,
        })
    }

    /// The comparison that is asked for.
    pub fn change_tracking(&self) -> Option<&ChangeTracking> {
        self.formats.iter().find_map(|format| match format {
            Format::ChangeTracking(tracking) => Some(tracking),
            _ => None,
        })
    }

    /// Whether only the cache may answer.
    pub fn cache_only(&self) -> bool {
        self.lockdown || self.min_age.is_some()
    }

    /// Reads an inner `scrapeOptions`, which may say who sent it too.
    pub(crate) fn read_inner(fields: &mut Fields) -> (Self, Caller) {
        fields
            .opt_object("scrapeOptions", |f| (Self::read(f), Caller::read_with_extras(f)))
            .unwrap_or_default()
    }

    /// Writes an inner `scrapeOptions` unless everything has its default.
    pub(crate) fn write_inner(&self, body: &mut Body) {
        let options = self.to_body();
        if !options.is_empty() {
            body.put("scrapeOptions", &options);
        }
    }

    /// Every option with its value, defaults filled in.
    pub(crate) fn filled(&self) -> Body {
        let mut body = Body::default();
        body.put("formats", &self.formats);
        body.put("onlyMainContent", &self.only_main_content);
        body.put("onlyCleanContent", &self.only_clean_content);
        body.filled("includeTags", &self.include_tags);
        body.filled("excludeTags", &self.exclude_tags);
        body.put("maxAge", &self.max_age_ms());
        body.some("minAge", &self.min_age);
        body.put("headers", &self.headers);
        body.put("waitFor", &self.wait_for);
        body.put("mobile", &self.mobile);
        body.put("skipTlsVerification", &!self.verify_tls());
        body.put("timeout", &self.timeout);
        body.put("parsers", &self.parsers);
        body.filled("actions", &self.actions);
        body.put("location", &self.location.filled());
        body.put("removeBase64Images", &self.remove_base64_images);
        body.put("blockAds", &self.block_ads);
        body.put("proxy", &self.proxy);
        body.put("storeInCache", &self.stores_in_cache());
        body.put("lockdown", &self.lockdown);
        body.some("profile", &self.profile);
        body.some("redactPII", &self.redact_pii);
        body
    }

    fn check_together(&self, f: &mut Fields) {
        if self.wants(FormatKind::ChangeTracking) && !self.wants(FormatKind::Markdown) {
            f.fail(
                "formats",
                "must contain `markdown` too when `changeTracking` is asked for",
            );
        }
        if self.wait_for > self.timeout / 2 {
            let most = self.timeout / 2;
            f.fail(
                "waitFor",
                format!("must be at most half of `timeout`, here {most} ms; raise `timeout`"),
            );
        }
        let waits: u64 = self.actions.iter().map(Action::wait_ms).sum();
        if !self.actions.is_empty() && waits + self.wait_for > MAX_WAIT_MS {
            let sum = waits + self.wait_for;
            f.fail(
                "actions",
                format!("must wait at most {MAX_WAIT_MS} ms in all together with `waitFor`, not {sum}"),
            );
        }
    }
}

impl Wire for ScrapeOptions {
    fn read(f: &mut Fields) -> Self {
        let default = Self::default();
        let selectors = |f: &mut Fields, name| f.strings(name, 0..=MAX_LIST_ITEMS, 1..=MAX_SELECTOR_CHARS);
        let options = Self {
            formats: read_formats(f).unwrap_or(default.formats),
            only_main_content: f.bool("onlyMainContent", default.only_main_content),
            only_clean_content: f.bool("onlyCleanContent", default.only_clean_content),
            include_tags: selectors(f, "includeTags"),
            exclude_tags: selectors(f, "excludeTags"),
            max_age: f.opt_integer("maxAge", 0..=Slot::UNBOUNDED),
            min_age: f.opt_integer("minAge", 0..=Slot::UNBOUNDED),
            headers: header_field::read(f, "headers"),
            wait_for: f.integer("waitFor", 0..=MAX_WAIT_MS, default.wait_for),
            mobile: f.bool("mobile", default.mobile),
            skip_tls_verification: f.opt_bool("skipTlsVerification"),
            timeout: f.integer(
                "timeout",
                MIN_SCRAPE_TIMEOUT_MS..=MAX_SCRAPE_TIMEOUT_MS,
                default.timeout,
            ),
            parsers: read_parsers(f).unwrap_or(default.parsers),
            actions: f.array("actions", 0..=MAX_ACTIONS, Action::from_slot),
            location: f.opt_object("location", Location::read).unwrap_or_default(),
            remove_base64_images: f.bool("removeBase64Images", default.remove_base64_images),
            block_ads: f.bool("blockAds", default.block_ads),
            proxy: f.word("proxy", default.proxy),
            store_in_cache: f.bool("storeInCache", default.store_in_cache),
            lockdown: f.bool("lockdown", default.lockdown),
            profile: f.opt_object("profile", Profile::read),
            redact_pii: f.slot("redactPII").and_then(read_redact),
        };
        if f.is_clean() {
            options.check_together(f);
        }
        options
    }

    fn write(&self, body: &mut Body) {
        let default = Self::default();
        body.differs("formats", &self.formats, &default.formats);
        body.differs(
            "onlyMainContent",
            &self.only_main_content,
            &default.only_main_content,
        );
        body.differs(
            "onlyCleanContent",
            &self.only_clean_content,
            &default.only_clean_content,
        );
        body.filled("includeTags", &self.include_tags);
        body.filled("excludeTags", &self.exclude_tags);
        body.some("maxAge", &self.max_age);
        body.some("minAge", &self.min_age);
        body.filled("headers", &self.headers);
        body.differs("waitFor", &self.wait_for, &default.wait_for);
        body.differs("mobile", &self.mobile, &default.mobile);
        body.some("skipTlsVerification", &self.skip_tls_verification);
        body.differs("timeout", &self.timeout, &default.timeout);
        body.differs("parsers", &self.parsers, &default.parsers);
        body.filled("actions", &self.actions);
        body.differs("location", &self.location, &default.location);
        body.differs(
            "removeBase64Images",
            &self.remove_base64_images,
            &default.remove_base64_images,
        );
        body.differs("blockAds", &self.block_ads, &default.block_ads);
        body.differs("proxy", &self.proxy, &default.proxy);
        body.differs("storeInCache", &self.store_in_cache, &default.store_in_cache);
        body.differs("lockdown", &self.lockdown, &default.lockdown);
        body.some("profile", &self.profile);
        body.some("redactPII", &self.redact_pii);
    }
}

wire!(ScrapeOptions);

/// Reads `parsers`: duplicates of a type collapse into the first.
fn read_parsers(f: &mut Fields) -> Option<Vec<Parser>> {
    let mut parsers: Vec<Parser> = Vec::new();
    for parser in f.opt_array("parsers", 0..=MAX_LIST_ITEMS, Parser::from_slot)? {
        if parsers.iter().all(|known| known.kind() != parser.kind()) {
            parsers.push(parser);
        }
    }
    Some(parsers)
}

fn read_redact(slot: Slot<'_>) -> Option<RedactPii> {
    if slot.json().is_boolean() {
        return slot.bool()?.then(RedactPii::default);
    }
    if !slot.json().is_object() {
        return slot.fail("must be true, false or an object");
    }
    slot.object(|f| RedactPii {
        mode: f.word("mode", RedactMode::Accurate),
        entities: f
            .opt_array("entities", 0..=MAX_LIST_ITEMS, |slot| slot.word())
            .unwrap_or_else(|| PiiEntity::ALL.to_vec()),
        replace_style: f.word("replaceStyle", ReplaceStyle::Tag),
    })
}

impl ToNode for RedactPii {
    fn to_node(&self) -> Node {
        let default = Self::default();
        let mut body = Body::default();
        body.differs("mode", &self.mode, &default.mode);
        body.differs("entities", &self.entities, &default.entities);
        body.differs("replaceStyle", &self.replace_style, &default.replace_style);
        match body.is_empty() {
            true => true.to_node(),
            false => Node::Object(body),
        }
    }
}
