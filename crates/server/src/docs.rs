//! The documentation in this program: pages of Markdown, ready to be asked and to be read offline. Nothing here comes
//! from a request but the name of a page and a question, which are never taken for markup.

mod html;

use std::sync::LazyLock;

use harvestman_core::docs::Docs;

/// A page of the documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// As in its address.
    pub(crate) name: &'static str,
    markdown: &'static str,
}

macro_rules! pages {
    ($($name:literal = $file:literal,)*) => {
        &[$(Page { name: $name, markdown: include_str!(concat!("../../../docs/", $file)) }),*]
    };
}

/// Every page, in the order of reading.
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

/// The pages, ready to be asked.
pub(crate) fn docs() -> &'static Docs {
    &DOCS
}

/// The list of pages as HTML; with a question also what answers it.
pub(crate) fn index(question: Option<&str>) -> String {
    html::index(PAGES, question, docs())
}

/// One page as HTML.
pub(crate) fn page(name: &str) -> Option<String> {
    let page = PAGES.iter().find(|page| page.name == name)?;
    Some(html::page(PAGES, page))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod questions;
