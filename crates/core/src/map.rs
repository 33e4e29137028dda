//! Which URLs a map lists, and in which order (contract section 6.5). Addresses are handed in, in
//! order of discovery: sitemaps, the page itself, its links, pages known from before. It never
//! fetches, and never asks robots.txt: nothing that is listed is fetched for it.

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

/// The links of a map in the making.
#[derive(Clone, Debug)]
pub struct Listing {
    scope: Scope,
    without_queries: bool,
    search: Option<String>,
    limit: usize,
    links: Vec<Listed>,
    places: HashMap<UrlKey, usize>,
    overflowed: bool,
}

/// An address in the order of its discovery.
#[derive(Clone, Debug)]
struct Listed {
    link: MapLink,
    /// At or below the path of the map's URL, if that has one.
    below: bool,
}

impl Listing {
    /// An empty listing. 400 `BAD_REQUEST` with `details` when a pattern is bad or too big.
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
            search: request.search.clone(),
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
            links: Vec::new(),
            places: HashMap::new(),
            overflowed: false,
        })
    }

    /// The URL that the site is measured from: the map's, on the host that it redirected to.
    pub fn root(&self) -> &Url {
        self.scope.root()
    }

    /// Whether a sitemap at this address may be read: the host rule alone.
    pub fn admits_host(&self, url: &Url) -> bool {
        self.scope.admits_host(url)
    }

    /// Moves the map to the host that its URL redirected to: `true` when that is the same site,
    /// else nothing changes. The path stays as it was asked for. To be called before anything is
    /// listed.
    pub fn rebase(&mut self, url: &Url) -> bool {
        let mut moved = url.clone();
        moved.set_path(self.root().path());
        moved.set_query(self.root().query());
        moved.set_fragment(None);
        self.scope.rebase(&moved)
    }

    /// Lists the map's own URL, which may have a query whatever the options say.
    pub fn list_root(&mut self) {
        let root = self.scope.root().clone();
        self.insert(&root);
    }

    /// Lists an address that was found, unless it does not belong or is listed already.
    pub fn list(&mut self, url: &Url) {
        if url.query().is_none() || !self.without_queries {
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
        if let Entry::Vacant(place) = self.places.entry(UrlKey::of(url, Identity::default())) {
            place.insert(self.links.len());
            self.links.push(Listed {
                below: self.scope.root().path() != "/" && self.scope.is_child(url),
                link: MapLink {
                    url: url.as_str().to_owned(),
                    ..MapLink::default()
                },
            });
        }
    }

    /// Says what is known of an address, if it is listed.
    pub fn describe(&mut self, url: &Url, title: Option<String>, description: Option<String>) {
        let place = self.places.get(&UrlKey::of(url, Identity::default()));
        if let Some(Listed { link, .. }) = place.and_then(|place| self.links.get_mut(*place)) {
            link.title = title.filter(|text| !text.is_empty());
            link.description = description.filter(|text| !text.is_empty());
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether nothing that is found from now on can be listed: the first `limit` addresses will
    /// do when only the order of discovery counts.
    pub fn is_full(&self) -> bool {
        self.links.len() >= self.room()
    }

    fn room(&self) -> usize {
        let in_order_of_discovery = self.search.is_none() && self.scope.root().path() == "/";
        match in_order_of_discovery {
            true => self.limit,
            false => self.limit.max(MAP_KNOWN_MAX),
        }
    }

    /// Whether addresses were left out that might have come before others.
    pub fn overflowed(&self) -> bool {
        self.overflowed && self.room() > self.limit
    }

    /// The links, at most `limit`: by relevance to `search`, then those below the URL's path, then
    /// in order of discovery.
    pub fn finish(self) -> Vec<MapLink> {
        let scores = match &self.search {
            Some(search) => relevance::scores(search, self.links.iter().map(|listed| &listed.link)),
            None => vec![0.0; self.links.len()],
        };
        let mut ranked: Vec<(f32, Listed)> = scores.into_iter().zip(self.links).collect();
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
    fn hosts_queries_and_duplicates() {
        let found = [
            "http://site.test/a",
            "https://www.site.test/a/",
            "http://docs.site.test/b",
            "http://site.test/c?x=1",
            "http://site.test:8080/d",
            "http://other.test/e",
            "http://site.test/f.pdf",
            "http://site.test/f.png",
        ];
        check(
            "http://site.test/",
            json!({}),
            &found,
            &[
                "http://site.test/a",
                "http://docs.site.test/b",
                "http://site.test:8080/d",
                "http://site.test/f.pdf",
                "http://site.test/f.png",
            ],
        );
        check(
            "http://site.test/",
            json!({"includeSubdomains": false, "ignoreQueryParameters": false}),
            &found,
            &[
                "http://site.test/a",
                "http://site.test/c?x=1",
                "http://site.test/f.pdf",
                "http://site.test/f.png",
            ],
        );
    }

    #[test]
    fn patterns_filter_and_bad_ones_are_refused() {
        let found = [
            "http://site.test/docs/a",
            "http://site.test/docs/draft",
            "http://site.test/b",
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
    fn what_is_below_the_url_comes_first() {
        check(
            "http://site.test/docs/",
            json!({}),
            &[
                "http://site.test/",
                "http://site.test/docs-old",
                "http://site.test/docs/a",
                "http://docs.site.test/docs/x",
                "http://site.test/docs",
            ],
            &[
                "http://site.test/docs/a",
                "http://site.test/docs",
                "http://site.test/",
                "http://site.test/docs-old",
                "http://docs.site.test/docs/x",
            ],
        );
    }

    #[test]
    fn the_url_itself_is_listed_with_its_query_and_without_its_fragment() {
        let mut listing = listing("http://site.test/a?b=c#d", json!({}));
        listing.list_root();
        listing.list_root();
        assert_eq!(urls(listing), ["http://site.test/a?b=c"]);
    }

    #[test]
    fn a_redirect_moves_the_host_and_not_the_path() {
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
    fn search_orders_and_drops_nothing() {
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
    fn the_limit_cuts_after_the_order_is_known() {
        let number = |n: usize| Url::parse(&format!("http://site.test/{n}")).unwrap();
        let mut plain = listing("http://site.test/", json!({"limit": 3}));
        for n in 0..5 {
            assert_eq!(plain.is_full(), n >= 3);
            plain.list(&number(n));
        }
        assert!(!plain.overflowed(), "it holds all that it was asked for");
        assert_eq!(urls(plain).len(), 3);

        let mut searched = listing("http://site.test/", json!({"limit": 1, "search": "4"}));
        (0..5).for_each(|n| searched.list(&number(n)));
        assert_eq!(urls(searched), ["http://site.test/4"]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut listing = listing("http://site.test/", json!({"limit": 1, "search": "x"}));
        for n in 0..=MAP_KNOWN_MAX {
            listing.list(&Url::parse(&format!("http://site.test/{n}")).unwrap());
        }
        assert!(listing.overflowed());
        assert_eq!(listing.links.len(), MAP_KNOWN_MAX);
    }
}
