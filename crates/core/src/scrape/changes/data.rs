//! Two versions of extracted data, field by field.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::limits;

/// The fields that differ by their path (`plans[0].price`), each with what it was and is; null where it was not there.
pub(super) fn changes(before: &Value, now: &Value) -> Value {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    fields(before, String::new(), &mut old);
    fields(now, String::new(), &mut new);
    let mut changed = Map::new();
    for path in old.keys().chain(new.keys()) {
        let (previous, current) = (old.get(path), new.get(path));
        if previous != current && changed.len() < limits::MAX_CHANGED_FIELDS {
            changed.insert(path.clone(), json!({"previous": previous, "current": current}));
        }
    }
    Value::Object(changed)
}

/// The single values and empty lists below a value. The depth of what is compared was bounded when it was read.
fn fields<'a>(value: &'a Value, path: String, found: &mut BTreeMap<String, &'a Value>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (name, inner) in object {
                let separator = if path.is_empty() { "" } else { "." };
                fields(inner, format!("{path}{separator}{name}"), found);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (at, inner) in list.iter().enumerate() {
                fields(inner, format!("{path}[{at}]"), found);
            }
        }
        one => {
            found.insert(path, one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_differ_are_told_with_both_values() {
        let before = json!({"name": "Cup", "price": 9, "plans": [{"price": 1}], "gone": "x", "tags": []});
        let now = json!({"name": "Cup", "price": 8.5, "plans": [{"price": 1}, {"price": 2}], "tags": []});
        assert_eq!(
            changes(&before, &now),
            json!({"price": {"previous": 9, "current": 8.5}, "gone": {"previous": "x", "current": null},
                "plans[1].price": {"previous": null, "current": 2}})
        );
        assert_eq!(changes(&now, &now), json!({}));
    }
}
