//! Converts between the text of a form control and a JSON value. Invalid numbers stay text, so that the core can
//! report the error.

use serde_json::{Map, Number, Value};

use crate::display;
use crate::fields::Kind;

/// Parses the text of a control; empty text is no value.
pub fn parse(kind: Kind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    Some(match kind {
        Kind::Number(_) => number(trimmed).map_or_else(|| Value::from(trimmed), Value::Number),
        Kind::Lines => lines(text).map(Value::from).collect(),
        Kind::Pairs => lines(text)
            .map(|line| {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                (name.trim().to_owned(), Value::from(value.trim()))
            })
            .collect::<Map<_, _>>()
            .into(),
        Kind::LongText => Value::from(text),
        Kind::Json => serde_json::from_str(trimmed).unwrap_or_else(|_| Value::from(trimmed)),
        Kind::Text
        | Kind::Switch
        | Kind::MaybeSwitch
        | Kind::Words(_)
        | Kind::Choices(_)
        | Kind::Set(_)
        | Kind::Schema
        | Kind::Actions => Value::from(trimmed),
    })
}

/// Parses JSON.
///
/// # Errors
/// The message starts with line and column.
pub fn parse_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column, words) = (error.line(), error.column(), error.to_string());
        let words = words.split(" at line ").next().unwrap_or_default();
        format!("Line {line}, column {column}: {words}")
    })
}

/// Formats a value as the text of a control.
pub fn format_value(kind: Kind, value: Option<&Value>) -> String {
    match (kind, value) {
        (_, None | Some(Value::Null)) => String::new(),
        (Kind::Lines, Some(Value::Array(items))) => join(items.iter().map(plain)),
        (Kind::Pairs, Some(Value::Object(pairs))) => join(
            pairs
                .iter()
                .map(|(name, value)| format!("{name}: {}", plain(value))),
        ),
        (Kind::Json, Some(value @ (Value::Array(_) | Value::Object(_)))) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
        (_, Some(value)) => plain(value),
    }
}

/// Returns the sentence about the default for the help text.
pub fn default_text(kind: Kind, default: Option<&Value>) -> String {
    match (kind, default) {
        (Kind::Switch, Some(Value::Bool(on))) => format!("Default: {}.", if *on { "on" } else { "off" }),
        (Kind::Switch, None) => "Default: off.".to_owned(),
        (Kind::MaybeSwitch | Kind::Choices(_), _) => String::new(),
        (Kind::Number(unit), Some(Value::Number(number))) => {
            let number = number.as_u64().map_or_else(|| number.to_string(), display::count);
            format!("Default: {number} {unit}").trim_end().to_owned() + "."
        }
        (Kind::Number("") | Kind::Text | Kind::LongText | Kind::Lines | Kind::Pairs | Kind::Set(_), None) => {
            "No default.".to_owned()
        }
        (Kind::Number(unit), None) => format!("Unit: {unit}. No default."),
        (_, Some(Value::Array(items))) if items.is_empty() => "No default.".to_owned(),
        (_, Some(Value::Array(items))) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("Default: {}.", items.join(", "))
        }
        (_, Some(Value::Object(_)) | None) => "No default.".to_owned(),
        (_, Some(value)) => format!("Default: {}.", plain(value)),
    }
}

fn number(text: &str) -> Option<Number> {
    match text.parse::<u64>() {
        Ok(number) => Some(number.into()),
        Err(_) => Number::from_f64(text.parse().ok()?),
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join("\n")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(kind: Kind, text: &str, value: Value) {
        assert_eq!(parse(kind, text), Some(value.clone()));
        assert_eq!(parse(kind, &format_value(kind, Some(&value))), Some(value));
    }

    #[test]
    fn text_and_values_convert_both_ways() {
        check(Kind::Number("ms"), "5000", json!(5000));
        check(Kind::Number("seconds"), "0.5", json!(0.5));
        check(Kind::Number(""), "many", json!("many"));
        check(Kind::Lines, " /a \n\n/b", json!(["/a", "/b"]));
        check(
            Kind::Pairs,
            "Cookie: a=b; c=d:e\nX-A:1",
            json!({"Cookie": "a=b; c=d:e", "X-A": "1"}),
        );
        check(Kind::Text, " DE ", json!("DE"));
        check(Kind::Json, "[{\"a\": 1}]", json!([{"a": 1}]));
        check(Kind::Json, "[half", json!("[half"));
        assert_eq!(parse(Kind::Lines, "  \n "), None);
    }

    #[test]
    fn json_errors_start_with_line_and_column() {
        assert_eq!(parse_json("{\"a\": [1]}"), Ok(json!({"a": [1]})));
        let wrong = parse_json("{\n  \"a\": b\n}").unwrap_err();
        assert_eq!(wrong, "Line 2, column 8: expected value");
    }

    #[test]
    fn defaults_are_shown_with_their_unit() {
        assert_eq!(
            default_text(Kind::Number("ms"), Some(&json!(60_000))),
            "Default: 60,000 ms."
        );
        assert_eq!(default_text(Kind::Number(""), None), "No default.");
        assert_eq!(default_text(Kind::Switch, Some(&json!(true))), "Default: on.");
    }
}
