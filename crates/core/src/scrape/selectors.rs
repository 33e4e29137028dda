//! The CSS selectors in a request: which part of a page is converted, and whose attributes are returned.

use harvestman_content::{HtmlPage, Selection, Selector};

use super::derived;
use crate::api::error::ApiError;
use crate::api::format::{AttributeSelector, Format, FormatKind};
use crate::api::options::ScrapeOptions;
use crate::api::page::AttributeValues;
use crate::api::problem::{PathPart, Problem, bad_request};

/// Returns the values for the `attributes` format, if it is requested.
pub(super) fn attributes(
    page: &HtmlPage,
    options: &ScrapeOptions,
) -> Result<Option<Vec<AttributeValues>>, ApiError> {
    let Some((at, selectors)) = attribute_selectors(options) else {
        return Ok(None);
    };
    let mut found = Vec::with_capacity(selectors.len());
    for (index, wanted) in selectors.iter().enumerate() {
        let values = page
            .attributes(&wanted.selector, &wanted.attribute)
            .map_err(|error| bad_attribute_selector(at, index, &error.to_string()))?;
        found.push(AttributeValues {
            selector: wanted.selector.clone(),
            attribute: wanted.attribute.clone(),
            values,
        });
    }
    Ok(Some(found))
}

/// Returns the selectors of the `attributes` format and its index in `formats`.
fn attribute_selectors(options: &ScrapeOptions) -> Option<(usize, &[AttributeSelector])> {
    let mut formats = options.formats.iter().enumerate();
    formats.find_map(|(index, format)| match format {
        Format::Attributes { selectors } => Some((index, selectors.as_slice())),
        _ => None,
    })
}

/// Checks the selectors of the `attributes` format.
///
/// # Errors
/// 400 for an invalid selector.
pub(super) fn check_attribute_selectors(options: &ScrapeOptions) -> Result<(), ApiError> {
    let Some((at, selectors)) = attribute_selectors(options) else {
        return Ok(());
    };
    for (index, wanted) in selectors.iter().enumerate() {
        if let Err(error) = Selector::parse(&wanted.selector) {
            return Err(bad_attribute_selector(at, index, &error.to_string()));
        }
    }
    Ok(())
}

fn bad_attribute_selector(at: usize, index: usize, error: &str) -> ApiError {
    let key = |name: &str| PathPart::Key(name.to_owned());
    bad_selector(
        vec![
            key("formats"),
            PathPart::Index(at),
            key("selectors"),
            PathPart::Index(index),
            key("selector"),
        ],
        error,
    )
}

fn bad_selector(path: Vec<PathPart>, error: &str) -> ApiError {
    let error = error.trim_end_matches('.');
    bad_request(&[Problem {
        path,
        message: format!("must be a supported CSS selector: {error}"),
    }])
}

/// Parses the options that select the part of a page to convert.
///
/// # Errors
/// 400 for an invalid selector.
pub(super) fn selection(options: &ScrapeOptions) -> Result<Selection, ApiError> {
    let parse = |name: &str, texts: &[String]| -> Result<Vec<Selector>, ApiError> {
        let selectors = texts.iter().enumerate().map(|(index, text)| {
            let path = || vec![PathPart::Key(name.to_owned()), PathPart::Index(index)];
            Selector::parse(text).map_err(|error| bad_selector(path(), &error.to_string()))
        });
        selectors.collect()
    };
    // To choose the main content takes longer than to parse the page.
    let is_written = derived::needs_markdown(options) || options.wants(FormatKind::Html);
    Ok(Selection {
        only_main_content: options.only_main_content && is_written,
        include_tags: parse("includeTags", &options.include_tags)?,
        exclude_tags: parse("excludeTags", &options.exclude_tags)?,
        remove_base64_images: options.remove_base64_images,
        remove_consent: options.block_ads,
    })
}
