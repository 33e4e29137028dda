//! The form fields: for each API field its control, label and help text. Bounds and defaults are not here; they come
//! from the core. Start with [`first`] and [`groups`].

use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::options::Proxy;
use harvestman_core::api::wire_enum::WireEnum;

use crate::draft::Endpoint;

mod actions;
mod extract;
mod formats;
mod map;
mod search;

pub use actions::of_action;
pub use formats::of_format;

/// The control that edits a field.
#[derive(Clone, Copy)]
pub enum Kind {
    /// One line of text.
    Text,
    /// Several lines of text.
    LongText,
    /// A number, with its unit in the API.
    Number(&'static str),
    /// On or off.
    Switch,
    /// On, off, or the server's default.
    MaybeSwitch,
    /// One of the values of an enum of the core.
    Words(fn() -> Vec<&'static str>),
    /// One of the listed values, each with its label; the empty value is none.
    Choices(&'static [(&'static str, &'static str)]),
    /// A list, one item per line.
    Lines,
    /// Name-value pairs, one `name: value` per line.
    Pairs,
    /// Any of the listed values.
    Set(&'static [&'static str]),
    /// Any JSON.
    Json,
    /// A JSON Schema of an object.
    Schema,
    /// A list of actions.
    Actions,
}

/// An API field in a form.
#[derive(Clone, Copy)]
pub struct Field {
    /// Name in the API, with dots for nested objects.
    pub path: &'static str,
    /// Label on screen.
    pub label: &'static str,
    /// Help, one short sentence.
    pub help: &'static str,
    /// Its control.
    pub kind: Kind,
}

/// A group of fields.
#[derive(Clone, Copy)]
pub struct Group {
    /// Heading.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Whether the fields are page options, which are nested under `scrapeOptions` in a crawl, search or extraction.
    pub page: bool,
    /// The fields.
    pub fields: &'static [Field],
}

impl Group {
    /// Returns the path prefix of its fields.
    pub fn prefix(&self, endpoint: Endpoint) -> &'static str {
        if self.page { endpoint.page_prefix() } else { "" }
    }

    /// Returns the full path of one of its fields.
    pub fn path_of(&self, endpoint: Endpoint, field: &Field) -> String {
        format!("{}{}", self.prefix(endpoint), field.path)
    }
}

const fn field(path: &'static str, label: &'static str, kind: Kind, help: &'static str) -> Field {
    Field {
        path,
        label,
        help,
        kind,
    }
}

fn words<W: WireEnum>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.as_str()).collect()
}

/// Fields that several forms share.
const HEADERS: Field = field(
    "headers",
    "Headers",
    Kind::Pairs,
    "HTTP headers for the site, one per line, such as Cookie: name=value.",
);
const COUNTRY: Field = field(
    "location.country",
    "Country",
    Kind::Text,
    "Two-letter code of the visitor's country.",
);
const LANGUAGES: Field = field(
    "location.languages",
    "Languages",
    Kind::Lines,
    "Language tags such as en-US, one per line.",
);
const REGEX_ON_FULL_URL: Field = field(
    "regexOnFullURL",
    "Match full URL",
    Kind::Switch,
    "Matches the patterns above against the full URL instead of the path.",
);
const WEBHOOK_URL: Field = field(
    "webhook.url",
    "URL",
    Kind::Text,
    "Receives a POST request for each event.",
);
const WEBHOOK_HEADERS: Field = field(
    "webhook.headers",
    "Headers",
    Kind::Pairs,
    "Headers added to each delivery, one per line.",
);
const WEBHOOK_METADATA: Field = field(
    "webhook.metadata",
    "Metadata",
    Kind::Pairs,
    "Values echoed in each delivery, one name: value per line.",
);

/// The fields of a crawl that are always visible.
const CRAWL_FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "limit",
            "Page limit",
            Kind::Number("pages"),
            "Maximum number of pages to crawl.",
        ),
        field(
            "maxDiscoveryDepth",
            "Depth",
            Kind::Number(""),
            "Maximum number of links from the start page; 0 fetches the start page only.",
        ),
        field(
            "sitemap",
            "Sitemap",
            Kind::Words(words::<SitemapMode>),
            "How to use the site's sitemaps.",
        ),
    ],
};

