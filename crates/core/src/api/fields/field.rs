//! Field table of a request: the name, type, description and default of each field. Command line flags, tool
//! schemas, forms, the tables of the guide, TypeScript types and the OpenAPI document are generated from it.

use serde_json::{Map, Value, json};

use crate::api::body::Node;
use crate::api::fields::schema::{References, Schema};

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
    /// Unit of the value.
    pub unit: Option<&'static str>,
    /// Typical value, as JSON.
    pub example: Option<&'static str>,
    /// First version that has the field.
    pub since: &'static str,
    /// Whether the field is accepted only for compatibility with other clients: it has no effect and is shown
    /// nowhere.
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
            unit: None,
            example: None,
            since: "0.1.0",
            hidden: false,
        }
    }

    /// Returns a boolean field that other servers support and this one accepts without effect.
    pub(crate) fn ignored(name: &'static str) -> Self {
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
            let hidden = self
                .hidden
                .then(|| "Accepted for other clients, without effect.".to_owned());
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
