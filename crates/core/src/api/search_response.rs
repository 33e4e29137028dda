//! Response of `POST /v2/search` (docs/API.md section 9).

use harvestman_derive::response;
use serde_json::{Map, Value};

use crate::api::page::Document;
use crate::ids::JobId;

/// Response of `POST /v2/search`.
#[response(Default)]
pub struct SearchResponse {
    /// Always true.
    pub success: bool,
    /// Id of the call.
    pub id: Option<JobId>,
    /// Credits used, including those for scraped pages.
    pub credits_used: u64,
    /// Results by source; only requested sources are present.
    pub data: SearchResults,
    /// Warning about the result.
    pub warning: Option<String>,
}

/// Results by source.
#[response(Default)]
pub struct SearchResults {
    /// Web pages.
    pub web: Option<Vec<WebResult>>,
    /// News articles.
    pub news: Option<Vec<NewsResult>>,
    /// Images.
    pub images: Option<Vec<ImageResult>>,
}

/// Web page. If it was scraped, the fields of its document are added to the result; otherwise none of them is
/// present.
#[response(Default)]
pub struct WebResult {
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Description from the provider, or the passage that is most relevant to the query.
    pub description: String,
    /// Position in the results, from 1.
    pub position: Option<u64>,
    /// Category of the result.
    pub category: Option<String>,
    /// Fields of the document, if the result was scraped.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// News article. If it was scraped, the fields of its document are added as in `WebResult`.
#[response(Default)]
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
    pub image_url: Option<String>,
    /// Position in the results, from 1.
    pub position: Option<u64>,
    /// Fields of the document, if the result was scraped.
    #[serde(flatten)]
    pub scraped: Map<String, Value>,
}

/// Image.
#[response(Eq, Default)]
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
