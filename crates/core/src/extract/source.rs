//! Sources of values, looked up by property name: an object of the page, or data stated next to its objects.

use std::collections::HashMap;

use harvestman_content::{FactTable, Facts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names;
use crate::limits;

/// Kind of statement that a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Origin {
    /// JSON-LD, microdata, RDFa, or a JSON document.
    StructuredData,
    /// A label-value pair or a definition list.
    Labels,
    /// A list under a heading.
    Lists,
    /// A table.
    Tables,
    /// `meta` values, including Open Graph, and the title.
    Metadata,
}

impl Origin {
    /// Returns the origin in words, for a message.
    pub fn words(self) -> &'static str {
        match self {
            Origin::StructuredData => "structured data",
            Origin::Labels => "labels with values",
            Origin::Lists => "lists",
            Origin::Tables => "tables",
            Origin::Metadata => "metadata",
        }
    }
}

/// Values by name.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) origin: Origin,
    /// Keys of its types.
    pub(super) types: Vec<String>,
    values: HashMap<String, Value>,
}

/// Types of objects about the surroundings of the page's subject.
const PERIPHERAL_TYPES: &[&str] = &[
    "breadcrumb list", "web site", "web page", "collection page", "organization", "image object",
    "search action", "site navigation element", "wp header", "wp footer", "person", "list item", "item list",
];

impl Source {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            types: Vec::new(),
            values: HashMap::new(),
        }
    }

    pub(super) fn of_object(object: &Map<String, Value>, origin: Origin) -> Self {
        let mut source = Self::new(origin);
        let kinds = object.get("@type").and_then(Value::as_array);
        source.types = kinds
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(names::key)
            .collect();
        for (name, value) in object.iter().take(limits::MAX_SOURCE_VALUES) {
            source.insert(name, value.clone());
        }
        source
    }

    /// Creates the source of a table row. Its first link is its URL, unless a column is.
    pub(super) fn of_row(table: &FactTable, row: usize) -> Self {
        let mut source = Self::new(Origin::Tables);
        let cells = table.rows.get(row).map(Vec::as_slice).unwrap_or_default();
        for (column, cell) in table.columns.iter().zip(cells) {
            if !cell.text.is_empty() {
                source.insert(column, Value::from(cell.text.clone()));
            }
        }
        if let Some(link) = cells.iter().find_map(|cell| cell.link.clone()) {
            source.insert("url", Value::from(link));
        }
        source
    }

    fn from_pairs(origin: Origin, pairs: impl Iterator<Item = (String, Value)>) -> Self {
        let mut source = Self::new(origin);
        for (name, value) in pairs.take(limits::MAX_SOURCE_VALUES) {
            source.insert(&name, value);
        }
        source
    }

    /// Adds a value unless the name already has one.
    fn insert(&mut self, name: &str, value: Value) {
        let key = match name.starts_with('@') {
            true => name.to_owned(),
            false => names::key(name),
        };
        if !key.is_empty() && !value.is_null() {
            self.values.entry(key).or_insert(value);
        }
    }

    pub(super) fn is_peripheral(&self) -> bool {
        !self.types.is_empty()
            && self
                .types
                .iter()
                .all(|kind| PERIPHERAL_TYPES.contains(&kind.as_str()))
    }

    /// Returns the values that a property may refer to, best first: objects before their
    /// properties with `prefers_objects`.
    pub(super) fn candidates(&self, name: &str, prefers_objects: bool) -> Vec<Value> {
        let words = names::words(name);
        let mut found = self.by_words(&words, prefers_objects);
        // `prep_time_minutes` is `prepTime` in minutes.
        if let [name @ .., unit] = words.as_slice()
            && !name.is_empty()
            && names::is_unit(unit)
        {
            found.extend(self.by_words(name, prefers_objects));
        }
        // `productName` of a product is its `name`.
        let own = |prefix: &str| {
            self.types
                .iter()
                .any(|kind| kind.split(' ').next_back() == Some(prefix) || kind == prefix)
        };
        if let [first, rest @ ..] = words.as_slice()
            && !rest.is_empty()
            && own(first)
        {
            found.extend(self.by_words(rest, prefers_objects));
        }
        // `authorName` is the `name` of `author`.
        for split in (1..words.len()).rev() {
            let inner = match self.values.get(&words[..split].join(" ")) {
                Some(Value::Object(object)) => object,
                Some(Value::Array(list)) => match list.first() {
                    Some(Value::Object(object)) => object,
                    _ => continue,
                },
                _ => continue,
            };
            found.extend(Source::of_object(inner, self.origin).by_words(&words[split..], prefers_objects));
        }
        found
    }

    fn by_words(&self, words: &[String], prefers_objects: bool) -> Vec<Value> {
        let key = words.join(" ");
        let mut found: Vec<Value> = self.values.get(&key).cloned().into_iter().collect();
        for path in names::paths(&key) {
            if prefers_objects && let Some((outer, _)) = path.rsplit_once('.') {
                found.extend(
                    self.follow(outer)
                        .filter(|value| value.is_object() || value.is_array()),
                );
            }
            found.extend(self.follow(path));
        }
        found.extend(names::equals(&key).filter_map(|other| self.values.get(other).cloned()));
        found
    }

    /// Returns the value at a path. Collects the values of every item of an array on the way.
    fn follow(&self, path: &str) -> Option<Value> {
        let mut parts = path.split('.');
        let first = parts.next()?;
        let key = if first.starts_with('@') {
            first.to_owned()
        } else {
            names::key(first)
        };
        let mut at = self.values.get(&key)?.clone();
        for part in parts {
            at = match at {
                Value::Object(mut object) => object.remove(part)?,
                Value::Array(list) => {
                    let inner = list.into_iter().filter_map(|item| match item {
                        Value::Object(mut object) => object.remove(part),
                        _ => None,
                    });
                    match inner.collect::<Vec<Value>>() {
                        all if all.is_empty() => return None,
                        mut all if all.len() == 1 => all.remove(0),
                        all => Value::Array(all),
                    }
                }
                _ => return None,
            };
        }
        Some(at)
    }
}

