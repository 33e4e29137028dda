//! Remembers across jobs how much the browser helped on each host. Skips the browser on hosts where it added nothing
//! a few times, and for short pages of hosts where many pages were complete without it. Pages of hosts where it
//! always added content go to the browser first. Bounded; evicts the least recently used host, starting with those
//! that never needed the browser.

use std::collections::HashMap;

use harvestman_core::scrape::{BrowserReason, Certainty};
use parking_lot::{Mutex, MutexGuard};
use url::Url;

use crate::limits;

/// What is known about each host.
#[derive(Debug, Default)]
pub(crate) struct HostMemory {
    hosts: Mutex<Hosts>,
}

#[derive(Debug, Default)]
struct Hosts {
    records: HashMap<String, HostRecord>,
    /// Incremented at every use.
    clock: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct HostRecord {
    /// Consecutive pages that needed the browser and gained content from it.
    added: u32,
    /// Consecutive pages that gained nothing: those with signs of a placeholder, then those with only little text.
    added_nothing: [u32; 2],
    /// Pages with scripts that were complete without running them, since the browser last added content.
    complete: u32,
    /// Lookups since the result became certain.
    lookups: u32,
    last_used: u64,
}

/// How the browser helped on one page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BrowserEffect {
    /// The page did not need the browser.
    NotNeeded(BrowserReason),
    /// The page seemed to need the browser, which added content.
    AddedContent(BrowserReason),
    /// The page seemed to need the browser, which added nothing.
    AddedNothing(BrowserReason),
}

fn reason_index(reason: BrowserReason) -> usize {
    usize::from(reason.placeholder().is_none())
}

impl HostMemory {
    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock()
    }

    /// Returns whether a page of this host goes straight to the browser. Every few pages it does not, so that
    /// a change of the site is noticed.
    pub(crate) fn starts_in_browser(&self, url: &Url) -> bool {
        self.hosts()
            .lookup(url, |record| record.added >= limits::HOST_MEMORY_CERTAIN_AFTER)
    }

    /// Returns whether to skip the browser although the page seems to need it. Every few pages it is tried
    /// again.
    pub(crate) fn should_skip_browser(&self, url: &Url, reason: BrowserReason) -> bool {
        self.hosts().lookup(url, |record| record.is_unhelpful(reason))
    }

    /// Returns whether the browser added nothing to the last pages of this host that seemed to need it.
    pub(crate) fn is_browser_unhelpful(&self, url: &Url, reason: BrowserReason) -> bool {
        let hosts = self.hosts();
        let record = hosts.records.get(&key(url));
        record.is_some_and(|record| record.is_unhelpful(reason))
    }

    /// Records how the browser helped on a page.
    pub(crate) fn record(&self, url: &Url, effect: BrowserEffect) {
        let mut hosts = self.hosts();
        let record = hosts.entry(url);
        match effect {
            BrowserEffect::NotNeeded(reason) => {
                record.added = 0;
                let is_complete = matches!(reason, BrowserReason::Content | BrowserReason::ShortPage);
                record.complete = record.complete.saturating_add(is_complete.into());
            }
            BrowserEffect::AddedContent(reason) => {
                record.complete = 0;
                record.added = record.added.saturating_add(1);
                record.added_nothing[reason_index(reason)] = 0;
            }
            BrowserEffect::AddedNothing(reason) => {
                record.added = 0;
                let added_nothing = &mut record.added_nothing[reason_index(reason)];
                *added_nothing = added_nothing.saturating_add(1);
            }
        }
    }
}

impl HostRecord {
    fn is_unhelpful(&self, reason: BrowserReason) -> bool {
        let may_be_whole = reason.certainty() == Certainty::Low;
        self.added_nothing[reason_index(reason)] >= limits::HOST_MEMORY_CERTAIN_AFTER
            || (may_be_whole && self.complete >= limits::HOST_MEMORY_COMPLETE_PAGES)
    }

