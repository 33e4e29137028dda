//! Parses the response of a language model leniently and validates it strictly against the schema. An invalid
//! response yields complaints to send back to the model.

use serde_json::Value;

use super::Schema;

/// A valid response.
#[derive(Clone, PartialEq, Debug)]
pub struct ValidResponse {
    /// The extracted data.
    pub value: Value,
    /// Properties that are not in the schema and were removed.
    pub removed: Vec<String>,
}

/// Parses a response. Fills its gaps from `stated` where the result stays valid. Without a schema, the response must
/// be an object or an array.
///
/// # Errors
/// One sentence per problem.
pub fn parse(
    text: &str,
    schema: Option<&Schema>,
    stated: Option<&Value>,
) -> Result<ValidResponse, Vec<String>> {
    let Some(mut value) = json_in(text) else {
        return Err(vec!["The answer is not JSON.".to_owned()]);
    };
    let Some(schema) = schema else {
        return match value.is_object() || value.is_array() {
            true => Ok(ValidResponse {
                value,
                removed: Vec::new(),
            }),
            false => Err(vec!["The answer is not a JSON object or array.".to_owned()]),
        };
    };
    let removed = schema.prune(&mut value);
    if let Some(stated) = stated {
        let mut filled = value.clone();
        fill_gaps(&mut filled, stated);
        if filled != value && schema.violations(&filled).is_empty() {
            value = filled;
        }
    }
    let violations = schema.violations(&value);
    match violations.is_empty() {
        true => Ok(ValidResponse { value, removed }),
        false => Err(violations),
    }
}

/// Finds the JSON in a text: the whole text, a fenced block, or everything from the first to the last bracket.
fn json_in(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let fenced = text.split_once("```").and_then(|(_, rest)| {
        let inside = rest.split_once('\n')?.1;
        serde_json::from_str(inside.split_once("```")?.0.trim()).ok()
    });
    fenced.or_else(|| {
        let start = text.find(['{', '['])?;
        let end = text.rfind(['}', ']'])?;
        serde_json::from_str(text.get(start..=end)?).ok()
    })
}

/// Adds properties that are missing or null, recursively.
fn fill_gaps(value: &mut Value, stated: &Value) {
    let (Value::Object(object), Value::Object(stated)) = (value, stated) else {
        return;
    };
    for (name, known) in stated.iter().filter(|(_, known)| !known.is_null()) {
        match object.get_mut(name) {
            Some(Value::Null) | None => {
                object.insert(name.clone(), known.clone());
            }
            Some(inner) => fill_gaps(inner, known),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let schema = json!({"type": "object", "required": ["price"],
            "properties": {"name": {"type": "string"}, "price": {"type": "number"}, "sku": {"type": ["string", "null"]}}});
        Schema::new(schema.as_object().cloned().unwrap())
    }

    #[test]
    fn a_valid_answer_is_found_in_surrounding_text() {
        for text in [
            r#"{"name":"Cup","price":9.5}"#,
            "Here it is:\n```json\n{\"name\":\"Cup\",\"price\":9.5}\n```\nGood luck!",
            "Sure: {\"name\":\"Cup\",\"price\":9.5} is the answer",
        ] {
            let answer = parse(text, Some(&schema()), None).unwrap();
            assert_eq!(answer.value, json!({"name": "Cup", "price": 9.5}), "{text}");
            assert!(answer.removed.is_empty());
        }
        let answer = parse(r#"{"price":1,"evil":true}"#, Some(&schema()), None).unwrap();
        assert_eq!(
            (answer.value, answer.removed),
            (json!({"price": 1}), vec!["evil".to_owned()])
        );
    }

    #[test]
    fn an_invalid_answer_is_rejected_with_complaints() {
        for (text, why) in [
            ("I cannot do that.", "not JSON"),
            ("{\"price\": ", "not JSON"),
            ("", "not JSON"),
            (r#"{"name":"Cup"}"#, "/price is required."),
            (r#"{"price":"9.5"}"#, "/price must be number."),
            ("[]", "must be object"),
            ("null", "must be object"),
        ] {
            let complaints = parse(text, Some(&schema()), None).unwrap_err();
            assert!(complaints.join(" ").contains(why), "{text}: {complaints:?}");
        }
        assert!(parse("5", None, None).is_err());
        assert_eq!(parse("[1]", None, None).unwrap().value, json!([1]));
    }

    #[test]
    fn gaps_are_filled_from_stated_data_if_the_result_stays_valid() {
        let parse = |text: &str, stated: Value| {
            parse(text, Some(&schema()), Some(&stated)).map(|answer| answer.value)
        };
        let stated = || json!({"name": "Cup", "price": 1, "sku": "B"});
        assert_eq!(
            parse(r#"{"price":2,"sku":null}"#, stated()).unwrap(),
            json!({"name": "Cup", "price": 2, "sku": "B"})
        );
        // Required properties as well.
        assert_eq!(
            parse(r#"{"sku":"A"}"#, stated()).unwrap(),
            json!({"name": "Cup", "price": 1, "sku": "A"})
        );
        assert_eq!(
            parse(r#"{"price":2}"#, json!({"sku": 5})).unwrap(),
            json!({"price": 2})
        );
        assert!(parse(r#"{"price":"2"}"#, stated()).is_err());
    }
}
