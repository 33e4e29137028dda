//! Which URLs belong to a crawl (docs/API.md section 5 rules 2 to 8, 10 and 12), and why others do not.
//! Compiled once from the request; every verdict depends only on the URL and its depth, never on what was
//! crawled before. robots.txt and the page limit are not handled here.

mod file_types;
mod patterns;
mod suffixes;

use url::{Host, Url};

use crate::api::crawl::{CrawlRequest, SitemapMode};
use crate::api::error::ApiError;
use crate::crawl::limits::URL_MAX_BYTES;
use crate::url_key::{Identity, bare_host};

pub use suffixes::registrable_domain;

use patterns::{PatternMatch, Patterns};

/// The compiled scope rules of one crawl.
#[derive(Clone, Debug)]
pub struct Scope {
    root: Root,
    patterns: Patterns,
    regex_on_full_url: bool,
    max_depth: Option<u32>,
    sitemap: SitemapMode,
    entire_domain: bool,
    external_links: bool,
    subdomains: bool,
    identity: Identity,
}

/// Whether a URL belongs to the crawl.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The URL is in scope.
    Admit,
    /// The URL is out of scope.
    Reject(Reason),
}

/// Why a URL is out of scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// Neither http nor https, or without a host.
    Scheme,
    /// The URL is longer than 8192 bytes.
    TooLong,
    /// Deeper than `maxDiscoveryDepth`.
    TooDeep,
    /// On another host that neither `allowSubdomains` nor `allowExternalLinks` admits.
    OtherHost,
    /// The home page of another host, without a query.
    ForeignHomePage,
    /// On the start host but not below the start path, without `crawlEntireDomain`.
    NotChild,
    /// An image, font, style, script, archive, executable, audio or video file.
    FileType,
    /// Matches `excludePaths`.
    Excluded,
    /// Matches none of `includePaths`.
    NotIncluded,
    /// Matching the patterns takes too long.
    TooCostly,
}

impl Reason {
    /// Returns a sentence for the user.
    pub fn sentence(self) -> &'static str {
        match self {
            Reason::Scheme => "The URL is neither http nor https.",
            Reason::TooLong => "The URL is longer than 8192 characters.",
            Reason::TooDeep => "The page is deeper than maxDiscoveryDepth.",
            Reason::OtherHost => "The page is on another host; see allowSubdomains and allowExternalLinks.",
            Reason::ForeignHomePage => "Home pages of other hosts are not fetched.",
            Reason::NotChild => "The page is not below the path of the start URL; see crawlEntireDomain.",
            Reason::FileType => "Files of this type are not fetched.",
            Reason::Excluded => "The page matches excludePaths.",
            Reason::NotIncluded => "The page matches none of includePaths.",
            Reason::TooCostly => "Matching includePaths and excludePaths takes too long for this URL.",
        }
    }
}

/// The URL that scope is relative to.
#[derive(Clone, Debug)]
struct Root {
    url: Url,
    /// Path without trailing slashes.
    path: String,
    /// `None` for IP addresses and single labels.
    domain: Option<String>,
}

/// Relation of a host to the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HostRelation {
    /// The start host.
    SameHost,
    /// Another host of the registrable domain, admitted by `allowSubdomains`.
    Subdomain,
    /// Any other host.
    External,
}

impl Scope {
    /// Compiles the scope of a request.
    ///
    /// # Errors
    /// 400 `BAD_REQUEST` with `details` if a pattern is invalid or too large.
    pub fn compile(request: &CrawlRequest) -> Result<Scope, ApiError> {
        Ok(Scope {
            root: Root::new(without_fragment(&request.url.url)),
            patterns: Patterns::compile(&request.exclude_paths, &request.include_paths)?,
            regex_on_full_url: request.regex_on_full_url,
            max_depth: request.max_discovery_depth,
            sitemap: request.sitemap,
            entire_domain: request.crawl_entire_domain,
            external_links: request.allow_external_links,
            subdomains: request.allow_subdomains,
            identity: Identity {
                ignore_query: request.ignore_query_parameters,
                merge_similar: request.deduplicate_similar_urls,
            },
        })
    }

    /// Judges a discovered link at this discovery depth.
    pub fn judge(&self, url: &Url, depth: u32) -> Verdict {
        match self.judge_page(url, depth) {
            Verdict::Admit if file_types::is_file(url) => Verdict::Reject(Reason::FileType),
            verdict => verdict,
        }
    }

