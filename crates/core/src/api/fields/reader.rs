//! Readers of one JSON object and of one JSON value. They check types and bounds, and record a problem with
//! its path for each mismatch.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::schema::{Decimal, Schema, UNBOUNDED, WireEnum};
use crate::api::body::ToNode;
use crate::api::problem::{PathPart, Problem, shorten, unknown_field};

/// Maximum number of recorded problems. A body with a hundred thousand invalid elements gets a short
/// response.
const MAX_PROBLEMS: usize = 100;

/// Type of a request field.
pub trait FieldType: Sized + ToNode {
    /// Bounds of the values, in addition to the type itself.
    type Bounds;

    /// Hint for a required field that is absent: the end of "is required: give ...".
    const HINT: &'static str = "a value";

    /// Returns the schema of the type with these bounds.
    fn schema(bounds: Self::Bounds) -> Schema;

    /// Reads a value, or records a problem and returns `None`.
    fn from_slot(slot: Slot<'_>, bounds: Self::Bounds) -> Option<Self>;

    /// Returns the value of an explicit null; `None` if null counts as absent.
    fn from_null() -> Option<Self> {
        None
    }

    /// Returns a stand-in for a value that could not be read. It never leaves the parser.
    fn placeholder() -> Self;
}

/// Reader of one JSON object.
#[derive(Debug)]
pub struct Fields {
    map: Map<String, Value>,
    path: Vec<PathPart>,
    known: Vec<&'static str>,
    /// Names of the fields that were read and had a value.
    present: Vec<&'static str>,
    problems: Vec<Problem>,
    /// Values of fields that an inner object gives for this one.
    inherited: Map<String, Value>,
}

impl Fields {
    fn new(map: Map<String, Value>, path: Vec<PathPart>) -> Self {
        Self {
            map,
            path,
            known: Vec::new(),
            present: Vec::new(),
            problems: Vec::new(),
            inherited: Map::new(),
        }
    }

    /// Returns the reader of an object without fields.
    pub(crate) fn empty() -> Self {
        Self::new(Map::new(), Vec::new())
    }

    /// Ends the reading and returns the problems. Unknown fields come first.
    fn finish(self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self
            .map
            .iter()
            .filter(|(name, _)| !name.starts_with("__"))
            .take(MAX_PROBLEMS)
            .map(|(name, _)| Problem {
                path: join(&self.path, &shorten(name)),
                message: unknown_field(name, &self.known),
            })
            .collect();
        problems.extend(self.problems);
        problems
    }

    /// Returns the value of a field, or `None` if it is absent or null.
    pub fn slot(&mut self, name: &'static str) -> Option<Slot<'_>> {
        self.known.push(name);
        let own = self.map.remove(name).filter(|value| !value.is_null());
        let value = own.or_else(|| self.inherited.remove(name))?;
        self.present.push(name);
        Some(Slot::new(value, join(&self.path, name), &mut self.problems))
    }

    /// Reads an optional field of this type.
    pub fn value<T: FieldType>(&mut self, name: &'static str, bounds: T::Bounds) -> Option<T> {
        self.measured(name, "", bounds)
    }

    /// Reads an optional field of this type. `unit` is the unit of its bounds, for messages; empty if it has none.
    pub fn measured<T: FieldType>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        bounds: T::Bounds,
    ) -> Option<T> {
        let is_null = self.map.get(name).is_some_and(Value::is_null);
        match self.slot(name) {
            Some(slot) => T::from_slot(Slot { unit, ..slot }, bounds),
            None if is_null => T::from_null(),
            None => None,
        }
    }

    /// Returns the value that was read from a required field. If it is absent, records the problem "is
    /// required: give `hint`" and returns a placeholder.
    pub fn required<T: FieldType>(&mut self, name: &'static str, read: Option<T>, hint: &str) -> T {
        read.unwrap_or_else(|| {
            self.missing(name, hint);
            T::placeholder()
        })
    }

    /// Adds a field whose value is given next to this object in the body.
    pub(crate) fn supply(&mut self, name: &str, value: &str) {
        if self.has(name) {
            self.fail(name, "must be next to this object, not in it");
        }
        self.replace(name, value);
    }

