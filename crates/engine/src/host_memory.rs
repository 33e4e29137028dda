//! What the browser has been good for on each host, across jobs: where it added nothing a few times it is not asked
//! any more, where it always did pages go there first. Bounded; forgets the host that was used least recently.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use harvestman_core::scrape::BrowserReason;
use url::Url;

use crate::limits;

/// What is known of every host.
#[derive(Debug, Default)]
pub(crate) struct HostMemory {
    hosts: Mutex<Hosts>,
}

#[derive(Debug, Default)]
struct Hosts {
    known: HashMap<String, Known>,
    /// Grows with every use.
    clock: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Pages in a row that needed the browser and got something from it.
    added: u32,
    /// Pages in a row for which it had nothing more: with signs of a placeholder, and with little text alone.
    nothing: [u32; 2],
    /// Questions since the memory became sure.
    asked: u32,
    used: u64,
}

/// What a page turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lesson {
    /// It did not need the browser.
    Plain,
    /// It seemed to need it, and the browser had more.
    Added,
    /// It seemed to need it, and the browser had nothing more.
    Nothing(BrowserReason),
}

fn nothing_index(reason: BrowserReason) -> usize {
    usize::from(reason.placeholder().is_none())
}

impl HostMemory {
    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a page of this host goes to the browser before it is fetched. Now and then it is fetched nevertheless,
    /// so that a site that has changed is noticed.
    pub(crate) fn begins_with_browser(&self, url: &Url) -> bool {
        self.hosts()
            .ask(url, |known| known.added >= limits::LEARNED_AFTER)
    }

    /// Whether the browser is left alone though a page seems to need it, but for a try now and then.
    pub(crate) fn is_useless(&self, url: &Url, reason: BrowserReason) -> bool {
        self.hosts().ask(url, |known| {
            known.nothing[nothing_index(reason)] >= limits::LEARNED_AFTER
        })
    }

    /// Learns from a page.
    pub(crate) fn learn(&self, url: &Url, lesson: Lesson) {
        let mut hosts = self.hosts();
        // Plain pages of hosts without a history are nothing to remember.
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

/// Host and port.
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
    fn the_browser_is_left_alone_where_it_added_nothing_a_few_times() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        let little = BrowserReason::LittleText;
        for _ in 0..limits::LEARNED_AFTER {
            assert!(!memory.is_useless(&host, little));
            memory.learn(&host, Lesson::Nothing(little));
        }
        assert!(memory.is_useless(&host, little));
        assert!(
            !memory.is_useless(&host, BrowserReason::EmptyMount),
            "a surer sign is another matter"
        );
        assert!(!memory.is_useless(&url("b.example"), little));
        let asked = (0..2 * limits::LEARN_AGAIN)
            .filter(|_| !memory.is_useless(&host, little))
            .count();
        assert_eq!(asked, 2, "it is tried again now and then");
        memory.learn(&host, Lesson::Added);
        assert!(!memory.is_useless(&host, little));
    }

    #[test]
    fn pages_go_to_the_browser_first_where_it_always_added_something() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        for _ in 0..limits::LEARNED_AFTER {
            assert!(!memory.begins_with_browser(&host));
            memory.learn(&host, Lesson::Added);
        }
        assert!(memory.begins_with_browser(&host));
        memory.learn(&host, Lesson::Plain);
        assert!(
            !memory.begins_with_browser(&host),
            "one page that does without it is enough"
        );
    }

    #[test]
    fn memory_is_bounded_and_keeps_what_was_used_last() {
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