    /// Judges a URL that is not a link: the seed, or the target of a redirect. Like [`Scope::judge`]
    /// but without the rule about file types, which applies to links only.
    pub fn judge_page(&self, url: &Url, depth: u32) -> Verdict {
        match self.rejection(url, depth) {
            None => Verdict::Admit,
            Some(reason) => Verdict::Reject(reason),
        }
    }

    fn rejection(&self, url: &Url, depth: u32) -> Option<Reason> {
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Some(Reason::Scheme);
        }
        if url.as_str().len() > URL_MAX_BYTES {
            return Some(Reason::TooLong);
        }
        if self.max_depth.is_some_and(|max| depth > max) {
            return Some(Reason::TooDeep);
        }
        match self.relation(url) {
            HostRelation::SameHost if !self.entire_domain && !self.root.is_parent_of(url) => {
                return Some(Reason::NotChild);
            }
            HostRelation::SameHost | HostRelation::Subdomain => {}
            HostRelation::External if !self.external_links => return Some(Reason::OtherHost),
            HostRelation::External if url.path() == "/" && url.query().is_none() => {
                return Some(Reason::ForeignHomePage);
            }
            HostRelation::External => {}
        }
        let matched = if self.regex_on_full_url {
            self.patterns.judge(url.as_str())
        } else {
            self.patterns.judge(url.path())
        };
        match matched {
            PatternMatch::Passes => None,
            PatternMatch::Excluded => Some(Reason::Excluded),
            PatternMatch::NotIncluded => Some(Reason::NotIncluded),
            PatternMatch::TooCostly => Some(Reason::TooCostly),
        }
    }

    /// Returns whether the links of a page at this depth are followed: not with `sitemap: only`, not at
    /// the maximum depth, not on other hosts.
    pub fn follows_links(&self, url: &Url, depth: u32) -> bool {
        self.sitemap != SitemapMode::Only
            && self.max_depth.is_none_or(|max| depth < max)
            && self.relation(url) != HostRelation::External
    }

    /// Returns whether a sitemap at this URL may be read. Only the host rule applies.
    pub fn admits_host(&self, url: &Url) -> bool {
        self.external_links || self.relation(url) != HostRelation::External
    }

    /// Returns whether a URL is on the start host, at or below the path of the root.
    pub fn is_child(&self, url: &Url) -> bool {
        self.root.is_same_host(url) && self.root.is_parent_of(url)
    }

    /// Moves the root to the redirect target of the seed (rule 12) and returns `true` if `url` is on the
    /// same host or registrable domain. Otherwise changes nothing.
    pub fn rebase(&mut self, url: &Url) -> bool {
        let same_domain = self.root.domain.is_some() && domain_of(url) == self.root.domain;
        let moved = same_domain || self.root.is_same_host(url);
        if moved {
            self.root = Root::new(url.clone());
        }
        moved
    }

    /// Returns the URL that scope is relative to: the seed, or its redirect target.
    pub fn root(&self) -> &Url {
        &self.root.url
    }

    /// Returns whether the request sets `maxDiscoveryDepth`.
    pub fn has_depth(&self) -> bool {
        self.max_depth.is_some()
    }

    /// Returns the rules by which URLs count as the same page.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    fn relation(&self, url: &Url) -> HostRelation {
        if self.root.is_same_host(url) {
            HostRelation::SameHost
        } else if self.subdomains && self.root.domain.is_some() && domain_of(url) == self.root.domain {
            HostRelation::Subdomain
        } else {
            HostRelation::External
        }
    }
}

impl Root {
    fn new(url: Url) -> Self {
        Self {
            path: url.path().trim_end_matches('/').to_owned(),
            domain: domain_of(&url),
            url,
        }
    }

    /// Returns whether host and port are the same, ignoring `www.`; http and https on their default ports are equal.
    fn is_same_host(&self, url: &Url) -> bool {
        bare_host(url) == bare_host(&self.url)
            && ((url.port().is_none() && self.url.port().is_none())
                || url.port_or_known_default() == self.url.port_or_known_default())
    }

