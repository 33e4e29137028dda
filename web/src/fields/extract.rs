//! The fields of an extraction.

use super::{Group, Kind, WEBHOOK_HEADERS, WEBHOOK_METADATA, WEBHOOK_URL, field};

/// The fields of an extraction that are always visible; the schema has its own editor.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "urls",
            "URLs",
            Kind::Lines,
            "Pages to read, one per line; end a URL with /* for a whole site.",
        ),
        field(
            "prompt",
            "What to extract",
            Kind::LongText,
            "Description of the data to extract; required without URLs.",
        ),
    ],
};

pub(super) const SCOPE: Group = Group {
    name: "Scope",
    about: "Pages to read",
    page: false,
    fields: &[
        field(
            "limit",
            "Page limit",
            Kind::Number("pages"),
            "Maximum number of pages to read.",
        ),
        field(
            "includeSubdomains",
            "Subdomains",
            Kind::Switch,
            "Includes subdomains of each site.",
        ),
        field(
            "allowExternalLinks",
            "External links",
            Kind::Switch,
            "Includes pages on other hosts.",
        ),
        field(
            "ignoreSitemap",
            "Ignore sitemap",
            Kind::Switch,
            "Skips the sitemaps of each site.",
        ),
        field(
            "enableWebSearch",
            "Search the web",
            Kind::Switch,
            "Finds more pages with a web search.",
        ),
    ],
};

pub(super) const ANSWER: Group = Group {
    name: "Answer",
    about: "Model and details of the result",
    page: false,
    fields: &[
        field(
            "systemPrompt",
            "Instructions",
            Kind::LongText,
            "Instructions for the language model.",
        ),
        field(
            "agent.model",
            "Agent",
            Kind::Text,
            "Model to use as an agent, if any.",
        ),
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "Time limit of the whole job.",
        ),
        field(
            "showSources",
            "Show sources",
            Kind::Switch,
            "Adds the source page of each value.",
        ),
        field(
            "urlTrace",
            "URL trace",
            Kind::Switch,
            "Adds the list of URLs that were visited.",
        ),
        field(
            "ignoreInvalidURLs",
            "Skip invalid URLs",
            Kind::Switch,
            "Skips invalid URLs instead of rejecting the request.",
        ),
    ],
};

pub(super) const WEBHOOK: Group = Group {
    name: "Webhook",
    about: "Notifications about this job",
    page: false,
    fields: &[
        WEBHOOK_URL,
        field(
            "webhook.events",
            "Events",
            Kind::Set(&["started", "completed", "failed"]),
            "Events to send; without a selection, all of them.",
        ),
        WEBHOOK_HEADERS,
        WEBHOOK_METADATA,
    ],
};
