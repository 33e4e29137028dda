//! Properties that hold for every field of every request.

use std::collections::BTreeSet;

use harvestman_core::api::{ErrorCode, Wire};
use serde_json::{Value, json};

use crate::field::Field;

/// Checks all fields of a request except those of `base`, as [`check_some`] does, and that each is declared once.
#[track_caller]
pub(crate) fn check<R: Wire + PartialEq + std::fmt::Debug>(base: Value, fields: Vec<Field>) {
    let declared = R::fields();
    let names: BTreeSet<&str> = declared.iter().map(|field| field.name).collect();
    assert_eq!(names.len(), declared.len(), "{} declares a field twice", R::NAME);
    for declared in declared.iter().filter(|declared| !declared.hidden) {
        let name = declared.name;
        let is_checked = base.get(name).is_some() || fields.iter().any(|field| field.name == name);
        assert!(
            is_checked,
            "`{name}` of {} has no values to check it with",
            R::NAME
        );
    }
    check_some::<R>(base, fields);
}

/// Checks each of these fields in an otherwise valid body: good values survive parsing and writing; bad ones are
/// reported with their path; null counts as absent; a misspelled name is unknown.
#[track_caller]
pub(crate) fn check_some<R: Wire + PartialEq + std::fmt::Debug>(base: Value, fields: Vec<Field>) {
    R::from_value(base.clone()).unwrap_or_else(|error| panic!("{base}: {error}"));
    let with = |name: &str, value: &Value| {
        let mut body = base.clone();
        body[name] = value.clone();
        body
    };
    let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
    for field in &fields {
        for good in &field.good {
            let read = R::from_value(with(field.name, good))
                .unwrap_or_else(|error| panic!("{} {}: {error}", field.name, short(good)));
            let sent = serde_json::to_value(read.to_body()).unwrap();
            let again =
                R::from_value(sent.clone()).unwrap_or_else(|error| panic!("{}: {error}", short(&sent)));
            assert_eq!(
                serde_json::to_value(again.to_body()).unwrap(),
                sent,
                "{}",
                field.name
            );
        }
        for bad in &field.bad {
            let error = match R::from_value(with(field.name, bad)) {
                Ok(_) => panic!("{} accepts {}", field.name, short(bad)),
                Err(error) => error,
            };
            assert_eq!(error.code, ErrorCode::BadRequest);
            assert_eq!(error.status(), 400);
            let details = error.details.expect("validation errors have details");
            let details = details.as_array().unwrap();
            assert!(!details.is_empty());
            for detail in details {
                assert_eq!(detail["path"][0], field.name, "{}: {details:?}", short(bad));
                assert!(detail["message"].as_str().is_some_and(|text| !text.is_empty()));
            }
            assert!(
                error.message.starts_with(&format!("`{}", field.name)),
                "{}",
                error.message
            );
            assert!(error.message.len() < 500, "{}", error.message);
        }
        if base.get(field.name).is_none() {
            let absent = R::from_value(base.clone()).unwrap();
            assert_eq!(
                R::from_value(with(field.name, &Value::Null)).unwrap(),
                absent,
                "{}",
                field.name
            );
        }
        let wrong = format!("{}x", field.name);
        let error = R::from_value(with(&wrong, &field.good[0])).unwrap_err();
        assert!(
            error.message.starts_with(&format!("`{wrong}`")),
            "{}",
            error.message
        );
        assert!(
            error.message.contains(&format!("`{}`", field.name)),
            "{}",
            error.message
        );
        R::from_value(with(&format!("__{}", field.name), &json!("anything"))).unwrap();
    }
}

/// Checks that each field is required and reported if it is missing or null.
#[track_caller]
pub(crate) fn check_required<R: Wire>(base: Value, names: &[&str]) {
    for name in names {
        let mut body = base.clone();
        body[*name] = Value::Null;
        let null = R::from_value(body.clone())
            .err()
            .unwrap_or_else(|| panic!("{name} may be null"));
        body.as_object_mut().unwrap().remove(*name);
        let missing = R::from_value(body)
            .err()
            .unwrap_or_else(|| panic!("{name} may be missing"));
        for error in [null, missing] {
            assert!(
                error.message.starts_with(&format!("`{name}` is required")),
                "{}",
                error.message
            );
        }
    }
}
