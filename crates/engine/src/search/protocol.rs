//! What the protocols of search providers have in common. A protocol builds requests and parses responses; it
//! never connects.

use harvestman_core::api::search::SourceKind;
use harvestman_core::search::{RecentUnit, Window};
use harvestman_core::url_key::{Identity, normal_form};
use harvestman_fetch::FetchRequest;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

/// A query to a provider.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ProviderQuery {
    pub(super) kind: SourceKind,
    /// Query in search engine syntax, including domain filters.
    pub(super) query: String,
    /// Number of results wanted.
    pub(super) count: usize,
    /// The time filter as given; `window` is its parsed form.
    pub(super) tbs: Option<String>,
    pub(super) window: Window,
    pub(super) country: String,
    pub(super) location: Option<String>,
    pub(super) safe: Option<bool>,
}

impl ProviderQuery {
    /// Returns the query with the location appended, for protocols without a field for it.
    pub(super) fn query_with_location(&self) -> String {
        match &self.location {
            Some(location) => format!("{} {location}", self.query),
            None => self.query.clone(),
        }
    }
}

/// A search result, independent of the protocol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hit {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) description: String,
    /// The date as the provider writes it.
    pub(super) date: Option<String>,
    pub(super) image_url: Option<String>,
    /// Width and height in pixels; 0 if unknown.
    pub(super) image_size: (u64, u64),
}

impl Hit {
    /// Returns a key that is equal for duplicates: same URL and, for images, same image.
    pub(super) fn identity(&self) -> String {
        let exact = Identity {
            ignore_query: false,
            merge_similar: true,
        };
        let address = Url::parse(&self.url).map_or_else(|_| self.url.clone(), |url| normal_form(&url, exact));
        format!("{address} {}", self.image_url.as_deref().unwrap_or_default())
    }

    /// Returns the day as `2026-01-31`, if the date has that format.
    pub(super) fn day(&self) -> Option<&str> {
        let day = self.date.as_deref()?.get(..10)?;
        let is_day = day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        is_day.then_some(day)
    }
}

/// The protocol of a search provider.
pub(super) trait Protocol: Send + Sync {
    /// Returns the request for one page of results, counted from 0.
    fn request(&self, query: &ProviderQuery, page: usize, deadline: Instant) -> FetchRequest;

    /// Parses the results of a response. The error says what is wrong with it.
    fn parse(&self, kind: SourceKind, response: &Value) -> Result<Vec<Hit>, String>;

    /// Returns the maximum number of results per page.
    fn page_size(&self, kind: SourceKind) -> usize;
}

/// Returns the shortest of a day, a week, a month and a year that covers the time filter.
pub(super) fn shortest_range((unit, count): (RecentUnit, u64)) -> RecentUnit {
    match (unit, count) {
        (RecentUnit::Hour, ..=24) | (RecentUnit::Day, 1) => RecentUnit::Day,
        (RecentUnit::Hour, ..=168) | (RecentUnit::Day, ..=7) | (RecentUnit::Week, 1) => RecentUnit::Week,
        (RecentUnit::Hour, ..=744)
        | (RecentUnit::Day, ..=31)
        | (RecentUnit::Week, ..=4)
        | (RecentUnit::Month, 1) => RecentUnit::Month,
        _ => RecentUnit::Year,
    }
}

/// Returns a text without markup.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for c in value.as_str().unwrap_or_default().chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text, if it is present and not empty.
pub(super) fn optional_text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the list in this field; empty if the field is missing.
pub(super) fn list<'v>(response: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match &response[name] {
        Value::Array(list) => Ok(list),
        Value::Null if response.is_object() => Ok(&[]),
        _ => Err(format!("`{name}` is not a list")),
    }
}
