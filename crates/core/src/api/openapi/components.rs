//! Components that operations share: schemas, headers and error responses.

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::operation::RequestBody;
use super::rules;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Field, References, Schema, object_schema};

/// Collects schemas while operations are rendered.
pub(super) struct Components {
    generator: SchemaGenerator,
    requests: BTreeMap<&'static str, Value>,
    responses: Map<String, Value>,
}

impl Default for Components {
    fn default() -> Self {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        let mut generator = settings.into_generator();
        generator.subschema_for::<ErrorCode>();
        Self {
            generator,
            requests: BTreeMap::new(),
            responses: Map::new(),
        }
    }
}

impl Components {
    /// Adds the schema of a request with everything that it refers to, and returns a reference to it.
    pub(super) fn request(&mut self, body: &RequestBody) -> Value {
        let mut add = |name: &'static str, fields: &[Field]| {
            self.requests
                .entry(name)
                .or_insert_with(|| request_schema(name, fields));
        };
        for field in &body.fields {
            field.schema.visit_objects(&mut add);
        }
        add(body.name, &body.fields);
        Schema::Object(body.name, Vec::new()).to_json(References::Components)
    }

    /// Returns the schema of a response and adds the schemas that it refers to.
    pub(super) fn response(&mut self, schema: fn(&mut SchemaGenerator) -> schemars::Schema) -> Value {
        let mut schema = schema(&mut self.generator).to_value();
        polish(&mut schema);
        schema
    }

    /// Returns a reference to the response for errors with these codes, which share one status.
    pub(super) fn error(&mut self, codes: &[ErrorCode]) -> Value {
        let names: Vec<String> = codes.iter().map(|code| format!("{code:?}")).collect();
        let name = names.join("Or");
        if !self.responses.contains_key(&name) {
            self.responses.insert(name.clone(), error_response(codes));
        }
        json!({ "$ref": format!("#/components/responses/{name}") })
    }

    pub(super) fn render(mut self) -> Value {
        let mut schemas = Map::new();
        for (name, mut schema) in self.generator.take_definitions(true) {
            polish(&mut schema);
            schemas.insert(name, schema);
        }
        for (name, schema) in self.requests {
            let known = schemas.insert(name.to_owned(), schema);
            debug_assert!(known.is_none(), "{name} is a request and a response");
        }
        schemas.insert("Error".to_owned(), error_schema());
        json!({
            "schemas": schemas,
            "responses": self.responses,
            "headers": headers(),
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer", "description": "API key of a team." }
            },
        })
    }
}

fn request_schema(name: &str, fields: &[Field]) -> Value {
    let mut schema = object_schema(fields, References::Components, true);
    schema["patternProperties"] = json!({ "^__": {} });
    rules::complete(name, fields, &mut schema);
    schema
}

/// Removes what is of no use in a document of responses: Rust's integer formats, default values, and `null`
/// for fields that are left out instead.
fn polish(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(polish),
        Value::Object(map) => {
            map.remove("default");
            map.remove("title");
            let format = map.get("format").and_then(Value::as_str).unwrap_or_default();
            if format.starts_with("uint") || format.starts_with("int") {
                map.remove("format");
            }
            let required: Vec<String> = strings(map.get("required"));
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                for (name, property) in properties {
                    if !required.contains(name) {
                        without_null(property);
                    }
                }
            }
            for (keyword, part) in map {
                match (keyword.as_str(), part) {
                    // The keys of these objects are names, not keywords.
                    ("properties" | "patternProperties", Value::Object(named)) => {
                        named.values_mut().for_each(polish);
                    }
                    (_, part) => polish(part),
                }
            }
        }
        _ => {}
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Removes `null` from `["string", "null"]` or `anyOf`.
fn without_null(property: &mut Value) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            property["type"] = only.clone();
        }
    }
    if let Some(Value::Array(kinds)) = property.get_mut("anyOf") {
        kinds.retain(|kind| kind["type"] != "null");
        if let [Value::Object(only)] = kinds.as_slice() {
            let only = only.clone();
            if let Value::Object(property) = property {
                property.remove("anyOf");
                property.extend(only);
            }
        }
    }
}

fn error_schema() -> Value {
    let part = json!({ "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0 }] });
    let problem = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": {
            "path": {
                "type": "array",
                "items": part,
                "description": "Keys and indexes that lead to the value.",
            },
            "message": { "type": "string", "description": "What is wrong with it." },
        },
    });
    json!({
        "type": "object",
        "description": "Body of every response that is not 2xx.",
        "required": ["success", "error", "code"],
        "properties": {
            "success": { "type": "boolean", "const": false },
            "error": {
                "type": "string",
                "minLength": 1,
                "description": "What is wrong and, where possible, what to do.",
            },
            "code": { "$ref": "#/components/schemas/ErrorCode" },
            "details": {
                "description": "A list of problems for validation errors, else an object.",
                "anyOf": [{ "type": "array", "items": problem }, { "type": "object" }],
            },
        },
    })
}

fn error_response(codes: &[ErrorCode]) -> Value {
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("- `{}`: {}", code.as_str(), code.summary()))
        .collect();
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let first = codes.first().copied().unwrap_or(ErrorCode::Unknown);
    let mut headers = json!({ "x-request-id": { "$ref": "#/components/headers/RequestId" } });
    let by_status = match first.status() {
        401 => Some(("WWW-Authenticate", "#/components/headers/WwwAuthenticate")),
        429 => Some(("Retry-After", "#/components/headers/RetryAfter")),
        _ => None,
    };
    if let Some((name, reference)) = by_status {
        headers[name] = json!({ "$ref": reference });
    }
    json!({
        "description": lines.join("\n"),
        "headers": headers,
        "content": { "application/json": {
            "schema": {
                "allOf": [
                    { "$ref": "#/components/schemas/Error" },
                    { "type": "object", "properties": { "code": { "enum": words } } },
                ],
            },
            "example": ApiError::new(first, first.summary()).body(),
        } },
    })
}

fn headers() -> Value {
    json!({
        "RequestId": {
            "description": "Id of the request in the server's log: the one that was sent, or a new one.",
            "schema": { "type": "string" },
        },
        "RetryAfter": {
            "description": "Seconds to wait before the request is sent again.",
            "required": true,
            "schema": { "type": "integer", "minimum": 1 },
        },
        "WwwAuthenticate": {
            "description": "How to authenticate.",
            "required": true,
            "schema": { "type": "string", "const": "Bearer" },
        },
    })
}
