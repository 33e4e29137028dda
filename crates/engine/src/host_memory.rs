//! Remembers across jobs how much the browser helped on each host: where it added nothing a few times it is
//! skipped, where it always added content pages go to it first. Bounded; evicts the least recently used host.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use harvestman_core::scrape::BrowserReason;
use url::Url;

use crate::limits;

/// What is known about each host.
#[derive(Debug, Default)]
pub(crate) struct HostMemory {
    hosts: Mutex<Hosts>,
}

#[derive(Debug, Default)]
struct Hosts {
    known: HashMap<String, Known>,
    /// Incremented at every use.
    clock: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Consecutive pages that needed the browser and gained content from it.
    added: u32,
    /// Consecutive pages that gained nothing: with signs of a placeholder, and with little text only.
    nothing: [u32; 2],
    /// Lookups since the result became certain.
    asked: u32,
    used: u64,
}

/// How the browser helped on one page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lesson {
    /// The page did not need the browser.
    Plain,
    /// The page seemed to need the browser, which added content.
    Added,
    /// The page seemed to need the browser, which added nothing.
    Nothing(BrowserReason),
}

fn nothing_index(reason: BrowserReason) -> usize {
    usize::from(reason.placeholder().is_none())
}

impl HostMemory {
    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a page of this host goes straight to the browser. Every few pages it does not, so that
    /// a change of the site is noticed.
    pub(crate) fn begins_with_browser(&self, url: &Url) -> bool {
        self.hosts()
            .ask(url, |known| known.added >= limits::LEARNED_AFTER)
    }

    /// Returns whether to skip the browser although the page seems to need it. Every few pages it is tried
    /// again.
    pub(crate) fn is_useless(&self, url: &Url, reason: BrowserReason) -> bool {
        self.hosts().ask(url, |known| {
            known.nothing[nothing_index(reason)] >= limits::LEARNED_AFTER
        })
    }

    /// Records how the browser helped on a page.
    pub(crate) fn learn(&self, url: &Url, lesson: Lesson) {
        let mut hosts = self.hosts();
        // Hosts whose pages never needed the browser are not worth an entry.
        if lesson == Lesson::Plain && !hosts.known.contains_key(&key(url)) {
            return;
        }
        let known = hosts.entry(url);
        match lesson {
            Lesson::Plain => known.added = 0,
            Lesson::Added => {
                known.added = known.added.saturating_add(1);
                known.nothing = [0; 2];
            }
            Lesson::Nothing(reason) => {
                known.added = 0;
                let nothing = &mut known.nothing[nothing_index(reason)];
                *nothing = nothing.saturating_add(1);
            }
        }
    }
}

/// Returns host and port.
fn key(url: &Url) -> String {
    format!(
        "{}:{}",
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or_default()
    )
}

impl Hosts {
    fn ask(&mut self, url: &Url, is_sure: impl Fn(&Known) -> bool) -> bool {
        if !self.known.contains_key(&key(url)) {
            return false;
        }
        let known = self.entry(url);
        if !is_sure(known) {
            return false;
        }
        known.asked = known.asked.wrapping_add(1);
        !known.asked.is_multiple_of(limits::LEARN_AGAIN)
    }

    fn entry(&mut self, url: &Url) -> &mut Known {
        let key = key(url);
        self.clock += 1;
        if !self.known.contains_key(&key) && self.known.len() >= limits::LEARNED_HOSTS {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.known.remove(&oldest);
            }
        }
        let known = self.known.entry(key).or_default();
        known.used = self.clock;
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/")).unwrap()
    }

    #[test]
    fn the_browser_is_skipped_where_it_added_nothing_a_few_times() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        let little = BrowserReason::LittleText;
        for _ in 0..limits::LEARNED_AFTER {
            assert!(!memory.is_useless(&host, little));
            memory.learn(&host, Lesson::Nothing(little));
        }
        assert!(memory.is_useless(&host, little));
        assert!(
            !memory.is_useless(&host, BrowserReason::EmptyMount),
            "a stronger sign counts separately"
        );
        assert!(!memory.is_useless(&url("b.example"), little));
        let asked = (0..2 * limits::LEARN_AGAIN)
            .filter(|_| !memory.is_useless(&host, little))
            .count();
        assert_eq!(asked, 2, "the browser is tried again every few pages");
        memory.learn(&host, Lesson::Added);
        assert!(!memory.is_useless(&host, little));
    }

    #[test]
    fn pages_go_to_the_browser_first_where_it_always_added_content() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        for _ in 0..limits::LEARNED_AFTER {
            assert!(!memory.begins_with_browser(&host));
            memory.learn(&host, Lesson::Added);
        }
        assert!(memory.begins_with_browser(&host));
        memory.learn(&host, Lesson::Plain);
        assert!(
            !memory.begins_with_browser(&host),
            "one page that does not need the browser resets the host"
        );
    }

    #[test]
    fn memory_is_bounded_and_keeps_recently_used_hosts() {
        let memory = HostMemory::default();
        let learned = |host: &Url| {
            for _ in 0..limits::LEARNED_AFTER {
                memory.learn(host, Lesson::Added);
            }
        };
        learned(&url("first.example"));
        for number in 0..limits::LEARNED_HOSTS {
            memory.begins_with_browser(&url("first.example"));
            memory.learn(&url(&format!("{number}.example")), Lesson::Added);
        }
        assert_eq!(memory.hosts().known.len(), limits::LEARNED_HOSTS);
        assert!(memory.hosts().known.contains_key("first.example:443"));
        assert!(!memory.hosts().known.contains_key("0.example:443"));
        memory.learn(&url("plain.example"), Lesson::Plain);
        assert!(!memory.hosts().known.contains_key("plain.example:443"));
    }
}
