//! Fills lists from a property, from objects of one type, from the rows of a table, or from label-value pairs.

use serde_json::{Map, Value};

use super::value::{element, merge_schema};
use super::{Filler, SPECIFICATIONS};
use crate::extract::names;
use crate::extract::schema::types;
use crate::extract::source::{Origin, Source};
use crate::limits;

impl Filler<'_> {
    /// Fills a list from any place where the page has one; `None` if it has none.
    pub(super) fn list(
        &mut self,
        name: &str,
        schema: &Value,
        sources: &[Source],
        depth: usize,
    ) -> Option<Value> {
        if depth == 0 {
            return None;
        }
        let root = self.schema;
        let schema = merge_schema(root, schema);
        let any = Value::Bool(true);
        let items = merge_schema(root, schema.get("items").unwrap_or(&any));
        let object_properties = items.get("properties").and_then(Value::as_object);
        for source in sources.iter().filter(|_| !name.is_empty()) {
            for candidate in source.candidates(name, object_properties.is_some()) {
                // Plain text about the page is not a list of objects.
                let has_shape = object_properties.is_none() || candidate.is_object() || candidate.is_array();
                if has_shape && let Some(list) = self.items(name, &candidate, &schema, depth) {
                    self.origins.insert(source.origin);
                    return Some(self.drop_invalid_items(list, &items));
                }
            }
        }
        let properties = object_properties?;
        let list = self
            .read_typed_objects(name, &items, properties, depth)
            .or_else(|| self.read_table(name, &items, properties, depth))
            .or_else(|| self.read_pairs(name, &items, properties))?;
        Some(self.drop_invalid_items(list, &items))
    }

    /// Removes invalid items unless every item is invalid.
    fn drop_invalid_items(&self, list: Value, items: &Value) -> Value {
        let Value::Array(list) = list else { return list };
        let valid: Vec<Value> = list
            .iter()
            .filter(|item| self.schema.allows(items, item))
            .cloned()
            .collect();
        Value::Array(if valid.is_empty() { list } else { valid })
    }

    /// Fills a list from the elements of an `ItemList` or from the objects of one type.
    fn read_typed_objects(
        &mut self,
        name: &str,
        items: &Value,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> Option<Value> {
        let key = names::key(name);
        let facts = self.facts;
        let kind_of = |object: &Map<String, Value>| -> Option<String> {
            Some(names::key(object.get("@type")?.as_array()?.first()?.as_str()?))
        };
        let listed = facts
            .objects
            .iter()
            .filter(|object| kind_of(object).as_deref() != Some("breadcrumb list"));
        let mut groups: Vec<(String, Vec<Value>)> = listed
            .filter_map(|object| object.get("itemListElement")?.as_array())
            .map(|list| {
                (
                    "item list".to_owned(),
                    list.iter().map(|one| element(one).into_owned()).collect(),
                )
            })
            .collect();
        let mut kinds: Vec<(String, Vec<Value>)> = Vec::new();
        for object in &facts.objects {
            let Some(kind) = kind_of(object) else { continue };
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, group)) => group.push(Value::Object(object.clone())),
                None => kinds.push((kind, vec![Value::Object(object.clone())])),
            }
        }
        groups.extend(kinds);
        let mut best: Option<(usize, Value)> = None;
        for (kind, group) in groups {
            let named = kind.ends_with(&key) && !key.is_empty();
            // One object is not a list, unless the list has its name.
            if group.len() < 2 && !named {
                continue;
            }
            let Some(first) = group.first().and_then(Value::as_object) else {
                continue;
            };
            let source = Source::of_object(first, Origin::StructuredData);
            if source.is_peripheral() && !named && kind != "item list" {
                continue;
            }
            let matches = self.matches(&source, properties) + usize::from(named) * properties.len();
            if matches * 2 < properties.len() || best.as_ref().is_some_and(|(most, _)| *most >= matches) {
                continue;
            }
            let list_schema = Value::Object(Map::from_iter([("items".to_owned(), items.clone())]));
            if let Some(list) = self.items(name, &Value::Array(group), &list_schema, depth) {
                best = Some((matches, list));
            }
        }
        let (_, list) = best?;
        self.origins.insert(Origin::StructuredData);
        Some(list)
    }

    /// Fills a list from the rows of the table whose columns match the most properties. At least half of them
    /// must match.
    fn read_table(
        &mut self,
        name: &str,
        items: &Value,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> Option<Value> {
        let words = names::words(name);
        let facts = self.facts;
        let mut best = None;
        for (at, table) in facts.tables.iter().enumerate() {
            let caption = names::words(&table.caption);
            let called = words.iter().any(|word| caption.contains(word));
            let rank = (self.matches(&Source::of_row(table, 0), properties), called);
            if best.is_none_or(|(most, _)| rank > most) {
                best = Some((rank, at));
            }
        }
        let ((matches, _), best) = best?;
        if matches == 0 || matches * 2 < properties.len() {
            return None;
        }
        let table = &facts.tables[best];
        let mut rows = Vec::new();
        for row in 0..table.rows.len().min(limits::MAX_FILLED_ITEMS) {
            let before = self.origins.clone();
            let found = self.object(items, &[Source::of_row(table, row)], depth - 1);
            self.origins = before;
            rows.extend(found.map(Value::Object));
        }
        if rows.is_empty() {
            return None;
        }
        self.origins.insert(Origin::Tables);
        Some(Value::Array(rows))
    }

    /// Fills a list of specifications with label-value pairs, as objects of two strings.
    fn read_pairs(&mut self, name: &str, items: &Value, properties: &Map<String, Value>) -> Option<Value> {
        if !SPECIFICATIONS.contains(&names::key(name).as_str())
            || properties.len() != 2
            || self.facts.pairs.is_empty()
        {
            return None;
        }
        let role = |words: &[&str]| {
            properties
                .keys()
                .find(|name| words.contains(&names::key(name).as_str()))
        };
        let label = role(&["name", "label", "key", "title", "attribute", "property"])?;
        let value = role(&["value", "text", "description", "content"])?;
        let is_text =
            |name: &String| types(&merge_schema(self.schema, &properties[name])).contains(&"string");
        if !is_text(label) || !is_text(value) {
            return None;
        }
        let pairs = self.facts.pairs.iter().map(|(said, text)| {
            Value::Object(Map::from_iter([
                (label.clone(), Value::from(said.as_str())),
                (value.clone(), Value::from(text.as_str())),
            ]))
        });
        let pairs: Vec<Value> = pairs.filter(|pair| self.schema.allows(items, pair)).collect();
        self.origins.insert(Origin::Labels);
        (!pairs.is_empty()).then_some(Value::Array(pairs))
    }

    /// Counts the properties for which a source has candidates.
    fn matches(&mut self, source: &Source, properties: &Map<String, Value>) -> usize {
        let names = properties.keys().take(limits::MAX_RANKED_PROPERTIES);
        let count = names
            .filter(|name| !source.candidates(name, false).is_empty())
            .count();
        self.steps = self
            .steps
            .saturating_sub(properties.len().min(limits::MAX_RANKED_PROPERTIES));
        count
    }
}
