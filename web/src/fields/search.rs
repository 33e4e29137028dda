//! The controls of a search.

use super::{Group, Kind, field};

/// The fields of a search that are always in sight.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field("limit", "Results", Kind::Number(""), "Of each source, at most."),
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
            "How old a result may be; dates by the JSON tab.",
        ),
        field(
            "sources",
            "Sources",
            Kind::Set(&["web", "news", "images"]),
            "Where results come from.",
        ),
    ],
};

pub(super) const FILTER: Group = Group {
    name: "Filter",
    about: "which results are wanted",
    page: false,
    fields: &[
        field(
            "categories",
            "Categories",
            Kind::Set(&["github", "research", "pdf"]),
            "None chosen means all.",
        ),
        field(
            "includeDomains",
            "Only these hosts",
            Kind::Lines,
            "Host names, one a line; not together with the next.",
        ),
        field(
            "excludeDomains",
            "Not these hosts",
            Kind::Lines,
            "Host names, one a line.",
        ),
        field(
            "country",
            "Country",
            Kind::Text,
            "Two letters; for whom results are chosen.",
        ),
        field(
            "location",
            "Place",
            Kind::Text,
            "In words, as in Berlin, Germany.",
        ),
        field(
            "safe",
            "Safe search",
            Kind::MaybeSwitch,
            "Leaves out adult content.",
        ),
    ],
};

pub(super) const ANSWER: Group = Group {
    name: "Answer",
    about: "what is told of a result",
    page: false,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "For the whole call, scraping included.",
        ),
        field(
            "highlights",
            "Highlights",
            Kind::Switch,
            "Describes a result by its most relevant passage.",
        ),
        field(
            "ignoreInvalidURLs",
            "Skip invalid URLs",
            Kind::Switch,
            "Leaves out results whose address is none.",
        ),
    ],
};
