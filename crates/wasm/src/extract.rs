//! Extracts the data that pages state, for [`PageRenderer`](crate::render::PageRenderer) in another module. Checking
//! JSON Schemas needs regular expressions, which the module for crawls contains anyway.

use harvestman_content::Facts;
use harvestman_core::api::ApiError;
use harvestman_core::extract::fill::PageInfo;
use harvestman_core::extract::{FillResult, fill_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, failure};

/// A page and a schema, as [`PageRenderer`](crate::render::PageRenderer) writes them.
#[derive(Deserialize)]
struct Input {
    schema: Map<String, Value>,
    facts: Facts,
    url: String,
    title: Option<String>,
    description: Option<String>,
    language: Option<String>,
}

/// Fills the schema in the JSON text `input`; returns JSON text.
#[wasm_bindgen(js_name = fillSchema)]
pub fn fill(input: &str) -> Result<String, String> {
    filled(input)
        .and_then(|result| serde_json::to_string(&result).map_err(invalid))
        .map_err(|error| failure(&error))
}

fn filled(input: &str) -> Result<FillResult, ApiError> {
    let input: Input = serde_json::from_str(input).map_err(invalid)?;
    let about = PageInfo {
        url: &input.url,
        title: input.title.as_deref(),
        description: input.description.as_deref(),
        language: input.language.as_deref(),
    };
    Ok(fill_schema(&input.schema, &input.facts, about))
}

fn invalid(error: serde_json::Error) -> ApiError {
    bad_input(error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_result_equals_that_of_the_core() {
        let facts = Facts {
            pairs: vec![("Price".to_owned(), "12.50".to_owned())],
            ..Facts::default()
        };
        let schema = json!({ "properties": { "price": { "type": "number" }, "title": { "type": "string", "pattern": "^W" } } });
        let schema = schema.as_object().unwrap();
        let input = json!({ "schema": schema, "facts": facts, "url": "https://a.test/", "title": "Web" });
        let about = PageInfo {
            url: "https://a.test/",
            title: Some("Web"),
            ..PageInfo::default()
        };
        let expected = fill_schema(schema, &facts, about);
        let found: FillResult = serde_json::from_str(&fill(&input.to_string()).unwrap()).unwrap();
        assert_eq!(found, expected);
        assert_eq!(found.value, json!({ "price": 12.5, "title": "Web" }));
        assert!(fill("{}").is_err());
    }
}