/// Page metadata that is not in the facts.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageInfo<'a> {
    /// URL of the page.
    pub url: &'a str,
    /// `<title>`.
    pub title: Option<&'a str>,
    /// `meta[name=description]`.
    pub description: Option<&'a str>,
    /// `html[lang]`.
    pub language: Option<&'a str>,
}

/// Returns the sources next to objects: label-value pairs, lists, and `meta` values.
pub(super) fn page_sources(facts: &Facts, about: PageInfo<'_>) -> [Source; 3] {
    let text = |name: &str, value: &str| (name.to_owned(), Value::from(value));
    let labels = facts.pairs.iter().map(|(label, value)| text(label, value));
    let lists = facts
        .lists
        .iter()
        .map(|(heading, items)| (heading.clone(), Value::from(items.clone())));
    let meta = facts.meta.iter().map(|(name, value)| text(name, value));
    // Open Graph values describe the subject of the page.
    let graph = facts.meta.iter().filter_map(|(name, value)| {
        let name = name
            .strip_prefix("og:")
            .or_else(|| name.strip_prefix("twitter:"))?;
        matches!(
            name,
            "title" | "description" | "image" | "url" | "type" | "locale"
        )
        .then(|| text(name, value))
    });
    let page = [
        ("title", facts.title.as_deref().or(about.title)),
        ("description", about.description),
        ("url", Some(about.url)),
        ("language", about.language),
    ];
    let page = page
        .into_iter()
        .filter_map(|(name, value)| Some(text(name, value?)));
    let page: Vec<(String, Value)> = page.collect();
    [
        Source::from_pairs(Origin::Labels, labels),
        Source::from_pairs(Origin::Lists, lists),
        Source::from_pairs(Origin::Metadata, page.into_iter().chain(graph).chain(meta)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source(value: Value) -> Source {
        Source::of_object(value.as_object().unwrap(), Origin::StructuredData)
    }

    #[track_caller]
    fn first(value: Value, name: &str) -> Value {
        source(value)
            .candidates(name, false)
            .into_iter()
            .next()
            .unwrap_or_default()
    }

    #[test]
    fn properties_are_found_under_their_synonyms() {
        let product = || {
            json!({"@type": ["Product"], "name": "Cup", "offers": [{"price": "9.5"}, {"price": "8"}],
                "author": [{"name": "Ann"}], "brand": {"name": "Acme"}, "@id": "https://a.test/1"})
        };
        assert_eq!(first(product(), "name"), "Cup");
        assert_eq!(first(product(), "productName"), "Cup");
        assert_eq!(first(product(), "title"), "Cup");
        assert_eq!(first(product(), "price"), json!(["9.5", "8"]));
        assert_eq!(first(product(), "author_name"), "Ann");
        assert_eq!(first(product(), "manufacturer"), "Acme");
        assert_eq!(first(product(), "url"), "https://a.test/1");
        assert_eq!(first(product(), "color"), Value::Null);
        let brand = source(product()).candidates("manufacturer", true);
        assert_eq!(brand[0], json!({"name": "Acme"}));
    }
}
