//! Field table of a request: the name, type, description and default of each field. Command line flags, tool
//! schemas, forms, the tables of the guide, TypeScript types and the OpenAPI document are generated from it.
//! Types are also given as JSON Schema 2020-12.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::api::body::Node;

/// Upper bound that means "no bound": the largest integer that every client can represent.
pub(super) const UNBOUNDED: u64 = (1 << 53) - 1;

/// Field of a request body.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in JSON.
    pub name: &'static str,
    /// Description of the field: one sentence.
    pub help: &'static str,
    /// Type of the value.
    pub schema: Schema,
    /// Whether the field is required.
    pub required: bool,
    /// Default value; `None` if absence has a meaning of its own.
    pub default: Option<Node>,
    /// Label in forms, if it differs from the words of [`Field::name`]; see [`Field::label`].
    pub label: Option<&'static str>,
    /// Group of form fields that it belongs to; `None` if it has a control of its own, or none.
    pub group: Option<&'static str>,
    /// Unit of the value.
    pub unit: Option<&'static str>,
    /// Typical value, as JSON.
    pub example: Option<&'static str>,
    /// First version that has the field.
    pub since: &'static str,
    /// Whether the field is accepted only for compatibility with other clients, and shown nowhere.
    pub hidden: bool,
}

impl Field {
    /// Returns an optional field without a default.
    pub fn new(name: &'static str, help: &'static str, schema: Schema) -> Self {
        Self {
            name,
            help,
            schema,
            required: false,
            default: None,
            label: None,
            group: None,
            unit: None,
            example: None,
            since: "0.1.0",
            hidden: false,
        }
    }

    /// Returns a boolean field that other servers support and this one does not.
    pub(crate) fn hidden_flag(name: &'static str) -> Self {
        Self {
            hidden: true,
            ..Self::new(name, "", Schema::Boolean)
        }
    }

    /// Returns the label of the field in forms.
    pub fn label(&self) -> String {
        if let Some(label) = self.label {
            return label.to_owned();
        }
        let mut label = String::with_capacity(self.name.len() + 4);
        for (index, c) in self.name.char_indices() {
            match c {
                _ if index == 0 => label.push(c.to_ascii_uppercase()),
                _ if c.is_ascii_uppercase() => {
                    label.push(' ');
                    label.push(c.to_ascii_lowercase());
                }
                _ => label.push(c),
            }
        }
        label
    }

    /// Finds the field with a path such as `location.country`, starting from these fields.
    pub fn find(fields: &[Field], path: &str) -> Option<Field> {
        let (name, rest) = path
            .split_once('.')
            .map_or((path, None), |(name, rest)| (name, Some(rest)));
        let field = fields.iter().find(|field| field.name == name)?;
        match rest {
            None => Some(field.clone()),
            Some(rest) => Self::find(field.schema.object()?, rest),
        }
    }

    /// Returns the kind of JSON that the field accepts.
    pub fn kind(&self) -> FieldKind {
        self.schema.kind()
    }

    /// Returns the JSON Schema of the field with description, default and example.
    pub fn json_schema(&self, references: References) -> Value {
        let mut schema = self.schema.to_json(references);
        if let Value::Object(schema) = &mut schema {
            let mut put = |name: &str, value: Value| schema.insert(name.to_owned(), value);
            let unit = self.unit.map(|unit| format!("Unit: {unit}."));
            let hidden = self.hidden.then(|| "Accepted for other clients.".to_owned());
            let help = (!self.help.is_empty()).then(|| self.help.to_owned());
            let sentences: Vec<String> = [help, unit, hidden].into_iter().flatten().collect();
            if !sentences.is_empty() {
                put("description", sentences.join(" ").into());
            }
            if self.hidden {
                put("deprecated", true.into());
            }
            if let Some(default) = self
                .default
                .as_ref()
                .and_then(|node| serde_json::to_value(node).ok())
            {
                put("default", default);
            }
            if let Some(example) = self
                .example
                .and_then(|text| serde_json::from_str::<Value>(text).ok())
            {
                put("examples", json!([example]));
            }
        }
        schema
    }
}

