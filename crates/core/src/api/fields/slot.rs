//! Reader of one JSON value: it checks the type and the bounds, and records a problem if they do not match.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{FieldType, Fields};
use crate::api::problem::{PathPart, Problem};
use crate::api::url_field::TargetUrl;
use crate::api::wire_enum::WireEnum;

/// Maximum number of recorded problems. A body with a hundred thousand invalid elements gets a short
/// response.
pub(super) const MAX_PROBLEMS: usize = 100;

/// JSON value with its path.
#[derive(Debug)]
pub struct Slot<'p> {
    value: Value,
    path: Vec<PathPart>,
    problems: &'p mut Vec<Problem>,
}

/// Bounds of a number that may have a fraction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decimal {
    /// Greater than zero and at most this value.
    PositiveUpTo(f64),
    /// From the first to the second value, both included.
    Between(f64, f64),
}

impl<'p> Slot<'p> {
    /// Upper bound that means "no bound": the largest integer that every client can represent.
    pub const UNBOUNDED: u64 = (1 << 53) - 1;

    pub(crate) fn new(value: Value, path: Vec<PathPart>, problems: &'p mut Vec<Problem>) -> Self {
        Self {
            value,
            path,
            problems,
        }
    }

    /// Returns the JSON value for deciding which form was sent.
    pub fn json(&self) -> &Value {
        &self.value
    }

    /// Returns the JSON value without any check.
    pub fn any(self) -> Value {
        self.value
    }

