//! Models of `POST /v2/scrape` and `GET /v2/scrape/{id}` (docs/API.md sections 7.1 and 7.2).

use harvestman_derive::{Request, response};
use serde_json::Value;

use crate::api::caller::Caller;
use crate::api::crawl::EnabledOptions;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::wire;
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;
use crate::api::url_field::TargetUrl;

/// Body of `POST /v2/scrape`. The scrape options are top-level fields of the body.
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
    #[field(label = "Zero data retention", group = "Retention")]
    pub zero_data_retention: bool,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

impl ScrapeRequest {
    /// Rejects a body with `alexandria` instead of `url`.
    ///
    /// # Errors
    /// 501 for such a body.
    fn refuse_alexandria(body: &Value) -> Result<(), ApiError> {
        match is_alexandria(body) {
            false => Ok(()),
            true => Err(ApiError::new(
                ErrorCode::NotSupported,
                "This server does not support scrapes by `alexandria`; send a `url`.",
            )),
        }
    }

    /// Returns whether the result may be stored in the cache.
    pub fn stores_in_cache(&self) -> bool {
        self.options.stores_in_cache() && !self.zero_data_retention
    }

    /// Checks that the operator has enabled the requested options.
    ///
    /// # Errors
    /// 403 if an option is not enabled.
    pub fn check_enabled(&self, enabled: EnabledOptions) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }
}

wire!(ScrapeRequest);

/// Returns whether a body asks for the unsupported scrape with `alexandria` instead of `url` (501).
fn is_alexandria(body: &Value) -> bool {
    body.get("alexandria").is_some_and(|value| !value.is_null()) && body.get("url").is_none()
}

/// Response of a scrape: the document, or `status: "scraping"` while the scrape is running.
#[response(Default)]
pub struct ScrapeResponse {
    /// Always true.
    pub success: bool,
    /// `scraping`; present only while there is no document.
    pub status: Option<String>,
    /// Document of the page.
    pub data: Option<Document>,
    /// Warning about the result.
    pub warning: Option<String>,
}

impl ScrapeResponse {
    /// Creates the response for a finished scrape.
    pub fn done(document: Document) -> Self {
        Self {
            success: true,
            status: None,
            data: Some(document),
            warning: None,
        }
    }

    /// Creates the response for a running scrape.
    pub fn running() -> Self {
        Self {
            success: true,
            status: Some("scraping".to_owned()),
            data: None,
            warning: None,
        }
    }
}
