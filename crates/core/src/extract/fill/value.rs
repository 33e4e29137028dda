//! Converts one value of a page to the type in the schema.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::Filler;
use crate::extract::schema::{Schema, types};
use crate::extract::source::{Origin, Source};
use crate::extract::{ADDRESS_PARTS, coerce, names};
use crate::limits;

/// Resolves a schema's reference and merges its `allOf` parts.
pub(super) fn merge_schema<'a>(root: &'a Schema, schema: &'a Value) -> Cow<'a, Value> {
    let schema = root.resolve(schema);
    let Some(parts) = schema.get("allOf").and_then(Value::as_array) else {
        return Cow::Borrowed(schema);
    };
    let mut all: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    all.remove("allOf");
    for part in parts {
        for (keyword, value) in root.resolve(part).as_object().into_iter().flatten() {
            match (all.get_mut(keyword), value) {
                (Some(Value::Object(have)), Value::Object(more)) => {
                    have.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                (Some(Value::Array(have)), Value::Array(more)) if keyword == "required" => {
                    have.extend(more.iter().cloned());
                }
                (Some(_), _) => {}
                (None, value) => {
                    all.insert(keyword.clone(), value.clone());
                }
            }
        }
    }
    Cow::Owned(Value::Object(all))
}

/// Returns the non-null option of a nullable schema, or any other schema itself.
pub(super) fn shape<'a>(root: &'a Schema, schema: &'a Value) -> Cow<'a, Value> {
    let resolved = root.resolve(schema);
    let options = ["anyOf", "oneOf"]
        .iter()
        .find_map(|keyword| resolved.get(*keyword)?.as_array());
    let real = |option: &&Value| types(root.resolve(option)) != ["null"];
    let mut real = options.into_iter().flatten().filter(real);
    match (real.next(), real.next()) {
        (Some(one), None) => merge_schema(root, one),
        _ => merge_schema(root, schema),
    }
}

/// Returns whether the first type of a schema is a list.
pub(super) fn is_list(schema: &Value) -> bool {
    match types(schema).iter().find(|kind| **kind != "null") {
        Some(kind) => *kind == "array",
        None => schema.get("items").is_some(),
    }
}

impl Filler<'_> {
    /// Converts a value to the type of `schema`; `None` if that is impossible.
    pub(super) fn value(&mut self, name: &str, given: &Value, schema: &Value, depth: usize) -> Option<Value> {
        if depth == 0 || self.steps == 0 {
            return None;
        }
        self.steps -= 1;
        let root = self.schema;
        let schema = merge_schema(root, schema);
        for keyword in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(keyword).and_then(Value::as_array) {
                return options
                    .iter()
                    .find_map(|option| self.value(name, given, option, depth - 1));
            }
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return option(given, options);
        }
        let kinds = match types(&schema) {
            all if !all.is_empty() => all,
            _ if schema.get("properties").is_some() => vec!["object"],
            _ if schema.get("items").is_some() => vec!["array"],
            _ if schema.get("format").is_some() => vec!["string"],
            _ => vec!["any"],
        };
        let found = kinds.iter().find_map(|kind| match *kind {
            "string" => self
                .text(name, given, schema.get("format").and_then(Value::as_str))
                .map(Value::from),
            "number" => number(name, given).and_then(json_number),
            "integer" => number(name, given)
                .filter(|number| number.fract() == 0.0)
                .and_then(json_number),
            "boolean" => boolean(given).map(Value::from),
            "array" => self.items(name, given, &schema, depth),
            "object" => self.inner(given, &schema, depth),
            "any" => Some(given.clone()),
            _ => None,
        })?;
        // Objects and arrays may be incomplete.
        let is_part = found.is_object() || found.is_array();
        (is_part || root.allows(&schema, &found)).then_some(found)
    }

    /// Converts an object of the page to another. A string stands for an object with that name.
    fn inner(&mut self, given: &Value, schema: &Value, depth: usize) -> Option<Value> {
        let source = match given {
            Value::Object(object) => Source::of_object(object, Origin::StructuredData),
            Value::Array(list) => return self.inner(list.first()?, schema, depth),
            Value::String(text) => {
                let alone = Map::from_iter([("name".to_owned(), Value::from(text.as_str()))]);
                Source::of_object(&alone, Origin::StructuredData)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        };
        match (schema.get("properties"), given) {
            (Some(_), _) => {
                let before = self.origins.clone();
                let found = self.object(schema, std::slice::from_ref(&source), depth - 1);
                // The caller records the origin.
                self.origins = before;
                found.map(Value::Object)
            }
            (None, Value::Object(_)) => Some(given.clone()),
            (None, _) => None,
        }
    }

    /// Converts the items of a list. A single value is a list of one.
    pub(super) fn items(&mut self, name: &str, given: &Value, schema: &Value, depth: usize) -> Option<Value> {
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        let texts = types(&merge_schema(self.schema, items)) == ["string"];
        let given: Vec<Cow<'_, Value>> = match given {
            Value::Array(list) => list.iter().flat_map(steps).collect(),
            Value::String(text) if texts => split(name, text)
                .into_iter()
                .map(Value::from)
                .map(Cow::Owned)
                .collect(),
            Value::Null => return None,
            one => steps(one).collect(),
        };
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let found: Vec<Value> = given
            .iter()
            .take(limits::MAX_FILLED_ITEMS)
            .filter_map(|item| self.value(name, item, items, depth - 1))
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .collect();
        (!found.is_empty()).then_some(Value::Array(found))
    }

    /// Returns a string, or the string that represents an object.
    fn text(&self, name: &str, given: &Value, format: Option<&str>) -> Option<String> {
        let last = names::words(name).pop().unwrap_or_default();
        let is_url = matches!(format, Some("uri" | "url" | "iri" | "uri-reference"))
            || (format.is_none() && matches!(last.as_str(), "url" | "link" | "href"));
        let plain = match given {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::Array(list) if is_url || format.is_some() => {
                return self.text(name, list.first()?, format);
            }
            Value::Array(list) => {
                let texts: Vec<String> = list
                    .iter()
                    .take(limits::MAX_FILLED_ITEMS)
                    .filter_map(|item| self.text(name, item, None))
                    .collect();
                let separator = if texts.iter().any(|text| text.len() > 80) {
                    "\n"
                } else {
                    ", "
                };
                texts.join(separator)
            }
            Value::Object(object) => object_text(object, is_url)?,
            Value::Null => return None,
        };
        let text = match format {
            Some("date") => coerce::date(&plain)?,
            Some("date-time") => coerce::time(&plain)?,
            Some("email") => coerce::email(&plain)?,
            _ if is_url => coerce::url(&plain, self.base.as_ref())?,
            _ => plain,
        };
        (!text.is_empty()).then_some(text)
    }
}

