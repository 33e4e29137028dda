//! What the help of a command and the description of a tool say: a line for each request and for each field that users
//! set. A field without a line is accepted and not shown.

use harvestman_core::api::command::RequestCommand;

/// Stands below the help of every command.
pub(super) const AFTER: &str = "\
LIST is words with commas, a JSON array, or the flag repeated; JSON is as in the API.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 some pages failed, 130 interrupted.";

/// What a command does.
pub(crate) fn about(command: RequestCommand) -> &'static str {
    match command {
        RequestCommand::Scrape => "Scrape a page: its Markdown, HTML, links, data, ...",
        RequestCommand::Crawl => "Crawl a site: a line of JSON for each page",
        RequestCommand::Batch => "Scrape many pages as one job: a line of JSON for each",
        RequestCommand::Map => "List the addresses of a site",
        RequestCommand::Search => "Search, and scrape what is found",
        RequestCommand::Extract => "Extract data after a schema from pages",
        RequestCommand::Agent => "Have an agent find data",
    }
}

/// What a field of a request is for.
pub(crate) fn of(command: RequestCommand, field: &str) -> Option<&'static str> {
    // Taken for the sake of clients that send them, without effect.
    if command == RequestCommand::Map && ["allowExternalLinks", "deduplicateSimilarURLs"].contains(&field) {
        return None;
    }
    let found = FIELDS.binary_search_by_key(&field, |(name, _)| name);
    found.ok().map(|index| FIELDS[index].1)
}

/// By name.
const FIELDS: &[(&str, &str)] = &[
    (
        "actions",
        "Clicks and keys before the page is read, as in the API",
    ),
    ("agent", "The model that extracts, as in the API"),
    (
        "allowExternalLinks",
        "Follow links to other sites [default: false]",
    ),
    ("allowSubdomains", "Follow links to subdomains [default: false]"),
    ("appendToId", "Add the pages to this batch"),
    (
        "blockAds",
        "Block advertisements and cookie banners [default: true]",
    ),
    ("categories", "Only results of these: github, research, pdf"),
    (
        "country",
        "Country that is searched from, two letters [default: US]",
    ),
    (
        "crawlEntireDomain",
        "Follow links to pages beside and above the start [default: false]",
    ),
    (
        "deduplicateSimilarURLs",
        "Take addresses that differ by www, index.html and the like as one [default: true]",
    ),
    ("delay", "Seconds between two requests to a site"),
    (
        "enableWebSearch",
        "Search for pages where none are given [default: false]",
    ),
    ("excludeDomains", "Leave out results of these hosts"),
    ("excludePaths", "Regular expressions: matching paths are left out"),
    ("excludeTags", "CSS selectors: leave out what matches"),
    (
        "formats",
        "What to make of the page: markdown, html, rawHtml, links, images, summary, ..., or a JSON array as in \
         the API [default: markdown]",
    ),
    ("headers", "Headers that are sent to the site"),
    (
        "highlights",
        "Show what fits the query of each result [default: true]",
    ),
    (
        "ignoreCache",
        "Ask the site also where an answer is kept [default: false]",
    ),
    (
        "ignoreInvalidURLs",
        "Leave out what is no address instead of refusing all",
    ),
    (
        "ignoreQueryParameters",
        "Addresses that differ by their query alone are one",
    ),
    (
        "ignoreRobotsTxt",
        "Leave robots.txt aside, where the server allows it [default: false]",
    ),
    ("ignoreSitemap", "Do not look at sitemaps [default: false]"),
    ("includeDomains", "Only results of these hosts"),
    (
        "includePaths",
        "Regular expressions: only matching paths are kept",
    ),
    ("includeSubdomains", "Subdomains as well [default: true]"),
    ("includeTags", "CSS selectors: keep only what matches"),
    ("limit", "At most this many pages, addresses or results"),
    (
        "location",
        "Where the visitor is: an object with country and languages; of a search, words",
    ),
    ("lockdown", "Take pages from the cache alone [default: false]"),
    (
        "maxAge",
        "Accept a copy that is at most so old, in ms; 0: fetch anew",
    ),
    ("maxConcurrency", "Pages at once"),
    ("maxCredits", "What the agent may spend"),
    (
        "maxDiscoveryDepth",
        "Links away from the start; 0 is the start alone",
    ),
    ("minAge", "Only a copy that is at least so old, in ms"),
    ("mobile", "As a phone [default: false]"),
    ("model", "Name of the model"),
    (
        "onlyCleanContent",
        "Remove leftovers from the Markdown in a second pass [default: false]",
    ),
    (
        "onlyMainContent",
        "Leave out navigation, headers, footers and the like [default: true]",
    ),
    (
        "parsers",
        "Document parsers, as in the API; empty: documents as base64 [default: pdf]",
    ),
    ("profile", "Cookies and storage that last, as in the API"),
    ("prompt", "What is wanted, in words"),
    ("proxy", "Kind of proxy [default: auto]"),
    ("query", "What to search for"),
    (
        "redactPII",
        "Remove personal data: true, false or a JSON object as in the API [default: false]",
    ),
    (
        "regexOnFullURL",
        "Match patterns with the whole address [default: false]",
    ),
    (
        "removeBase64Images",
        "Replace data: pictures in the Markdown by a placeholder [default: true]",
    ),
    (
        "robotsUserAgent",
        "Name that is looked up in robots.txt, where the server allows it",
    ),
    ("safe", "Leave out what is not for everyone"),
    ("schema", "JSON Schema of the data"),
    (
        "scrapeOptions",
        "Options of each page: formats, waitFor, ... as in the API",
    ),
    ("search", "Addresses about this come first"),
    ("showSources", "Tell where each value comes from [default: false]"),
    ("sitemap", "What sitemaps are good for [default: include]"),
    ("skipTlsVerification", "Accept any certificate"),
    ("sources", "Where to search: web, news, images [default: web]"),
    ("storeInCache", "Keep a copy [default: true]"),
    (
        "strictConstrainToURLs",
        "The agent opens the given pages alone [default: false]",
    ),
    ("systemPrompt", "What the model is told first"),
    ("tbs", "Time of the results: qdr:d, qdr:w, ..."),
    ("timeout", "Time for the whole request, in ms"),
    ("url", "Address of the page or site"),
    ("urls", "Addresses of the pages"),
    ("waitFor", "Wait after the page has loaded, in ms [default: 0]"),
    (
        "webhook",
        "Address that is told of the job, or an object as in the API",
    ),
    (
        "zeroDataRetention",
        "Keep nothing once it is delivered, where the server allows it [default: false]",
    ),
];

#[cfg(test)]
mod tests {
    use harvestman_core::api::wire_enum::WireEnum;

    use super::*;

    #[test]
    fn every_line_is_about_a_field_and_is_found() {
        let fields: Vec<&str> = RequestCommand::ALL
            .iter()
            .flat_map(|command| command.fields())
            .map(|field| field.name)
            .collect();
        for (name, line) in FIELDS {
            assert!(fields.contains(name), "no request has `{name}`");
            assert_eq!(
                of(RequestCommand::Crawl, name),
                Some(*line),
                "`{name}` is not in its place"
            );
        }
        assert_eq!(of(RequestCommand::Crawl, "fastMode"), None);
    }
}
