//! Validates a value with bounded steps, depth and violations. A value that exceeds the bounds is invalid.

use serde_json::{Map, Value};

use super::{Schema, has_format, types};
use crate::limits;

/// A validation in progress.
struct Check<'a> {
    schema: &'a Schema,
    violations: Vec<String>,
    steps: usize,
}

/// Returns the violations of a part of a schema by a value.
pub(super) fn violations_of(schema: &Schema, part: &Value, value: &Value) -> Vec<String> {
    let mut check = Check {
        schema,
        violations: Vec::new(),
        steps: limits::MAX_SCHEMA_STEPS,
    };
    check.value(part, value, "", limits::MAX_SCHEMA_DEPTH);
    if check.steps == 0 {
        check
            .violations
            .insert(0, "The value is too large to check.".to_owned());
    }
    check.violations.truncate(limits::MAX_VIOLATIONS);
    check.violations
}

impl Check<'_> {
    fn fail(&mut self, pointer: &str, what: &str) {
        if self.violations.len() < limits::MAX_VIOLATIONS {
            let pointer = if pointer.is_empty() { "The value" } else { pointer };
            self.violations.push(format!("{pointer} {what}."));
        }
    }

    /// Returns whether a value is valid, without recording violations.
    fn passes(&mut self, schema: &Value, value: &Value, depth: usize) -> bool {
        let before = std::mem::take(&mut self.violations);
        self.value(schema, value, "", depth);
        let passed = self.violations.is_empty();
        self.violations = before;
        passed
    }

    fn value(&mut self, schema: &Value, value: &Value, pointer: &str, depth: usize) {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 || self.violations.len() == limits::MAX_VIOLATIONS {
            return;
        }
        if depth == 0 {
            return self.fail(pointer, "is nested too deeply to check");
        }
        // Keywords next to a reference apply as well.
        if schema.get("$ref").is_some() {
            let target = self.schema.resolve(schema);
            self.value(target, value, pointer, depth - 1);
        }
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.fail(pointer, "is not allowed"),
            _ => return,
        };
        let allowed = types(schema);
        let nullable = keywords.get("nullable") == Some(&Value::Bool(true)) && value.is_null();
        if !allowed.is_empty() && !nullable && !allowed.iter().any(|name| is_type(value, name)) {
            return self.fail(pointer, &format!("must be {}", allowed.join(" or ")));
        }
        if let Some(Value::Array(options)) = keywords.get("enum")
            && !options.iter().any(|option| is_equal(option, value))
        {
            let options: Vec<String> = options.iter().take(20).map(Value::to_string).collect();
            self.fail(pointer, &format!("must be one of {}", options.join(", ")));
        }
        if let Some(constant) = keywords.get("const")
            && !is_equal(constant, value)
        {
            self.fail(pointer, &format!("must be {constant}"));
        }
        match value {
            Value::String(text) => self.text(keywords, text, pointer),
            Value::Number(number) => self.number(keywords, number.as_f64().unwrap_or(f64::NAN), pointer),
            Value::Array(list) => self.list(keywords, list, pointer, depth),
            Value::Object(object) => self.object(keywords, object, pointer, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(keywords, value, pointer, depth);
    }

    fn text(&mut self, keywords: &Map<String, Value>, text: &str, pointer: &str) {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let length = text.chars().count() as u64;
        if let Some(least) = bound("minLength").filter(|least| length < *least) {
            self.fail(pointer, &format!("must have at least {least} characters"));
        }
        if let Some(most) = bound("maxLength").filter(|most| length > *most) {
            self.fail(pointer, &format!("must have at most {most} characters"));
        }
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && let Some(compiled) = self.schema.patterns.get(pattern)
            && !compiled.is_match(text)
        {
            self.fail(pointer, &format!("must match the pattern {pattern}"));
        }
        if let Some(format) = keywords.get("format").and_then(Value::as_str)
            && !has_format(text, format)
        {
            self.fail(pointer, &format!("must have the format {format}"));
        }
    }

    fn number(&mut self, keywords: &Map<String, Value>, number: f64, pointer: &str) {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
        // Before draft 6, the exclusive bounds were boolean flags of the others.
        let exclusive = |name: &str| keywords.get(name) == Some(&Value::Bool(true));
        if let Some(least) = bound("minimum")
            && (number < least || (exclusive("exclusiveMinimum") && number == least))
        {
            self.fail(pointer, &format!("must be at least {least}"));
        }
        if let Some(most) = bound("maximum")
            && (number > most || (exclusive("exclusiveMaximum") && number == most))
        {
            self.fail(pointer, &format!("must be at most {most}"));
        }
        if let Some(least) = bound("exclusiveMinimum").filter(|least| number <= *least) {
            self.fail(pointer, &format!("must be more than {least}"));
        }
        if let Some(most) = bound("exclusiveMaximum").filter(|most| number >= *most) {
            self.fail(pointer, &format!("must be less than {most}"));
        }
        if let Some(unit) = bound("multipleOf").filter(|unit| *unit > 0.0) {
            let times = number / unit;
            if (times - times.round()).abs() > 1e-9 * times.abs().max(1.0) {
                self.fail(pointer, &format!("must be a multiple of {unit}"));
            }
        }
    }

    fn list(&mut self, keywords: &Map<String, Value>, list: &[Value], pointer: &str, depth: usize) {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let length = list.len() as u64;
        if let Some(least) = bound("minItems").filter(|least| length < *least) {
            self.fail(pointer, &format!("must have at least {least} items"));
        }
        if let Some(most) = bound("maxItems").filter(|most| length > *most) {
            self.fail(pointer, &format!("must have at most {most} items"));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
            texts.sort_unstable();
            if texts.windows(2).any(|two| two[0] == two[1]) {
                self.fail(pointer, "must not have duplicate items");
            }
        }
        // Before `prefixItems`, `items` could be a list of schemas.
        let old = keywords.get("items").and_then(Value::as_array);
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).or(old);
        let rest = match old {
            Some(_) => keywords.get("additionalItems"),
            None => keywords.get("items"),
        };
        let prefix = prefix.map(Vec::as_slice).unwrap_or_default();
        for (at, item) in list.iter().enumerate() {
            if let Some(schema) = prefix.get(at).or(rest) {
                self.value(schema, item, &format!("{pointer}/{at}"), depth - 1);
            }
        }
        if let Some(wanted) = keywords.get("contains") {
            let count = list
                .iter()
                .filter(|item| self.passes(wanted, item, depth - 1))
                .count() as u64;
            if count < bound("minContains").unwrap_or(1)
                || bound("maxContains").is_some_and(|most| count > most)
            {
                self.fail(pointer, "does not contain the required number of matching items");
            }
        }
    }

    fn object(
        &mut self,
        keywords: &Map<String, Value>,
        object: &Map<String, Value>,
        pointer: &str,
        depth: usize,
    ) {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let length = object.len() as u64;
        if bound("minProperties").is_some_and(|least| length < least)
            || bound("maxProperties").is_some_and(|most| length > most)
        {
            self.fail(pointer, "does not have the required number of properties");
        }
        let required = keywords.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.fail(&format!("{pointer}/{name}"), "is required");
            }
        }
        let dependent = keywords.get("dependentRequired").and_then(Value::as_object);
        for (name, needed) in dependent.into_iter().flatten() {
            let needed = needed.as_array().into_iter().flatten().filter_map(Value::as_str);
            for other in needed.filter(|other| object.contains_key(name) && !object.contains_key(*other)) {
                self.fail(&format!("{pointer}/{other}"), &format!("is required with {name}"));
            }
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (name, value) in object {
            let inner = format!("{pointer}/{name}");
            let mut known = false;
            if let Some(schema) = properties.and_then(|all| all.get(name)) {
                known = true;
                self.value(schema, value, &inner, depth - 1);
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if self
                    .schema
                    .patterns
                    .get(pattern)
                    .is_some_and(|compiled| compiled.is_match(name))
                {
                    known = true;
                    self.value(schema, value, &inner, depth - 1);
                }
            }
            match keywords.get("additionalProperties") {
                Some(schema) if !known => self.value(schema, value, &inner, depth - 1),
                _ => {}
            }
            if let Some(schema) = keywords.get("propertyNames") {
                self.value(schema, &Value::from(name.as_str()), &inner, depth - 1);
            }
        }
    }

    fn combined(&mut self, keywords: &Map<String, Value>, value: &Value, pointer: &str, depth: usize) {
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.value(schema, value, pointer, depth - 1);
        }
        if let Some(options) = list("anyOf")
            && !options.iter().any(|schema| self.passes(schema, value, depth - 1))
        {
            // With one non-null option, report what is wrong with it.
            let real: Vec<&Value> = options
                .iter()
                .filter(|schema| types(schema) != ["null"])
                .collect();
            match real.as_slice() {
                [one] => self.value(one, value, pointer, depth - 1),
                _ => self.fail(pointer, "matches none of the schemas of `anyOf`"),
            }
        }
        if let Some(options) = list("oneOf") {
            let count = options
                .iter()
                .filter(|schema| self.passes(schema, value, depth - 1))
                .count();
            if count != 1 {
                self.fail(pointer, &format!("matches {count} schemas of `oneOf`, not one"));
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.passes(schema, value, depth - 1)
        {
            self.fail(pointer, "must not match the schema of `not`");
        }
        if let Some(condition) = keywords.get("if") {
            let branch = match self.passes(condition, value, depth - 1) {
                true => "then",
                false => "else",
            };
            if let Some(schema) = keywords.get(branch) {
                self.value(schema, value, pointer, depth - 1);
            }
        }
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Compares by value: `1` and `1.0` are equal.
fn is_equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}
