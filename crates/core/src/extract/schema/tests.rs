use serde_json::json;

use super::*;

fn schema(schema: Value) -> Schema {
    match schema {
        Value::Object(map) => Schema::new(map),
        other => panic!("{other} is not a schema"),
    }
}

#[track_caller]
fn check(wanted: Value, good: &[Value], bad: &[(Value, &str)]) {
    let schema = schema(wanted);
    for value in good {
        assert_eq!(schema.violations(value), Vec::<String>::new(), "{value}");
    }
    for (value, why) in bad {
        let found = schema.violations(value).join(" ");
        assert!(
            found.contains(why) && !found.is_empty(),
            "{value}: {found:?} has no {why:?}"
        );
    }
}

#[test]
fn types_and_required_properties_are_checked() {
    check(
        json!({"type": "object", "required": ["name", "price"], "additionalProperties": false, "properties": {
            "name": {"type": "string", "minLength": 1}, "price": {"type": ["number", "null"]},
            "count": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2}}}),
        &[
            json!({"name": "a", "price": 1.5}),
            json!({"name": "a", "price": null, "count": 5.0, "tags": ["x"]}),
        ],
        &[
            (json!([]), "The value must be object."),
            (json!({"name": "a"}), "/price is required."),
            (json!({"name": 5, "price": 1}), "/name must be string."),
            (
                json!({"name": "", "price": 1}),
                "/name must have at least 1 characters.",
            ),
            (
                json!({"name": "a", "price": "1"}),
                "/price must be number or null.",
            ),
            (
                json!({"name": "a", "price": 1, "count": 1.5}),
                "/count must be integer.",
            ),
            (
                json!({"name": "a", "price": 1, "tags": ["x", 1]}),
                "/tags/1 must be string.",
            ),
            (
                json!({"name": "a", "price": 1, "tags": ["x", "y", "z"]}),
                "/tags must have at most 2 items.",
            ),
            (
                json!({"name": "a", "price": 1, "more": 1}),
                "/more is not allowed.",
            ),
        ],
    );
}

#[test]
fn enums_formats_and_bounds_are_checked() {
    check(
        json!({"properties": {"a": {"enum": ["x", 1]}, "b": {"const": true}, "c": {"format": "date"}, "d": {"format": "uri"},
            "e": {"pattern": "^[a-z]+$"}, "f": {"minimum": 1, "exclusiveMaximum": 3, "multipleOf": 0.5},
            "g": {"format": "date-time"}, "h": {"uniqueItems": true, "contains": {"const": 1}}, "i": {"format": "email"}}}),
        &[
            json!({"a": "x", "b": true, "c": "2026-01-31", "d": "https://a.test/", "e": "abc", "f": 2.5}),
            json!({"a": 1.0, "g": "2026-01-31T10:00:00Z", "h": [1, 2], "i": "a@b.test"}),
        ],
        &[
            (json!({"a": "y"}), "/a must be one of \"x\", 1."),
            (json!({"b": false}), "/b must be true."),
            (json!({"c": "31.1.2026"}), "/c must have the format date."),
            (json!({"c": "2026-13-31"}), "/c must have"),
            (json!({"d": "/x"}), "/d must have the format uri."),
            (json!({"e": "A"}), "/e must match"),
            (json!({"f": 0.5}), "/f must be at least 1."),
            (json!({"f": 3}), "/f must be less than 3."),
            (json!({"f": 1.2}), "/f must be a multiple"),
            (json!({"g": "2026-01-31"}), "/g must have"),
            (json!({"h": [1, 1]}), "/h must not have duplicate items."),
            (json!({"h": [2]}), "/h does not contain"),
            (json!({"i": "nobody"}), "/i must have"),
        ],
    );
}

#[test]
fn combinators_and_references_are_checked() {
    check(
        json!({"$defs": {"node": {"type": "object", "required": ["v"], "properties": {
                "v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}},
            "allOf": [{"$ref": "#/$defs/node"}], "not": {"required": ["bad"]},
            "if": {"properties": {"v": {"const": 1}}}, "then": {"required": ["next"]}}),
        &[json!({"v": 2}), json!({"v": 1, "next": {"v": 3, "next": null}})],
        &[
            (json!({"v": 1}), "/next is required."),
            (json!({"v": 2, "next": {"v": "x"}}), "/next/v must be integer."),
            (json!({"v": 2, "bad": 1}), "`not`"),
        ],
    );
    check(
        json!({"oneOf": [{"type": "integer"}, {"minimum": 5}]}),
        &[json!(1), json!(5.5)],
        &[(json!(5), "matches 2 schemas"), (json!(1.5), "matches 0 schemas")],
    );
}

#[test]
fn unchecked_keywords_are_reported() {
    let schema = schema(
        json!({"properties": {"pattern": {"type": "string"}, "a": {"pattern": "(?=x)"},
        "b": {"$ref": "https://a.test/x.json"}, "c": {"unevaluatedProperties": false}}}),
    );
    assert_eq!(
        schema.unchecked(),
        [
            "$ref https://a.test/x.json", "pattern (?=x)", "unevaluatedProperties"
        ]
    );
}

#[test]
fn recursive_schemas_take_bounded_work() {
    for hostile in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
    ] {
        // Any result is fine as long as it returns.
        let _ = schema(hostile).violations(&json!({"a": [1, 2, 3]}));
    }
    let nested = schema(json!({"items": {"$ref": "#"}, "type": "array"}));
    let deep: Value = serde_json::from_str(&format!("{}{}", "[".repeat(100), "]".repeat(100))).unwrap();
    assert!(!nested.violations(&deep).is_empty());
}

#[test]
fn unknown_properties_are_removed() {
    let closed = schema(
        json!({"properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
        "$defs": {"x": {"properties": {"b": {}}}}}),
    );
    let mut value = json!({"a": [{"b": 1, "c": 2}], "d": 3});
    assert_eq!(closed.prune(&mut value), ["c", "d"]);
    assert_eq!(value, json!({"a": [{"b": 1}]}));
    for open in [
        json!({"properties": {"a": {}}, "additionalProperties": true}),
        json!({"properties": {"a": {}}, "allOf": [{"properties": {"d": {}}}]}),
        json!({"type": "object"}),
    ] {
        let mut value = json!({"d": 3});
        assert!(schema(open).prune(&mut value).is_empty());
        assert_eq!(value, json!({"d": 3}));
    }
}

#[test]
fn a_relaxed_schema_allows_partial_results() {
    let whole = schema(json!({"required": ["a"], "properties": {
        "a": {"type": "object", "required": ["b"], "properties": {"b": {}}},
        "list": {"type": "array", "minItems": 1, "items": {"required": ["c"]}}}}));
    let part = Schema::new(whole.relaxed());
    for value in [json!({}), json!({"a": {}, "list": []})] {
        assert!(!whole.violations(&value).is_empty());
        assert!(part.violations(&value).is_empty());
    }
    assert!(!part.violations(&json!({"list": [{}]})).is_empty());
}
