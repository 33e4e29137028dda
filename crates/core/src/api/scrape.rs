//! `POST /v2/scrape` and `GET /v2/scrape/{id}` (docs/API.md sections 7.1 and 7.2).

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::wire;
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;
use crate::api::url_field::TargetUrl;

/// Body of `POST /v2/scrape`. The options stand at the top level on the wire.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(refuse = Self::refuse_alexandria)]
pub struct ScrapeRequest {
    /// URL of the page.
    #[field(required, label = "URL", example = r#""https://example.com""#)]
    pub url: TargetUrl,
    /// How the page is fetched, and which parts of it are returned.
    #[field(flatten)]
    pub options: ScrapeOptions,
    /// Store nothing once the response is sent. The operator must enable it.
    #[field(label = "Zero data retention")]
    pub zero_data_retention: bool,
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

impl ScrapeRequest {
    /// Errors: 501 for a body with `alexandria` instead of `url`.
    fn refuse_alexandria(body: &Value) -> Result<(), ApiError> {
        match is_alexandria(body) {
            false => Ok(()),
            true => Err(ApiError::new(
                ErrorCode::NotSupported,
                "This server does not support scrapes by `alexandria`; send a `url`.",
            )),
        }
    }

    /// Whether the result may be put into the cache.
    pub fn stores_in_cache(&self) -> bool {
        self.options.stores_in_cache() && !self.zero_data_retention
    }

    /// Refuses what the operator has not enabled. Errors: 403.
    pub fn check_enabled(&self, enabled: Enabled) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }
}

wire!(ScrapeRequest);

/// Whether a body is the unsupported scrape by `alexandria` instead of `url` (501).
fn is_alexandria(body: &Value) -> bool {
    body.get("alexandria").is_some_and(|value| !value.is_null()) && body.get("url").is_none()
}

/// Answer of both endpoints: the document, or `status: "scraping"` while it is being made.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ScrapeAnswer {
    /// Always true.
    pub success: bool,
    /// `scraping`, only while there is no document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Document>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl ScrapeAnswer {
    /// A finished scrape.
    pub fn done(document: Document) -> Self {
        Self {
            success: true,
            status: None,
            data: Some(document),
            warning: None,
        }
    }

    /// A scrape that is still running.
    pub fn running() -> Self {
        Self {
            success: true,
            status: Some("scraping".to_owned()),
            data: None,
            warning: None,
        }
    }
}
