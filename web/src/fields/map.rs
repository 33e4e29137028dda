//! The controls of a map.

use harvestman_core::api::crawl::SitemapMode;

use super::{COUNTRY, Group, HEADERS, Kind, LANGUAGES, REGEX_ON_FULL_URL, field, words};

/// The fields of a map that are always in sight.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field("search", "Search", Kind::Text, "Addresses about this come first."),
        field(
            "limit",
            "Limit",
            Kind::Number("addresses"),
            "The list ends after so many.",
        ),
        field(
            "sitemap",
            "Sitemap",
            Kind::Words(words::<SitemapMode>),
            "Addresses named by the site's sitemaps.",
        ),
    ],
};

pub(super) const SCOPE: Group = Group {
    name: "Scope",
    about: "which addresses are listed",
    page: false,
    fields: &[
        field(
            "includePaths",
            "Include paths",
            Kind::Lines,
            "Regular expressions, one a line; only matching paths are listed.",
        ),
        field(
            "excludePaths",
            "Exclude paths",
            Kind::Lines,
            "Regular expressions, one a line; matching paths are left out.",
        ),
        field(
            "includeSubdomains",
            "Subdomains",
            Kind::Switch,
            "Also hosts below the start host.",
        ),
        field(
            "ignoreQueryParameters",
            "Ignore query",
            Kind::Switch,
            "Addresses with a query are left out.",
        ),
        REGEX_ON_FULL_URL,
    ],
};

pub(super) const NETWORK: Group = Group {
    name: "Network",
    about: "how the site is asked",
    page: false,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "For the whole call; what was found by then is the answer.",
        ),
        field(
            "ignoreCache",
            "Fresh sitemaps",
            Kind::Switch,
            "Does not use sitemaps kept from earlier.",
        ),
        HEADERS,
        COUNTRY,
        LANGUAGES,
    ],
};
