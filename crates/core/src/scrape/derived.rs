//! What is made of the Markdown of a page, whatever kind of file it came from: the clean-up pass, passages, a summary.

use super::passages::Text;
use super::{clean, highlights, summary};
use crate::api::format::{Format, FormatKind, QueryMode};
use crate::api::options::ScrapeOptions;
use crate::api::page::Document;

/// Whether Markdown has to be written, for the caller or for what is made of it.
pub(super) fn needs_markdown(options: &ScrapeOptions) -> bool {
    options.wants(FormatKind::Markdown) || options.wants(FormatKind::Summary) || query(options).is_some()
}

/// Fills what the options ask for from the document's Markdown, which goes when nobody asked for it.
pub(super) fn derive(document: &mut Document, options: &ScrapeOptions) {
    let Some(mut markdown) = document.markdown.take() else {
        return;
    };
    if options.only_clean_content {
        markdown = clean::clean(&markdown);
        document.warn(clean::WARNING);
    }
    let (query, wants_summary) = (query(options), options.wants(FormatKind::Summary));
    if query.is_some() || wants_summary {
        let text = Text::of(&markdown);
        if let Some(query) = query {
            let found = highlights::highlights(&text, query);
            if found.is_empty() {
                document.warn(highlights::NO_MATCH);
            }
            document.highlights = Some(found);
        }
        if wants_summary {
            let page = &document.metadata;
            let summary = summary::summary(&text, page.title.as_deref(), page.description.as_deref());
            document.summary = Some(summary);
            document.warn(summary::WARNING);
        }
    }
    document.markdown = options.wants(FormatKind::Markdown).then_some(markdown);
}

/// What the wanted passages shall be about.
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