    /// Applies the child rule: the same path, or one that continues after a slash.
    fn is_parent_of(&self, url: &Url) -> bool {
        match url.path().strip_prefix(self.path.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

/// Returns the site of a URL, regardless of job options: its registrable domain, or its host.
pub fn site_of(url: &Url) -> String {
    domain_of(url).unwrap_or_else(|| url.host_str().unwrap_or_default().to_owned())
}

/// Returns whether a URL has the origin of `named`, or its host and port with `https` instead of `http`.
pub fn has_origin_of(url: &Url, named: &Url) -> bool {
    url.host() == named.host()
        && url.port() == named.port()
        && (url.scheme() == named.scheme() || url.scheme() == "https")
}

fn domain_of(url: &Url) -> Option<String> {
    match url.host() {
        Some(Host::Domain(host)) => registrable_domain(host).map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn scope(seed: &str, options: Value) -> Result<Scope, ApiError> {
        let mut body = json!({ "url": seed });
        for (name, value) in options.as_object().unwrap() {
            body[name] = value.clone();
        }
        Scope::compile(&CrawlRequest::from_json(body.to_string().as_bytes())?)
    }

    fn check(seed: &str, options: Value, table: &[(&str, Option<Reason>)]) {
        let scope = scope(seed, options).unwrap();
        for (url, expected) in table {
            let verdict = expected.map_or(Verdict::Admit, Verdict::Reject);
            assert_eq!(scope.judge(&Url::parse(url).unwrap(), 1), verdict, "{url}");
        }
    }

    #[test]
    fn the_child_rule_matches_whole_segments_on_the_start_host_only() {
        for seed in ["http://site.test/docs", "https://www.site.test/docs/"] {
            check(
                seed,
                json!({"allowSubdomains": true}),
                &[
                    ("http://site.test/docs", None),
                    ("https://site.test/docs/", None),
                    ("http://www.site.test/docs/a?x", None),
                    ("http://site.test/docs-old", Some(Reason::NotChild)),
                    ("http://site.test/", Some(Reason::NotChild)),
                    ("http://api.site.test/other", None),
                ],
            );
        }
        let everything = [("http://site.test/blog", None), ("http://site.test/", None)];
        check(
            "http://site.test/docs",
            json!({"crawlEntireDomain": true}),
            &everything,
        );
    }

    #[test]
    fn https_may_replace_http_in_an_origin() {
        let has_origin =
            |url: &str, named: &str| has_origin_of(&Url::parse(url).unwrap(), &Url::parse(named).unwrap());
        assert!(has_origin("https://site.test/a", "https://site.test/b?c"));
        assert!(has_origin("https://site.test:443/", "http://site.test/"));
        for (url, named) in [
            ("http://site.test/", "https://site.test/"),
            ("https://www.site.test/", "https://site.test/"),
            ("https://site.test:8443/", "https://site.test/"),
            ("https://site.test/", "http://site.test:8080/"),
        ] {
            assert!(!has_origin(url, named), "{url} {named}");
        }
    }

    #[test]
    fn host_comparison_includes_the_port() {
        check(
            "http://site.test:8080/",
            json!({}),
            &[
                ("http://site.test:8080/a", None),
                ("http://site.test/a", Some(Reason::OtherHost)),
                ("http://docs.site.test:8080/a", Some(Reason::OtherHost)),
                ("http://site.test.other.test:8080/", Some(Reason::OtherHost)),
            ],
        );
        let family = [
            ("http://docs.site.test:99/a", None),
            ("http://site.test/", None),
            ("http://notsite.test/", Some(Reason::OtherHost)),
        ];
        check(
            "http://a.site.test:8080/",
            json!({"allowSubdomains": true}),
            &family,
        );
        let shared = [
            ("http://b.co.uk/", Some(Reason::OtherHost)),
            ("http://x.a.co.uk/", None),
        ];
        check("http://a.co.uk/", json!({"allowSubdomains": true}), &shared);
        let address = [
            ("http://127.0.0.1:8001/a", Some(Reason::OtherHost)),
            ("http://1.0.0.1/a", Some(Reason::OtherHost)),
        ];
        check(
            "http://127.0.0.1:8000/",
            json!({"allowSubdomains": true}),
            &address,
        );
    }

    #[test]
    fn links_of_external_pages_are_not_followed() {
        let options = json!({"allowExternalLinks": true});
        let table = [
            ("http://other.test/page", None),
            ("http://other.test/", Some(Reason::ForeignHomePage)),
            ("http://other.test/?a", None),
            ("http://site.test/else", Some(Reason::NotChild)),
        ];
        check("http://site.test/docs", options.clone(), &table);
        let scope = scope("http://site.test/docs", options).unwrap();
        assert!(!scope.follows_links(&Url::parse("http://other.test/page").unwrap(), 0));
        assert!(scope.follows_links(&Url::parse("http://site.test/docs/a").unwrap(), 7));
    }

    #[test]
    fn max_depth_and_sitemap_only_stop_link_following() {
        let deep = scope("http://site.test/", json!({"maxDiscoveryDepth": 2})).unwrap();
        let url = Url::parse("http://site.test/a").unwrap();
        assert_eq!(deep.judge(&url, 2), Verdict::Admit);
        assert_eq!(deep.judge(&url, 3), Verdict::Reject(Reason::TooDeep));
        assert!(deep.follows_links(&url, 1) && !deep.follows_links(&url, 2));
        let only = scope("http://site.test/", json!({"sitemap": "only"})).unwrap();
        assert!(!only.follows_links(&url, 0));
    }

    #[test]
    fn exclude_takes_precedence_over_include() {
        let options = json!({"includePaths": ["^/blog"], "excludePaths": ["draft"]});
        check(
            "http://site.test/",
            options,
            &[
                ("http://site.test/blog/a", None),
                ("http://site.test/blog/draft", Some(Reason::Excluded)),
                ("http://site.test/about", Some(Reason::NotIncluded)),
                ("http://site.test/x?blog", Some(Reason::NotIncluded)),
                ("http://site.test/blog/a.zip", Some(Reason::FileType)),
            ],
        );
        let empty = json!({"includePaths": ["", "^/blog"], "excludePaths": ["", " "]});
        let pages = [
            ("http://site.test/blog", None),
            ("http://site.test/about", Some(Reason::NotIncluded)),
        ];
        check("http://site.test/", empty, &pages);
        check(
            "http://site.test/",
            json!({"includePaths": [""]}),
            &[("http://site.test/about", None)],
        );
        let options = json!({"excludePaths": ["lang=de"], "regexOnFullURL": true});
        let table = [
            ("http://site.test/p?lang=de", Some(Reason::Excluded)),
            ("http://site.test/p", None),
        ];
        check("http://site.test/", options, &table);
    }

    #[test]
    fn common_patterns_fit_the_limits_and_keep_their_meaning() {
        let patterns = [
            "^/\\d{4}/\\d{2}/[\\w-]{3,40}/?$",
            "caf\u{e9}|\\W{9}",
            "(?i)^/NEWS",
        ];
        check(
            "http://site.test/",
            json!({ "includePaths": patterns }),
            &[
                ("http://site.test/2026/01/some-words/", None),
                ("http://site.test/2026/1/some-words/", Some(Reason::NotIncluded)),
                ("http://site.test/caf\u{e9}", Some(Reason::NotIncluded)),
                ("http://site.test/news", None),
            ],
        );
    }

    #[test]
    fn matching_costly_patterns_is_given_up() {
        let patterns: Vec<String> = (0..16).map(|number| format!("a[ab]{{1500}}c{number}")).collect();
        let scope = scope("http://site.test/", json!({ "excludePaths": patterns })).unwrap();
        let judge =
            |path: &str| scope.judge(&Url::parse("http://site.test/").unwrap().join(path).unwrap(), 1);
        let long = format!("/{}", "ab".repeat(4000));
        assert_eq!(judge("/ab"), Verdict::Admit);
        for _ in 0..100 {
            assert_eq!(judge(&long), Verdict::Reject(Reason::TooCostly));
        }
        assert_eq!(
            judge("/ab"),
            Verdict::Reject(Reason::TooCostly),
            "after so many failures"
        );
        let paid = (0..200).find(|_| judge("/ab") == Verdict::Admit);
        assert!(paid.is_some(), "cheap texts are matched again");
    }

    #[test]
    fn invalid_and_oversized_patterns_are_rejected_with_their_path() {
        for (options, path) in [
            (json!({"excludePaths": ["ok", "("]}), json!(["excludePaths", 1])),
            (json!({"includePaths": ["(?=x)"]}), json!(["includePaths", 0])),
            (
                json!({"includePaths": ["a{1000}{100}"]}),
                json!(["includePaths", 0]),
            ),
            (
                json!({"includePaths": vec!["[a-z]{300}"; 1000]}),
                json!(["includePaths"]),
            ),
            (
                json!({"includePaths": vec!["("; 1000]}),
                json!(["includePaths", 0]),
            ),
        ] {
            let error = scope("http://site.test/", options.clone()).unwrap_err();
            assert_eq!(error.status(), 400);
            let details = error.details.unwrap();
            assert_eq!(details[0]["path"], path);
            assert!(details.as_array().unwrap().len() <= 20);
        }
    }

    #[test]
    fn the_root_moves_within_the_registrable_domain() {
        let mut scope = scope("http://site.test/a", json!({})).unwrap();
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(!scope.rebase(&url("http://other.test/")));
        assert!(scope.rebase(&url("https://docs.site.test/en/")));
        assert_eq!(
            scope.judge(&url("https://docs.site.test/en/x"), 1),
            Verdict::Admit
        );
        assert_eq!(
            scope.judge(&url("http://site.test/a"), 1),
            Verdict::Reject(Reason::OtherHost)
        );
    }
}
