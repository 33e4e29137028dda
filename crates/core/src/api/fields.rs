//! Strict parser of request bodies (docs/API.md section 3). It collects every problem instead of stopping at
//! the first, treats `null` as absent, ignores fields whose names begin with `__`, and never converts one
//! JSON type into another (except that `5.0` is read as 5).
//!
//! Readers return placeholders for invalid values so that reading continues. A value that was read with a
//! problem never leaves [`Wire::from_json`].

pub mod field;
pub mod schema;
pub mod slot;
mod types;

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::problem::{PathPart, Problem, bad_request, unknown_field};
use crate::api::url_field::TargetUrl;
use crate::api::wire_enum::WireEnum;
use crate::limits::MAX_BODY_DEPTH;

pub use field::{Field, FieldKind, object_schema};
pub use schema::{References, Schema};
pub use slot::{Decimal, Slot};
use slot::{MAX_PROBLEMS, shorten};
pub use types::FieldType;

/// JSON object of the API that is parsed strictly and serialized sparsely. `#[derive(Request)]` implements
/// it.
pub trait Wire: Sized {
    /// Name of the object among the schemas of the API.
    const NAME: &'static str;

    /// Description of the object: one sentence.
    const SUMMARY: &'static str;

    /// Returns the field table, in the order of the documentation.
    fn fields() -> Vec<Field>;

    /// Reads every field. A field that is not read counts as unknown.
    fn read(fields: &mut Fields) -> Self;

    /// Writes every field that differs from its default.
    fn write(&self, body: &mut Body);

    /// Returns every option with its effective value.
    fn filled(&self) -> Body {
        self.to_body()
    }

    /// Returns every option with its effective value as plain JSON, which does not keep the order.
    fn filled_options(&self) -> Map<String, Value> {
        self.filled().into_map()
    }

    /// Parses a request body.
    ///
    /// # Errors
    /// 400 with every problem in `details`.
    fn from_json(bytes: &[u8]) -> Result<Self, ApiError> {
        Self::from_value(parse(bytes)?)
    }

    /// Reads a request body from parsed JSON.
    ///
    /// # Errors
    /// 400 with every problem in `details`.
    fn from_value(value: Value) -> Result<Self, ApiError> {
        read_value(value)
    }

    /// Returns the object as it is sent.
    fn to_body(&self) -> Body {
        let mut body = Body::default();
        self.write(&mut body);
        body
    }
}

/// Reads a request body from parsed JSON.
///
/// # Errors
/// 400 with every problem in `details`.
pub(crate) fn read_value<W: Wire>(value: Value) -> Result<W, ApiError> {
    let mut problems = Vec::new();
    let read = Slot::new(value, Vec::new(), &mut problems).object(W::read);
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(bad_request(&problems)),
    }
}

/// Implements `from_json`, `Serialize` and `Deserialize` for a [`Wire`] type, and its use as a field of other
/// bodies.
macro_rules! wire {
    ($($name:ty),+ $(,)?) => {
        $(
            impl $name {
                /// Parses a request body strictly.
                ///
                /// # Errors
                /// 400 with every problem in `details`.
                pub fn from_json(bytes: &[u8]) -> Result<Self, $crate::api::error::ApiError> {
                    <Self as $crate::api::fields::Wire>::from_json(bytes)
                }
            }

            impl $crate::api::body::ToNode for $name {
                fn to_node(&self) -> $crate::api::body::Node {
                    $crate::api::body::Node::Object($crate::api::fields::Wire::to_body(self))
                }

                fn to_filled(&self) -> $crate::api::body::Node {
                    $crate::api::body::Node::Object($crate::api::fields::Wire::filled(self))
                }
            }

            impl $crate::api::fields::FieldType for $name {
                type Bounds = ();

                const HINT: &'static str = "an object";

                fn schema((): ()) -> $crate::api::fields::Schema {
                    use $crate::api::fields::Wire;
                    $crate::api::fields::Schema::Object(<$name>::NAME, <$name>::fields())
                }

                fn from_slot(slot: $crate::api::fields::Slot<'_>, (): ()) -> Option<Self> {
                    slot.object(<$name as $crate::api::fields::Wire>::read)
                }

                fn placeholder() -> Self {
                    <$name as $crate::api::fields::Wire>::read(&mut $crate::api::fields::Fields::empty())
                }
            }

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serde::Serialize::serialize(&$crate::api::fields::Wire::to_body(self), serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = serde::Deserialize::deserialize(deserializer)?;
                    <Self as $crate::api::fields::Wire>::from_value(value).map_err(serde::de::Error::custom)
                }
            }
        )+
    };
}

pub(crate) use wire;

