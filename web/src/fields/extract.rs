//! The controls of an extraction.

use super::{Group, Kind, WEBHOOK_HEADERS, WEBHOOK_METADATA, WEBHOOK_URL, field};

/// The fields of an extraction that are always in sight; its schema has an editor of its own.
pub(super) const FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "urls",
            "URLs",
            Kind::Lines,
            "One a line; with /* at its end a whole site.",
        ),
        field(
            "prompt",
            "What to extract",
            Kind::LongText,
            "In words; with a schema, without one, or without URLs.",
        ),
    ],
};

pub(super) const SCOPE: Group = Group {
    name: "Scope",
    about: "which pages are read",
    page: false,
    fields: &[
        field(
            "limit",
            "Page limit",
            Kind::Number("pages"),
            "Pages that are read, at most.",
        ),
        field(
            "includeSubdomains",
            "Subdomains",
            Kind::Switch,
            "Also hosts below a site's host.",
        ),
        field(
            "allowExternalLinks",
            "External links",
            Kind::Switch,
            "Also other hosts.",
        ),
        field(
            "ignoreSitemap",
            "Ignore sitemap",
            Kind::Switch,
            "Does not read sitemaps.",
        ),
        field(
            "enableWebSearch",
            "Search the web",
            Kind::Switch,
            "Looks for more pages by a search.",
        ),
    ],
};

pub(super) const ANSWER: Group = Group {
    name: "Answer",
    about: "how it is made and told",
    page: false,
    fields: &[
        field(
            "systemPrompt",
            "Instructions",
            Kind::LongText,
            "How the model should go about it.",
        ),
        field(
            "agent.model",
            "Agent",
            Kind::Text,
            "Name of an agent's model, where one is wanted.",
        ),
        field("timeout", "Timeout", Kind::Number("ms"), "For the whole job."),
        field(
            "showSources",
            "Show sources",
            Kind::Switch,
            "Tells where each value comes from.",
        ),
        field(
            "urlTrace",
            "Trace of URLs",
            Kind::Switch,
            "Tells which addresses were looked at.",
        ),
        field(
            "ignoreInvalidURLs",
            "Skip invalid URLs",
            Kind::Switch,
            "Leaves out what is no address instead of refusing everything.",
        ),
    ],
};

pub(super) const WEBHOOK: Group = Group {
    name: "Webhook",
    about: "who is told about it",
    page: false,
    fields: &[
        WEBHOOK_URL,
        field(
            "webhook.events",
            "Events",
            Kind::Set(&["started", "completed", "failed"]),
            "None chosen means all.",
        ),
        WEBHOOK_HEADERS,
        WEBHOOK_METADATA,
    ],
};
