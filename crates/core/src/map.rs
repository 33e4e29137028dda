//! Which URLs a map lists, and in which order (docs/API.md section 6.5). The caller passes URLs in order of
//! discovery: sitemaps, the page itself, its links, then known pages. Listed URLs are not fetched, so
//! robots.txt does not apply.

mod relevance;
pub mod warnings;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use url::Url;

use crate::api::crawl::CrawlRequest;
use crate::api::error::ApiError;
use crate::api::map::{MapLink, MapRequest};
use crate::limits::MAP_KNOWN_MAX;
use crate::scope::{Scope, Verdict};
use crate::url_key::{Identity, UrlKey};

/// A map under construction.
#[derive(Clone, Debug)]
pub struct Listing {
    scope: Scope,
    without_queries: bool,
    /// Only URLs at or below the path of the map's URL are listed.
    below_only: bool,
    identity: Identity,
    search: Option<String>,
    limit: usize,
    links: Vec<ListedUrl>,
    index_by_key: HashMap<UrlKey, usize>,
    overflowed: bool,
}

/// A listed URL.
#[derive(Clone, Debug)]
struct ListedUrl {
    link: MapLink,
    /// Whether it is at or below the path of the map's URL, if that has one.
    below: bool,
}

impl Listing {
    /// Creates an empty listing.
    ///
    /// # Errors
    /// 400 `BAD_REQUEST` with `details` if a pattern is invalid or too large.
    pub fn new(request: &MapRequest) -> Result<Self, ApiError> {
        let mut whole_site = CrawlRequest::new(request.url.clone());
        whole_site.crawl_entire_domain = true;
        whole_site.allow_subdomains = request.include_subdomains;
        whole_site.include_paths = request.include_paths.clone();
        whole_site.exclude_paths = request.exclude_paths.clone();
        whole_site.regex_on_full_url = request.regex_on_full_url;
        Ok(Self {
            scope: Scope::compile(&whole_site)?,
            without_queries: request.ignore_query_parameters,
            below_only: request.filter_by_path,
            identity: Identity {
                merge_similar: request.deduplicate_similar_urls,
                ..Identity::default()
            },
            search: request.search.clone(),
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
            links: Vec::new(),
            index_by_key: HashMap::new(),
            overflowed: false,
        })
    }

    /// Returns the URL that determines the site: the map's URL, on the host it redirected to.
    pub fn root(&self) -> &Url {
        self.scope.root()
    }

    /// Returns whether a sitemap at this URL may be read. Only the host rule applies.
    pub fn admits_host(&self, url: &Url) -> bool {
        self.scope.admits_host(url)
    }

    /// Moves the map to the host that its URL redirected to and returns `true` if that is the same
    /// site; otherwise changes nothing. The path stays as requested. Call it before listing URLs.
    pub fn rebase(&mut self, url: &Url) -> bool {
        let mut moved = url.clone();
        moved.set_path(self.root().path());
        moved.set_query(self.root().query());
        moved.set_fragment(None);
        self.scope.rebase(&moved)
    }

    /// Lists the map's own URL, which keeps its query whatever the options say.
    pub fn list_root(&mut self) {
        let root = self.scope.root().clone();
        self.insert(&root);
    }

    /// Lists a discovered URL unless it is out of scope or already listed.
    pub fn list(&mut self, url: &Url) {
        let is_left_out = (url.query().is_some() && self.without_queries)
            || (self.below_only && self.scope.root().path() != "/" && !self.scope.is_child(url));
        if !is_left_out {
            self.insert(url);
        }
    }

    fn insert(&mut self, url: &Url) {
        if self.scope.judge_page(url, 0) != Verdict::Admit {
            return;
        }
        if self.is_full() {
            self.overflowed = true;
            return;
        }
        if let Entry::Vacant(slot) = self.index_by_key.entry(UrlKey::of(url, self.identity)) {
            slot.insert(self.links.len());
            self.links.push(ListedUrl {
                below: self.scope.root().path() != "/" && self.scope.is_child(url),
                link: MapLink {
                    url: url.as_str().to_owned(),
                    ..MapLink::default()
                },
            });
        }
    }

