//! Operation of the document: one method of one path with its parameters, responses and errors.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{examples, rules};
#[cfg(test)]
use crate::api::error::ApiError;
use crate::api::error::ErrorCode;
use crate::api::fields::{Field, References, Schema, Wire};

/// Group of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tag {
    Pages,
    Crawls,
    Batches,
    Search,
    Extraction,
    Sessions,
    Monitors,
    Team,
    Documentation,
    Server,
}

impl Tag {
    pub(super) const ALL: &[Tag] = &[
        Tag::Pages,
        Tag::Crawls,
        Tag::Batches,
        Tag::Search,
        Tag::Extraction,
        Tag::Sessions,
        Tag::Monitors,
        Tag::Team,
        Tag::Documentation,
        Tag::Server,
    ];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Tag::Pages => (
                "Pages",
                "Scrape single pages, convert files, list the URLs of a site.",
            ),
            Tag::Crawls => ("Crawls", "Crawl a site."),
            Tag::Batches => ("Batches", "Scrape a list of pages as one job."),
            Tag::Search => ("Search", "Search the web, or the team's own pages."),
            Tag::Extraction => ("Extraction", "Extract structured data from pages; run agents."),
            Tag::Sessions => (
                "Sessions",
                "Use a live browser: code, prompts, live view, debugging protocol.",
            ),
            Tag::Monitors => ("Monitors", "Watch pages for changes, on a schedule."),
            Tag::Team => (
                "Team",
                "Usage, activity and limits of the team that owns the key.",
            ),
            Tag::Documentation => (
                "Documentation",
                "Ask questions about this server; read its guide.",
            ),
            Tag::Server => ("Server", "Health, metrics and this document. No key is needed."),
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.words().0
    }

    pub(super) fn render(self) -> Value {
        json!({ "name": self.name(), "description": self.words().1 })
    }
}

/// Location of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ParameterLocation {
    Path,
    Query,
    Header,
}

pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) location: ParameterLocation,
    pub(super) help: &'static str,
    pub(super) schema: Value,
}

/// Body of a request: a [`Wire`] type.
pub(super) struct RequestBody {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) fields: Vec<Field>,
    /// Optional fields that the example contains in addition to the required ones.
    pub(super) also: &'static [&'static str],
    /// Whether the body is the part `options` of a form with a file.
    pub(super) form: bool,
    /// JSON body that is accepted instead of the form.
    pub(super) instead: Option<Box<RequestBody>>,
    #[cfg(test)]
    read: fn(Value) -> Result<(), ApiError>,
}

impl RequestBody {
    fn of<W: Wire>(also: &'static [&'static str]) -> Self {
        Self {
            name: W::NAME,
            summary: W::SUMMARY,
            fields: W::fields(),
            also,
            form: false,
            instead: None,
            #[cfg(test)]
            read: |value| W::from_value(value).map(drop),
        }
    }

    /// Returns a body that the parser accepts, made from the examples of the fields.
    pub(super) fn example(&self) -> Value {
        let shown = |field: &&Field| field.required || self.also.contains(&field.name);
        let value = |field: &Field| Some((field.name.to_owned(), serde_json::from_str(field.example?).ok()?));
        let body: Map<String, Value> = self.fields.iter().filter(shown).filter_map(value).collect();
        body.into()
    }

    #[cfg(test)]
    pub(super) fn read(&self, value: Value) -> Result<(), ApiError> {
        (self.read)(value)
    }
}

/// Content of a response.
pub(super) enum Content {
    Json {
        schema: fn(&mut SchemaGenerator) -> schemars::Schema,
        example: Value,
    },
    /// JSON that is not described here: a response of the browser, or this document.
    Object(&'static str),
    Text(&'static str),
    Bytes(&'static [&'static str]),
    None,
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) help: &'static str,
    pub(super) content: Content,
}

pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: Option<&'static str>,
    pub(super) tag: Tag,
    /// Whether the operation needs a key.
    pub(super) key: bool,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<RequestBody>,
    /// Whether the body is a file.
    pub(super) takes_file: bool,
    pub(super) responses: Vec<Response>,
    pub(super) errors: Vec<ErrorCode>,
}

/// Adds tags to the operations that they group.
pub(super) fn tagged<const N: usize>(groups: [(Tag, Vec<Operation>); N]) -> Vec<Operation> {
    let tagged = |(tag, operations): (Tag, Vec<Operation>)| {
        let operations = operations.into_iter();
        operations.map(move |operation| Operation { tag, ..operation })
    };
    groups.into_iter().flat_map(tagged).collect()
}

/// Creates a `GET` operation that needs no key.
pub(super) fn public(path: &'static str, id: &'static str) -> Operation {
    Operation {
        key: false,
        errors: vec![ErrorCode::UnsupportedMediaType, ErrorCode::Unknown],
        ..get(path, id)
    }
}

pub(super) fn get(path: &'static str, id: &'static str) -> Operation {
    Operation::new("GET", path, id)
}

pub(super) fn post(path: &'static str, id: &'static str) -> Operation {
    Operation::new("POST", path, id)
}

pub(super) fn put(path: &'static str, id: &'static str) -> Operation {
    Operation::new("PUT", path, id)
}

pub(super) fn patch(path: &'static str, id: &'static str) -> Operation {
    Operation::new("PATCH", path, id)
}

pub(super) fn delete(path: &'static str, id: &'static str) -> Operation {
    Operation::new("DELETE", path, id)
}

