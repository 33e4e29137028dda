//! Fills a schema with data stated on a page, without a model: properties are matched by name, and texts are
//! converted to the types of the schema. Properties that the page does not state are left out and reported.

mod lists;
mod value;

use std::collections::BTreeSet;

use harvestman_content::Facts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::names;
use super::schema::{Schema, types};
pub use super::source::{Origin, PageInfo};
use super::source::{Source, page_sources};
use crate::limits;

/// The data that a page has for a schema.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FillResult {
    /// The data found, in the shape of the schema; null if there is none.
    pub value: Value,
    /// Where the data was found.
    pub origins: BTreeSet<Origin>,
    /// Top-level properties that were not found, and whether the schema requires them.
    pub missing: Vec<(String, bool)>,
    /// Why `value` is invalid; empty if it is valid.
    pub violations: Vec<String>,
}

impl FillResult {
    /// Returns a message that says how the data was found and what is missing. `subject` names the result, such as
    /// `` `json` ``; `because` says why no model was used.
    pub fn warning(&self, subject: &str, because: &str) -> String {
        let origins: Vec<&str> = self.origins.iter().map(|origin| origin.words()).collect();
        let mut text = match origins.is_empty() {
            true => format!(
                "{subject} is empty: the page states none of the requested data in a form that can be read without a \
                 language model, and {because}."
            ),
            false => format!(
                "{subject} was filled from data stated on the page ({}), because {because}.",
                origins.join(", ")
            ),
        };
        if !self.missing.is_empty() {
            let names = self
                .missing
                .iter()
                .take(limits::MAX_VIOLATIONS)
                .map(|(name, required)| format!("`{name}`{}", if *required { " (required)" } else { "" }));
            text.push_str(&format!(" Not found: {}.", names.collect::<Vec<_>>().join(", ")));
        }
        if !self.violations.is_empty() {
            text.push_str(&format!(
                " {subject} does not match the schema: {}",
                self.violations.join(" ")
            ));
        }
        text
    }
}

/// Compiles a schema and fills it with data stated on a page.
pub fn fill_schema(schema: &Map<String, Value>, facts: &Facts, about: PageInfo<'_>) -> FillResult {
    fill(&Schema::new(schema.clone()), facts, about)
}

/// Fills `schema` with data stated on a page.
pub fn fill(schema: &Schema, facts: &Facts, about: PageInfo<'_>) -> FillResult {
    let objects: Vec<Source> = facts
        .objects
        .iter()
        .map(|object| Source::of_object(object, Origin::StructuredData))
        .collect();
    let mut filler = Filler {
        schema,
        facts,
        base: Url::parse(about.url).ok(),
        origins: BTreeSet::new(),
        steps: limits::MAX_FILL_STEPS,
    };
    let root = schema.resolve(schema.root());
    let sources = filler.ranked(root, objects, page_sources(facts, about));
    let found = match value::is_list(root) {
        true => filler.list("", root, &sources, limits::MAX_FILL_DEPTH),
        false => filler
            .object(root, &sources, limits::MAX_FILL_DEPTH)
            .map(Value::Object),
    };
    let value = found.unwrap_or_default();
    let origins = filler.origins;
    FillResult {
        missing: missing(schema, root, &value),
        violations: schema.violations(&value),
        value,
        origins,
    }
}

fn missing(schema: &Schema, root: &Value, value: &Value) -> Vec<(String, bool)> {
    let merged = value::merge_schema(schema, root);
    let required = merged.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = merged.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flatten().map(|(name, _)| name);
    names
        .filter(|name| value.get(name.as_str()).is_none_or(Value::is_null))
        .map(|name| {
            (
                name.chars().take(limits::MAX_NAMED_CHARS).collect(),
                is_required(name),
            )
        })
        .collect()
}

/// Property names that hold the data of their parent's subject.
const GROUPS: &[&str] = &[
    "detail", "info", "information", "data", "result", "item", "page", "metadata", "subject",
];
/// Property names that hold every label-value pair of a page.
const SPECIFICATIONS: &[&str] = &[
    "specification", "spec", "attribute", "property", "technical detail", "technical specification", "fact",
    "detail",
];