    /// Gives a field that has not been read yet another text.
    pub(crate) fn replace(&mut self, name: &str, value: &str) {
        self.map.insert(name.to_owned(), Value::from(value));
    }

    /// Adds the fields of an inner object. They count here unless this object has a value for them.
    pub(crate) fn inherit(&mut self, fields: Map<String, Value>) {
        self.inherited = fields;
    }

    /// Returns whether the body has a value for this field that has not been read yet.
    pub fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// Returns whether this field was read and had a value.
    pub(crate) fn has_read(&self, name: &str) -> bool {
        self.present.contains(&name)
    }

    /// Returns whether no problem has been recorded so far.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Ignores all fields that have not been read. Used when it is not known which fields belong here.
    pub(crate) fn ignore_rest(&mut self) {
        self.map.clear();
    }

    /// Records a problem with a field.
    pub fn fail(&mut self, name: &str, message: impl Into<String>) {
        let path = join(&self.path, name);
        self.problems.push(Problem {
            path,
            message: message.into(),
        });
    }

    /// Records a problem with the object as a whole.
    pub fn fail_here(&mut self, message: impl Into<String>) {
        let path = self.path.clone();
        self.problems.push(Problem {
            path,
            message: message.into(),
        });
    }

    fn missing(&mut self, name: &str, what: &str) {
        if !self
            .problems
            .iter()
            .any(|p| p.path.get(self.path.len()) == Some(&PathPart::Key(name.to_owned())))
        {
            self.fail(name, format!("is required: give {what}"));
        }
    }

    /// Returns the text of a field that has not been read yet.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.map.get(name)?.as_str()
    }

    /// Reads the required field `type`. If it is absent or unknown, the other fields are ignored, because it is
    /// not known which belong here.
    pub(crate) fn tag<E: WireEnum>(&mut self, hint: &str) -> Option<E> {
        let tag = match self.slot("type") {
            Some(slot) => slot.word(),
            None => {
                self.missing("type", hint);
                None
            }
        };
        if tag.is_none() {
            self.ignore_rest();
        }
        tag
    }

    /// Returns which of these fields has a value. Unless exactly one does, records a problem and ignores all
    /// fields.
    pub(crate) fn only_one_of(&mut self, names: &[&'static str]) -> Option<&'static str> {
        let given: Vec<&'static str> = names.iter().copied().filter(|name| self.has(name)).collect();
        if let [only] = given[..] {
            for name in names.iter().filter(|name| **name != only) {
                self.slot(name);
            }
            return Some(only);
        }
        self.fail_here(format!("needs exactly one of `{}`", names.join("` and `")));
        self.ignore_rest();
        None
    }
}

fn join(path: &[PathPart], name: &str) -> Vec<PathPart> {
    let mut path = path.to_vec();
    path.push(PathPart::Key(name.to_owned()));
    path
}

/// JSON value with its path.
#[derive(Debug)]
pub struct Slot<'p> {
    value: Value,
    path: Vec<PathPart>,
    /// Unit of a number; empty if it has none.
    unit: &'static str,
    problems: &'p mut Vec<Problem>,
}

impl<'p> Slot<'p> {
    /// Upper bound that means "no bound": the largest integer that every client can represent.
    pub const UNBOUNDED: u64 = UNBOUNDED;

    pub(crate) fn new(value: Value, path: Vec<PathPart>, problems: &'p mut Vec<Problem>) -> Self {
        Self {
            value,
            path,
            unit: "",
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

    /// Records that the value has another type than `expected`, and returns `None`.
    pub(crate) fn wrong_type<T>(self, expected: &str) -> Option<T> {
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
            (min, max) => self.with_unit(format!("must be a whole number from {min} to {max}")),
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
        let rule = match bounds {
            Decimal::PositiveUpTo(max) if value > 0.0 && value <= max => return Some(value),
            Decimal::PositiveUpTo(max) => format!("must be greater than 0 and at most {max}"),
            Decimal::Between(min, max) if (min..=max).contains(&value) => return Some(value),
            Decimal::Between(min, max) => format!("must be from {min} to {max}"),
        };
        let rule = self.with_unit(rule);
        self.fail(format!("{rule}, not {value}"))
    }

    fn with_unit(&self, rule: String) -> String {
        match self.unit {
            "" => rule,
            unit => format!("{rule} {unit}"),
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
