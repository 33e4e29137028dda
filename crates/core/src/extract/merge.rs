//! Merges results of several pages: lists are joined without duplicates; of single values the first one wins.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::limits;

/// The merged result of several pages.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MergeResult {
    /// The result.
    pub value: Value,
    /// URLs of the contributing pages for each top-level property.
    pub sources: Map<String, Value>,
}

/// Merges results, each with the URL of its page, most trusted first.
pub fn merge(pages: impl IntoIterator<Item = (String, Value)>) -> MergeResult {
    let mut merged = MergeResult::default();
    for (url, value) in pages {
        match &value {
            Value::Object(object) => {
                let stated = object.iter().filter(|(_, value)| has_content(value));
                for (name, value) in stated {
                    let adds = adds_to(merged.value.get(name), value);
                    if adds {
                        let sources = merged
                            .sources
                            .entry(name)
                            .or_insert_with(|| Value::Array(Vec::new()));
                        if let Value::Array(urls) = sources {
                            urls.push(Value::from(url.as_str()));
                        }
                    }
                }
            }
            Value::Null => continue,
            _ => {}
        }
        join(&mut merged.value, value);
    }
    merged
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => object.values().any(has_content),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Returns whether a value adds to what is known.
fn adds_to(known: Option<&Value>, value: &Value) -> bool {
    match known {
        Some(known) if has_content(known) => (known.is_array() || known.is_object()) && known != value,
        _ => true,
    }
}

fn join(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(have), Value::Object(more)) => {
            for (name, value) in more {
                match have.get_mut(&name) {
                    Some(known) => join(known, value),
                    None => {
                        have.insert(name, value);
                    }
                }
            }
        }
        (Value::Array(have), Value::Array(more)) => join_lists(have, more),
        (known, more) if !has_content(known) && has_content(&more) => *known = more,
        (known @ Value::Null, more) => *known = more,
        _ => {}
    }
}

fn join_lists(have: &mut Vec<Value>, more: Vec<Value>) {
    let mut seen: HashSet<String> = have.iter().map(Value::to_string).collect();
    for item in more {
        if have.len() >= limits::MAX_MERGED_ITEMS {
            return;
        }
        if !seen.insert(item.to_string()) {
            continue;
        }
        let same = identity(&item).and_then(|id| have.iter().position(|known| identity(known) == Some(id)));
        match same {
            Some(at) => join(&mut have[at], item),
            None => have.push(item),
        }
    }
}

/// Returns the property that identifies an object among others of its kind.
fn identity(value: &Value) -> Option<(&'static str, &str)> {
    let object = value.as_object()?;
    ["id", "sku", "url", "link"]
        .into_iter()
        .find_map(|name| Some((name, object.get(name)?.as_str().filter(|text| !text.is_empty())?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_joined_and_the_first_single_value_wins() {
        let page = |url: &str, value: Value| (format!("https://a.test/{url}"), value);
        let merged = merge([
            page(
                "1",
                json!({"name": "A", "price": null, "items": [{"x": 1}, {"url": "u", "a": 1}], "note": ""}),
            ),
            page("2", Value::Null),
            page(
                "3",
                json!({"name": "B", "price": 5, "items": [{"x": 1}, {"x": 2}, {"url": "u", "b": 2}], "in": {"a": 1}}),
            ),
            page("4", json!({"in": {"b": 2}, "items": []})),
        ]);
        assert_eq!(
            merged.value,
            json!({"name": "A", "price": 5, "note": "", "items": [{"x": 1}, {"url": "u", "a": 1, "b": 2}, {"x": 2}],
                "in": {"a": 1, "b": 2}})
        );
        assert_eq!(
            Value::Object(merged.sources),
            json!({"name": ["https://a.test/1"], "price": ["https://a.test/3"],
                "items": ["https://a.test/1", "https://a.test/3"], "in": ["https://a.test/3", "https://a.test/4"]})
        );
        assert_eq!(merge([]).value, Value::Null);
        let lists = merge([page("1", json!([1, 2])), page("2", json!([2, 3]))]);
        assert_eq!(lists.value, json!([1, 2, 3]));
    }
}