const SCOPE: Group = Group {
    name: "Scope",
    about: "URLs that belong to the crawl",
    page: false,
    fields: &[
        field(
            "includePaths",
            "Include paths",
            Kind::Lines,
            "Regular expressions, one per line; only matching paths are crawled.",
        ),
        field(
            "excludePaths",
            "Exclude paths",
            Kind::Lines,
            "Regular expressions, one per line; matching paths are skipped.",
        ),
        field(
            "crawlEntireDomain",
            "Entire domain",
            Kind::Switch,
            "Includes siblings and parents of the start page.",
        ),
        field(
            "allowSubdomains",
            "Subdomains",
            Kind::Switch,
            "Includes subdomains of the site.",
        ),
        field(
            "allowExternalLinks",
            "External links",
            Kind::Switch,
            "Includes pages of other hosts that are linked directly, without following their links.",
        ),
        REGEX_ON_FULL_URL,
        field(
            "ignoreQueryParameters",
            "Ignore query",
            Kind::Switch,
            "Treats URLs that differ only in their query as one page.",
        ),
        field(
            "deduplicateSimilarURLs",
            "Merge similar URLs",
            Kind::Switch,
            "Treats URLs that differ only in www, scheme, trailing slash or index file as one page.",
        ),
    ],
};

const PAGE: Group = Group {
    name: "Page",
    about: "Content to keep",
    page: true,
    fields: &[
        field(
            "onlyMainContent",
            "Main content only",
            Kind::Switch,
            "Removes navigation, header, footer and similar elements.",
        ),
        field(
            "onlyCleanContent",
            "Clean content",
            Kind::Switch,
            "Removes leftovers such as share bars in a second pass.",
        ),
        field(
            "includeTags",
            "Include tags",
            Kind::Lines,
            "CSS selectors, one per line; only matching elements are kept.",
        ),
        field(
            "excludeTags",
            "Exclude tags",
            Kind::Lines,
            "CSS selectors, one per line; matching elements are removed.",
        ),
        field(
            "removeBase64Images",
            "Drop inline images",
            Kind::Switch,
            "Replaces data: images in Markdown with a placeholder.",
        ),
        field(
            "blockAds",
            "Block ads",
            Kind::Switch,
            "Blocks ads, trackers and cookie banners.",
        ),
        field(
            "parsers",
            "Parsers",
            Kind::Set(&["pdf", "image"]),
            "File types to convert to text.",
        ),
        field(
            "redactPII",
            "Redact personal data",
            Kind::Switch,
            "Replaces email addresses, numbers and secrets that match built-in rules.",
        ),
    ],
};

const BROWSER: Group = Group {
    name: "Browser",
    about: "Browser options and actions",
    page: true,
    fields: &[
        field(
            "waitFor",
            "Wait after load",
            Kind::Number("ms"),
            "Extra time for scripts to run after the page has loaded.",
        ),
        field(
            "profile.name",
            "Profile",
            Kind::Text,
            "Name of the browser profile to load, with its cookies.",
        ),
        field(
            "profile.saveChanges",
            "Save changes",
            Kind::MaybeSwitch,
            "Saves changes to the profile (default: yes).",
        ),
        field("actions", "Actions", Kind::Actions, ""),
        field(
            "mobile",
            "Mobile",
            Kind::Switch,
            "Uses the viewport and user agent of a phone.",
        ),
    ],
};

const NETWORK: Group = Group {
    name: "Network",
    about: "How pages are fetched",
    page: true,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "Time limit per page, including time in the queue.",
        ),
        field(
            "maxAge",
            "Cache age",
            Kind::Number("ms"),
            "Maximum age of a cached copy; 0 always fetches.",
        ),
        field(
            "minAge",
            "Minimum cache age",
            Kind::Number("ms"),
            "Uses only cached copies that are at least this old, and never fetches.",
        ),
        field(
            "storeInCache",
            "Store in cache",
            Kind::Switch,
            "Stores the page for later requests.",
        ),
        field(
            "lockdown",
            "Lockdown",
            Kind::Switch,
            "Uses only the cache and never contacts the site.",
        ),
        HEADERS,
        field(
            "proxy",
            "Proxy",
            Kind::Words(words::<Proxy>),
            "Proxy pool of the operator to use.",
        ),
        field(
            "skipTlsVerification",
            "Skip TLS checks",
            Kind::MaybeSwitch,
            "Accepts invalid certificates (default: yes, unless headers or actions are set).",
        ),
        COUNTRY,
        LANGUAGES,
    ],
};

const PACE: Group = Group {
    name: "Pace",
    about: "Load on the site",
    page: false,
    fields: &[
        field(
            "delay",
            "Delay",
            Kind::Number("seconds"),
            "Time between the starts of two fetches.",
        ),
        field(
            "maxConcurrency",
            "Concurrency",
            Kind::Number("pages"),
            "Maximum number of pages in flight (default: the team's limit).",
        ),
        field(
            "ignoreRobotsTxt",
            "Ignore robots.txt",
            Kind::Switch,
            "Crawls URLs that robots.txt blocks; the operator must enable this.",
        ),
        field(
            "robotsUserAgent",
            "Robots user agent",
            Kind::Text,
            "User agent to match in robots.txt; the operator must enable this.",
        ),
        field(
            "zeroDataRetention",
            "Keep no data",
            Kind::Switch,
            "Deletes content after delivery; the operator must enable this.",
        ),
    ],
};

