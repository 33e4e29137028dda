//! Reads the objects of all JSON-LD blocks and resolves references between them.

use serde_json::{Map, Value};

use super::microdata::short_type;
use crate::hash::HashMap;
use crate::html::dom::{Dom, collapse};
use crate::html::json_ld;
use crate::limits;

/// Returns every object of a block, of a list, of `@graph` and of `mainEntity`.
pub(super) fn objects(dom: &Dom) -> Vec<Map<String, Value>> {
    let blocks: Vec<Value> = json_ld::blocks(dom)
        .take(limits::FACT_BLOCKS)
        .filter_map(|block| serde_json::from_str(&block).ok())
        .collect();
    let mut found: Vec<Map<String, Value>> = Vec::new();
    for value in blocks.iter().flat_map(json_ld::objects) {
        let Value::Object(object) = value else { continue };
        // A graph contains objects, and a reference names one: neither is an object itself.
        let says = object.keys().any(|key| !key.starts_with('@'));
        if says && found.len() < limits::FACT_OBJECTS {
            found.push(clean_object(object));
        }
    }
    let by_id: HashMap<String, Value> = found
        .iter()
        .filter_map(|object| {
            let id = object.get("@id")?.as_str()?.to_owned();
            let object = Value::Object(object.clone());
            (object.to_string().len() <= limits::FACT_TEXT_BYTES).then_some((id, object))
        })
        .collect();
    let mut budget = limits::FACT_REFERENCES;
    for object in &mut found {
        let own = object.get("@id").cloned();
        for (key, value) in object.iter_mut().filter(|(key, _)| !key.starts_with('@')) {
            // These properties point back to the page that contains the object.
            if key != "mainEntityOfPage" && key != "isPartOf" {
                resolve_references(value, &by_id, own.as_ref(), &mut budget);
            }
        }
    }
    found
}

/// Replaces references (objects with only an `@id`) in a property or a list of it, not deeper.
fn resolve_references(
    value: &mut Value,
    by_id: &HashMap<String, Value>,
    own: Option<&Value>,
    budget: &mut usize,
) {
    match value {
        Value::Array(list) => {
            for item in list.iter_mut().filter(|item| item.is_object()) {
                resolve_references(item, by_id, own, budget);
            }
        }
        Value::Object(object) if object.len() == 1 && object.get("@id") != own => {
            let target = object.get("@id").and_then(Value::as_str);
            if let Some(target) = target.and_then(|id| by_id.get(id))
                && *budget > 0
            {
                *budget -= 1;
                *value = target.clone();
            }
        }
        _ => {}
    }
}

/// Collapses white space, decodes entities, and shortens type names. The JSON parser limits the depth.
fn clean(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(collapse(&json_ld::unescape(text))),
        Value::Array(list) => list.iter().take(limits::FACT_LIST).map(clean).collect(),
        Value::Object(object) => Value::Object(clean_object(object)),
        other => other.clone(),
    }
}

fn clean_object(object: &Map<String, Value>) -> Map<String, Value> {
    let mut cleaned: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| *key != "@context")
        .map(|(key, value)| {
            let name = key.rsplit(['/', '#', ':']).next().unwrap_or(key);
            (name.to_owned(), clean(value))
        })
        .collect();
    if let Some(kind) = cleaned.get_mut("@type") {
        let names: Vec<Value> = match kind.take() {
            Value::Array(list) => list.iter().filter_map(Value::as_str).map(short_type).collect(),
            Value::String(one) => vec![short_type(&one)],
            _ => Vec::new(),
        };
        *kind = Value::Array(names);
    }
    cleaned
}
