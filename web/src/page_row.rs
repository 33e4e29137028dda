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
        let contains = |text: &String| text.to_lowercase().contains(filter);
        contains(&page.url)
            || contains(&page.title)
            || page
                .status
                .is_some_and(|status| status.to_string().starts_with(filter))
            || page.error.as_ref().is_some_and(contains)
    }
}