/// State while filling a schema.
struct Filler<'a> {
    schema: &'a Schema,
    facts: &'a Facts,
    base: Option<Url>,
    origins: BTreeSet<Origin>,
    /// Lookups left.
    steps: usize,
}

impl Filler<'_> {
    /// Returns the sources in lookup order: the object that matches the most properties, the data next to objects,
    /// other objects, and finally objects about the surroundings of the subject.
    fn ranked(&self, root: &Value, objects: Vec<Source>, page: [Source; 3]) -> Vec<Source> {
        let merged = value::merge_schema(self.schema, root);
        let names: Vec<&String> = merged
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .take(limits::MAX_RANKED_PROPERTIES)
            .collect();
        let schema_words = [merged.get("title"), merged.get("description")];
        let schema_words = names::words(
            &schema_words
                .iter()
                .flatten()
                .filter_map(|text| text.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        );
        let score = |source: &Source| {
            let matches = names
                .iter()
                .filter(|name| !source.candidates(name, false).is_empty())
                .count();
            let named = source.types.iter().any(|kind| {
                let last = kind.split(' ').next_back().unwrap_or_default().to_owned();
                schema_words.contains(&last) || names.iter().any(|name| names::key(name) == last)
            });
            matches * 2 + usize::from(named) * 3
        };
        let (peripheral, mut subjects): (Vec<Source>, Vec<Source>) =
            objects.into_iter().partition(Source::is_peripheral);
        let best = (0..subjects.len()).max_by_key(|&at| (score(&subjects[at]), std::cmp::Reverse(at)));
        let mut ranked: Vec<Source> = best.map(|at| subjects.remove(at)).into_iter().collect();
        ranked.extend(page);
        ranked.extend(subjects);
        ranked.extend(peripheral);
        ranked
    }

    /// Fills the properties of an object that the sources have; `None` if they have none.
    fn object(&mut self, schema: &Value, sources: &[Source], depth: usize) -> Option<Map<String, Value>> {
        let schema = value::merge_schema(self.schema, schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.filter(|_| depth > 0)?;
        let mut object = Map::new();
        let mut found = false;
        for (name, inner) in properties {
            if self.steps == 0 {
                break;
            }
            if let Some(value) = self.property(name, inner, sources, depth) {
                found = true;
                object.insert(name.clone(), value);
            } else if is_required(&schema, name) && self.allows_null(inner) {
                object.insert(name.clone(), Value::Null);
            }
        }
        found.then_some(object)
    }

    fn property(&mut self, name: &str, schema: &Value, sources: &[Source], depth: usize) -> Option<Value> {
        self.steps = self.steps.saturating_sub(1);
        let shape = value::shape(self.schema, schema);
        if value::is_list(&shape) {
            return self.list(name, &shape, sources, depth);
        }
        let prefers_objects = shape.get("properties").is_some();
        for source in sources {
            for candidate in source.candidates(name, prefers_objects) {
                self.steps = self.steps.saturating_sub(1);
                if let Some(value) = self.value(name, &candidate, &shape, depth - 1) {
                    self.origins.insert(source.origin);
                    return Some(value);
                }
            }
        }
        let key = names::key(name);
        if prefers_objects {
            let subject = sources
                .first()
                .is_some_and(|source| source.types.iter().any(|kind| kind.ends_with(&key)));
            let described = sources.iter().position(|source| source.types.contains(&key));
            return match described {
                _ if subject || GROUPS.contains(&key.as_str()) => self.object(&shape, sources, depth - 1),
                Some(at) => self.object(&shape, &sources[at..=at], depth - 1),
                None => None,
            }
            .map(Value::Object);
        }
        let is_map = types(&shape).contains(&"object") && SPECIFICATIONS.contains(&key.as_str());
        if is_map && !self.facts.pairs.is_empty() {
            self.origins.insert(Origin::Labels);
            let pairs = self
                .facts
                .pairs
                .iter()
                .map(|(label, value)| (label.clone(), Value::from(value.clone())));
            return Some(Value::Object(pairs.collect()));
        }
        None
    }

    fn allows_null(&self, schema: &Value) -> bool {
        self.schema.allows(schema, &Value::Null)
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

#[cfg(test)]
mod tests;
