//! Answer of `POST /v2/search` (docs/API.md section 9).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::page::Document;
use crate::ids::JobId;

/// Answer of `POST /v2/search`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SearchAnswer {
    /// Always true.
    pub success: bool,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<JobId>,
    /// With the pages that were scraped for it.
    pub credits_used: u64,
    /// Results by source; only requested sources.
    pub data: SearchResults,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Results by source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchResults {
    /// Pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<Vec<WebResult>>,
    /// News.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news: Option<Vec<NewsResult>>,
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ImageResult>>,
}

/// A page. A scraped one carries its document beside; a bare one carries none of it, by which
/// clients tell them apart.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WebResult {
    /// Address.
    pub url: String,
    /// Title.
    pub title: String,
    /// What the provider says about it, or the passage most relevant to the query.
    pub description: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Narrower kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Fields of the document of a scraped result.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// An article. Scraped and bare ones as in `WebResult`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewsResult {
    /// Title.
    pub title: String,
    /// Address.
    pub url: String,
    /// Its beginning.
    pub snippet: String,
    /// As the provider writes it.
    pub date: String,
    /// Its picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Fields of the document of a scraped result.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// A picture.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ImageResult {
    /// Title.
    pub title: String,
    /// Address of the picture.
    pub image_url: String,
    /// Pixels.
    pub image_width: u64,
    /// Pixels.
    pub image_height: u64,
    /// Address of the page it is on.
    pub url: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
}

/// The fields of a document as they stand in a scraped result.
pub fn scraped_fields(document: &Document) -> Map<String, Value> {
    match serde_json::to_value(document) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

impl WebResult {
    /// The document of a scraped result.
    pub fn document(&self) -> Option<Document> {
        document(&self.scraped)
    }
}

impl NewsResult {
    /// The document of a scraped result.
    pub fn document(&self) -> Option<Document> {
        document(&self.scraped)
    }
}

fn document(fields: &Map<String, Value>) -> Option<Document> {
    fields.get("metadata")?;
    serde_json::from_value(Value::Object(fields.clone())).ok()
}
