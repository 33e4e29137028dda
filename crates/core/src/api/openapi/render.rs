//! Conversion of operations to the JSON of the document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::components::Components;
use super::operation::{Content, Operation, Parameter, ParameterLocation, RequestBody, Response};
use super::rules;
use crate::api::error::ErrorCode;

impl Operation {
    pub(super) fn render(&self, components: &mut Components) -> Value {
        let mut rendered = json!({
            "tags": [self.tag.name()],
            "operationId": self.id,
            "summary": self.summary,
            "responses": self.responses(components),
        });
        if let Some(description) = self.description {
            rendered["description"] = description.into();
        }
        if !self.key {
            rendered["security"] = json!([]);
        }
        let mut parameters: Vec<Value> = self.parameters.iter().map(Parameter::render).collect();
        if self.key {
            parameters.push(request_id());
        }
        if !parameters.is_empty() {
            rendered["parameters"] = parameters.into();
        }
        if let Some(body) = &self.body {
            rendered["requestBody"] = body.render(components);
        }
        if self.takes_file {
            rendered["requestBody"] = json!({
                "required": true,
                "description": "The file.",
                "content": { "application/octet-stream": {} },
            });
        }
        rendered
    }

    fn responses(&self, components: &mut Components) -> Value {
        let mut responses = Map::new();
        for response in &self.responses {
            responses.insert(response.status.to_string(), response.render(components));
        }
        let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
        for code in ErrorCode::ALL {
            if self.errors.contains(code) {
                by_status.entry(code.status()).or_default().push(*code);
            }
        }
        for (status, codes) in by_status {
            let known = responses.contains_key(&status.to_string());
            debug_assert!(!known, "{}: {status} is a response and an error", self.id);
            responses.insert(status.to_string(), components.error(&codes));
        }
        responses.into()
    }
}

impl Parameter {
    fn render(&self) -> Value {
        let location = match self.location {
            ParameterLocation::Path => "path",
            ParameterLocation::Query => "query",
            ParameterLocation::Header => "header",
        };
        json!({
            "name": self.name,
            "in": location,
            "required": self.location == ParameterLocation::Path,
            "description": self.help,
            "schema": self.schema,
        })
    }
}

fn request_id() -> Value {
    let parameter = Parameter {
        name: "x-request-id",
        location: ParameterLocation::Header,
        help: "Id of the request, for the server's log: 1 to 128 of `A-Za-z0-9._:-`. The response has it too. \
               The server replaces any other value.",
        schema: json!({ "type": "string" }),
    };
    parameter.render()
}

impl RequestBody {
    fn render(&self, components: &mut Components) -> Value {
        let schema = components.request(self);
        if !self.form {
            let content = json!({ "schema": schema, "example": self.example() });
            return json!({
                "required": self.fields.iter().any(|field| field.required) || rules::needs_body(self.name),
                "description": self.summary,
                "content": { "application/json": content },
            });
        }
        let file = json!({
            "type": "string",
            "contentMediaType": "application/octet-stream",
            "description": "The file, with its name.",
        });
        let form = json!({
            "type": "object",
            "required": ["file"],
            "properties": { "file": file, "options": schema },
        });
        let mut content = json!({ "multipart/form-data": {
            "schema": form,
            "encoding": { "options": { "contentType": "application/json" } },
        } });
        if let Some(body) = &self.instead {
            content["application/json"] =
                json!({ "schema": components.request(body), "example": body.example() });
        }
        json!({
            "required": true,
            "description": "The file and, as JSON text, its options.",
            "content": content,
        })
    }
}

impl Response {
    fn render(&self, components: &mut Components) -> Value {
        let mut content = json!({});
        match &self.content {
            Content::Json { schema, example } => {
                let schema = components.response(*schema);
                content["application/json"] = json!({ "schema": schema, "example": example });
            }
            Content::Object(help) => {
                let schema = json!({ "type": ["object", "array"], "description": help });
                content["application/json"] = json!({ "schema": schema });
            }
            Content::Text(kind) => content[*kind] = json!({ "schema": { "type": "string" } }),
            Content::Bytes(kinds) => {
                for kind in *kinds {
                    content[*kind] = json!({});
                }
            }
            Content::None => {}
        }
        let mut rendered = json!({
            "description": self.help,
            "headers": { "x-request-id": { "$ref": "#/components/headers/RequestId" } },
        });
        if !matches!(self.content, Content::None) {
            rendered["content"] = content;
        }
        rendered
    }
}