impl Operation {
    fn new(method: &'static str, path: &'static str, id: &'static str) -> Self {
        let operation = Self {
            method,
            path,
            id,
            summary: "",
            description: None,
            tag: Tag::Server,
            key: true,
            parameters: Vec::new(),
            body: None,
            takes_file: false,
            responses: Vec::new(),
            errors: vec![
                ErrorCode::Unauthorized,
                ErrorCode::UnsupportedMediaType,
                ErrorCode::RateLimited,
                ErrorCode::Unknown,
                ErrorCode::Unavailable,
            ],
        };
        operation.with_path_parameters()
    }

    fn with_path_parameters(mut self) -> Self {
        for name in self
            .path
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split('}').next())
        {
            let (help, format) = match name {
                "id" => ("Id, as returned at the start.", Some("uuid")),
                "check" => ("Id of the check.", Some("uuid")),
                "snapshot" => ("Id of the snapshot, from the trace.", Some("uuid")),
                "token" => ("Token, from a URL that the server returned.", None),
                _ => ("Name, from a URL that the server returned.", None),
            };
            if name == "id" {
                self.errors.extend([ErrorCode::BadRequest, ErrorCode::NotFound]);
            }
            let mut schema = json!({ "type": "string" });
            if let Some(format) = format {
                schema["format"] = format.into();
            }
            self.parameters.push(Parameter {
                name,
                location: ParameterLocation::Path,
                help,
                schema,
            });
        }
        self
    }

    pub(super) fn summary(mut self, text: &'static str) -> Self {
        self.summary = text;
        self
    }

    pub(super) fn description(mut self, text: &'static str) -> Self {
        self.description = Some(text);
        self
    }

    /// Adds a JSON body. Its example has the required fields and those of `also`.
    pub(super) fn body<W: Wire>(mut self, also: &'static [&'static str]) -> Self {
        self.body = Some(RequestBody::of::<W>(also));
        self.errors(&[
            ErrorCode::BadRequest,
            ErrorCode::InvalidJson,
            ErrorCode::RequestTimeout,
            ErrorCode::PayloadTooLarge,
        ])
    }

    /// Adds a form with a file and options as the body.
    pub(super) fn form<W: Wire>(mut self) -> Self {
        self = self.body::<W>(&["formats"]);
        if let Some(body) = &mut self.body {
            body.form = true;
        }
        self
    }

    /// Adds a JSON body that is accepted instead of the form.
    pub(super) fn or_body<W: Wire>(mut self) -> Self {
        if let Some(body) = &mut self.body {
            body.instead = Some(Box::new(RequestBody::of::<W>(&["formats"])));
        }
        self
    }

    /// Declares a body of any bytes, for an operation without a key.
    pub(super) fn takes_file(mut self) -> Self {
        self.key = false;
        self.takes_file = true;
        self.errors = vec![
            ErrorCode::BadRequest,
            ErrorCode::UnsupportedMediaType,
            ErrorCode::RequestTimeout,
            ErrorCode::PayloadTooLarge,
            ErrorCode::NotFound,
            ErrorCode::Unknown,
            ErrorCode::Unavailable,
        ];
        self
    }

    /// Adds a query parameter.
    pub(super) fn query(
        mut self,
        name: &'static str,
        help: &'static str,
        schema: &Schema,
        default: Option<Value>,
    ) -> Self {
        let mut schema = schema.to_json(References::Components);
        rules::bound(&mut schema);
        if let Some(default) = default {
            schema["default"] = default;
        }
        self.parameters.push(Parameter {
            name,
            location: ParameterLocation::Query,
            help,
            schema,
        });
        self.errors(&[ErrorCode::BadRequest])
    }

    /// Restricts the last parameter to texts that match a pattern.
    pub(super) fn pattern(mut self, pattern: &'static str) -> Self {
        if let Some(parameter) = self.parameters.last_mut() {
            parameter.schema["pattern"] = pattern.into();
        }
        self
    }

    /// Adds the header for an idempotency key.
    pub(super) fn idempotent(mut self) -> Self {
        self.parameters.push(Parameter {
            name: "x-idempotency-key",
            location: ParameterLocation::Header,
            help: "Within 24 hours the same key with the same body returns the first job's id.",
            schema: json!({ "type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$" }),
        });
        self.errors(&[ErrorCode::IdempotencyKeyReused])
    }

    /// Adds a response with status 200. The type of `example` gives the schema.
    pub(super) fn response<T: Serialize + JsonSchema>(self, help: &'static str, example: T) -> Self {
        self.response_with(200, help, example)
    }

    /// Adds a response with another status.
    pub(super) fn response_with<T: Serialize + JsonSchema>(
        self,
        status: u16,
        help: &'static str,
        example: T,
    ) -> Self {
        let example = serde_json::to_value(example).unwrap_or_default();
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<T>();
        self.content(status, help, Content::Json { schema, example })
    }

    pub(super) fn content(mut self, status: u16, help: &'static str, content: Content) -> Self {
        self.responses.push(Response {
            status,
            help,
            content,
        });
        self
    }

    /// Adds error codes.
    pub(super) fn errors(mut self, codes: &[ErrorCode]) -> Self {
        self.errors.extend(codes);
        self
    }

    /// Adds the response to a WebSocket upgrade.
    pub(super) fn socket(self, help: &'static str) -> Self {
        self.content(101, help, Content::None)
    }

    /// Adds the errors of fetching a page.
    pub(super) fn fetches(self) -> Self {
        self.errors(examples::TARGET_ERRORS)
    }
}
