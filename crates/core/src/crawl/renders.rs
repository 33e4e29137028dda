//! Pages in flight that wait for the browser: fetched, found to need it, and set aside until the team has a browser
//! slot for them. Meanwhile they take no place of the job, so that plain pages go on.

use std::collections::{HashSet, VecDeque};

use crate::crawl::changes::Change;
use crate::crawl::limits::{RENDERS_WAITING_MAX_BYTES, RENDERS_WAITING_MAX_PAGES};
use crate::crawl::starts::TeamSlot;
use crate::crawl::{Crawl, Output, SlotKind};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

/// Pages of one job that wait for the browser, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Renders {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// Pages in the browser that take no place of the job.
    beside: HashSet<UrlKey>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: UrlKey,
    bytes: usize,
    /// Whether the place of its host was given up.
    left_host: bool,
}

impl Renders {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether they hold so much memory that no further page may start.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= RENDERS_WAITING_MAX_PAGES || self.bytes >= RENDERS_WAITING_MAX_BYTES
    }

    fn contains(&self, key: UrlKey) -> bool {
        self.waiting.iter().any(|waiting| waiting.key == key)
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.bytes;
        self.waiting.push_back(waiting);
    }

    fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes -= first.bytes;
        Some(first)
    }

    fn remove(&mut self, key: UrlKey) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.key == key)?;
        let waiting = self.waiting.remove(place)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }
}

impl Crawl {
    /// A page in flight waits for the browser. Late and repeated inputs change nothing.
    pub(super) fn set_aside(&mut self, now: Timestamp, key: UrlKey, bytes: usize) {
        let Some(entry) = self.running.get(&key) else {
            return;
        };
        if self.renders.contains(key) {
            return;
        }
        self.pace.end();
        let left_host = self.frontier.leave(&entry.host, now);
        self.changes.push(Change::SetAside(key));
        self.renders.push(Waiting {
            key,
            bytes,
            left_host,
        });
    }

    /// Whether a page in the browser takes a place of the job: where the request says how many there are, and where
    /// pages come one at a time. Otherwise the team's slots are the limit.
    pub(super) fn counts_renders(&self) -> bool {
        self.max_concurrency_given || self.pace.has_delay() || !self.suspects.is_empty()
    }

    /// The oldest page that waits goes on, when the team has a browser slot for it.
    pub(super) fn next_render(&mut self, now: Timestamp) -> Option<Output> {
        if self.renders.is_empty() {
            return None;
        }
        match self.team_slots.get(SlotKind::Browser) {
            TeamSlot::None => {
                self.team_slots.set(SlotKind::Browser, TeamSlot::Wanted);
                Some(Output::WantSlot(SlotKind::Browser))
            }
            TeamSlot::Wanted => None,
            TeamSlot::Taken => {
                let Waiting { key, left_host, .. } = self.renders.pop()?;
                let entry = self.running.get(&key)?;
                self.team_slots.set(SlotKind::Browser, TeamSlot::None);
                if self.counts_renders() {
                    self.pace.start(now);
                } else {
                    self.renders.beside.insert(key);
                }
                self.frontier.rejoin(&entry.host, left_host, now);
                self.changes.push(Change::Begun(key, entry.earlier + 1));
                Some(Output::Render(key))
            }
        }
    }

    /// Whether a page that ended held a place of the job and of its host.
    pub(super) fn end_render(&mut self, key: UrlKey) -> (bool, bool) {
        match self.renders.remove(key) {
            None => (!self.renders.beside.remove(&key), true),
            Some(waiting) => (false, !waiting.left_host),
        }
    }
}
