//! The fields of a search.

use super::{Group, Kind, field};

/// The fields of a search that are always visible.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "limit",
            "Results",
            Kind::Number(""),
            "Maximum number of results per source.",
        ),
        field(
            "tbs",
            "Time",
            Kind::Choices(&[
                ("", "any time"),
                ("qdr:h", "past hour"),
                ("qdr:d", "past day"),
                ("qdr:w", "past week"),
                ("qdr:m", "past month"),
                ("qdr:y", "past year"),
            ]),
            "Maximum age of a result; use the JSON tab for exact dates.",
        ),
        field(
            "sources",
            "Sources",
            Kind::Set(&["web", "news", "images"]),
            "Kinds of results.",
        ),
    ],
};

pub(super) const FILTER: Group = Group {
    name: "Filter",
    about: "Results to include",
    page: false,
    fields: &[
        field(
            "categories",
            "Categories",
            Kind::Set(&["github", "research", "pdf"]),
            "Categories of results; without a selection, all of them.",
        ),
        field(
            "includeDomains",
            "Include hosts",
            Kind::Lines,
            "Host names, one per line; cannot be combined with Exclude hosts.",
        ),
        field(
            "excludeDomains",
            "Exclude hosts",
            Kind::Lines,
            "Host names, one per line; their results are removed.",
        ),
        field(
            "country",
            "Country",
            Kind::Text,
            "Two-letter code of the country to search from.",
        ),
        field(
            "location",
            "Location",
            Kind::Text,
            "Place name, such as Berlin, Germany.",
        ),
        field("safe", "Safe search", Kind::MaybeSwitch, "Removes adult content."),
    ],
};

pub(super) const ANSWER: Group = Group {
    name: "Answer",
    about: "Content and time limit of the results",
    page: false,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "Time limit of the whole call, including scraping.",
        ),
        field(
            "highlights",
            "Highlights",
            Kind::Switch,
            "Describes each result with its most relevant passage.",
        ),
        field(
            "ignoreInvalidURLs",
            "Skip invalid URLs",
            Kind::Switch,
            "Skips results with an invalid URL.",
        ),
    ],
};
