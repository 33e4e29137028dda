//! The embedded documentation: pages of Markdown, for reading offline and for questions. The only request data that
//! reach this module are the name of a page and a question; both are always escaped.

mod html;

use std::sync::LazyLock;

use harvestman_core::docs::Docs;

/// Page of the documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Name in its URL.
    pub(crate) name: &'static str,
    markdown: &'static str,
}

macro_rules! pages {
    ($($name:literal = $file:literal,)*) => {
        &[$(Page { name: $name, markdown: include_str!(concat!("../../../docs/", $file)) }),*]
    };
}

/// Every page, in reading order.
const PAGES: &[Page] = pages! {
    "start" = "guide/start.md",
    "scrape" = "guide/scrape.md",
    "formats" = "guide/formats.md",
    "actions" = "guide/actions.md",
    "files" = "guide/files.md",
    "caching" = "guide/caching.md",
    "change-tracking" = "guide/change-tracking.md",
    "crawl" = "guide/crawl.md",
    "crawl-scope" = "guide/crawl-scope.md",
    "crawl-prompts" = "guide/crawl-prompts.md",
    "politeness" = "guide/politeness.md",
    "map" = "guide/map.md",
    "batch" = "guide/batch.md",
    "search" = "guide/search.md",
    "extract" = "guide/extract.md",
    "agent" = "guide/agent.md",
    "sessions" = "SESSIONS.md",
    "commands" = "COMMANDS.md",
    "cli" = "CLI.md",
    "webhooks" = "guide/webhooks.md",
    "errors" = "guide/errors.md",
    "credits" = "guide/credits.md",
    "activity" = "guide/activity.md",
    "limits" = "guide/limits.md",
    "keys" = "guide/keys.md",
    "teams" = "TEAMS.md",
    "privacy" = "guide/privacy.md",
    "self-hosting" = "guide/self-hosting.md",
    "settings" = "guide/settings.md",
    "models" = "guide/models.md",
    "sandbox" = "SANDBOX.md",
    "documentation" = "guide/documentation.md",
};

static DOCS: LazyLock<Docs> = LazyLock::new(|| Docs::of(PAGES.iter().map(|page| (page.name, page.markdown))));

/// Returns the searchable documentation.
pub(crate) fn docs() -> &'static Docs {
    &DOCS
}

/// Returns the list of pages as HTML; with a question, the passages that answer it.
pub(crate) fn index(question: Option<&str>) -> String {
    html::index(PAGES, question, docs())
}

/// Returns one page as HTML; none for an unknown name.
pub(crate) fn page(name: &str) -> Option<String> {
    let page = PAGES.iter().find(|page| page.name == name)?;
    Some(html::page(PAGES, page))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod questions;
