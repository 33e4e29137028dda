//! Processes the Markdown of a page, whatever kind of file it came from: the clean-up pass, passages, and the
//! input of a model.

use super::model::ModelInput;
use super::passages::Text;
use super::{clean, highlights, model};
use crate::api::format::{Format, FormatKind, QueryMode};
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;

/// Returns whether Markdown is needed, for the caller or for another format.
pub(super) fn needs_markdown(options: &ScrapeOptions) -> bool {
    options.wants(FormatKind::Markdown) || query(options).is_some() || model::needs_input(options)
}

/// Sets the formats that derive from the document's Markdown, and removes the Markdown if it was not requested.
/// Formats that need a model are left to the caller.
pub(super) fn derive(document: &mut Document, model_input: &mut ModelInput, options: &ScrapeOptions) {
    let Some(mut markdown) = document.markdown.take() else {
        return;
    };
    if options.only_clean_content {
        markdown = clean::clean(&markdown);
    }
    set_markdown(document, model_input, options, markdown);
}

/// Sets the formats that derive from Markdown to those of `markdown`.
pub(super) fn set_markdown(
    document: &mut Document,
    model_input: &mut ModelInput,
    options: &ScrapeOptions,
    markdown: String,
) {
    if let Some(query) = query(options) {
        let found = highlights::highlights(&Text::of(&markdown), query);
        if found.is_empty() {
            document.warn(highlights::NO_MATCH);
        }
        document.highlights = Some(found);
    }
    let wanted = options.wants(FormatKind::Markdown);
    match model::needs_input(options) {
        false => document.markdown = wanted.then_some(markdown),
        true => {
            document.markdown = wanted.then(|| markdown.clone());
            model_input.markdown = markdown;
        }
    }
}

/// Returns the query for passages.
fn query(options: &ScrapeOptions) -> Option<&str> {
    options.formats.iter().find_map(|format| match format {
        Format::Highlights { query } => Some(query.as_str()),
        Format::Query {
            prompt,
            mode: QueryMode::DirectQuote,
        } => Some(prompt.as_str()),
        _ => None,
    })
}
