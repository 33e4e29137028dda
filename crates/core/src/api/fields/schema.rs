//! Types of request fields, and their form as JSON Schema 2020-12.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::field::{Field, FieldKind, object_schema};
use super::slot::{Decimal, Slot};

/// Type of a JSON value.
#[derive(Clone, Debug)]
pub enum Schema {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// Integer within bounds; an upper bound of [`Slot::UNBOUNDED`] means none.
    Integer(RangeInclusive<u64>),
    /// Number within bounds.
    Number(Decimal),
    /// String; bounds of its length in characters.
    Text(RangeInclusive<usize>),
    /// String in a format of JSON Schema, such as `uri`.
    Formatted(&'static str),
    /// Exactly this string.
    Constant(&'static str),
    /// One of these strings.
    Word(&'static [&'static str]),
    /// Array of this type; bounds of its length.
    List(Box<Schema>, RangeInclusive<usize>),
    /// Object with arbitrary keys and values of this type.
    Map(Box<Schema>),
    /// Named object with these fields.
    Object(&'static str, Vec<Field>),
    /// Any of these types.
    OneOf(Vec<Schema>),
}

/// Form of named objects in a JSON Schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum References {
    /// `$ref` to a component of an OpenAPI document.
    Components,
    /// Full schema wherever the object is used.
    Inline,
}

impl Schema {
    /// Returns an object type with these fields and a field `type` that is always `tag`.
    pub(crate) fn tagged(name: &'static str, tag: &'static str, fields: Vec<Field>) -> Self {
        let tag = Field {
            required: true,
            ..Field::new("type", "", Schema::Constant(tag))
        };
        Schema::Object(name, std::iter::once(tag).chain(fields).collect())
    }

    /// Returns the kind of JSON of the type.
    pub fn kind(&self) -> FieldKind {
        match self {
            Schema::Any | Schema::OneOf(_) => FieldKind::Any,
            Schema::Boolean => FieldKind::Bool,
            Schema::Integer(_) | Schema::Number(_) => FieldKind::Number,
            Schema::Text(_) | Schema::Formatted(_) | Schema::Constant(_) => FieldKind::Text,
            Schema::Word(words) => FieldKind::Word(words),
            Schema::List(..) => FieldKind::List,
            Schema::Map(_) | Schema::Object(..) => FieldKind::Object,
        }
    }

    /// Returns the type as JSON Schema.
    pub fn to_json(&self, references: References) -> Value {
        match self {
            Schema::Any => json!({}),
            Schema::Boolean => json!({ "type": "boolean" }),
            Schema::Integer(range) => match (*range.start(), *range.end()) {
                (min, Slot::UNBOUNDED) => json!({ "type": "integer", "minimum": min }),
                (min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            },
            Schema::Number(Decimal::PositiveUpTo(max)) => {
                json!({ "type": "number", "exclusiveMinimum": 0, "maximum": max })
            }
            Schema::Number(Decimal::Between(min, max)) => {
                json!({ "type": "number", "minimum": min, "maximum": max })
            }
            Schema::Text(chars) => bounded(json!({ "type": "string" }), "minLength", "maxLength", chars),
            Schema::Formatted(format) => json!({ "type": "string", "format": format }),
            Schema::Constant(text) => json!({ "type": "string", "const": text }),
            Schema::Word(words) => json!({ "type": "string", "enum": words }),
            Schema::List(items, count) => {
                let list = json!({ "type": "array", "items": items.to_json(references) });
                bounded(list, "minItems", "maxItems", count)
            }
            Schema::Map(values) => {
                json!({ "type": "object", "additionalProperties": values.to_json(references) })
            }
            Schema::Object(name, fields) => match references {
                References::Components => json!({ "$ref": format!("#/components/schemas/{name}") }),
                References::Inline => object_schema(fields, references, false),
            },
            Schema::OneOf(kinds) => {
                let kinds: Vec<Value> = kinds.iter().map(|kind| kind.to_json(references)).collect();
                json!({ "anyOf": kinds })
            }
        }
    }

    /// Returns the fields of the object that the type is or may be.
    pub fn object(&self) -> Option<&[Field]> {
        match self {
            Schema::Object(_, fields) => Some(fields),
            Schema::OneOf(kinds) => kinds.iter().find_map(Schema::object),
            _ => None,
        }
    }

    /// Returns the fields of the object whose `type` is `tag`, without `type` itself. Empty if there is no
    /// such object.
    pub fn variant(&self, tag: &str) -> Vec<Field> {
        let Schema::OneOf(kinds) = self else {
            return Vec::new();
        };
        let is_it = |fields: &&[Field]| {
            fields
                .first()
                .is_some_and(|field| matches!(field.schema, Schema::Constant(text) if text == tag))
        };
        let found = kinds.iter().filter_map(Schema::object).find(is_it);
        found.map_or_else(Vec::new, |fields| fields[1..].to_vec())
    }

    /// Calls `found` with each named object in the type, inner objects first.
    pub fn visit_objects(&self, found: &mut impl FnMut(&'static str, &[Field])) {
        match self {
            Schema::List(inner, _) | Schema::Map(inner) => inner.visit_objects(found),
            Schema::OneOf(kinds) => kinds.iter().for_each(|kind| kind.visit_objects(found)),
            Schema::Object(name, fields) => {
                fields.iter().for_each(|field| field.schema.visit_objects(found));
                found(name, fields);
            }
            _ => {}
        }
    }
}

fn bounded(mut schema: Value, least: &str, most: &str, range: &RangeInclusive<usize>) -> Value {
    if *range.start() > 0 {
        schema[least] = json!(range.start());
    }
    if *range.end() < usize::MAX {
        schema[most] = json!(range.end());
    }
    schema
}
