//! The controls of the forms: which kind of control edits which field of the API, with its name and
//! one line of help. Bounds and defaults are not here: they are asked of the core.

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

/// What edits a field.
#[derive(Clone, Copy)]
pub enum Kind {
    /// One line of text.
    Text,
    /// Several lines of text.
    LongText,
    /// A number; with the unit of the API.
    Number(&'static str),
    /// On or off.
    Switch,
    /// On, off, or left to the server.
    MaybeSwitch,
    /// One of the words that the core knows.
    Words(fn() -> Vec<&'static str>),
    /// One of some values, each with its name; the empty one is none.
    Choices(&'static [(&'static str, &'static str)]),
    /// A list, one item a line.
    Lines,
    /// Names and values, one `name: value` a line.
    Pairs,
    /// Some of the words of a list.
    Set(&'static [&'static str]),
    /// Any JSON.
    Json,
    /// A JSON Schema of an object.
    Schema,
    /// What is done in the page before it is read.
    Actions,
}

/// One field of the API.
#[derive(Clone, Copy)]
pub struct Field {
    /// Its name in the API, with dots into objects.
    pub path: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What edits it.
    pub kind: Kind,
}

/// Fields that belong together.
#[derive(Clone, Copy)]
pub struct Group {
    /// Name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Whether the fields are page options, which stand elsewhere in a crawl.
    pub page: bool,
    /// The fields.
    pub fields: &'static [Field],
}

impl Group {
    /// What the paths of its fields begin with.
    pub fn prefix(&self, endpoint: Endpoint) -> &'static str {
        if self.page { endpoint.page_prefix() } else { "" }
    }

    /// Full path of one of its fields.
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

/// Fields that stand in several forms.
const HEADERS: Field = field(
    "headers",
    "Headers",
    Kind::Pairs,
    "One a line, as in Cookie: name=value; sent to the site.",
);
const COUNTRY: Field = field(
    "location.country",
    "Country",
    Kind::Text,
    "Two letters; where the visitor seems to come from.",
);
const LANGUAGES: Field = field(
    "location.languages",
    "Languages",
    Kind::Lines,
    "Tags such as en-US, one a line.",
);
const REGEX_ON_FULL_URL: Field = field(
    "regexOnFullURL",
    "Match full URL",
    Kind::Switch,
    "Paths above are matched on the whole address.",
);
const WEBHOOK_URL: Field = field(
    "webhook.url",
    "Address",
    Kind::Text,
    "Receives a POST for each event.",
);
const WEBHOOK_HEADERS: Field = field(
    "webhook.headers",
    "Headers",
    Kind::Pairs,
    "One a line; added to each delivery.",
);
const WEBHOOK_METADATA: Field = field(
    "webhook.metadata",
    "Metadata",
    Kind::Pairs,
    "One name: value a line; echoed in each delivery.",
);

/// The fields of a crawl that are always in sight.
const CRAWL_FIRST: Group = Group {
    name: "",
    about: "",
    page: false,
    fields: &[
        field(
            "limit",
            "Page limit",
            Kind::Number("pages"),
            "The crawl ends after so many pages.",
        ),
        field(
            "maxDiscoveryDepth",
            "Depth",
            Kind::Number(""),
            "Links away from the start; 0 is the start page alone.",
        ),
        field(
            "sitemap",
            "Sitemap",
            Kind::Words(words::<SitemapMode>),
            "Pages named by the site's sitemaps.",
        ),
    ],
};

const SCOPE: Group = Group {
    name: "Scope",
    about: "which addresses belong to the crawl",
    page: false,
    fields: &[
        field(
            "includePaths",
            "Include paths",
            Kind::Lines,
            "Regular expressions, one a line; only matching paths are kept.",
        ),
        field(
            "excludePaths",
            "Exclude paths",
            Kind::Lines,
            "Regular expressions, one a line; matching paths are left out.",
        ),
        field(
            "crawlEntireDomain",
            "Entire domain",
            Kind::Switch,
            "Also siblings and parents of the start page.",
        ),
        field(
            "allowSubdomains",
            "Subdomains",
            Kind::Switch,
            "Also hosts below the start host.",
        ),
        field(
            "allowExternalLinks",
            "External links",
            Kind::Switch,
            "Also other hosts that a page links to, one hop.",
        ),
        REGEX_ON_FULL_URL,
        field(
            "ignoreQueryParameters",
            "Ignore query",
            Kind::Switch,
            "Addresses that differ only by their query are one page.",
        ),
        field(
            "deduplicateSimilarURLs",
            "Merge similar URLs",
            Kind::Switch,
            "www, scheme, trailing slash and index files do not make another page.",
        ),
    ],
};

const PAGE: Group = Group {
    name: "Page",
    about: "what is kept of a page",
    page: true,
    fields: &[
        field(
            "onlyMainContent",
            "Main content only",
            Kind::Switch,
            "Leaves out navigation, header, footer and the like.",
        ),
        field(
            "onlyCleanContent",
            "Clean content",
            Kind::Switch,
            "A second pass that removes leftovers such as share bars.",
        ),
        field(
            "includeTags",
            "Include tags",
            Kind::Lines,
            "CSS selectors, one a line; only matching elements are kept.",
        ),
        field(
            "excludeTags",
            "Exclude tags",
            Kind::Lines,
            "CSS selectors, one a line; matching elements are removed.",
        ),
        field(
            "removeBase64Images",
            "Drop inline images",
            Kind::Switch,
            "Replaces data: images in Markdown by a placeholder.",
        ),
        field(
            "blockAds",
            "Block ads",
            Kind::Switch,
            "Also cookie banners and trackers.",
        ),
        field(
            "parsers",
            "Parsers",
            Kind::Set(&["pdf", "image"]),
            "Documents that are turned into text.",
        ),
        field(
            "redactPII",
            "Redact personal data",
            Kind::Switch,
            "Replaces addresses, numbers and secrets found by rules.",
        ),
    ],
};

const BROWSER: Group = Group {
    name: "Browser",
    about: "what is done in a page before it is read",
    page: true,
    fields: &[
        field(
            "waitFor",
            "Wait after load",
            Kind::Number("ms"),
            "Extra time for scripts.",
        ),
        field(
            "profile.name",
            "Profile",
            Kind::Text,
            "Begins with the cookies kept under this name.",
        ),
        field(
            "profile.saveChanges",
            "Keep changes",
            Kind::MaybeSwitch,
            "Of the profile; by itself: yes.",
        ),
        field("actions", "Actions", Kind::Actions, ""),
        field(
            "mobile",
            "Mobile",
            Kind::Switch,
            "Viewport and user agent of a phone.",
        ),
    ],
};

const NETWORK: Group = Group {
    name: "Network",
    about: "how a page is fetched",
    page: true,
    fields: &[
        field(
            "timeout",
            "Timeout",
            Kind::Number("ms"),
            "For a whole page, waiting included.",
        ),
        field(
            "maxAge",
            "Cache age",
            Kind::Number("ms"),
            "Accept a cached copy up to this age; 0 always fetches.",
        ),
        field(
            "minAge",
            "Cache only from",
            Kind::Number("ms"),
            "Answer only from the cache, with a copy at least this old.",
        ),
        field(
            "storeInCache",
            "Store in cache",
            Kind::Switch,
            "Keep the result for later requests.",
        ),
        field(
            "lockdown",
            "Lockdown",
            Kind::Switch,
            "Never contact the site; serve from the cache only.",
        ),
        HEADERS,
        field(
            "proxy",
            "Proxy",
            Kind::Words(words::<Proxy>),
            "Which of the operator's proxies is used.",
        ),
        field(
            "skipTlsVerification",
            "Skip TLS checks",
            Kind::MaybeSwitch,
            "By itself: yes, unless headers or actions are sent.",
        ),
        COUNTRY,
        LANGUAGES,
    ],
};

const PACE: Group = Group {
    name: "Pace",
    about: "how gently the site is treated",
    page: false,
    fields: &[
        field(
            "delay",
            "Delay",
            Kind::Number("seconds"),
            "Pause between the starts of two fetches.",
        ),
        field(
            "maxConcurrency",
            "Concurrency",
            Kind::Number("pages"),
            "Pages in flight at once; by default the team's limit.",
        ),
        field(
            "ignoreRobotsTxt",
            "Ignore robots.txt",
            Kind::Switch,
            "Only where the operator has enabled it.",
        ),
        field(
            "robotsUserAgent",
            "Robots user agent",
            Kind::Text,
            "Name looked for in robots.txt; needs enablement.",
        ),
        field(
            "zeroDataRetention",
            "Keep no data",
            Kind::Switch,
            "Content is deleted once delivered; needs enablement.",
        ),
    ],
};

const WEBHOOK: Group = Group {
    name: "Webhook",
    about: "who is told about it",
    page: false,
    fields: &[
        WEBHOOK_URL,
        field(
            "webhook.events",
            "Events",
            Kind::Set(&["started", "page", "completed", "failed"]),
            "None chosen means all.",
        ),
        WEBHOOK_HEADERS,
        WEBHOOK_METADATA,
    ],
};

const KEEP: Group = Group {
    name: "Retention",
    about: "what stays on the server",
    page: false,
    fields: &[field(
        "zeroDataRetention",
        "Keep no data",
        Kind::Switch,
        "Nothing is kept once the answer is given; needs enablement.",
    )],
};

/// The fields of a form that are always in sight, below what it is about.
pub fn first(endpoint: Endpoint) -> Option<&'static Group> {
    match endpoint {
        Endpoint::Scrape => None,
        Endpoint::Crawl => Some(&CRAWL_FIRST),
        Endpoint::Search => Some(&search::FIRST),
        Endpoint::Extract => Some(&extract::FIRST),
        Endpoint::Map => Some(&map::FIRST),
    }
}

/// The groups of a form.
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

    /// Fields that have a place of their own in the form, or are left to the JSON tab.
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
        // Some are filled only once they are set.
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
