//! The field groups of each form.

use super::Group;
use crate::draft::Endpoint;

/// Returns the group that is always visible, below the main field.
pub fn first(endpoint: Endpoint) -> Option<&'static Group> {
    match endpoint {
        Endpoint::Scrape => None,
        Endpoint::Batch => Some(const { &visible(&["urls"]) }),
        Endpoint::Crawl => Some(const { &visible(&["limit", "maxDiscoveryDepth", "sitemap"]) }),
        Endpoint::Search => Some(const { &visible(&["limit", "tbs", "sources"]) }),
        Endpoint::Extract => Some(const { &visible(&["urls", "prompt"]) }),
        Endpoint::Map => Some(const { &visible(&["search", "limit", "sitemap"]) }),
        Endpoint::Agent => Some(const { &visible(&["prompt", "urls"]) }),
    }
}

/// Returns the collapsible groups of a form.
pub fn groups(endpoint: Endpoint) -> &'static [Group] {
    match endpoint {
        Endpoint::Scrape => &[PAGE, BROWSER, NETWORK, RETENTION],
        Endpoint::Crawl => &[CRAWL_SCOPE, PAGE, BROWSER, NETWORK, PACE, WEBHOOK],
        Endpoint::Batch => &[PAGE, BROWSER, NETWORK, BATCH, WEBHOOK],
        Endpoint::Map => &[MAP_SCOPE, MAP_NETWORK],
        Endpoint::Search => &[FILTER, RESULTS, PAGE, BROWSER, NETWORK],
        Endpoint::Extract => &[EXTRACT_SCOPE, ANSWER, PAGE, BROWSER, NETWORK, WEBHOOK],
        Endpoint::Agent => &[AGENT_WORK, AGENT_ANSWER, AGENT_NETWORK, WEBHOOK],
    }
}

const fn visible(fields: &'static [&'static str]) -> Group {
    Group {
        name: "",
        about: "",
        page: false,
        fields,
    }
}

const fn group(name: &'static str, about: &'static str, fields: &'static [&'static str]) -> Group {
    Group {
        name,
        about,
        page: false,
        fields,
    }
}

const fn of_page(group: Group) -> Group {
    Group { page: true, ..group }
}

const PAGE: Group = of_page(group(
    "Page",
    "Content to keep",
    &[
        "onlyMainContent",
        "onlyCleanContent",
        "includeTags",
        "excludeTags",
        "removeBase64Images",
        "blockAds",
        "parsers",
        "redactPII",
    ],
));

const BROWSER: Group = of_page(group(
    "Browser",
    "Browser options and actions",
    &[
        "waitFor",
        "profile.name",
        "profile.saveChanges",
        "actions",
        "mobile",
        "fastMode",
    ],
));

const NETWORK: Group = of_page(group(
    "Network",
    "How pages are fetched",
    &[
        "timeout",
        "maxAge",
        "minAge",
        "storeInCache",
        "lockdown",
        "headers",
        "proxy",
        "skipTlsVerification",
        "location.country",
        "location.languages",
    ],
));

const RETENTION: Group = group("Retention", "Data that the server stores", &["zeroDataRetention"]);

const CRAWL_SCOPE: Group = group(
    "Scope",
    "URLs that belong to the crawl",
    &[
        "includePaths",
        "excludePaths",
        "crawlEntireDomain",
        "allowSubdomains",
        "allowExternalLinks",
        "regexOnFullURL",
        "ignoreQueryParameters",
        "deduplicateSimilarURLs",
    ],
);

const PACE: Group = group(
    "Pace",
    "Load on the site",
    &[
        "delay",
        "maxConcurrency",
        "ignoreRobotsTxt",
        "robotsUserAgent",
        "zeroDataRetention",
    ],
);

const BATCH: Group = group(
    "Batch",
    "Handling of the list",
    &[
        "ignoreInvalidURLs",
        "maxConcurrency",
        "appendToId",
        "zeroDataRetention",
    ],
);

const WEBHOOK: Group = group(
    "Webhook",
    "Notifications about this job",
    &[
        "webhook.url",
        "webhook.events",
        "webhook.headers",
        "webhook.metadata",
    ],
);

const MAP_SCOPE: Group = group(
    "Scope",
    "URLs to list",
    &[
        "includePaths",
        "excludePaths",
        "includeSubdomains",
        "filterByPath",
        "ignoreQueryParameters",
        "deduplicateSimilarURLs",
        "useIndex",
        "regexOnFullURL",
    ],
);

const MAP_NETWORK: Group = group(
    "Network",
    "How pages are fetched",
    &[
        "timeout",
        "ignoreCache",
        "headers",
        "location.country",
        "location.languages",
    ],
);

const FILTER: Group = group(
    "Filter",
    "Results to include",
    &[
        "categories",
        "includeDomains",
        "excludeDomains",
        "country",
        "location",
        "safe",
    ],
);

const RESULTS: Group = group(
    "Answer",
    "Content and time limit of the results",
    &["timeout", "highlights", "ignoreInvalidURLs"],
);

const EXTRACT_SCOPE: Group = group(
    "Scope",
    "Pages to read",
    &[
        "limit",
        "includeSubdomains",
        "allowExternalLinks",
        "ignoreSitemap",
        "enableWebSearch",
    ],
);

const ANSWER: Group = group(
    "Answer",
    "Model and details of the result",
    &[
        "systemPrompt",
        "agent.model",
        "timeout",
        "showSources",
        "urlTrace",
        "ignoreInvalidURLs",
    ],
);

const AGENT_WORK: Group = group(
    "Work",
    "Effort, cost and pages of the run",
    &["effort", "maxCredits", "strictConstrainToURLs", "model"],
);

const AGENT_ANSWER: Group = group(
    "Answer",
    "Kind of result, and the thread",
    &["mode", "threadId", "zeroDataRetention"],
);

const AGENT_NETWORK: Group = group(
    "Network",
    "How pages are fetched",
    &["location.country", "location.languages"],
);
