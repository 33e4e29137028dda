//! The page document (docs/API.md section 4.7): the result of one page.

use std::collections::BTreeMap;

use harvestman_derive::response;
use serde_json::Value;

use crate::api::branding::Branding;
use crate::api::change_report::ChangeReport;
use crate::api::offer::{Menu, Product};
use crate::api::wire_enum::wire_enum;
use crate::ids::ScrapeId;
use crate::page_version::VersionKey;
use crate::time::Timestamp;

/// Result of one page. Only requested parts are present; `metadata` is always present.
#[response(Default)]
pub struct Document {
    /// The page as Markdown.
    pub markdown: Option<String>,
    /// Cleaned HTML, filtered in the same way as the Markdown.
    pub html: Option<String>,
    /// HTML as received.
    pub raw_html: Option<String>,
    /// Absolute URLs of all links of the page, unique, in document order.
    pub links: Option<Vec<String>>,
    /// Absolute URLs of images, unique, in document order.
    pub images: Option<Vec<String>>,
    /// URL of a screenshot of the page, or a `data:` URL.
    pub screenshot: Option<String>,
    /// Result of the `json` format.
    pub json: Option<Value>,
    /// Result of the `summary` format.
    pub summary: Option<String>,
    /// Result of the `question` format.
    pub answer: Option<String>,
    /// Result of the `highlights` format.
    pub highlights: Option<String>,
    /// Result of the `attributes` format.
    pub attributes: Option<Vec<AttributeValues>>,
    /// Result of the `changeTracking` format.
    pub change_tracking: Option<ChangeReport>,
    /// Result of the `branding` format.
    pub branding: Option<Branding>,
    /// Result of the `product` format; absent if the page states none.
    pub product: Option<Product>,
    /// Result of the `menu` format; absent if the page states none.
    pub menu: Option<Menu>,
    /// Result of the `rawBase64` format.
    #[serde(rename = "rawBase64")]
    pub raw_base64: Option<String>,
    /// Results of actions.
    pub actions: Option<ActionOutputs>,
    /// Pages of a document; only with the parser option `pages`.
    pub pages: Option<Vec<DocumentPage>>,
    /// Blocks of a document; only with the parser option `blocks`.
    pub blocks: Option<Vec<Value>>,
    /// Metadata of the page and of its fetch.
    pub metadata: Metadata,
    /// Warning about the result.
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
        add_warning(&mut self.warning, sentence);
    }
}

/// Appends a sentence to a warning, unless it is there already.
pub(crate) fn add_warning(warning: &mut Option<String>, sentence: &str) {
    match warning {
        Some(warning) if warning.contains(sentence) => {}
        Some(warning) => {
            warning.push(' ');
            warning.push_str(sentence);
        }
        none => *none = Some(sentence.to_owned()),
    }
}

/// Results of the actions of a page, each kind in the order of the actions.
#[response(Default)]
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
#[response(Eq)]
pub struct CapturedHtml {
    /// URL of the page.
    pub url: String,
    /// The HTML.
    pub html: String,
}

/// Value of a script.
#[response]
pub struct JavascriptReturn {
    /// JavaScript `typeof` the value.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value; null if JSON cannot represent it.
    pub value: Value,
}

/// Selector of the `attributes` format with the values that it matched.
#[response(Eq)]
pub struct AttributeValues {
    /// CSS selector as requested.
    pub selector: String,
    /// Attribute name as requested.
    pub attribute: String,
    /// Values in document order.
    pub values: Vec<String>,
}

/// Page of a document with pages.
#[response(Eq)]
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
#[response(Default)]
pub struct Metadata {
    /// Text of `<title>`.
    pub title: Option<String>,
    /// Content of `meta[name=description]`.
    pub description: Option<String>,
    /// Value of `html[lang]`.
    pub language: Option<String>,
    /// The URL as requested.
    #[serde(rename = "sourceURL")]
    pub source_url: Option<String>,
    /// The URL after redirects.
    pub url: Option<String>,
    /// HTTP status of the final response.
    pub status_code: Option<u16>,
    /// Short description of a status of 400 and above, or of a partial failure.
    pub error: Option<String>,
    /// Whether the page waited because the team was at its concurrency limit.
    pub concurrency_limited: Option<bool>,
    /// Waiting time, ms; only with `concurrencyLimited`.
    pub concurrency_queue_duration_ms: Option<u64>,
    /// Id for interact and `GET /v2/scrape/{id}`.
    pub scrape_id: Option<ScrapeId>,
    /// `Content-Type` of the response.
    pub content_type: Option<String>,
    /// Credits charged for this document.
    pub credits_used: Option<u32>,
    /// Class of the proxy: `basic` or `stealth`.
    pub proxy_used: Option<String>,
    /// What `blockAds` did with the consent banner of the page; absent if there was none.
    pub consent_banner: Option<ConsentBanner>,
    /// Number of requests of the page that `blockAds` blocked; absent if there were none.
    pub blocked_requests: Option<u32>,
    /// Engine that fetched the document: `http` or `browser`; absent for a cached copy.
    pub scrape_engine: Option<String>,
    /// Reason for the choice of the engine (`content`, `emptyMount`, `requested`, ...); absent for content
    /// other than HTML.
    pub scrape_engine_reason: Option<String>,
    /// Result of the cache lookup: `hit` or `miss`; absent when the cache was not consulted.
    pub cache_state: Option<String>,
    /// Creation time of the cached copy; only on a hit.
    pub cached_at: Option<Timestamp>,
    /// Number of pages of the document that were converted.
    pub num_pages: Option<u32>,
    /// Number of pages of the document.
    pub total_pages: Option<u32>,
    /// Number of pages of the document whose text was recognized in images (OCR).
    pub ocr_pages: Option<u32>,
    /// Every `og:locale:alternate`, in document order.
    pub og_locale_alternate: Option<Vec<String>>,
    /// Common tags (`ogTitle`, `favicon`, `robots`, ...) and every other `meta` name or property. Values are
    /// strings; the values of equal names are joined with `, `.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}
