//! The page document (docs/API.md section 4.7): what the caller receives for one page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::ScrapeId;
use crate::page_version::VersionKey;
use crate::time::Timestamp;

/// One page. Only requested parts are present; `metadata` always.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// The page as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Cleaned HTML, filtered like the Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// HTML as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    /// Absolute addresses, unique, document order, whole page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Absolute addresses of pictures, unique, document order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// Address of a picture of the page, or a `data:` string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// Result of the `json` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Result of the `summary` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Result of the `question` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Result of the `highlights` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<String>,
    /// Result of the `attributes` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<AttributeValues>>,
    /// Result of the `changeTracking` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tracking: Option<Value>,
    /// Result of the `branding` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branding: Option<Value>,
    /// Results of actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Value>,
    /// Pages of a document, with the parser option `pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<DocumentPage>>,
    /// Blocks of a document, with the parser option `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Value>>,
    /// Facts about the page and its fetch.
    pub metadata: Metadata,
    /// What the caller should know about this result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Where the page is kept for the next comparison, in the commit that stores the document; never on the wire.
    #[serde(skip)]
    pub version: Option<VersionKey>,
    /// What `changeTracking` compares in its mode `json`, kept with the version; never on the wire.
    #[serde(skip)]
    pub tracked: Option<Value>,
}

impl Document {
    /// Adds a sentence for the caller.
    pub fn warn(&mut self, sentence: &str) {
        match &mut self.warning {
            Some(warning) => {
                warning.push(' ');
                warning.push_str(sentence);
            }
            none => *none = Some(sentence.to_owned()),
        }
    }
}

/// One selector of the `attributes` format with what it found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct AttributeValues {
    /// CSS selector as requested.
    pub selector: String,
    /// Attribute name as requested.
    pub attribute: String,
    /// Values in document order.
    pub values: Vec<String>,
}

/// One page of a paged document.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentPage {
    /// From 1.
    pub page_number: u32,
    /// The page as Markdown.
    pub markdown: String,
}

/// Facts about a page and its fetch. Unknown `meta` tags are kept in `other` under their own name.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// `<title>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `meta[name=description]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `html[lang]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The URL as requested.
    #[serde(rename = "sourceURL", skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// The URL after redirects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// HTTP status of the final response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Short text for a status of 400 and above or a partial failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Waited because the team was at its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_limited: Option<bool>,
    /// How long it waited, in ms; only with `concurrencyLimited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_queue_duration_ms: Option<u64>,
    /// Id for interact and `GET /v2/scrape/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_id: Option<ScrapeId>,
    /// `Content-Type` of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Credits of this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<u32>,
    /// `basic` or `stealth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_used: Option<String>,
    /// `http` or `browser`: what the document was made with; absent for a cached copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_engine: Option<String>,
    /// Why it was made with that (`content`, `emptyMount`, `requested`, ...); absent for what is no HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_engine_reason: Option<String>,
    /// `hit` or `miss`; absent when the cache was not consulted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_state: Option<String>,
    /// When the cached copy was made; only on a hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_at: Option<Timestamp>,
    /// Pages of a document that were converted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_pages: Option<u32>,
    /// Pages that the document has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<u32>,
    /// Every `og:locale:alternate`, document order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub og_locale_alternate: Option<Vec<String>>,
    /// The usual tags (`ogTitle`, `favicon`, `robots`, ...) and any other `meta` name or property:
    /// strings, several equal names joined with `, `.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}
