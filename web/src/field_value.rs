//! Converts between the text of a form control and a JSON value. Invalid numbers stay text, so that the core can
//! report the error.

use serde_json::{Map, Number, Value};

use crate::display;
use crate::fields::Kind;

/// Parses the text of a control; empty text means no value.
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

/// Returns the sentence that follows the help of a field: its default, or its unit if there is no default or the help
/// already states the default.
pub fn default_text(kind: Kind, default: Option<&Value>, help: &str) -> String {
    let default = (!help.contains("Default: "))
        .then(|| shown_default(kind, default))
        .flatten();
    match (default, kind) {
        (Some(default), _) => format!("Default: {default}."),
        (None, Kind::Number(unit)) if !unit.is_empty() => format!("Unit: {unit}."),
        (None, _) => String::new(),
    }
}

fn shown_default(kind: Kind, default: Option<&Value>) -> Option<String> {
    match (kind, default) {
        (Kind::MaybeSwitch | Kind::Choices(_), _) => None,
        (Kind::Switch, default) => Some(
            if default == Some(&Value::Bool(true)) {
                "on"
            } else {
                "off"
            }
            .to_owned(),
        ),
        (Kind::Number(unit), Some(Value::Number(number))) => Some(quantity(number, unit)),
        (_, None | Some(Value::Object(_))) => None,
        (_, Some(Value::Array(items))) => {
            (!items.is_empty()).then(|| items.iter().map(plain).collect::<Vec<_>>().join(", "))
        }
        (_, Some(value)) => Some(plain(value)),
    }
}

/// Formats a number with its unit; a long time also in larger units.
fn quantity(number: &Number, unit: &str) -> String {
    let digits = number.as_u64().map_or_else(|| number.to_string(), display::count);
    let text = format!("{digits} {unit}").trim_end().to_owned();
    let seconds = match unit {
        "ms" => number.as_f64().map(|ms| ms / 1000.0),
        "seconds" => number.as_f64(),
        _ => None,
    };
    match seconds {
        Some(seconds) if seconds >= 60.0 => format!("{text} ({})", display::duration(seconds)),
        _ => text,
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
    fn help_states_each_default_once() {
        let check = |kind, default: Option<Value>, help, expected: &str| {
            assert_eq!(default_text(kind, default.as_ref(), help), expected);
        };
        let ms = Kind::Number("ms");
        check(
            ms,
            Some(json!(60_000)),
            "Time limit.",
            "Default: 60,000 ms (1 min).",
        );
        check(ms, Some(json!(0)), "Wait.", "Default: 0 ms.");
        check(ms, Some(json!(172_800_000)), "Age. Default: 2 days.", "Unit: ms.");
        check(
            Kind::Number("pages"),
            None,
            "Maximum. Default: 20.",
            "Unit: pages.",
        );
        check(Kind::Number(""), None, "Links.", "");
        check(Kind::Lines, Some(json!([])), "Hosts. Empty: all.", "");
        check(
            Kind::Set(&["pdf"]),
            Some(json!(["pdf"])),
            "Parsers.",
            "Default: pdf.",
        );
        check(Kind::Switch, Some(json!(true)), "Block ads.", "Default: on.");
    }
}
