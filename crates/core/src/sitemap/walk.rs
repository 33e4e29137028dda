//! The sitemap files of a site in the order in which they are named: each is read once, a few are
//! asked for at a time, and what they say comes out in order whatever order the answers come in.
//! It never fetches, and never judges an address: that is its owner's business.

use std::collections::{HashSet, VecDeque};

use url::Url;

use crate::crawl::limits::{SITEMAP_MAX_FILES, SITEMAP_MAX_IN_FLIGHT, SITEMAP_MAX_LEVELS};
use crate::sitemap::Sitemap;
use crate::url_key::resolve_link;

/// The files that are to be read.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    files: VecDeque<File>,
    /// Every file ever queued: each is read once.
    named: HashSet<Url>,
}

/// A sitemap file that was named.
#[derive(Clone, Debug)]
pub struct File {
    /// Its address.
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
    /// The files that the lines of a robots.txt name; relative ones against its address.
    pub fn of_lines(robots_url: &Url, lines: &[String]) -> Self {
        let mut walk = Self::default();
        for line in lines {
            if let Some(url) = resolve_link(robots_url, line) {
                walk.name(url, 1);
            }
        }
        walk
    }

    /// Where a site has its sitemap when no robots.txt names one.
    pub fn usual(site: &Url) -> Url {
        let mut usual = site.clone();
        usual.set_path("/sitemap.xml");
        usual.set_query(None);
        usual.set_fragment(None);
        usual
    }

    /// Queues a file that is named from outside.
    pub fn start_at(&mut self, url: Url) {
        self.name(url, 1);
    }

    /// Queues a file that `parent` names.
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

    /// Whether every file named so far was taken.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The next file to ask for.
    pub fn wanted(&self) -> Option<&Url> {
        let window = self.files.iter().take(SITEMAP_MAX_IN_FLIGHT);
        window
            .filter(|file| file.state == FileState::Waiting)
            .map(|file| &file.url)
            .next()
    }

    /// Notes that a file was asked for.
    pub fn asked(&mut self, url: &Url) {
        if let Some(file) = self.files.iter_mut().find(|file| file.url == *url) {
            file.state = FileState::Asked;
        }
    }

    /// Takes an answer, `None` for a file that is not there; `false` when it was not asked for.
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

    /// Takes the first file off once it is read: the order of naming is the order of discovery.
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

    /// Asks for nothing more; what is in flight may still be answered.
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
    fn files_come_out_in_the_order_of_their_names() {
        let lines = ["/a", "b", "/a", "mailto:x"].map(str::to_owned);
        let mut walk = Walk::of_lines(&url("/robots.txt"), &lines);
        assert_eq!(ask(&mut walk), ["/a", "/b"], "each once");
        assert!(walk.answer(&url("/b"), None));
        assert!(walk.take_read().is_none(), "the first is not answered yet");
        assert!(walk.answer(&url("/a"), Some(Sitemap::default())));
        assert!(!walk.answer(&url("/a"), None), "answered already");
        let (first, sitemap) = walk.take_read().unwrap();
        assert_eq!((first.url.path(), sitemap.is_some()), ("/a", true));
        walk.descend(&first, url("/c"));
        let (second, sitemap) = walk.take_read().unwrap();
        assert_eq!((second.url.path(), sitemap.is_some()), ("/b", false));
        assert_eq!(ask(&mut walk), ["/c"]);
        assert!(!walk.is_empty());
    }

    #[test]
    fn files_levels_and_questions_are_bounded() {
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