/// Parses a body that must be a JSON object.
///
/// # Errors
/// 400 if the body is empty, is not a JSON object, or is nested too deeply.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ApiError::new(
            ErrorCode::InvalidJson,
            "The request body is empty; send a JSON object such as {\"url\":\"https://example.com\"}.",
        ));
    }
    if nested_deeper_than(MAX_BODY_DEPTH, bytes) {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            format!(
                "The request body nests arrays and objects more than {MAX_BODY_DEPTH} levels deep; send a flatter one."
            ),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or("syntax error");
        ApiError::new(
            ErrorCode::InvalidJson,
            format!("The request body is not valid JSON: {reason}, at line {line}, column {column}."),
        )
    })
}

/// Returns whether brackets outside of strings nest deeper than `limit`. It only scans the text, so that no
/// depth costs stack or memory.
fn nested_deeper_than(limit: usize, json: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
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
    /// Caller that an inner object of this one names.
    pub(crate) inner_caller: Option<Caller>,
}

impl Fields {
    fn new(map: Map<String, Value>, path: Vec<PathPart>) -> Self {
        Self {
            map,
            path,
            known: Vec::new(),
            present: Vec::new(),
            problems: Vec::new(),
            inner_caller: None,
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
        let value = self.map.remove(name).filter(|value| !value.is_null())?;
        self.present.push(name);
        Some(Slot::new(value, join(&self.path, name), &mut self.problems))
    }

    /// Reads an optional field of this type.
    pub fn value<T: FieldType>(&mut self, name: &'static str, bounds: T::Bounds) -> Option<T> {
        T::from_slot(self.slot(name)?, bounds)
    }

    /// Returns the value that was read from a required field. If it is absent, records the problem "is
    /// required: give `hint`" and returns a placeholder.
    pub fn required<T: FieldType>(&mut self, name: &'static str, read: Option<T>, hint: &str) -> T {
        read.unwrap_or_else(|| {
            self.missing(name, hint);
            T::placeholder()
        })
    }

    /// Adds a field whose value is given beside this object in the body.
    pub(crate) fn supply(&mut self, name: &str, value: &TargetUrl) {
        if self.has(name) {
            self.fail(name, "must stand beside this object, not in it");
        }
        self.map.insert(name.to_owned(), Value::from(value.given()));
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

    /// Reads an optional boolean.
    pub fn opt_bool(&mut self, name: &'static str) -> Option<bool> {
        self.slot(name)?.bool()
    }

    /// Reads a boolean with a default.
    pub fn bool(&mut self, name: &'static str, default: bool) -> bool {
        self.opt_bool(name).unwrap_or(default)
    }

    /// Reads an optional integer within bounds; an upper bound of [`Slot::UNBOUNDED`] means none.
    pub fn opt_integer(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        self.slot(name)?.integer(range)
    }

    /// Reads an integer within bounds, with a default.
    pub fn integer(&mut self, name: &'static str, range: RangeInclusive<u64>, default: u64) -> u64 {
        self.opt_integer(name, range).unwrap_or(default)
    }

    /// Reads an optional number within bounds.
    pub fn opt_number(&mut self, name: &'static str, bounds: Decimal) -> Option<f64> {
        self.slot(name)?.number(bounds)
    }

    /// Reads an optional string; bounds in characters.
    pub fn opt_string(&mut self, name: &'static str, chars: RangeInclusive<usize>) -> Option<String> {
        self.slot(name)?.string(chars)
    }

    /// Reads a required string; bounds in characters.
    pub fn string(&mut self, name: &'static str, chars: RangeInclusive<usize>) -> String {
        let value = self.opt_string(name, chars);
        if value.is_none() {
            self.missing(name, "a string");
        }
        value.unwrap_or_default()
    }

    /// Reads an optional word of a closed set.
    pub fn opt_word<E: WireEnum>(&mut self, name: &'static str) -> Option<E> {
        self.slot(name)?.word()
    }

    /// Reads a word of a closed set, with a default.
    pub fn word<E: WireEnum>(&mut self, name: &'static str, default: E) -> E {
        self.opt_word(name).unwrap_or(default)
    }

    /// Reads an optional array; `count` bounds its length.
    pub fn opt_array<T>(
        &mut self,
        name: &'static str,
        count: RangeInclusive<usize>,
        read: impl FnMut(Slot<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.slot(name)?.array(count, read)
    }

    /// Reads an array that is empty if absent; `count` bounds its length.
    pub fn array<T>(
        &mut self,
        name: &'static str,
        count: RangeInclusive<usize>,
        read: impl FnMut(Slot<'_>) -> Option<T>,
    ) -> Vec<T> {
        self.opt_array(name, count, read).unwrap_or_default()
    }

    /// Reads an optional object with fixed fields.
    pub fn opt_object<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
        self.slot(name)?.object(read)
    }

    /// Reads an optional object with arbitrary keys.
    pub fn opt_map(&mut self, name: &'static str) -> Option<Map<String, Value>> {
        self.slot(name)?.map()
    }
}

fn join(path: &[PathPart], name: &str) -> Vec<PathPart> {
    let mut path = path.to_vec();
    path.push(PathPart::Key(name.to_owned()));
    path
}