    /// Returns the value of the record: the host with the lowest value is evicted first.
    fn value(&self) -> (bool, u64) {
        let used_browser = self.added > 0 || self.added_nothing != [0, 0];
        (used_browser, self.last_used)
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
    fn lookup(&mut self, url: &Url, is_sure: impl Fn(&HostRecord) -> bool) -> bool {
        if !self.records.contains_key(&key(url)) {
            return false;
        }
        let record = self.entry(url);
        if !is_sure(record) {
            return false;
        }
        record.lookups = record.lookups.wrapping_add(1);
        !record.lookups.is_multiple_of(limits::HOST_MEMORY_RETEST_EVERY)
    }

    fn entry(&mut self, url: &Url) -> &mut HostRecord {
        let key = key(url);
        self.clock += 1;
        if !self.records.contains_key(&key) && self.records.len() >= limits::HOST_MEMORY_HOSTS {
            let least = self.records.iter().min_by_key(|(_, record)| record.value());
            if let Some(least) = least.map(|(key, _)| key.clone()) {
                self.records.remove(&least);
            }
        }
        let record = self.records.entry(key).or_default();
        record.last_used = self.clock;
        record
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
        for _ in 0..limits::HOST_MEMORY_CERTAIN_AFTER {
            assert!(!memory.should_skip_browser(&host, little));
            memory.record(&host, BrowserEffect::AddedNothing(little));
        }
        assert!(memory.should_skip_browser(&host, little));
        assert!(
            !memory.should_skip_browser(&host, BrowserReason::EmptyMount),
            "a stronger sign counts separately"
        );
        assert!(!memory.should_skip_browser(&url("b.example"), little));
        let tried = (0..2 * limits::HOST_MEMORY_RETEST_EVERY)
            .filter(|_| !memory.should_skip_browser(&host, little))
            .count();
        assert_eq!(tried, 2, "the browser is tried again every few pages");
        memory.record(&host, BrowserEffect::AddedContent(BrowserReason::EmptyMount));
        assert!(memory.is_browser_unhelpful(&host, little));
        memory.record(&host, BrowserEffect::AddedContent(little));
        assert!(!memory.should_skip_browser(&host, little));
    }

    #[test]
    fn short_pages_skip_the_browser_where_many_pages_were_complete() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        let (little, shell) = (BrowserReason::LittleText, BrowserReason::EmptyMount);
        for reason in [BrowserReason::Content, BrowserReason::ErrorPage] {
            for _ in 1..limits::HOST_MEMORY_COMPLETE_PAGES {
                memory.record(&host, BrowserEffect::NotNeeded(reason));
            }
        }
        assert!(!memory.should_skip_browser(&host, little));
        memory.record(&host, BrowserEffect::NotNeeded(BrowserReason::ShortPage));
        assert!(memory.should_skip_browser(&host, little));
        assert!(!memory.should_skip_browser(&host, shell));
        memory.record(&host, BrowserEffect::AddedContent(shell));
        assert!(!memory.should_skip_browser(&host, little));
    }

    #[test]
    fn pages_go_to_the_browser_first_where_it_always_added_content() {
        let (memory, host) = (HostMemory::default(), url("a.example"));
        for _ in 0..limits::HOST_MEMORY_CERTAIN_AFTER {
            assert!(!memory.starts_in_browser(&host));
            memory.record(&host, BrowserEffect::AddedContent(BrowserReason::EmptyMount));
        }
        assert!(memory.starts_in_browser(&host));
        memory.record(&host, BrowserEffect::NotNeeded(BrowserReason::Content));
        assert!(
            !memory.starts_in_browser(&host),
            "one page that does not need the browser resets the host"
        );
    }

    #[test]
    fn memory_is_bounded_and_keeps_recently_used_hosts() {
        let memory = HostMemory::default();
        let learn = |host: &Url| {
            for _ in 0..limits::HOST_MEMORY_CERTAIN_AFTER {
                memory.record(host, BrowserEffect::AddedContent(BrowserReason::EmptyMount));
            }
        };
        learn(&url("first.example"));
        for number in 0..limits::HOST_MEMORY_HOSTS {
            memory.starts_in_browser(&url("first.example"));
            let host = url(&format!("{number}.example"));
            memory.record(&host, BrowserEffect::AddedContent(BrowserReason::EmptyMount));
        }
        assert_eq!(memory.hosts().records.len(), limits::HOST_MEMORY_HOSTS);
        assert!(memory.hosts().records.contains_key("first.example:443"));
        assert!(!memory.hosts().records.contains_key("0.example:443"));
        let complete = BrowserEffect::NotNeeded(BrowserReason::Content);
        memory.record(&url("plain.example"), complete);
        memory.record(&url("other.example"), complete);
        let hosts = memory.hosts();
        assert!(hosts.records.contains_key("other.example:443"));
        assert!(
            !hosts.records.contains_key("plain.example:443"),
            "a host that never needed the browser is evicted first"
        );
    }
}
