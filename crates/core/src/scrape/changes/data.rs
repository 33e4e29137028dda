//! Compares two versions of extracted data field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::change_report::FieldChange;
use crate::limits;

/// Returns the fields that differ, by path (`plans[0].price`), with both values; null for a missing one.
pub(super) fn changes(before: &Value, now: &Value) -> BTreeMap<String, FieldChange> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    fields(before, String::new(), &mut old);
    fields(now, String::new(), &mut new);
    let mut changed = BTreeMap::new();
    for path in old.keys().chain(new.keys()) {
        let (previous, current) = (old.get(path), new.get(path));
        if previous != current && changed.len() < limits::MAX_CHANGED_FIELDS {
            let value = |value: Option<&&Value>| value.map_or(Value::Null, |value| (*value).clone());
            let change = FieldChange {
                previous: value(previous),
                current: value(current),
            };
            changed.insert(path.clone(), change);
        }
    }
    changed
}

/// Collects the scalars and empty containers below a value. The depth of the value is limited by its parser.
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
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_fields_are_listed_with_both_values() {
        let before = json!({"name": "Cup", "price": 9, "plans": [{"price": 1}], "gone": "x", "tags": []});
        let now = json!({"name": "Cup", "price": 8.5, "plans": [{"price": 1}, {"price": 2}], "tags": []});
        assert_eq!(
            json!(changes(&before, &now)),
            json!({"price": {"previous": 9, "current": 8.5}, "gone": {"previous": "x", "current": null},
                "plans[1].price": {"previous": null, "current": 2}})
        );
        assert!(changes(&now, &now).is_empty());
    }
}
