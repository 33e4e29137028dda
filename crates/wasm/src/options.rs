//! Options of the page functions, named as in the API's scrape options.

use harvestman_content::{Selection, Selector};
use harvestman_core::api::ApiError;
use serde::Deserialize;
use url::Url;

use crate::boundary::{bad_input, parse_url};

/// Options for converting a page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct PageOptions {
    url: Option<String>,
    only_main_content: bool,
    include_tags: Vec<String>,
    exclude_tags: Vec<String>,
    remove_base64_images: bool,
}

impl Default for PageOptions {
    /// Returns the defaults of the API.
    fn default() -> Self {
        Self {
            url: None,
            only_main_content: true,
            include_tags: Vec::new(),
            exclude_tags: Vec::new(),
            remove_base64_images: true,
        }
    }
}

impl PageOptions {
    /// Parses options.
    ///
    /// # Errors
    /// For an unknown name or a wrong type.
    pub(crate) fn from_json(text: &str) -> Result<PageOptions, ApiError> {
        serde_json::from_str(text).map_err(|error| bad_input(error.to_string()))
    }

    /// Returns the URL of the page. Without one, relative links are dropped.
    pub(crate) fn url(&self) -> Result<Url, ApiError> {
        parse_url(self.url.as_deref().unwrap_or("about:blank"))
    }

    /// Returns the selected part of the page.
    ///
    /// # Errors
    /// For an invalid selector.
    pub(crate) fn selection(&self) -> Result<Selection, ApiError> {
        Ok(Selection {
            only_main_content: self.only_main_content,
            include_tags: selectors("includeTags", &self.include_tags)?,
            exclude_tags: selectors("excludeTags", &self.exclude_tags)?,
            remove_base64_images: self.remove_base64_images,
            // As on the server, by default.
            remove_consent: true,
        })
    }
}

fn selectors(field: &str, texts: &[String]) -> Result<Vec<Selector>, ApiError> {
    let parse = |text: &String| {
        Selector::parse(text)
            .map_err(|error| bad_input(format!("`{field}`: `{text}` is not a selector: {error}")))
    };
    texts.iter().map(parse).collect()
}