/// Returns the string that represents a schema.org object.
fn object_text(object: &Map<String, Value>, is_url: bool) -> Option<String> {
    let text = |name: &&str| match object.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(inner) => Some(inner.get("name")?.as_str()?.to_owned()),
        _ => None,
    };
    if is_url {
        return ["url", "contentUrl", "@id"].iter().find_map(text);
    }
    let parts: Vec<String> = ADDRESS_PARTS.iter().filter_map(text).collect();
    if !parts.is_empty() {
        return Some(parts.join(", "));
    }
    let quantity = || {
        Some(format!(
            "{} {}",
            text(&"value")?,
            text(&"unitText").or_else(|| text(&"unitCode"))?
        ))
    };
    quantity().or_else(|| {
        ["name", "headline", "text", "@value", "value", "url", "@id"]
            .iter()
            .find_map(text)
    })
}

fn number(name: &str, given: &Value) -> Option<f64> {
    match given {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match coerce::duration_s(text) {
            Some(seconds) => Some(in_unit(name, seconds)),
            None => coerce::number(text),
        },
        Value::Array(list) => number(name, list.first()?),
        Value::Object(object) => ["value", "price", "ratingValue", "amount", "@value", "minValue"]
            .iter()
            .find_map(|inner| number(name, object.get(*inner)?)),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Converts seconds to the unit in a property name; minutes if there is none.
fn in_unit(name: &str, seconds: f64) -> f64 {
    let words = names::words(name);
    let says = |units: &[&str]| words.iter().any(|word| units.contains(&word.as_str()));
    match () {
        () if says(&["second", "sec"]) => seconds,
        () if says(&["hour", "hr"]) => seconds / 3600.0,
        () if says(&["day"]) => seconds / 86_400.0,
        () => seconds / 60.0,
    }
}

fn json_number(number: f64) -> Option<Value> {
    let is_integer = number.fract() == 0.0 && number.abs() < 9e15;
    match is_integer {
        true => Some(Value::from(number as i64)),
        false => Number::from_f64(number).map(Value::Number),
    }
}

fn boolean(given: &Value) -> Option<bool> {
    match given {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => coerce::boolean(text),
        Value::Array(list) => boolean(list.first()?),
        Value::Null | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns the enum option that a value means, in any spelling or vocabulary URL.
fn option(given: &Value, options: &[Value]) -> Option<Value> {
    if let Value::Array(list) = given {
        return list.iter().find_map(|one| option(one, options));
    }
    if let Some(same) = options
        .iter()
        .find(|option| *option == given && !option.is_null())
    {
        return Some(same.clone());
    }
    let text = match given {
        Value::String(text) => text.as_str(),
        Value::Object(object) => object.get("name")?.as_str()?,
        _ => return None,
    };
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
    let keys = [names::key(text), names::key(last)];
    let same = |option: &&Value| match option {
        Value::String(option) => keys.contains(&names::key(option)),
        Value::Number(number) => number.as_f64().is_some() && number.as_f64() == coerce::number(text),
        _ => false,
    };
    options.iter().find(same).cloned()
}

/// Flattens a section of steps and unwraps list elements; yields any other value itself.
fn steps(value: &Value) -> Box<dyn Iterator<Item = Cow<'_, Value>> + '_> {
    let inner = match value {
        Value::Object(object) => object.get("itemListElement").and_then(Value::as_array),
        _ => None,
    };
    match inner {
        Some(list) => Box::new(list.iter().map(element)),
        None => Box::new(std::iter::once(element(value))),
    }
}

/// Unwraps the item of a list element.
pub(super) fn element(value: &Value) -> Cow<'_, Value> {
    let Value::Object(object) = value else {
        return Cow::Borrowed(value);
    };
    match object.get("item") {
        Some(Value::Object(item)) => {
            let mut item = item.clone();
            for name in ["name", "url"] {
                if let Some(own) = object.get(name) {
                    item.entry(name).or_insert_with(|| own.clone());
                }
            }
            Cow::Owned(Value::Object(item))
        }
        Some(Value::String(url)) => {
            let mut element = object.clone();
            element.entry("url").or_insert_with(|| Value::from(url.as_str()));
            Cow::Owned(Value::Object(element))
        }
        _ => Cow::Borrowed(value),
    }
}

/// Splits a text into a list: by lines, semicolons, or commas for properties that are commonly written so.
fn split(name: &str, text: &str) -> Vec<String> {
    let parts = |mark: char| -> Vec<String> {
        let parts = text.split(mark).map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let key = names::key(name);
    let last = key.rsplit(' ').next().unwrap_or_default();
    let by_comma = [
        "keyword", "tag", "topic", "category", "genre", "language", "skill", "color", "colour", "cuisine",
        "size",
    ];
    match () {
        () if text.contains('\n') => parts('\n'),
        () if text.contains(';') => parts(';'),
        () if by_comma.contains(&last) => parts(','),
        () => vec![text.to_owned()],
    }
}