    /// Records a problem with this value and returns `None`.
    pub fn fail<T>(self, message: impl Into<String>) -> Option<T> {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                path: self.path,
                message: message.into(),
            });
        }
        None
    }

    fn wrong_type<T>(self, expected: &str) -> Option<T> {
        let found = match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.fail(format!("must be {expected}, not {found}"))
    }

    /// Reads a boolean.
    pub fn bool(self) -> Option<bool> {
        match self.value.as_bool() {
            Some(value) => Some(value),
            None => self.wrong_type("true or false"),
        }
    }

    /// Reads an integer within bounds.
    pub fn integer(self, range: RangeInclusive<u64>) -> Option<u64> {
        let Value::Number(number) = &self.value else {
            return self.wrong_type("a whole number");
        };
        let rule = match (*range.start(), *range.end()) {
            (min, Self::UNBOUNDED) => format!("must be at least {min}"),
            (min, max) => format!("must be a whole number from {min} to {max}"),
        };
        let number = number.clone();
        let value = match (number.as_u64(), number.as_f64()) {
            (Some(value), _) => value,
            (None, Some(value)) if value.fract() != 0.0 => return self.fail("must be a whole number"),
            (None, Some(value)) if value < 0.0 => return self.fail(format!("{rule}, not {number}")),
            // A value above 2^53 is out of bounds in any case.
            (None, Some(value)) if value <= Self::UNBOUNDED as f64 => value as u64,
            _ => u64::MAX,
        };
        if range.contains(&value) {
            return Some(value);
        }
        if *range.end() == Self::UNBOUNDED && value > Self::UNBOUNDED {
            return self.fail(format!("must be at most {}, not {number}", Self::UNBOUNDED));
        }
        self.fail(format!("{rule}, not {number}"))
    }

    /// Reads a number within bounds.
    pub fn number(self, bounds: Decimal) -> Option<f64> {
        let Some(value) = self.value.as_f64() else {
            return self.wrong_type("a number");
        };
        match bounds {
            Decimal::PositiveUpTo(max) if value > 0.0 && value <= max => Some(value),
            Decimal::PositiveUpTo(max) => {
                self.fail(format!("must be greater than 0 and at most {max}, not {value}"))
            }
            Decimal::Between(min, max) if (min..=max).contains(&value) => Some(value),
            Decimal::Between(min, max) => self.fail(format!("must be from {min} to {max}, not {value}")),
        }
    }

    /// Reads a string; bounds in characters.
    pub fn string(self, chars: RangeInclusive<usize>) -> Option<String> {
        let Value::String(text) = &self.value else {
            return self.wrong_type("a string");
        };
        let length = text.chars().count();
        let (min, max) = (*chars.start(), *chars.end());
        if length < min && length == 0 {
            return self.fail("must not be empty");
        }
        if length < min {
            return self.fail(format!("must have at least {min} characters, not {length}"));
        }
        if length > max {
            return self.fail(format!("must have at most {max} characters, not {length}"));
        }
        match self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads a word of a closed set.
    pub fn word<E: WireEnum>(self) -> Option<E> {
        let Value::String(text) = &self.value else {
            return self.wrong_type("a string");
        };
        match E::parse(text) {
            Some(value) => Some(value),
            None => {
                let words: Vec<String> = E::ALL.iter().map(|word| format!("`{}`", word.as_str())).collect();
                let found = shorten(text);
                match words.as_slice() {
                    [only] => self.fail(format!("must be {only}, not `{found}`")),
                    _ => self.fail(format!("must be one of {}, not `{found}`", words.join(", "))),
                }
            }
        }
    }

    /// Reads an http or https URL (docs/API.md section 3).
    pub fn url(self) -> Option<TargetUrl> {
        let Value::String(text) = &self.value else {
            return self.wrong_type(TargetUrl::HINT);
        };
        match TargetUrl::parse(text) {
            Ok(url) => Some(url),
            Err(message) => self.fail(message),
        }
    }

    /// Reads a UUID.
    pub fn uuid(self) -> Option<Uuid> {
        let Value::String(text) = &self.value else {
            return self.wrong_type("a string with a UUID");
        };
        match Uuid::try_parse(text) {
            Ok(id) => Some(id),
            Err(_) => self.fail("must be a UUID"),
        }
    }

    /// Reads an array; `count` bounds its length. Elements with problems are left out.
    pub fn array<T>(
        self,
        count: RangeInclusive<usize>,
        mut read: impl FnMut(Slot<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Value::Array(items) = &self.value else {
            return self.wrong_type("an array");
        };
        let (length, min, max) = (items.len(), *count.start(), *count.end());
        if length < min {
            return match min {
                1 => self.fail("must not be empty"),
                _ => self.fail(format!("must have at least {min} elements, not {length}")),
            };
        }
        if length > max {
            return self.fail(format!("must have at most {max} elements, not {length}"));
        }
        let Value::Array(items) = self.value else {
            return None;
        };
        let mut values = Vec::with_capacity(items.len());
        for (index, value) in items.into_iter().enumerate() {
            let mut path = self.path.clone();
            path.push(PathPart::Index(index));
            values.extend(read(Slot::new(value, path, self.problems)));
        }
        Some(values)
    }

    /// Reads an object with fixed fields.
    pub fn object<T>(self, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
        match self.value {
            Value::Object(map) => {
                let mut fields = Fields::new(map, self.path);
                let value = read(&mut fields);
                self.problems.extend(fields.finish());
                Some(value)
            }
            _ => self.wrong_type("a JSON object"),
        }
    }

    /// Reads an object, or a string that stands for an object with only the field `tag`.
    pub fn object_or<T>(self, tag: &'static str, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
        match self.value {
            Value::String(text) => {
                let (base, first) = (self.path.len(), self.problems.len());
                let map = Map::from_iter([(tag.to_owned(), Value::String(text))]);
                let problems = self.problems;
                let value = Slot::new(Value::Object(map), self.path, &mut *problems).object(read);
                for problem in problems.iter_mut().skip(first) {
                    if problem.path.get(base) == Some(&PathPart::Key(tag.to_owned())) {
                        problem.path.remove(base);
                    }
                }
                value
            }
            Value::Object(_) => self.object(read),
            _ => self.wrong_type("a string or an object"),
        }
    }

    /// Reads an object with arbitrary keys.
    pub fn map(self) -> Option<Map<String, Value>> {
        match self.value {
            Value::Object(map) => Some(map),
            _ => self.wrong_type("a JSON object"),
        }
    }
}

/// Shortens a text of the caller to at most one line, to quote it in a message.
pub(crate) fn shorten(text: &str) -> String {
    const QUOTED_CHARS: usize = 60;
    let mut quoted: String = text
        .chars()
        .take(QUOTED_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(QUOTED_CHARS).is_some() {
        quoted.push('…');
    }
    quoted
}
