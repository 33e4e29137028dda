//! The HTTP API as an OpenAPI 3.1 document. Request bodies are described by the field tables that their
//! parsers use, responses by the types that are serialized, errors by the table of codes. The paths are in
//! `pages`, `extraction`, `sessions`, `monitors` and `server`; start with [`operation::Operation`].

mod components;
mod examples;
mod extraction;
mod monitors;
mod operation;
mod pages;
mod render;
mod rules;
mod server;
mod sessions;

use serde_json::{Value, json};

use components::Components;
use operation::{Operation, Tag};

const DESCRIPTION: &str = "\
Turns websites into data: single pages, crawls, batches, maps, searches, extraction, browser sessions.\n\
\n\
- Bodies are JSON in UTF-8. An explicit `null` in a request counts as an absent field, fields whose name \
starts with `__` are ignored, and every other unknown field is refused.\n\
- Fields marked as deprecated are sent by some clients on their own. They are accepted without effect.\n\
- Responses may gain fields at any time; ignore those that you do not know.\n\
- A path of this protocol that this server does not support returns 501 `FEATURE_NOT_SUPPORTED`.";

/// Returns the OpenAPI document for this version of the server.
pub fn document(version: &str) -> Value {
    let mut components = Components::default();
    let mut paths = json!({});
    for operation in operations() {
        paths[operation.path][operation.method.to_ascii_lowercase()] = operation.render(&mut components);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Harvestman",
            "version": version,
            "summary": "Self-hosted web data service.",
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/", "description": "This server" }],
        "security": [{ "key": [] }],
        "tags": Tag::ALL.iter().map(|tag| tag.render()).collect::<Vec<_>>(),
        "paths": paths,
        "components": components.render(),
    })
}

fn operations() -> Vec<Operation> {
    let mut operations = pages::operations();
    operations.extend(extraction::operations());
    operations.extend(sessions::operations());
    operations.extend(monitors::operations());
    operations.extend(server::operations());
    operations
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_and_paths_are_unique() {
        let operations = operations();
        let ids: BTreeSet<_> = operations.iter().map(|it| it.id).collect();
        let paths: BTreeSet<_> = operations.iter().map(|it| (it.method, it.path)).collect();
        assert_eq!((ids.len(), paths.len()), (operations.len(), operations.len()));
    }

    #[test]
    fn every_example_is_accepted_by_its_reader() {
        for operation in operations() {
            let Some(body) = &operation.body else { continue };
            let example = body.example();
            body.read(example.clone())
                .unwrap_or_else(|error| panic!("{}: {example}: {error}", operation.id));
            for field in body.fields.iter().filter(|field| !field.hidden) {
                let Some(text) = field.example else { continue };
                let mut one = example.clone();
                one[field.name] = serde_json::from_str(text).expect("an example is JSON");
                // The two fields exclude each other.
                let other = match field.name {
                    "prompt" => "code",
                    "includeDomains" => "excludeDomains",
                    "excludeDomains" => "includeDomains",
                    _ => "",
                };
                one.as_object_mut().expect("a body is an object").remove(other);
                body.read(one.clone())
                    .unwrap_or_else(|error| panic!("{} {}: {one}: {error}", operation.id, field.name));
            }
        }
    }
}
