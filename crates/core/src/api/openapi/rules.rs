//! What the field tables do not say about request bodies: patterns of texts, and rules between fields. The readers in
//! `crate::api` decide; the test `bodies_match_the_document` of the server compares both. Rules that JSON Schema cannot
//! express, such as that `waitFor` is at most half of `timeout`, are left out.

use serde_json::{Map, Value, json};

use crate::api::country;
use crate::api::fields::{Field, Slot};
use crate::limits::{DEFAULT_MAX_AGE_MS, DEFAULT_SCRAPE_TIMEOUT_MS, MAX_MONITOR_PAGES, MAX_TARGET_HEADERS};

const LANGUAGE: &str = "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$";
const HEADER_NAME: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
const HEADER_VALUE: &str = r"^[^\x00-\x08\x0a-\x1f\x7f-\x9f]*$";
const HOST: &str = r"^([A-Za-z0-9._*-]|[^\x00-\x7F])+$";
const TIME_FILTER: &str = concat!(
    r"^(\s*(qdr:[hdwmy][0-9]*|(cdr|sbd):[01]|cd_(min|max):[0-9]{1,4}/[0-9]{1,4}/[0-9]{1,4})\s*(,",
    r"\s*(qdr:[hdwmy][0-9]*|(cdr|sbd):[01]|cd_(min|max):[0-9]{1,4}/[0-9]{1,4}/[0-9]{1,4})\s*)*)?$"
);
/// Names of the action `pdf`.
const PDF_NAMES: [&str; 2] = ["pdf", "generatePDF"];
/// Keywords that describe a value and do not restrict it.
const ANNOTATIONS: [&str; 4] = ["default", "deprecated", "description", "examples"];

/// Completes the schema of the request `name`.
pub(super) fn complete(name: &str, fields: &[Field], schema: &mut Value) {
    let properties = &mut schema["properties"];
    for field in fields {
        restrict(field.name, &mut properties[field.name]);
    }
    match name {
        "ParseOptions" | "ParseUploadRequest" => restrict_for_uploads(properties),
        "CrawlOptions" => restrict_for_monitors(properties),
        "PdfAction" => properties["type"] = json!({ "enum": PDF_NAMES }),
        _ => {}
    }
    for field in fields.iter().filter(|field| !field.required) {
        accept_null(&mut properties[field.name]);
    }
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let of = |field: &str, kind: Value| json!({ "required": [field], "properties": { field: kind } });
    let text = |field: &str| of(field, json!({ "type": "string", "minLength": 1 }));
    let filled = json!({ "type": "array", "minItems": 1 });
    let between = match name {
        "InteractRequest" => json!({ "oneOf": [text("code"), text("prompt")] }),
        "Schedule" => json!({ "oneOf": [text("cron"), text("text")] }),
        "JsonFormat" => json!({ "anyOf": [text("prompt"), of("schema", json!({ "type": "object" }))] }),
        "ExtractRequest" => json!({ "anyOf": [of("urls", filled), text("prompt")] }),
        "CrawlRequest" | "CrawlOptions" => json!({ "not": {
            "required": ["ignoreSitemap", "sitemap"],
            "properties": { "ignoreSitemap": { "const": true }, "sitemap": { "enum": ["include", "only"] } },
        } }),
        "SearchRequest" => json!({ "not": {
            "required": ["includeDomains", "excludeDomains"],
            "properties": { "includeDomains": filled, "excludeDomains": filled },
        } }),
        _ if has("formats") && has("lockdown") => json!({ "allOf": [
            {
                "if": { "required": ["formats"], "properties": { "formats": {
                    "type": "array", "contains": format("changeTracking"),
                } } },
                "then": { "properties": { "lockdown": { "enum": [false, null] }, "minAge": { "type": "null" } } },
            },
            {
                "if": { "required": ["redactPII"], "properties": { "redactPII": {
                    "type": ["boolean", "object"], "not": { "const": false },
                } } },
                "then": { "properties": {
                    "formats": { "not": { "contains": { "anyOf": [format("screenshot"), format("rawBase64")] } } },
                    "actions": { "not": { "contains": { "required": ["type"], "properties": {
                        "type": { "enum": ["screenshot", PDF_NAMES[0], PDF_NAMES[1]] },
                    } } } },
                } },
            },
            {
                "if": { "properties": { "timeout": { "type": "null" } } },
                "then": { "properties": { "waitFor": { "maximum": DEFAULT_SCRAPE_TIMEOUT_MS / 2 } } },
            },
        ] }),
        _ => return,
    };
    merge(schema, between);
}

/// Returns whether a request needs a body although none of its fields is required.
pub(super) fn needs_body(name: &str) -> bool {
    matches!(name, "InteractRequest" | "ExtractRequest")
}

/// Gives an integer without an upper bound the largest one that the readers accept.
pub(super) fn bound(schema: &mut Value) {
    if schema["type"] == "integer" && schema.get("maximum").is_none() {
        schema["maximum"] = Slot::UNBOUNDED.into();
    }
}

