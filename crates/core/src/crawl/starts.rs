//! What may start now: robots.txt files, sitemaps and pages. A sitemap or page asks for a team slot only when the
//! pace of the job and of the host allows it to start.

use std::time::Duration;

use crate::api::console::Limiter;
use crate::crawl::changes::Change;
use crate::crawl::seeds::Phase;
use crate::crawl::{Crawl, Output, PageTask, SlotKind, batch_scrape, limits};
use crate::host::HostKey;
use crate::politeness::Availability;
use crate::time::Timestamp;

const COMMIT_LATE: Duration = Duration::from_millis(limits::COMMIT_LATE_MS);

/// State of the team slot for the next page or sitemap. A start counts when it happens, not while it waits for
/// the team's other pages, so `delay`, `Crawl-delay` and concurrency apply between real starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum TeamSlot {
    #[default]
    None,
    Requested,
    Held,
}

/// The state of each [`SlotKind`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TeamSlots([TeamSlot; 2]);

impl TeamSlots {
    pub(super) fn get(self, kind: SlotKind) -> TeamSlot {
        self.0[kind as usize]
    }

    pub(super) fn set(&mut self, kind: SlotKind, slot: TeamSlot) {
        self.0[kind as usize] = slot;
    }
}

impl Crawl {
    /// Returns the next robots.txt to fetch. These files take at most half of the job's concurrency, so
    /// that pages can proceed.
    pub(super) fn next_robots(&mut self, now: Timestamp) -> Option<Output> {
        if self.pace.robots_availability() != Availability::Now
            || self.robots_in_flight >= self.pace.max_in_flight().div_ceil(2)
        {
            return None;
        }
        let Some(host) = self.hosts.next(now) else {
            self.wake_by(self.hosts.wake_at());
            return None;
        };
        self.pace.start_robots();
        self.robots_in_flight += 1;
        let url = host.robots_url()?;
        Some(Output::FetchRobots { host, url })
    }

    pub(super) fn next_fetch(&mut self, now: Timestamp) -> Option<Output> {
        if self.changes.is_full()
            || self.awaiting_robots_pages >= limits::BACKLOG_MAX_PAGES
            || self.awaiting_robots_bytes >= limits::BACKLOG_MAX_BYTES
            || self.is_commit_late(now)
        {
            self.limiter = Some(Limiter::Storage);
            return None;
        }
        if !self.counts_renders()
            && let Some(output) = self.next_render(now)
        {
            return Some(output);
        }
        let waiting = !self.frontier.is_empty() || !self.renders.is_empty();
        match self.pace.availability(now) {
            Availability::Now => {}
            Availability::At(time) => {
                self.limiter = waiting.then_some(Limiter::HostDelay);
                if waiting || matches!(self.phase, Phase::ReadingSitemaps(_)) {
                    self.wake_by(Some(time));
                }
                return None;
            }
            Availability::Busy => {
                self.limiter = waiting.then_some(Limiter::Concurrency);
                return None;
            }
        }
        if self.counts_renders()
            && let Some(output) = self.next_render(now)
        {
            return Some(output);
        }
        let output = if self.team_slots.get(self.initial_slot) == TeamSlot::Requested && !self.sitemap_turn {
            // Reserved for the page whose turn it is.
            self.limiter = Some(self.slot_limiter());
            None
        } else if self.sitemap_turn {
            self.next_sitemap(now).or_else(|| self.next_page(now))
        } else {
            self.next_page(now).or_else(|| self.next_sitemap(now))
        }?;
        if !matches!(output, Output::AcquireSlot(_)) {
            self.sitemap_turn = matches!(output, Output::FetchPage(..));
            self.pace.start(now);
        }
        Some(output)
    }

    fn is_commit_late(&self, now: Timestamp) -> bool {
        self.changes.is_outstanding() && now >= self.batch_sent_at + COMMIT_LATE
    }

    fn next_sitemap(&mut self, now: Timestamp) -> Option<Output> {
        let Phase::ReadingSitemaps(queue) = &mut self.phase else {
            return None;
        };
        let url = queue.next_file()?.clone();
        let host = HostKey::of(&url);
        if !self.hosts.ignores_robots() && !self.hosts.is_decided(&host) {
            return None;
        }
        match self.frontier.availability(&host, now) {
            Availability::Now => {}
            Availability::At(time) => {
                self.wake_by(Some(time));
                return None;
            }
            Availability::Busy => return None,
        }
        match self.team_slots.get(SlotKind::Plain) {
            TeamSlot::None => {
                self.team_slots.set(SlotKind::Plain, TeamSlot::Requested);
                Some(Output::AcquireSlot(SlotKind::Plain))
            }
            TeamSlot::Requested => None,
            TeamSlot::Held => {
                self.team_slots.set(SlotKind::Plain, TeamSlot::None);
                self.frontier.start(&host, now);
                queue.mark_in_flight(&url);
                Some(Output::FetchSitemap { url })
            }
        }
    }

    fn next_page(&mut self, now: Timestamp) -> Option<Output> {
        if self.renders.is_full() {
            self.limiter = Some(Limiter::Browser);
            return None;
        }
        match self.frontier.next_start(now) {
            Availability::Now => {}
            Availability::At(time) => {
                self.limiter = Some(self.frontier.limiter().unwrap_or(Limiter::HostDelay));
                self.wake_by(Some(time));
                return None;
            }
            Availability::Busy => {
                let last = (!self.renders.is_empty()).then_some(Limiter::Browser);
                self.limiter = self.frontier.limiter().or(last);
                return None;
            }
        }
        let kind = self.initial_slot;
        match self.team_slots.get(kind) {
            TeamSlot::None => {
                self.team_slots.set(kind, TeamSlot::Requested);
                Some(Output::AcquireSlot(kind))
            }
            TeamSlot::Requested => {
                self.limiter = Some(self.slot_limiter());
                None
            }
            TeamSlot::Held => {
                let entry = self.frontier.take(now)?;
                self.team_slots.set(kind, TeamSlot::None);
                let task = PageTask {
                    fallback: batch_scrape::fallback(&entry),
                    key: entry.key,
                    url: entry.url.clone(),
                    depth: entry.depth(),
                    attempt: entry.earlier_attempts + entry.failed_attempts + 1,
                };
                if entry.failed_attempts == 0 {
                    self.changes
                        .push(Change::FetchStarted(entry.key, entry.earlier_attempts + 1));
                }
                self.running.insert(entry.key, entry);
                Some(Output::FetchPage(task, kind))
            }
        }
    }

    /// Returns the limiter of a page that waits for a slot.
    fn slot_limiter(&self) -> Limiter {
        match self.initial_slot {
            SlotKind::Plain => Limiter::Concurrency,
            SlotKind::Browser => Limiter::Browser,
        }
    }

    /// Releases a slot that no page can use any more.
    pub(super) fn release_unused_slot(&mut self, now: Timestamp) -> Option<Output> {
        // A page in flight ends soon, and then the oldest waiting page uses the slot.
        let reserved = self.counts_renders()
            && !self.renders.is_empty()
            && self.pace.availability(now) == Availability::Busy;
        let unused = |kind: &SlotKind| {
            self.team_slots.get(*kind) == TeamSlot::Held && !(reserved && *kind == SlotKind::Browser)
        };
        let kind = [SlotKind::Plain, SlotKind::Browser].into_iter().find(unused)?;
        self.team_slots.set(kind, TeamSlot::None);
        Some(Output::ReleaseSlot(kind))
    }
}
