//! Assertions about JSON, also for the tests of the server's crate.

use serde_json::Value;

/// Asserts that the string at a pointer (RFC 6901) contains `part`; a failure prints all of `json`.
#[track_caller]
pub fn assert_contains(json: &Value, pointer: &str, part: &str) {
    let text = json.pointer(pointer).and_then(Value::as_str);
    assert!(
        text.is_some_and(|text| text.contains(part)),
        "no `{part}` at {pointer} of {json}"
    );
}

/// Asserts that the fields of `json` that `expected` lists have its values. A field that is missing counts as null.
#[track_caller]
pub fn assert_fields(json: &Value, expected: Value) {
    for (name, value) in expected.as_object().expect("an object of fields") {
        assert_eq!(json[name], *value, "`{name}` of {json}");
    }
}