/// Restricts a field that has the same values in every request.
fn restrict(field: &str, property: &mut Value) {
    let pattern = match field {
        "country" => country_pattern(),
        "languages" => LANGUAGE.to_owned(),
        "includeDomains" | "excludeDomains" => HOST.to_owned(),
        "tbs" => TIME_FILTER.to_owned(),
        "includePaths" | "excludePaths" => {
            property["items"]["format"] = "regex".into();
            return;
        }
        "headers" => {
            let rules = json!({
                "maxProperties": MAX_TARGET_HEADERS,
                "propertyNames": { "pattern": HEADER_NAME },
                "additionalProperties": { "type": "string", "pattern": HEADER_VALUE },
            });
            return merge(property, rules);
        }
        "formats" => {
            let rules = json!({
                "contains": format("screenshot"), "minContains": 0, "maxContains": 1,
                "if": { "contains": format("changeTracking") },
                "then": { "contains": format("markdown") },
            });
            return merge(property, rules);
        }
        _ => return bound(property),
    };
    match property["type"] == "array" {
        true => property["items"]["pattern"] = pattern.into(),
        false => property["pattern"] = pattern.into(),
    }
}

/// Restricts the scrape options that make no sense for an uploaded file to their defaults.
fn restrict_for_uploads(properties: &mut Value) {
    for (field, rules) in [
        ("actions", json!({ "maxItems": 0 })),
        ("location", json!({ "maxProperties": 0 })),
        ("maxAge", json!({ "const": DEFAULT_MAX_AGE_MS })),
        ("waitFor", json!({ "const": 0 })),
        ("mobile", json!({ "const": false })),
        ("lockdown", json!({ "const": false })),
        ("storeInCache", json!({ "const": true })),
        ("proxy", json!({ "enum": ["basic", "auto"] })),
    ] {
        let property = &mut properties[field];
        if let Value::Object(keywords) = property {
            keywords.remove("examples");
        }
        merge(property, rules);
    }
    for field in ["minAge", "profile"] {
        properties[field] = json!({ "type": "null", "description": "Not available for uploaded files." });
    }
    let kinds = ["screenshot", "changeTracking", "branding"].map(format);
    merge(
        &mut properties["formats"],
        json!({ "not": { "contains": { "anyOf": kinds } } }),
    );
}

/// Restricts the options of a crawl that a monitor cannot have.
fn restrict_for_monitors(properties: &mut Value) {
    for field in ["prompt", "webhook"] {
        properties[field] = json!({ "type": "null", "description": "Not available for monitors." });
    }
    merge(&mut properties["zeroDataRetention"], json!({ "const": false }));
    merge(&mut properties["limit"], json!({ "maximum": MAX_MONITOR_PAGES }));
}

/// Returns the schema of a format with this name.
fn format(kind: &str) -> Value {
    json!({ "anyOf": [
        { "const": kind },
        { "type": "object", "required": ["type"], "properties": { "type": { "const": kind } } },
    ] })
}

/// Returns a pattern of the country codes in any letter case: `^([Aa][DdEe]|[Bb][Aa])$`.
fn country_pattern() -> String {
    let any_case = |letter: char| [letter, letter.to_ascii_lowercase()];
    let mut groups: Vec<(char, String)> = Vec::new();
    for code in country::codes() {
        let mut letters = code.chars();
        let (Some(first), Some(second)) = (letters.next(), letters.next()) else {
            continue;
        };
        if groups.last().is_none_or(|(last, _)| *last != first) {
            groups.push((first, String::new()));
        }
        if let Some((_, seconds)) = groups.last_mut() {
            seconds.extend(any_case(second));
        }
    }
    let groups: Vec<String> = groups
        .into_iter()
        .map(|(first, seconds)| format!("[{}][{seconds}]", String::from_iter(any_case(first))))
        .collect();
    format!("^({})$", groups.join("|"))
}

/// Says in each rule that an object may have further properties. Linters assume the opposite where nothing is said.
fn allow_others(rule: &mut Value) {
    match rule {
        Value::Object(keywords) => {
            if keywords.contains_key("properties") {
                keywords.insert("additionalProperties".to_owned(), true.into());
            }
            keywords.values_mut().for_each(allow_others);
        }
        Value::Array(rules) => rules.iter_mut().for_each(allow_others),
        _ => {}
    }
}

/// Makes a schema accept `null`, which counts as an absent field.
fn accept_null(property: &mut Value) {
    let Value::Object(keywords) = property else {
        return;
    };
    let is_fixed = ["$ref", "anyOf", "const"]
        .iter()
        .any(|keyword| keywords.contains_key(*keyword));
    if is_fixed {
        let annotations: Map<String, Value> = ANNOTATIONS
            .iter()
            .filter_map(|keyword| keywords.remove_entry(*keyword))
            .collect();
        let mut kinds = match (keywords.len(), keywords.get_mut("anyOf").map(Value::take)) {
            (1, Some(Value::Array(kinds))) => kinds,
            (_, Some(kinds)) => {
                keywords.insert("anyOf".to_owned(), kinds);
                vec![keywords.clone().into()]
            }
            (_, None) => vec![keywords.clone().into()],
        };
        if kinds.iter().all(|kind| kind["type"] != "null") {
            kinds.push(json!({ "type": "null" }));
        }
        *keywords = annotations;
        keywords.insert("anyOf".to_owned(), kinds.into());
        return;
    }
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.push(Value::Null);
    }
    if let Some(kind) = keywords.get_mut("type")
        && kind.is_string()
        && kind != "null"
    {
        *kind = json!([kind.take(), "null"]);
    }
}

/// Adds keywords to a schema.
fn merge(schema: &mut Value, mut more: Value) {
    allow_others(&mut more);
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        schema.extend(more);
    }
}
