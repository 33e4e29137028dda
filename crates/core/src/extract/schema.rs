//! The subset of JSON Schema that extraction needs: the assertions of common drafts, local references, and
//! [`Schema::prune`]. Unsupported keywords are reported by [`Schema::unchecked`], never taken as satisfied.

mod check;

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::coerce;
use crate::limits;

/// Assertions that are not checked.
const UNCHECKED: &[&str] = &[
    "unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "dependencies", "$dynamicRef",
    "$recursiveRef", "contentSchema",
];

/// A schema with its patterns compiled.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Value,
    patterns: HashMap<String, Regex>,
    unchecked: Vec<String>,
}

impl Schema {
    /// Compiles a schema. Accepts any schema.
    pub fn new(schema: Map<String, Value>) -> Self {
        let mut compiled_schema = Self {
            root: Value::Object(schema),
            patterns: HashMap::new(),
            unchecked: Vec::new(),
        };
        compiled_schema.compile();
        compiled_schema
    }

    /// Returns the schema for a partial result: properties that the whole result requires may be missing. Items of
    /// lists keep their requirements.
    pub fn relaxed(&self) -> Map<String, Value> {
        let mut root = self.root.clone();
        relax(&mut root, limits::MAX_SCHEMA_DEPTH);
        match root {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// Returns the schema as given.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the keywords, patterns and references of the schema that are not checked.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }

    /// Returns what is wrong with a value as at most [`limits::MAX_VIOLATIONS`] sentences that begin with a
    /// JSON pointer; empty if it is valid.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        check::violations_of(self, &self.root, value)
    }

    /// Returns whether a part of the schema allows a value.
    pub(super) fn allows(&self, part: &Value, value: &Value) -> bool {
        check::violations_of(self, part, value).is_empty()
    }

    /// Follows references. A dangling or circular reference resolves to a schema that allows anything.
    pub(super) fn resolve<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..limits::MAX_SCHEMA_REFERENCES {
            match schema.get("$ref").and_then(Value::as_str) {
                Some(reference) => match self.target(reference) {
                    Some(target) => schema = target,
                    None => return &Value::Bool(true),
                },
                None => return schema,
            }
        }
        &Value::Bool(true)
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// Removes properties that the schema does not know from objects whose schema is fully described by `properties`,
    /// unless `additionalProperties` allows more. Returns the names of the removed properties.
    pub fn prune(&self, value: &mut Value) -> Vec<String> {
        let mut removed = Vec::new();
        self.prune_at(&self.root, value, &mut removed, limits::MAX_SCHEMA_DEPTH);
        removed.sort_unstable();
        removed.dedup();
        removed.truncate(limits::MAX_VIOLATIONS);
        removed
    }

    fn prune_at(&self, schema: &Value, value: &mut Value, removed: &mut Vec<String>, depth: usize) {
        let schema = self.resolve(schema);
        if depth == 0 {
            return;
        }
        match value {
            Value::Array(list) => {
                let Some(items) = schema.get("items") else { return };
                for item in list {
                    self.prune_at(items, item, removed, depth - 1);
                }
            }
            Value::Object(object) => {
                let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                    return;
                };
                let more = [
                    "patternProperties", "anyOf", "oneOf", "allOf", "if", "dependentSchemas",
                ];
                let open = schema
                    .get("additionalProperties")
                    .is_some_and(|more| *more != Value::Bool(false))
                    || more.iter().any(|keyword| schema.get(keyword).is_some());
                if !open {
                    object.retain(|name, _| {
                        let known = properties.contains_key(name);
                        if !known && removed.len() < limits::MAX_PRUNED {
                            removed.push(name.chars().take(limits::MAX_NAMED_CHARS).collect());
                        }
                        known
                    });
                }
                for (name, value) in object {
                    if let Some(schema) = properties.get(name) {
                        self.prune_at(schema, value, removed, depth - 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Compiles patterns and records what cannot be checked.
    fn compile(&mut self) {
        let (mut patterns, mut unchecked) = (Vec::new(), Vec::new());
        let mut open = vec![(&self.root, true)];
        while let Some((value, is_schema)) = open.pop() {
            match value {
                Value::Object(object) => {
                    for (name, inner) in object {
                        // Property names are not keywords.
                        let names = matches!(
                            name.as_str(),
                            "properties" | "patternProperties" | "$defs" | "definitions"
                        );
                        let data = matches!(name.as_str(), "enum" | "const" | "default" | "examples");
                        if is_schema {
                            match (name.as_str(), inner) {
                                ("pattern", Value::String(pattern)) => patterns.push(pattern.clone()),
                                ("patternProperties", Value::Object(all)) => {
                                    patterns.extend(all.keys().cloned())
                                }
                                ("$ref", Value::String(reference)) if self.target(reference).is_none() => {
                                    unchecked.push(format!("$ref {reference}"));
                                }
                                (keyword, _) if UNCHECKED.contains(&keyword) => {
                                    unchecked.push(keyword.to_owned())
                                }
                                _ => {}
                            }
                        }
                        if !(is_schema && data) {
                            open.push((inner, !(is_schema && names)));
                        }
                    }
                }
                Value::Array(list) => open.extend(list.iter().map(|inner| (inner, true))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        for pattern in patterns {
            let compiled = RegexBuilder::new(&pattern)
                .size_limit(limits::MAX_SCHEMA_PATTERN_BYTES)
                .build();
            match compiled {
                Ok(compiled) if self.patterns.len() < limits::MAX_SCHEMA_PATTERNS => {
                    self.patterns.insert(pattern, compiled);
                }
                Ok(_) | Err(_) => unchecked.push(format!("pattern {pattern}")),
            }
        }
        unchecked.sort_unstable();
        unchecked.dedup();
        for name in &mut unchecked {
            *name = name.chars().take(limits::MAX_NAMED_CHARS).collect();
        }
        unchecked.truncate(limits::MAX_VIOLATIONS);
        self.unchecked = unchecked;
    }
}

fn relax(schema: &mut Value, depth: usize) {
    let Value::Object(keywords) = schema else { return };
    for keyword in ["required", "minItems", "minProperties", "dependentRequired"] {
        keywords.remove(keyword);
    }
    if depth == 0 {
        return;
    }
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        properties.values_mut().for_each(|one| relax(one, depth - 1));
    }
    if let Some(Value::Array(parts)) = keywords.get_mut("allOf") {
        parts.iter_mut().for_each(|one| relax(one, depth - 1));
    }
}

/// Returns the type names that a schema allows; empty for any.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a text has a format. Unknown formats always match.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "date" => text.len() == 10 && coerce::date(text).as_deref() == Some(text),
        "date-time" => coerce::is_time(text),
        "uri" | "url" | "iri" => url::Url::parse(text).is_ok(),
        "email" | "idn-email" => coerce::email(text).as_deref() == Some(text),
        "uuid" => uuid::Uuid::parse_str(text).is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
