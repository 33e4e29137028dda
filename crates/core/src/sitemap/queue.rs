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
pub struct Walk {
    files: VecDeque<File>,
    /// URLs of every file ever queued, so that each is read once.
    named: HashSet<Url>,
}

/// A queued sitemap file.
#[derive(Clone, Debug)]
pub struct File {
    /// URL of the file.
    pub url: Url,
    level: u32,
    state: FileState,
}

#[derive(Clone, PartialEq, Debug)]
enum FileState {
    Waiting,
    Asked,
    Read(Option<Sitemap>),
}

impl Walk {
    /// Queues the files named in a robots.txt; relative URLs are resolved against `robots_url`.
    pub fn of_lines(robots_url: &Url, lines: &[String]) -> Self {
        let mut walk = Self::default();
        for line in lines {
            if let Some(url) = resolve_link(robots_url, line) {
                walk.name(url, 1);
            }
        }
        walk
    }

    /// Returns the default sitemap URL of a site whose robots.txt names none.
    pub fn usual(site: &Url) -> Url {
        let mut usual = site.clone();
        usual.set_path("/sitemap.xml");
        usual.set_query(None);
        usual.set_fragment(None);
        usual
    }

    /// Queues a file of the first level.
    pub fn start_at(&mut self, url: Url) {
        self.name(url, 1);
    }

    /// Queues a file that the index `parent` names.
    pub fn descend(&mut self, parent: &File, url: Url) {
        self.name(url, parent.level + 1);
    }

    fn name(&mut self, url: Url, level: u32) {
        if level <= SITEMAP_MAX_LEVELS
            && self.named.len() < SITEMAP_MAX_FILES
            && self.named.insert(url.clone())
        {
            let state = FileState::Waiting;
            self.files.push_back(File { url, level, state });
        }
    }

    /// Returns whether every queued file was taken.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the next file to fetch.
    pub fn wanted(&self) -> Option<&Url> {
        let window = self.files.iter().take(SITEMAP_MAX_IN_FLIGHT);
        window
            .filter(|file| file.state == FileState::Waiting)
            .map(|file| &file.url)
            .next()
    }

    /// Marks a file as in flight.
    pub fn asked(&mut self, url: &Url) {
        if let Some(file) = self.files.iter_mut().find(|file| file.url == *url) {
            file.state = FileState::Asked;
        }
    }

    /// Stores the result of a fetch, `None` if the file is missing or unreadable. Returns `false` if the
    /// file was not in flight.
    pub fn answer(&mut self, url: &Url, sitemap: Option<Sitemap>) -> bool {
        let asked = |file: &&mut File| file.url == *url && file.state == FileState::Asked;
        match self.files.iter_mut().find(asked) {
            Some(file) => {
                file.state = FileState::Read(sitemap);
                true
            }
            None => false,
        }
    }

    /// Removes and returns the first file once it is read. Files come out in the order they were named.
    pub fn take_read(&mut self) -> Option<(File, Option<Sitemap>)> {
        match self.files.front()?.state {
            FileState::Read(_) => {}
            FileState::Waiting | FileState::Asked => return None,
        }
        let mut file = self.files.pop_front()?;
        match std::mem::replace(&mut file.state, FileState::Asked) {
            FileState::Read(sitemap) => Some((file, sitemap)),
            FileState::Waiting | FileState::Asked => None,
        }
    }

    /// Drops every file that is not in flight.
    pub fn stop_asking(&mut self) {
        self.files.retain(|file| file.state == FileState::Asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("http://site.test/").unwrap().join(path).unwrap()
    }

    fn ask(walk: &mut Walk) -> Vec<String> {
        let mut asked = Vec::new();
        while let Some(wanted) = walk.wanted().cloned() {
            walk.asked(&wanted);
            asked.push(wanted.path().to_owned());
        }
        asked
    }

    #[test]
    fn files_come_out_in_the_order_they_were_named() {
        let lines = ["/a", "b", "/a", "mailto:x"].map(str::to_owned);
        let mut walk = Walk::of_lines(&url("/robots.txt"), &lines);
        assert_eq!(ask(&mut walk), ["/a", "/b"], "each file once");
        assert!(walk.answer(&url("/b"), None));
        assert!(walk.take_read().is_none(), "the first file has not arrived");
        assert!(walk.answer(&url("/a"), Some(Sitemap::default())));
        assert!(!walk.answer(&url("/a"), None), "already read");
        let (first, sitemap) = walk.take_read().unwrap();
        assert_eq!((first.url.path(), sitemap.is_some()), ("/a", true));
        walk.descend(&first, url("/c"));
        let (second, sitemap) = walk.take_read().unwrap();
        assert_eq!((second.url.path(), sitemap.is_some()), ("/b", false));
        assert_eq!(ask(&mut walk), ["/c"]);
        assert!(!walk.is_empty());
    }

    #[test]
    fn files_levels_and_requests_in_flight_are_limited() {
        let mut walk = Walk::default();
        for number in 0..SITEMAP_MAX_FILES + 10 {
            walk.start_at(url(&format!("/{number}")));
        }
        assert_eq!(walk.files.len(), SITEMAP_MAX_FILES);
        assert_eq!(ask(&mut walk).len(), SITEMAP_MAX_IN_FLIGHT);
        walk.stop_asking();
        assert_eq!(walk.files.len(), SITEMAP_MAX_IN_FLIGHT);

        let mut walk = Walk::default();
        walk.start_at(Walk::usual(&url("/deep/page?a#b")));
        let mut levels = 0;
        while let [path] = ask(&mut walk).as_slice() {
            levels += 1;
            walk.answer(&url(path), None);
            let (file, _) = walk.take_read().unwrap();
            walk.descend(&file, url(&format!("/level{levels}")));
        }
        assert_eq!(levels, SITEMAP_MAX_LEVELS);
    }
}
