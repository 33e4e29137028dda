//! An independent implementation of the rules: what must not be fetched, and what a crawl without a limit
//! must find in the end.

use std::collections::{BTreeSet, HashSet, VecDeque};

use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::url_key::{bare_host, resolve_link};
use url::Url;

use crate::world::{ALWAYS, Kind, World, content_key};

impl World {
    /// Returns whether robots.txt allows a URL.
    pub(crate) fn robots_allow(&self, url: &Url) -> bool {
        let host = self.host(url);
        self.request.ignore_robots_txt
            || (host.robots_failures != ALWAYS
                && host.robots.as_ref().is_none_or(|rules| {
                    !rules
                        .disallow
                        .iter()
                        .any(|path| url.path().starts_with(path.as_str()))
                }))
    }

    /// Returns the scope root.
    pub(crate) fn root(&self) -> Url {
        let seed = self.request.url.url.clone();
        match self.resolve(&seed) {
            Some((final_url, page)) if bare_host(&final_url).ends_with("site.test") => match page.kind {
                Kind::Unreachable | Kind::Timeout { times: ALWAYS } => seed,
                _ => final_url,
            },
            _ => seed,
        }
    }

    /// Returns why a link may not be fetched. Does not apply to the start page.
    pub(crate) fn out_of_scope(&self, root: &Url, url: &Url, depth: u32) -> Option<&'static str> {
        if url.path().ends_with(".png") {
            return Some("a picture");
        }
        self.scope_violation(root, url, depth)
    }

    /// Returns why a redirect target is out of scope. Images count only as links.
    fn scope_violation(&self, root: &Url, url: &Url, depth: u32) -> Option<&'static str> {
        let request = &self.request;
        if request.max_discovery_depth.is_some_and(|max| depth > max) {
            return Some("too deep");
        }
        if request.sitemap == SitemapMode::Only && depth > 0 {
            return Some("a link, with sitemap only");
        }
        if request
            .exclude_paths
            .iter()
            .any(|pattern| url.path().starts_with(&pattern[1..]))
        {
            return Some("excluded");
        }
        if bare_host(url) == bare_host(root) {
            let base = root.path().trim_end_matches('/');
            let child = url.path() == base || url.path().starts_with(&format!("{base}/"));
            return (!request.crawl_entire_domain && !child).then_some("not a child");
        }
        let family = request.allow_subdomains && bare_host(url).ends_with("site.test");
        (!family && !request.allow_external_links).then_some("another host")
    }

    /// Returns the pages that a crawl without limit and depth must find, despite any fault.
    pub(crate) fn expected(&self) -> BTreeSet<String> {
        let seed = self.request.url.url.clone();
        let mut found = BTreeSet::new();
        let patterns = &self.request.include_paths;
        let included = |url: &Url| {
            patterns.is_empty()
                || url.path() == "/"
                || url.path().contains("/p")
                || url.path().starts_with("/d")
        };
        let excluded = self
            .request
            .exclude_paths
            .iter()
            .any(|path| seed.path().starts_with(&path[1..]));
        if excluded || !included(&seed) || !self.robots_allow(&seed) {
            return found;
        }
        let root = self.root();
        let belongs = |url: &Url, depth: u32| {
            let is_external_home_page =
                !self.is_in_site(&root, url) && url.path() == "/" && url.query().is_none();
            self.scope_violation(&root, url, depth).is_none() && !is_external_home_page && included(url)
        };
        let mut todo: VecDeque<(Url, u32)> = VecDeque::from([(seed.clone(), 0)]);
        todo.extend(self.sitemap_entries(&root).into_iter().map(|url| (url, 0)));
        let mut seen = HashSet::new();
        while let Some((mut url, depth)) = todo.pop_front() {
            url.set_fragment(None);
            if !seen.insert(url.clone())
                || (url != seed && (!belongs(&url, depth) || url.path().ends_with(".png")))
                || !self.robots_allow(&url)
            {
                continue;
            }
            let Some((final_url, page)) = self.resolve(&url) else {
                continue;
            };
            if final_url != url && (!belongs(&final_url, 0) || !self.robots_allow(&final_url)) {
                continue;
            }
            let status = match page.kind {
                Kind::Plain | Kind::Redirect(_) => 200,
                Kind::Status(status) => status,
                Kind::Busy { status, times, .. } if times == ALWAYS => status,
                Kind::Timeout { times } if times == ALWAYS => continue,
                Kind::Unreachable => continue,
                Kind::Busy { .. } | Kind::Timeout { .. } => 200,
            };
            found.insert(content_key(&final_url));
            if status == 200
                && self.is_in_site(&root, &final_url)
                && self.request.sitemap != SitemapMode::Only
            {
                todo.extend(
                    page.links
                        .iter()
                        .filter_map(|href| Some((resolve_link(&final_url, href)?, 1))),
                );
            }
        }
        found
    }

    /// Returns whether links of this host are followed.
    fn is_in_site(&self, root: &Url, url: &Url) -> bool {
        bare_host(url) == bare_host(root)
            || (self.request.allow_subdomains && bare_host(url).ends_with("site.test"))
    }

    fn sitemap_entries(&self, root: &Url) -> Vec<Url> {
        let host = self.host(root);
        let unreadable =
            host.robots_failures == ALWAYS || (self.request.ignore_robots_txt && host.robots_failures > 0);
        if self.request.sitemap == SitemapMode::Skip || (unreadable && !self.request.ignore_robots_txt) {
            return Vec::new();
        }
        let by_line = !unreadable && host.robots.as_ref().is_some_and(|rules| rules.sitemap_line);
        let mut todo = VecDeque::from([if by_line { "/s1.xml" } else { "/sitemap.xml" }.to_owned()]);
        let mut seen = HashSet::new();
        let mut entries = Vec::new();
        while let Some(path) = todo.pop_front() {
            if let (true, Some(sitemap)) = (seen.insert(path.clone()), host.sitemaps.get(&path)) {
                entries.extend(sitemap.pages.iter().cloned());
                todo.extend(sitemap.children.iter().map(|url| url.path().to_owned()));
            }
        }
        entries
    }
}
