//! The queue of a site's sitemap files. Each file is read once, a few are in flight at a time, and results
//! come out in the order in which the files were named, whatever order they arrive in. Fetching and
//! judging URLs are up to the owner.

use std::collections::{HashSet, VecDeque};

use url::Url;

use crate::crawl::limits::{SITEMAP_MAX_FILES, SITEMAP_MAX_IN_FLIGHT, SITEMAP_MAX_LEVELS};
use crate::sitemap::Sitemap;
use crate::url_key::resolve_link;

/// The sitemap files to read.
#[derive(Clone, Debug, Default)]
pub struct SitemapQueue {
    files: VecDeque<SitemapFile>,
    /// URLs of every file ever queued, so that each is read once.
    queued_urls: HashSet<Url>,
}

/// A queued sitemap file.
#[derive(Clone, Debug)]
pub struct SitemapFile {
    /// URL of the file.
    pub url: Url,
    level: u32,
    state: FileState,
}

#[derive(Clone, PartialEq, Debug)]
enum FileState {
    Queued,
    InFlight,
    Read(Option<Sitemap>),
}

impl SitemapQueue {
    /// Queues the files named in a robots.txt; relative URLs are resolved against `robots_url`.
    pub fn from_robots(robots_url: &Url, lines: &[String]) -> Self {
        let mut queue = Self::default();
        for line in lines {
            if let Some(url) = resolve_link(robots_url, line) {
                queue.push(url, 1);
            }
        }
        queue
    }

    /// Returns the default sitemap URL of a site whose robots.txt names none.
    pub fn default_url(site: &Url) -> Url {
        let mut url = site.clone();
        url.set_path("/sitemap.xml");
        url.set_query(None);
        url.set_fragment(None);
        url
    }

    /// Queues a file of the first level.
    pub fn push_root(&mut self, url: Url) {
        self.push(url, 1);
    }

    /// Queues a file that the index `parent` names.
    pub fn push_child(&mut self, parent: &SitemapFile, url: Url) {
        self.push(url, parent.level + 1);
    }

    fn push(&mut self, url: Url, level: u32) {
        if level <= SITEMAP_MAX_LEVELS
            && self.queued_urls.len() < SITEMAP_MAX_FILES
            && self.queued_urls.insert(url.clone())
        {
            let state = FileState::Queued;
            self.files.push_back(SitemapFile { url, level, state });
        }
    }

    /// Returns whether every queued file was taken.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the next file to fetch.
    pub fn next_file(&self) -> Option<&Url> {
        let window = self.files.iter().take(SITEMAP_MAX_IN_FLIGHT);
        window
            .filter(|file| file.state == FileState::Queued)
            .map(|file| &file.url)
            .next()
    }

    /// Marks a file as in flight.
    pub fn mark_in_flight(&mut self, url: &Url) {
        if let Some(file) = self.files.iter_mut().find(|file| file.url == *url) {
            file.state = FileState::InFlight;
        }
    }

    /// Stores the result of a fetch, `None` if the file is missing or unreadable. Returns `false` if the
    /// file was not in flight.
    pub fn store_result(&mut self, url: &Url, sitemap: Option<Sitemap>) -> bool {
        let is_in_flight = |file: &&mut SitemapFile| file.url == *url && file.state == FileState::InFlight;
        match self.files.iter_mut().find(is_in_flight) {
            Some(file) => {
                file.state = FileState::Read(sitemap);
                true
            }
            None => false,
        }
    }

    /// Removes and returns the first file once it is read. Files come out in the order they were named.
    pub fn pop_read(&mut self) -> Option<(SitemapFile, Option<Sitemap>)> {
        let FileState::Read(sitemap) = &mut self.files.front_mut()?.state else {
            return None;
        };
        let sitemap = sitemap.take();
        Some((self.files.pop_front()?, sitemap))
    }

    /// Drops every file that is not in flight.
    pub fn drop_queued(&mut self) {
        self.files.retain(|file| file.state == FileState::InFlight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("http://site.test/").unwrap().join(path).unwrap()
    }

    fn start_all(queue: &mut SitemapQueue) -> Vec<String> {
        let mut started = Vec::new();
        while let Some(next) = queue.next_file().cloned() {
            queue.mark_in_flight(&next);
            started.push(next.path().to_owned());
        }
        started
    }

    #[test]
    fn files_come_out_in_the_order_they_were_named() {
        let lines = ["/a", "b", "/a", "mailto:x"].map(str::to_owned);
        let mut queue = SitemapQueue::from_robots(&url("/robots.txt"), &lines);
        assert_eq!(start_all(&mut queue), ["/a", "/b"], "each file once");
        assert!(queue.store_result(&url("/b"), None));
        assert!(queue.pop_read().is_none(), "the first file has not arrived");
        assert!(queue.store_result(&url("/a"), Some(Sitemap::default())));
        assert!(!queue.store_result(&url("/a"), None), "already read");
        let (first, sitemap) = queue.pop_read().unwrap();
        assert_eq!((first.url.path(), sitemap.is_some()), ("/a", true));
        queue.push_child(&first, url("/c"));
        let (second, sitemap) = queue.pop_read().unwrap();
        assert_eq!((second.url.path(), sitemap.is_some()), ("/b", false));
        assert_eq!(start_all(&mut queue), ["/c"]);
        assert!(!queue.is_empty());
    }

    #[test]
    fn files_levels_and_requests_in_flight_are_limited() {
        let mut queue = SitemapQueue::default();
        for number in 0..SITEMAP_MAX_FILES + 10 {
            queue.push_root(url(&format!("/{number}")));
        }
        assert_eq!(queue.files.len(), SITEMAP_MAX_FILES);
        assert_eq!(start_all(&mut queue).len(), SITEMAP_MAX_IN_FLIGHT);
        queue.drop_queued();
        assert_eq!(queue.files.len(), SITEMAP_MAX_IN_FLIGHT);

        let mut queue = SitemapQueue::default();
        queue.push_root(SitemapQueue::default_url(&url("/deep/page?a#b")));
        let mut levels = 0;
        while let [path] = start_all(&mut queue).as_slice() {
            levels += 1;
            queue.store_result(&url(path), None);
            let (file, _) = queue.pop_read().unwrap();
            queue.push_child(&file, url(&format!("/level{levels}")));
        }
        assert_eq!(levels, SITEMAP_MAX_LEVELS);
    }
}