    /// Sets title and description of a URL if it is listed.
    pub fn describe(&mut self, url: &Url, title: Option<String>, description: Option<String>) {
        let index = self.index_by_key.get(&UrlKey::of(url, self.identity));
        if let Some(ListedUrl { link, .. }) = index.and_then(|index| self.links.get_mut(*index)) {
            link.title = title.filter(|text| !text.is_empty());
            link.description = description.filter(|text| !text.is_empty());
        }
    }

    /// Returns whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Returns whether no further URL can be listed. When results stay in discovery order, the first
    /// `limit` URLs suffice.
    pub fn is_full(&self) -> bool {
        self.links.len() >= self.capacity()
    }

    fn capacity(&self) -> usize {
        let in_order_of_discovery = self.search.is_none() && self.scope.root().path() == "/";
        match in_order_of_discovery {
            true => self.limit,
            false => self.limit.max(MAP_KNOWN_MAX),
        }
    }

    /// Returns whether URLs were dropped that might have ranked before listed ones.
    pub fn overflowed(&self) -> bool {
        self.overflowed && self.capacity() > self.limit
    }

    /// Returns at most `limit` links, sorted by relevance to `search`, then those below the URL's path
    /// first, then by order of discovery.
    pub fn finish(self) -> Vec<MapLink> {
        let scores = match &self.search {
            Some(search) => relevance::scores(search, self.links.iter().map(|listed| &listed.link)),
            None => vec![0.0; self.links.len()],
        };
        let mut ranked: Vec<(f64, ListedUrl)> = scores.into_iter().zip(self.links).collect();
        ranked.sort_by(|(score, one), (other_score, other)| {
            let by_score = other_score.total_cmp(score);
            by_score.then_with(|| other.below.cmp(&one.below))
        });
        ranked.truncate(self.limit);
        ranked.into_iter().map(|(_, listed)| listed.link).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listing(url: &str, options: Value) -> Listing {
        let mut body = json!({ "url": url });
        for (name, value) in options.as_object().unwrap() {
            body[name] = value.clone();
        }
        Listing::new(&MapRequest::from_json(body.to_string().as_bytes()).unwrap()).unwrap()
    }

    fn urls(listing: Listing) -> Vec<String> {
        listing.finish().into_iter().map(|link| link.url).collect()
    }

    #[track_caller]
    fn check(url: &str, options: Value, found: &[&str], expected: &[&str]) {
        let mut listing = listing(url, options);
        for text in found {
            listing.list(&Url::parse(text).unwrap());
        }
        assert_eq!(urls(listing), expected);
    }

    #[test]
    fn hosts_queries_and_duplicates_are_filtered() {
        let found = [
            "http://site.test/a", "https://www.site.test/a/", "http://docs.site.test/b",
            "http://site.test/c?x=1", "http://site.test:8080/d", "http://other.test/e",
            "http://site.test/f.pdf", "http://site.test/f.png",
        ];
        check(
            "http://site.test/",
            json!({}),
            &found,
            &[
                "http://site.test/a", "http://docs.site.test/b", "http://site.test:8080/d",
                "http://site.test/f.pdf", "http://site.test/f.png",
            ],
        );
        check(
            "http://site.test/",
            json!({"includeSubdomains": false, "ignoreQueryParameters": false}),
            &found,
            &[
                "http://site.test/a", "http://site.test/c?x=1", "http://site.test/f.pdf",
                "http://site.test/f.png",
            ],
        );
    }

    #[test]
    fn patterns_filter_and_invalid_ones_are_rejected() {
        let found = [
            "http://site.test/docs/a", "http://site.test/docs/draft", "http://site.test/b",
        ];
        let options = json!({"includePaths": ["^/docs"], "excludePaths": ["draft"]});
        check("http://site.test/", options, &found, &found[..1]);
        let whole = json!({"excludePaths": ["^http://site.test/docs"], "regexOnFullURL": true});
        check("http://site.test/", whole, &found, &found[2..]);
        let mut request = MapRequest::new(Url::parse("http://site.test/").unwrap());
        request.include_paths = vec!["(".to_owned()];
        assert_eq!(Listing::new(&request).unwrap_err().status(), 400);
    }

    #[test]
    fn urls_below_the_start_path_come_first() {
        check(
            "http://site.test/docs/",
            json!({}),
            &[
                "http://site.test/", "http://site.test/docs-old", "http://site.test/docs/a",
                "http://docs.site.test/docs/x", "http://site.test/docs",
            ],
            &[
                "http://site.test/docs/a", "http://site.test/docs", "http://site.test/",
                "http://site.test/docs-old", "http://docs.site.test/docs/x",
            ],
        );
    }

    #[test]
    fn the_start_url_is_listed_with_its_query_and_without_its_fragment() {
        let mut listing = listing("http://site.test/a?b=c#d", json!({}));
        listing.list_root();
        listing.list_root();
        assert_eq!(urls(listing), ["http://site.test/a?b=c"]);
    }

    #[test]
    fn a_redirect_changes_the_host_but_not_the_path() {
        let url = |text: &str| Url::parse(text).unwrap();
        let mut listing = listing("http://site.test/", json!({"includeSubdomains": false}));
        assert!(!listing.rebase(&url("http://other.test/")));
        assert!(listing.rebase(&url("https://docs.site.test/en/start#top")));
        listing.list_root();
        listing.list(&url("https://docs.site.test/en/start"));
        listing.list(&url("https://site.test/"));
        assert_eq!(
            urls(listing),
            ["https://docs.site.test/", "https://docs.site.test/en/start"]
        );
    }

    #[test]
    fn search_sorts_without_dropping_links() {
        let mut listing = listing("http://site.test/docs", json!({"search": "Pricing plans"}));
        for path in ["/docs/a", "/b", "/blog/pricing", "/c", "/pricing"] {
            listing.list(&Url::parse("http://site.test").unwrap().join(path).unwrap());
        }
        let c = Url::parse("http://site.test/c").unwrap();
        listing.describe(&c, Some("Plans and pricing".to_owned()), None);
        let links = listing.finish();
        assert_eq!(links[0].title.as_deref(), Some("Plans and pricing"));
        let order: Vec<&str> = links.iter().map(|link| &link.url[16..]).collect();
        assert_eq!(order, ["/c", "/pricing", "/blog/pricing", "/docs/a", "/b"]);
    }

    #[test]
    fn the_limit_applies_after_sorting() {
        let number = |n: usize| Url::parse(&format!("http://site.test/{n}")).unwrap();
        let mut plain = listing("http://site.test/", json!({"limit": 3}));
        for n in 0..5 {
            assert_eq!(plain.is_full(), n >= 3);
            plain.list(&number(n));
        }
        assert!(!plain.overflowed(), "the listing has as many links as requested");
        assert_eq!(urls(plain).len(), 3);

        let mut searched = listing("http://site.test/", json!({"limit": 1, "search": "4"}));
        (0..5).for_each(|n| searched.list(&number(n)));
        assert_eq!(urls(searched), ["http://site.test/4"]);
    }

    #[test]
    fn the_number_of_listed_urls_is_bounded() {
        let mut listing = listing("http://site.test/", json!({"limit": 1, "search": "x"}));
        for n in 0..=MAP_KNOWN_MAX {
            listing.list(&Url::parse(&format!("http://site.test/{n}")).unwrap());
        }
        assert!(listing.overflowed());
        assert_eq!(listing.links.len(), MAP_KNOWN_MAX);
    }
}
