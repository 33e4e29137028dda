//! Types, bounds and defaults of fields in words.

use harvestman_core::api::fields::{Decimal, Field, Schema, Slot};
use serde_json::Value;

/// Where links begin.
#[derive(Clone, Copy)]
pub(crate) enum Links {
    /// On a page of `docs/guide`.
    FromGuide,
    /// On a page of `docs`.
    FromDocs,
}

/// Sections about objects that many requests have: end of the object's name, word for it, page below `docs`.
const SECTIONS: &[(&str, &str, &str)] = &[
    ("ScrapeOptions", "scrape options", "guide/scrape.md#options"),
    ("Location", "location", "guide/scrape.md#language-and-country"),
    ("Profile", "profile", "SESSIONS.md#profiles"),
    ("Webhook", "webhook", "guide/webhooks.md"),
    ("Format", "format", "guide/formats.md"),
    ("Action", "action", "guide/actions.md"),
    ("Parser", "parser", "guide/files.md#pdf-options"),
];

impl Links {
    fn to(self, page: &str) -> String {
        match (self, page.strip_prefix("guide/")) {
            (Links::FromGuide, Some(page)) => page.to_owned(),
            (Links::FromGuide, None) => format!("../{page}"),
            (Links::FromDocs, _) => page.to_owned(),
        }
    }
}

/// Returns the section about an object, if there is one.
fn section(name: &str) -> Option<(&'static str, &'static str)> {
    let found = SECTIONS.iter().find(|(end, ..)| name.ends_with(end))?;
    Some((found.1, found.2))
}

/// Returns the fields of an object that no section is about, and how its path continues.
pub(crate) fn inner(schema: &Schema) -> Option<(&'static str, &[Field])> {
    match schema {
        Schema::List(items, _) => inner(items).map(|(_, fields)| ("[]", fields)),
        Schema::OneOf(kinds) => kinds.iter().find_map(inner),
        Schema::Nullable(schema) => inner(schema),
        Schema::Object(name, fields) if section(name).is_none() => Some(("", fields)),
        _ => None,
    }
}

/// Returns the type of a field with its bounds and unit.
pub(crate) fn type_of(field: &Field, links: Links) -> String {
    let mut text = noun(&field.schema, false, links);
    if let Some(unit) = field.unit {
        text.push_str(&format!(" ({unit})"));
    }
    if let Some(bounds) = bounds(&field.schema) {
        text.push_str(&format!(", {bounds}"));
    }
    text
}

fn noun(schema: &Schema, many: bool, links: Links) -> String {
    let plural = |word: &str| match many {
        true => format!("{word}s"),
        false => word.to_owned(),
    };
    match schema {
        Schema::Any => "any JSON".to_owned(),
        Schema::Boolean => plural("boolean"),
        Schema::Integer(_) => plural("integer"),
        Schema::Number(_) => plural("number"),
        Schema::Text(_) => plural("string"),
        Schema::Formatted("uuid") => plural("UUID"),
        Schema::Formatted(_) => plural("URL"),
        Schema::Constant(word) => format!("`{word}`"),
        Schema::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            alternatives(&words)
        }
        Schema::List(items, _) => format!("list of {}", noun(items, true, links)),
        Schema::Map(values) => match **values {
            Schema::Any => plural("object"),
            _ => format!("{} of {}", plural("object"), noun(values, true, links)),
        },
        Schema::Object(name, _) => match section(name) {
            Some((word, page)) => {
                let word = if word.ends_with('s') {
                    word.to_owned()
                } else {
                    plural(word)
                };
                format!("[{word}]({})", links.to(page))
            }
            None => plural("object"),
        },
        Schema::OneOf(kinds) => {
            let mut words: Vec<String> = Vec::new();
            let is_named = |kind: &Schema| matches!(kind, Schema::Object(name, _) if section(name).is_some());
            for kind in kinds {
                // The section lists the names that may stand for an object.
                if matches!(kind, Schema::Word(_)) && kinds.iter().any(is_named) {
                    continue;
                }
                let nouns = match kind {
                    Schema::Word(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(),
                    _ => vec![noun(kind, many, links)],
                };
                for noun in nouns {
                    if !words.contains(&noun) {
                        words.push(noun);
                    }
                }
            }
            alternatives(&words)
        }
        Schema::Nullable(inner) => alternatives(&[noun(inner, many, links), "null".to_owned()]),
    }
}

fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} or {end}", first.join(", ")),
    }
}

/// Returns the limits of a value in words; `None` without limits.
pub(crate) fn bounds(schema: &Schema) -> Option<String> {
    match schema {
        Schema::Integer(range) => match (*range.start(), *range.end()) {
            (0, Slot::UNBOUNDED) => None,
            (min, Slot::UNBOUNDED) => Some(format!("at least {min}")),
            (min, max) => Some(format!("{min} to {max}")),
        },
        Schema::Number(Decimal::PositiveUpTo(max)) => Some(format!("above 0, at most {max}")),
        Schema::Number(Decimal::Between(min, max)) => Some(format!("{min} to {max}")),
        Schema::Text(chars) => count(*chars.start(), *chars.end(), " characters"),
        Schema::List(_, items) => count(*items.start(), *items.end(), ""),
        Schema::Nullable(inner) => bounds(inner),
        _ => None,
    }
}

fn count(min: usize, max: usize, what: &str) -> Option<String> {
    match (min, max) {
        (0, usize::MAX) => None,
        (min, usize::MAX) => Some(format!("at least {min}{what}")),
        (0, max) => Some(format!("at most {max}{what}")),
        (min, max) => Some(format!("{min} to {max}{what}")),
    }
}

/// Returns the help of a field, and the default that it states.
pub(crate) fn split_help(field: &Field) -> (&'static str, Option<&'static str>) {
    match field.help.split_once(" Default: ") {
        Some((help, default)) => (help, Some(default.trim_end_matches('.'))),
        None => (field.help, None),
    }
}

/// Text for a default that contains every word.
pub(crate) const ALL: &str = "all";

fn is_all(schema: &Schema, count: usize) -> bool {
    match schema {
        Schema::List(items, _) => matches!(**items, Schema::Word(words) if words.len() == count && count > 1),
        _ => false,
    }
}

/// Returns the default of a field as JSON, unless it is empty.
pub(crate) fn default(field: &Field) -> Option<String> {
    let value = serde_json::to_value(field.default.as_ref()?).unwrap();
    match &value {
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) if is_all(&field.schema, items.len()) => Some(ALL.to_owned()),
        Value::Object(map) if map.is_empty() => None,
        Value::Number(number) => Some(number.as_f64().unwrap().to_string()),
        Value::String(text) => Some(text.clone()),
        _ => Some(value.to_string()),
    }
}
