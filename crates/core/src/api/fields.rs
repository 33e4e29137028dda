//! Strict parser of request bodies (docs/API.md section 3). It collects every problem instead of stopping at
//! the first, treats `null` as absent unless the type of the field is an `Option`, ignores fields whose names begin
//! with `__`, and never converts one JSON type into another (except that `5.0` is read as 5).
//!
//! Readers return placeholders for invalid values so that reading continues. A value that was read with a
//! problem never leaves [`Wire::from_json`].

mod reader;
mod schema;
mod types;

use serde_json::{Map, Value, json};

use crate::api::body::Body;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::problem::bad_request;
use crate::limits::MAX_BODY_DEPTH;

pub use reader::{FieldType, Fields, Slot};
pub use schema::{Decimal, Field, FieldKind, References, Schema, WireEnum, object_schema};

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

    /// Parses a request body. An empty one is read as `{}` if no field is required.
    ///
    /// # Errors
    /// 400 with every problem in `details`.
    fn from_json(bytes: &[u8]) -> Result<Self, ApiError> {
        if is_blank(bytes)
            && let Ok(request) = Self::from_value(json!({}))
        {
            return Ok(request);
        }
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

/// Returns the elements without those whose key an earlier element has.
pub(crate) fn distinct<T, K: PartialEq>(mut list: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut known = Vec::new();
    list.retain(|element| {
        let key = key(element);
        let is_new = !known.contains(&key);
        if is_new {
            known.push(key);
        }
        is_new
    });
    list
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
    if is_blank(bytes) {
        return Err(ApiError::new(
            ErrorCode::InvalidJson,
            "The request body is empty; send a JSON object such as {\"url\":\"https://example.com\"}.",
        ));
    }
    if nested_deeper_than(MAX_BODY_DEPTH, bytes) {
        return Err(ApiError::bad_request(format!(
            "The request body nests arrays and objects more than {MAX_BODY_DEPTH} levels deep; send a flatter one."
        )));
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

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

/// Returns whether brackets outside of strings nest deeper than `limit`. It only scans the text, so deep
/// nesting costs neither stack nor memory.
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
