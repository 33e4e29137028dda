//! The fields of a map.

use harvestman_core::api::crawl::SitemapMode;

use super::{COUNTRY, Group, HEADERS, Kind, LANGUAGES, REGEX_ON_FULL_URL, field, words};

/// The fields of a map that are always visible.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "search",
            "Search",
            Kind::Text,
            "Lists URLs that match these words first.",
        ),
        field(
            "limit",
            "Limit",
            Kind::Number("URLs"),
            "Maximum number of URLs to list.",
        ),
        field(
            "sitemap",
            "Sitemap",
            Kind::Words(words::<SitemapMode>),
            "How to use the site's sitemaps.",
        ),
    ],
};

pub(super) const SCOPE: Group = Group {
    name: "Scope",
    about: "URLs to list",
    page: false,
    fields: &[
        field(
            "includePaths",
            "Include paths",
            Kind::Lines,
            "Regular expressions, one per line; only matching paths are listed.",
        ),
        field(
            "excludePaths",
            "Exclude paths",
            Kind::Lines,
            "Regular expressions, one per line; matching paths are skipped.",
        ),
        field(
            "includeSubdomains",
            "Subdomains",
            Kind::Switch,
            "Includes subdomains of the site.",
        ),
        field(
            "ignoreQueryParameters",
            "Ignore query",
            Kind::Switch,
            "Skips URLs with a query.",
        ),
        REGEX_ON_FULL_URL,
    ],
};

pub(super) const NETWORK: Group = Group {
    name: "Network",
    about: "How the site is fetched",
    page: false,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "Time limit of the call; returns the URLs found until then.",
        ),
        field(
            "ignoreCache",
            "Fresh sitemaps",
            Kind::Switch,
            "Ignores cached sitemaps.",
        ),
        HEADERS,
        COUNTRY,
        LANGUAGES,
    ],
};
