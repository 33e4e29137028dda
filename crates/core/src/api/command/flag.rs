//! Fields as flags: `regexOnFullURL` is `--regex-on-full-url`, a list is comma-separated words or JSON, a
//! nested value is JSON. Text that does not parse as the kind of its field stays a string, and the request
//! parser reports the problem.

use serde_json::Value;

use crate::api::body::Node;
use crate::api::fields::FieldKind;

/// Returns the flag of a field, without the dashes.
pub fn flag(field: &str) -> String {
    let mut flag = String::with_capacity(field.len() + 4);
    let mut inside_capitals = true;
    for c in field.chars() {
        if c.is_ascii_uppercase() && !inside_capitals {
            flag.push('-');
        }
        inside_capitals = c.is_ascii_uppercase();
        flag.push(c.to_ascii_lowercase());
    }
    flag
}

/// Converts the texts of a flag to a value. Lists use every text, other kinds the last one.
pub fn value<'t>(kind: FieldKind, texts: impl Iterator<Item = &'t str>) -> Value {
    if kind == FieldKind::List {
        return texts.flat_map(list).collect();
    }
    let text = texts.last().unwrap_or_default();
    match kind {
        FieldKind::Text | FieldKind::Word(_) => text.into(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// Parses `a,b`, `["a","b"]` or `{"type":"a"}`.
fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => list,
        Ok(object @ Value::Object(_)) => vec![object],
        _ => {
            let words = text.split(',').map(str::trim);
            words.filter(|word| !word.is_empty()).map(Value::from).collect()
        }
    }
}

/// Returns a list as comma-separated words, or `None` if it is empty or an element is not a plain word.
pub fn words(items: &[Node]) -> Option<String> {
    let words: Option<Vec<&str>> = items.iter().map(plain).collect();
    words
        .filter(|words| !words.is_empty())
        .map(|words| words.join(","))
}

fn plain(item: &Node) -> Option<&str> {
    let Node::Value(Value::String(text)) = item else {
        return None;
    };
    let is_plain =
        !text.is_empty() && text.trim() == text && !text.starts_with(['[', '{']) && !text.contains(',');
    is_plain.then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::body::ToNode;

    #[test]
    fn names_become_flags() {
        for (field, expected) in [
            ("url", "url"),
            ("maxDiscoveryDepth", "max-discovery-depth"),
            ("regexOnFullURL", "regex-on-full-url"),
            ("ignoreInvalidURLs", "ignore-invalid-urls"),
            ("strictConstrainToURLs", "strict-constrain-to-urls"),
            ("removeBase64Images", "remove-base64-images"),
            ("redactPII", "redact-pii"),
        ] {
            assert_eq!(flag(field), expected);
        }
    }

    #[test]
    fn texts_become_the_json_that_a_field_takes() {
        let check = |kind, texts: &[&str], expected: Value| {
            assert_eq!(value(kind, texts.iter().copied()), expected, "{texts:?}");
        };
        check(FieldKind::Text, &["5"], json!("5"));
        check(FieldKind::Word(&["skip"]), &["true"], json!("true"));
        check(FieldKind::Number, &["5"], json!(5));
        check(FieldKind::Number, &["many"], json!("many"));
        check(FieldKind::Bool, &["false"], json!(false));
        check(FieldKind::Object, &[r#"{"a":[1]}"#], json!({"a": [1]}));
        check(FieldKind::Any, &["https://a.test/"], json!("https://a.test/"));
        check(FieldKind::Any, &[r#"{"url":"x"}"#], json!({"url": "x"}));
        check(FieldKind::List, &["a, b", "c"], json!(["a", "b", "c"]));
        check(
            FieldKind::List,
            &[r#"["a,b"]"#, r#"{"type":"x"}"#],
            json!(["a,b", {"type": "x"}]),
        );
        check(FieldKind::List, &[""], json!([]));
    }

    #[test]
    fn only_plain_words_are_written_with_commas() {
        let check = |texts: &[&str], expected: Option<&str>| {
            let nodes: Vec<Node> = texts.iter().map(|text| text.to_node()).collect();
            assert_eq!(words(&nodes).as_deref(), expected);
            if let Some(written) = expected {
                assert_eq!(value(FieldKind::List, std::iter::once(written)), json!(texts));
            }
        };
        check(&["markdown", "links"], Some("markdown,links"));
        check(&["a[href]", "#b"], Some("a[href],#b"));
        check(&["[data-x]"], None);
        check(&["a,b"], None);
        check(&[" a"], None);
        check(&["a", ""], None);
        check(&[], None);
    }
}
