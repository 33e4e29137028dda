//! `POST /v2/scrape` and `GET /v2/scrape/{id}` (contract sections 7.1 and 7.2).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::body::Body;
use crate::api::caller::Caller;
use crate::api::crawl::Enabled;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Fields, Wire, read_value, wire};
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;
use crate::api::url_field::TargetUrl;

/// Body of `POST /v2/scrape`. The options stand at the top level on the wire.
#[derive(Clone, PartialEq, Debug)]
pub struct ScrapeRequest {
    /// The page.
    pub url: TargetUrl,
    /// How it is fetched and what is made of it.
    pub options: ScrapeOptions,
    /// Keep nothing once the answer is given; needs enablement.
    pub zero_data_retention: bool,
    /// Who sent it.
    pub caller: Caller,
}

impl ScrapeRequest {
    /// A request with every option at its default.
    pub fn new(url: impl Into<TargetUrl>) -> Self {
        Self {
            url: url.into(),
            options: ScrapeOptions::default(),
            zero_data_retention: false,
            caller: Caller::default(),
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

impl Wire for ScrapeRequest {
    /// Errors: 501 for a body with `alexandria` instead of `url`, else as any request.
    fn from_value(value: Value) -> Result<Self, ApiError> {
        if is_alexandria(&value) {
            return Err(ApiError::new(
                ErrorCode::NotSupported,
                "A scrape by `alexandria` is not offered by this server; give a `url`.",
            ));
        }
        read_value(value)
    }

    fn read(f: &mut Fields) -> Self {
        Self {
            url: f.url("url"),
            options: ScrapeOptions::read(f),
            zero_data_retention: f.bool("zeroDataRetention", false),
            caller: Caller::read_with_extras(f),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("url", &self.url);
        self.options.write(body);
        body.differs("zeroDataRetention", &self.zero_data_retention, &false);
        self.caller.write(body);
    }
}

wire!(ScrapeRequest);

/// Whether a body is the unsupported scrape by `alexandria` instead of `url` (501).
pub fn is_alexandria(body: &Value) -> bool {
    body.get("alexandria").is_some_and(|value| !value.is_null()) && body.get("url").is_none()
}

/// Answer of both endpoints: the document, or `status: "scraping"` while it is being made.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
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
