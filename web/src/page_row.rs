//! A page of a job as the console lists it: the facts about it without its content.

use harvestman_core::api::Document;
use harvestman_core::api::console::PageSummary;
use harvestman_core::job_comparison::content_hash;

/// A page with its index in the documents of its job.
#[derive(Clone, PartialEq, Debug)]
pub struct PageRow {
    /// Index in the job's documents.
    pub index: u64,
    /// The page.
    pub page: PageSummary,
}

impl PageRow {
    /// Returns the row of a document. Its depth, duration and time are known to the server only.
    pub fn from_document(index: u64, document: &Document) -> Self {
        let metadata = &document.metadata;
        let url = metadata.url.as_ref().or(metadata.source_url.as_ref());
        let texts = [&document.markdown, &document.html, &document.raw_html];
        let content = texts.into_iter().flatten().next();
        Self {
            index,
            page: PageSummary {
                url: url.cloned().unwrap_or_default(),
                title: metadata.title.clone().unwrap_or_default(),
                status: metadata.status_code,
                error: metadata.error.clone(),
                size: texts.into_iter().flatten().map(String::len).max().unwrap_or(0),
                requested: PageSummary::redirect_source(
                    metadata.source_url.as_deref(),
                    metadata.url.as_deref(),
                ),
                content: content
                    .filter(|text| !text.trim().is_empty())
                    .map(|text| content_hash(text)),
                ..PageSummary::default()
            },
        }
    }

    /// Returns whether the site returned an HTTP status of 400 or more.
    pub fn is_http_error(&self) -> bool {
        self.page.status.is_some_and(|status| status >= 400)
    }

    /// Returns whether the row matches a lower-case filter by URL, title, status or error.
    pub fn matches(&self, filter: &str) -> bool {
        let page = &self.page;
        filter.is_empty()
            || contains(&page.url, filter)
            || contains(&page.title, filter)
            || page
                .status
                .is_some_and(|status| status.to_string().starts_with(filter))
            || page.error.as_ref().is_some_and(|error| contains(error, filter))
    }
}

/// Returns whether a text contains a lower-case filter in any case. Plain ASCII, the usual case, is not copied.
fn contains(text: &str, filter: &str) -> bool {
    match text.is_ascii() {
        true => text
            .as_bytes()
            .windows(filter.len())
            .any(|part| part.eq_ignore_ascii_case(filter.as_bytes())),
        false => text.to_lowercase().contains(filter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_matches_in_any_case() {
        let row = |url: &str, title: &str| PageRow {
            index: 0,
            page: PageSummary {
                url: url.to_owned(),
                title: title.to_owned(),
                status: Some(404),
                ..PageSummary::default()
            },
        };
        let page = row("https://e.com/Docs/a", "\u{c4}pfel und Birnen");
        for filter in ["", "docs/a", "\u{e4}pfel", "birnen", "40"] {
            assert!(page.matches(filter), "{filter}");
        }
        for filter in ["docs/b", "pfirsich", "04", "https://e.com/docs/a/and/longer"] {
            assert!(!page.matches(filter), "{filter}");
        }
    }
}