const WEBHOOK: Group = Group {
    name: "Webhook",
    about: "Notifications about this job",
    page: false,
    fields: &[
        WEBHOOK_URL,
        field(
            "webhook.events",
            "Events",
            Kind::Set(&["started", "page", "completed", "failed"]),
            "Events to send; without a selection, all of them.",
        ),
        WEBHOOK_HEADERS,
        WEBHOOK_METADATA,
    ],
};

const KEEP: Group = Group {
    name: "Retention",
    about: "Data that the server keeps",
    page: false,
    fields: &[field(
        "zeroDataRetention",
        "Keep no data",
        Kind::Switch,
        "Stores nothing after the response is sent; the operator must enable this.",
    )],
};

/// Returns the fields of a form that are always visible, below its main field.
pub fn first(endpoint: Endpoint) -> Option<&'static Group> {
    match endpoint {
        Endpoint::Scrape => None,
        Endpoint::Crawl => Some(&CRAWL_FIRST),
        Endpoint::Search => Some(&search::FIRST),
        Endpoint::Extract => Some(&extract::FIRST),
        Endpoint::Map => Some(&map::FIRST),
    }
}

/// Returns the groups of a form.
pub fn groups(endpoint: Endpoint) -> &'static [Group] {
    match endpoint {
        Endpoint::Search => &[search::FILTER, search::ANSWER, PAGE, BROWSER, NETWORK],
        Endpoint::Extract => &[
            extract::SCOPE,
            extract::ANSWER,
            PAGE,
            BROWSER,
            NETWORK,
            extract::WEBHOOK,
        ],
        Endpoint::Scrape => &[PAGE, BROWSER, NETWORK, KEEP],
        Endpoint::Crawl => &[SCOPE, PAGE, BROWSER, NETWORK, PACE, WEBHOOK],
        Endpoint::Map => &[map::SCOPE, map::NETWORK],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harvestman_core::api::extract::ExtractRequest;
    use harvestman_core::api::map::MapRequest;
    use harvestman_core::api::search::SearchRequest;
    use harvestman_core::api::{CrawlRequest, TargetUrl};
    use serde_json::{Map, Value};

    /// Fields with their own editor in the form, or only in the JSON tab.
    const ELSEWHERE: &[&str] = &["formats", "scrapeOptions", "location"];

    #[test]
    fn every_option_of_the_core_has_a_control() {
        let crawl = CrawlRequest::new(TargetUrl::parse("https://e.com").unwrap());
        check(Endpoint::Crawl, crawl.filled_options());
        let search = SearchRequest {
            scrape_options: Some(Default::default()),
            ..SearchRequest::new("x")
        };
        check(Endpoint::Search, search.filled_options());
        check(Endpoint::Extract, ExtractRequest::default().filled_options());
    }

    fn check(endpoint: Endpoint, options: Map<String, Value>) {
        let page = options["scrapeOptions"].as_object().unwrap().keys();
        let has = |page: bool, name: &str| {
            groups(endpoint).iter().chain(first(endpoint)).any(|group| {
                group.page == page
                    && group
                        .fields
                        .iter()
                        .any(|field| field.path.split('.').next() == Some(name))
            })
        };
        for name in options.keys().filter(|name| !ELSEWHERE.contains(&name.as_str())) {
            assert!(has(false, name), "{name}");
        }
        // The core lists these only if they are set.
        let rest = ["actions", "profile", "location", "redactPII"].map(str::to_owned);
        for name in page
            .filter(|name| !ELSEWHERE.contains(&name.as_str()))
            .chain(&rest)
        {
            assert!(has(true, name), "scrapeOptions.{name}");
        }
    }

    #[test]
    fn every_option_of_a_map_has_a_control() {
        let options = MapRequest::new(TargetUrl::parse("https://e.com").unwrap()).filled_options();
        let fields = groups(Endpoint::Map).iter().chain(first(Endpoint::Map));
        let names: Vec<_> = fields
            .flat_map(|group| {
                group
                    .fields
                    .iter()
                    .map(|field| field.path.split('.').next().unwrap())
            })
            .collect();
        for name in options.keys() {
            assert!(names.contains(&name.as_str()), "{name}");
        }
    }
}