/// Returns the JSON Schema of an object with these fields and no others. Hidden fields are left out unless
/// `with_hidden` is true.
pub fn object_schema(fields: &[Field], references: References, with_hidden: bool) -> Value {
    let shown = || fields.iter().filter(|field| with_hidden || !field.hidden);
    let properties: Map<String, Value> = shown()
        .map(|field| (field.name.to_owned(), field.json_schema(references)))
        .collect();
    let required: Vec<&str> = shown()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Kind of JSON that a field accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// More than one type, for example a string or an object.
    Any,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An array.
    List,
    /// An object.
    Object,
}

/// Type of a JSON value.
#[derive(Clone, Debug)]
pub enum Schema {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// Integer within bounds; an upper bound of `Slot::UNBOUNDED` means none.
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
    /// This type or null, which does not count as absent.
    Nullable(Box<Schema>),
}

/// Bounds of a number that may have a fraction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decimal {
    /// Greater than zero and at most this value.
    PositiveUpTo(f64),
    /// From the first to the second value, both included.
    Between(f64, f64),
}

/// Type whose values are words in JSON.
pub trait WireEnum: Copy + PartialEq + 'static {
    /// All values, in the order of the documentation.
    const ALL: &'static [Self];

    /// Words of all values, in the same order.
    const WORDS: &'static [&'static str];

    /// Returns the word of the value.
    fn as_str(self) -> &'static str;

    /// Parses a word; the spelling must be exact.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.as_str() == text)
    }
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
            Schema::Nullable(inner) => inner.kind(),
        }
    }

    /// Returns the type as JSON Schema.
    pub fn to_json(&self, references: References) -> Value {
        match self {
            Schema::Any => json!({}),
            Schema::Boolean => json!({ "type": "boolean" }),
            Schema::Integer(range) => match (*range.start(), *range.end()) {
                (min, UNBOUNDED) => json!({ "type": "integer", "minimum": min }),
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
            Schema::Nullable(inner) => {
                json!({ "anyOf": [inner.to_json(references), { "type": "null" }] })
            }
        }
    }

    /// Returns the fields of the object that the type is or may be.
    pub fn object(&self) -> Option<&[Field]> {
        match self {
            Schema::Object(_, fields) => Some(fields),
            Schema::OneOf(kinds) => kinds.iter().find_map(Schema::object),
            Schema::Nullable(inner) => inner.object(),
            _ => None,
        }
    }

    /// Returns the fields of the objects whose `type` is `tag`, without `type` itself. A field that not all of
    /// them have is optional. Empty if there is no such object.
    pub fn variant(&self, tag: &str) -> Vec<Field> {
        let Schema::OneOf(kinds) = self else {
            return Vec::new();
        };
        let is_it = |fields: &&[Field]| {
            fields
                .first()
                .is_some_and(|field| matches!(field.schema, Schema::Constant(text) if text == tag))
        };
        let found: Vec<&[Field]> = kinds.iter().filter_map(Schema::object).filter(is_it).collect();
        let mut merged: Vec<Field> = Vec::new();
        for field in found.iter().flat_map(|fields| &fields[1..]) {
            if merged.iter().all(|known| known.name != field.name) {
                let in_all = found
                    .iter()
                    .all(|fields| fields.iter().any(|it| it.name == field.name));
                merged.push(Field {
                    required: field.required && in_all,
                    ..field.clone()
                });
            }
        }
        merged
    }

    /// Calls `found` with each named object in the type, inner objects first.
    pub fn visit_objects(&self, found: &mut impl FnMut(&'static str, &[Field])) {
        match self {
            Schema::List(inner, _) | Schema::Map(inner) | Schema::Nullable(inner) => {
                inner.visit_objects(found);
            }
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
