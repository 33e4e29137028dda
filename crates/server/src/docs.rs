//! The embedded documentation: the guide as pages of Markdown and a reference of the API, for reading offline and for
//! questions. The only request data that reach this module are the name of a page, a search query and the server's
//! own base URL; all are always escaped. Start with [`index`].

mod api;
mod html;

use std::sync::LazyLock;

use harvestman_core::docs::Docs;

use api::Reference;

/// Page of the guide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Name in its URL.
    pub(crate) name: &'static str,
    /// Heading of the group that the page belongs to.
    group: &'static str,
    markdown: &'static str,
}

macro_rules! pages {
    ($($group:literal { $($name:literal = $file:literal,)* })*) => {
        &[$($(Page {
            name: $name,
            group: $group,
            markdown: include_str!(concat!("../../../docs/", $file)),
        },)*)*]
    };
}

/// Every page, in reading order.
const PAGES: &[Page] = pages! {
    "Pages" {
        "start" = "guide/start.md",
        "scrape" = "guide/scrape.md",
        "formats" = "guide/formats.md",
        "actions" = "guide/actions.md",
        "files" = "guide/files.md",
        "caching" = "guide/caching.md",
        "change-tracking" = "guide/change-tracking.md",
        "monitors" = "guide/monitors.md",
    }
    "Sites" {
        "crawl" = "guide/crawl.md",
        "continue" = "guide/continue.md",
        "crawl-scope" = "guide/crawl-scope.md",
        "crawl-prompts" = "guide/crawl-prompts.md",
        "politeness" = "guide/politeness.md",
        "map" = "guide/map.md",
        "batch" = "guide/batch.md",
        "search" = "guide/search.md",
    }
    "Data and browsers" {
        "extract" = "guide/extract.md",
        "agent" = "guide/agent.md",
        "sessions" = "SESSIONS.md",
        "commands" = "COMMANDS.md",
        "cli" = "CLI.md",
    }
    "Working with the API" {
        "webhooks" = "guide/webhooks.md",
        "errors" = "guide/errors.md",
        "credits" = "guide/credits.md",
        "activity" = "guide/activity.md",
        "limits" = "guide/limits.md",
        "keys" = "guide/keys.md",
        "teams" = "TEAMS.md",
        "privacy" = "guide/privacy.md",
    }
    "Operation" {
        "install" = "INSTALL.md",
        "self-hosting" = "guide/self-hosting.md",
        "cluster" = "guide/cluster.md",
        "operating" = "OPERATING.md",
        "settings" = "guide/settings.md",
        "models" = "guide/models.md",
        "sandbox" = "SANDBOX.md",
        "documentation" = "guide/documentation.md",
    }
};

static DOCS: LazyLock<Docs> = LazyLock::new(|| Docs::of(PAGES.iter().map(|page| (page.name, page.markdown))));
static REFERENCE: LazyLock<Reference> = LazyLock::new(Reference::of_this_server);

/// Returns the searchable guide.
pub(crate) fn docs() -> &'static Docs {
    &DOCS
}

/// Returns the list of pages as HTML; with a query, the endpoints and passages that match it.
pub(crate) fn index(query: Option<&str>) -> String {
    match query.map(str::trim).filter(|query| !query.is_empty()) {
        Some(query) => html::results(PAGES, query, &REFERENCE.search(query, html::INDEX), docs()),
        None => html::index(PAGES),
    }
}

/// Returns one page of the guide as HTML; none for an unknown name.
pub(crate) fn page(name: &str) -> Option<String> {
    let index = PAGES.iter().position(|page| page.name == name)?;
    Some(html::page(PAGES, index))
}

/// Returns the list of endpoints as HTML. `base` is the server's URL without a trailing slash.
pub(crate) fn api_index(base: &str) -> String {
    REFERENCE.index(base)
}

/// Returns the reference of one endpoint as HTML; none for an unknown operation id.
pub(crate) fn api_endpoint(operation: &str, base: &str) -> Option<String> {
    REFERENCE.endpoint(operation, base)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod questions;
