//! Response of `POST /v2/search` (docs/API.md section 9).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::page::Document;
use crate::ids::JobId;

/// Response of `POST /v2/search`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SearchResponse {
    /// Always true.
    pub success: bool,
    /// Id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<JobId>,
    /// Credits used, including those for scraped pages.
    pub credits_used: u64,
    /// Results by source; only requested sources are present.
    pub data: SearchResults,
    /// Warning about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Results by source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchResults {
    /// Web pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<Vec<WebResult>>,
    /// News articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news: Option<Vec<NewsResult>>,
    /// Images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ImageResult>>,
}

/// Web page. If it was scraped, the fields of its document are added to the result; otherwise none of them is
/// present.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WebResult {
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Description from the provider, or the passage that is most relevant to the query.
    pub description: String,
    /// Position in the results, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Category of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Fields of the document, if the result was scraped.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// News article. If it was scraped, the fields of its document are added as in `WebResult`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewsResult {
    /// Title of the article.
    pub title: String,
    /// URL of the article.
    pub url: String,
    /// Beginning of the article.
    pub snippet: String,
    /// Date, as the provider writes it.
    pub date: String,
    /// URL of the article's image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// Position in the results, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Fields of the document, if the result was scraped.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// Image.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ImageResult {
    /// Title of the image.
    pub title: String,
    /// URL of the image.
    pub image_url: String,
    /// Width, pixels.
    pub image_width: u64,
    /// Height, pixels.
    pub image_height: u64,
    /// URL of the page that contains the image.
    pub url: String,
    /// Position in the results, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
}

/// Returns the fields of a document that are added to a scraped result.
pub fn scraped_fields(document: &Document) -> Map<String, Value> {
    match serde_json::to_value(document) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

impl WebResult {
    /// Returns the document of a scraped result, or `None` if the result was not scraped.
    pub fn document(&self) -> Option<Document> {
        document(&self.scraped)
    }
}

impl NewsResult {
    /// Returns the document of a scraped result, or `None` if the result was not scraped.
    pub fn document(&self) -> Option<Document> {
        document(&self.scraped)
    }
}

fn document(fields: &Map<String, Value>) -> Option<Document> {
    fields.get("metadata")?;
    serde_json::from_value(Value::Object(fields.clone())).ok()
}
