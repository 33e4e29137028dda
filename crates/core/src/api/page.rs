//! The page document (docs/API.md section 4.7): the result of one page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::branding::Branding;
use crate::api::change_report::ChangeReport;
use crate::api::offer::{Menu, Product};
use crate::api::wire_enum::wire_enum;
use crate::ids::ScrapeId;
use crate::page_version::VersionKey;
use crate::time::Timestamp;

/// Result of one page. Only requested parts are present; `metadata` is always present.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// The page as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Cleaned HTML, filtered in the same way as the Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// HTML as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    /// Absolute URLs of all links of the page, unique, in document order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Absolute URLs of images, unique, in document order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// URL of a screenshot of the page, or a `data:` URL.
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
    pub change_tracking: Option<ChangeReport>,
    /// Result of the `branding` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branding: Option<Branding>,
    /// Result of the `product` format; absent if the page states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<Product>,
    /// Result of the `menu` format; absent if the page states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu: Option<Menu>,
    /// Result of the `rawBase64` format.
    #[serde(rename = "rawBase64", skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// Results of actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<ActionOutputs>,
    /// Pages of a document; only with the parser option `pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<DocumentPage>>,
    /// Blocks of a document; only with the parser option `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Value>>,
    /// Metadata of the page and of its fetch.
    pub metadata: Metadata,
    /// Warning about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Key under which the page is stored for the next comparison, in the commit that stores the document.
    /// Never sent.
    #[serde(skip)]
    pub version: Option<VersionKey>,
    /// Data that `changeTracking` compares in its mode `json`, stored with the version. Never sent.
    #[serde(skip)]
    pub tracked: Option<Value>,
    /// Time from the start of its fetch to the finished document, ms, stored with a page of a job. Never sent.
    #[serde(skip)]
    pub took_ms: Option<u64>,
}

impl Document {
    /// Appends a sentence to the warning, unless it is there already.
    pub fn warn(&mut self, sentence: &str) {
        match &mut self.warning {
            Some(warning) if warning.contains(sentence) => {}
            Some(warning) => {
                warning.push(' ');
                warning.push_str(sentence);
            }
            none => *none = Some(sentence.to_owned()),
        }
    }
}

/// Results of the actions of a page, each kind in the order of the actions.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ActionOutputs {
    /// URLs of screenshots, or `data:` URLs.
    pub screenshots: Vec<String>,
    /// Results of `scrape`.
    pub scrapes: Vec<CapturedHtml>,
    /// Results of `executeJavascript`.
    pub javascript_returns: Vec<JavascriptReturn>,
    /// URLs of PDF files, or `data:` URLs.
    pub pdfs: Vec<String>,
}

/// HTML of a page when an action captured it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct CapturedHtml {
    /// URL of the page.
    pub url: String,
    /// The HTML.
    pub html: String,
}

/// Value of a script.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct JavascriptReturn {
    /// JavaScript `typeof` the value.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value; null if JSON cannot represent it.
    pub value: Value,
}

/// Selector of the `attributes` format with the values that it matched.
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

/// Page of a document with pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentPage {
    /// Page number, from 1.
    pub page_number: u32,
    /// The page as Markdown.
    pub markdown: String,
}

wire_enum! {
    /// What was done with a consent banner.
    ConsentBanner {
        /// Everything that the banner asks for was refused, in the browser.
        Answered = "answered",
        /// The banner could not be answered, and was hidden in the browser.
        Hidden = "hidden",
        /// The banner was removed from the HTML.
        Removed = "removed",
    }
}

/// Metadata of a page and of its fetch. Other `meta` tags appear as additional fields under their own
/// names.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Text of `<title>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Content of `meta[name=description]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Value of `html[lang]`.
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
    /// Short description of a status of 400 and above, or of a partial failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the page waited because the team was at its concurrency limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_limited: Option<bool>,
    /// Waiting time, ms; only with `concurrencyLimited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_queue_duration_ms: Option<u64>,
    /// Id for interact and `GET /v2/scrape/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_id: Option<ScrapeId>,
    /// `Content-Type` of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Credits charged for this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<u32>,
    /// Class of the proxy: `basic` or `stealth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_used: Option<String>,
    /// What `blockAds` did with the consent banner of the page; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent_banner: Option<ConsentBanner>,
    /// Number of requests of the page that `blockAds` blocked; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_requests: Option<u32>,
    /// Engine that fetched the document: `http` or `browser`; absent for a cached copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_engine: Option<String>,
    /// Reason for the choice of the engine (`content`, `emptyMount`, `requested`, ...); absent for content
    /// other than HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_engine_reason: Option<String>,
    /// Result of the cache lookup: `hit` or `miss`; absent when the cache was not consulted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_state: Option<String>,
    /// Creation time of the cached copy; only on a hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_at: Option<Timestamp>,
    /// Number of pages of the document that were converted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_pages: Option<u32>,
    /// Number of pages of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<u32>,
    /// Number of pages of the document whose text was recognized in images (OCR).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ocr_pages: Option<u32>,
    /// Every `og:locale:alternate`, in document order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub og_locale_alternate: Option<Vec<String>>,
    /// Common tags (`ogTitle`, `favicon`, `robots`, ...) and every other `meta` name or property. Values are
    /// strings; the values of equal names are joined with `, `.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}
