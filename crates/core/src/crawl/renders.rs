//! Pages in flight that wait for the browser: they were fetched, turned out to need it, and wait until the
//! team has a browser slot. While they wait they do not count against the job's concurrency, so that
//! plain pages can proceed.

use std::collections::{HashSet, VecDeque};

use crate::crawl::changes::Change;
use crate::crawl::limits::{RENDERS_WAITING_MAX_BYTES, RENDERS_WAITING_MAX_PAGES};
use crate::crawl::starts::TeamSlot;
use crate::crawl::{Crawl, Output, SlotKind};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

/// Pages of one job that wait for the browser, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct RenderQueue {
    waiting: VecDeque<QueuedRender>,
    bytes: usize,
    /// Pages in the browser that do not count against the job's concurrency.
    uncounted: HashSet<UrlKey>,
}

#[derive(Clone, Copy, Debug)]
struct QueuedRender {
    key: UrlKey,
    bytes: usize,
    /// Whether its host slot was released.
    released_host: bool,
}

impl RenderQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether so many pages wait, or hold so much memory, that no further page may start.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= RENDERS_WAITING_MAX_PAGES || self.bytes >= RENDERS_WAITING_MAX_BYTES
    }

    fn contains(&self, key: UrlKey) -> bool {
        self.waiting.iter().any(|waiting| waiting.key == key)
    }

    fn push(&mut self, waiting: QueuedRender) {
        self.bytes += waiting.bytes;
        self.waiting.push_back(waiting);
    }

    fn pop(&mut self) -> Option<QueuedRender> {
        let first = self.waiting.pop_front()?;
        self.bytes -= first.bytes;
        Some(first)
    }

    fn remove(&mut self, key: UrlKey) -> Option<QueuedRender> {
        let index = self.waiting.iter().position(|waiting| waiting.key == key)?;
        let waiting = self.waiting.remove(index)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }
}

impl Crawl {
    /// Queues a page in flight for the browser. Ignores late and repeated inputs.
    pub(super) fn queue_render(&mut self, now: Timestamp, key: UrlKey, bytes: usize) {
        let Some(entry) = self.running.get(&key) else {
            return;
        };
        if self.renders.contains(key) {
            return;
        }
        self.pace.end();
        let released_host = self.frontier.release_slot(&entry.host, now);
        self.changes.push(Change::RenderQueued(key));
        self.renders.push(QueuedRender {
            key,
            bytes,
            released_host,
        });
    }

    /// Returns whether pages in the browser count against the job's concurrency: they do when the request
    /// sets `maxConcurrency` and when pages are fetched one at a time. Otherwise the team's slots are the
    /// only limit.
    pub(super) fn counts_renders(&self) -> bool {
        self.max_concurrency_given || self.pace.has_delay() || !self.suspects.is_empty()
    }

    /// Continues the oldest waiting page when the team has a browser slot for it.
    pub(super) fn next_render(&mut self, now: Timestamp) -> Option<Output> {
        if self.renders.is_empty() {
            return None;
        }
        match self.team_slots.get(SlotKind::Browser) {
            TeamSlot::None => {
                self.team_slots.set(SlotKind::Browser, TeamSlot::Requested);
                Some(Output::AcquireSlot(SlotKind::Browser))
            }
            TeamSlot::Requested => None,
            TeamSlot::Held => {
                let QueuedRender {
                    key, released_host, ..
                } = self.renders.pop()?;
                let entry = self.running.get(&key)?;
                self.team_slots.set(SlotKind::Browser, TeamSlot::None);
                if self.counts_renders() {
                    self.pace.start(now);
                } else {
                    self.renders.uncounted.insert(key);
                }
                self.frontier.resume(&entry.host, released_host, now);
                self.changes
                    .push(Change::FetchStarted(key, entry.earlier_attempts + 1));
                Some(Output::Render(key))
            }
        }
    }

    /// Removes a finished page. Returns whether it held a slot of the job and one of its host.
    pub(super) fn finish_render(&mut self, key: UrlKey) -> (bool, bool) {
        match self.renders.remove(key) {
            None => (!self.renders.uncounted.remove(&key), true),
            Some(waiting) => (false, !waiting.released_host),
        }
    }
}
