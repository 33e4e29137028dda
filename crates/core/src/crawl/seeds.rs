//! The start of a crawl: robots.txt of the start host, the start page, then sitemaps. Sitemaps wait for
//! the start page because its redirect may move the scope; the links of the start page wait for them.

use std::time::Duration;

use url::{Position, Url};

use crate::api::crawl::SitemapMode;
use crate::api::error::ErrorCode;
use crate::crawl::batch::{Offer, Source};
use crate::crawl::changes::Change;
use crate::crawl::hosts::Access;
use crate::crawl::limits::SEED_HOLD_MS;
use crate::crawl::outcome::AcceptedPage;
use crate::crawl::{Crawl, warnings};
use crate::host::HostKey;
use crate::scope::Verdict;
use crate::sitemap::SitemapQueue;
use crate::time::Timestamp;

/// Progress of the start.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// Waiting for robots.txt of the start host; then the start page is offered.
    BeforeSeed,
    /// The start page is offered, and the store has not responded.
    SeedOffered,
    /// The start page is admitted and in progress.
    SeedInFlight,
    /// Waiting for robots.txt of the root's host, which lists the sitemaps.
    FindingSitemaps,
    /// Reading sitemaps.
    ReadingSitemaps(SitemapQueue),
    /// No more URLs come from here.
    Done,
}

impl Crawl {
    /// Advances as far as the known facts allow.
    pub(super) fn advance_seeding(&mut self, now: Timestamp) {
        match &self.held_seed {
            Some((Some(until), _)) if *until <= now => self.release_seed(),
            Some((until, _)) => self.wake_by(*until),
            None => {}
        }
        loop {
            let goes_on = match &self.phase {
                Phase::BeforeSeed => self.offer_seed(now),
                Phase::FindingSitemaps => self.find_sitemaps(now),
                Phase::ReadingSitemaps(_) => self.read_sitemaps(now),
                Phase::SeedOffered | Phase::SeedInFlight | Phase::Done => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    fn offer_seed(&mut self, now: Timestamp) -> bool {
        let seed = self.scope.root().clone();
        if let Verdict::Reject(reason) = self.scope.judge_page(&seed, 0) {
            return self.reject_seed(warnings::seed_rejected(&seed, reason));
        }
        let host = HostKey::of(&seed);
        if !self.hosts.ignores_robots() {
            self.hosts.request(&host, now);
            if !self.hosts.is_decided(&host) {
                return false;
            }
        }
        let failure = self.hosts.failure(&host).map(|failure| failure.code);
        if matches!(failure, Some(ErrorCode::SiteError | ErrorCode::SslError))
            && self.fall_back_to_http(&seed)
        {
            return true;
        }
        let key = self.key_of(&seed);
        if self.hosts.access(&seed) == Access::Disallowed {
            self.known.insert(key);
            self.block(key, seed.clone());
            if let Some(why) = self.hosts.unreachable_reason(&host) {
                self.failure = Some(warnings::robots_unreachable(host.as_str(), why));
            }
            return self.reject_seed(warnings::seed_blocked(&seed));
        }
        self.known.insert(key);
        self.offer(Offer {
            key,
            url: seed,
            host,
            depth: 0,
            source: Source::Seed,
            found_on: None,
        });
        self.changes.push(Change::SeedOffered);
        self.phase = Phase::SeedOffered;
        false
    }

    /// Moves the root of the scope, if `url` may be one. Returns whether it moved.
    pub(super) fn rebase(&mut self, url: &Url) -> bool {
        let moved = self.scope.rebase(url);
        if moved {
            self.settled_links.clear();
        }
        moved
    }

    /// Switches a start URL without a scheme from `https` to `http` after the connection failed.
    fn fall_back_to_http(&mut self, seed: &Url) -> bool {
        let mut plain = seed.clone();
        if !std::mem::take(&mut self.scheme_guessed)
            || plain.scheme() != "https"
            || plain.set_scheme("http").is_err()
            || !self.rebase(&plain)
        {
            return false;
        }
        self.changes.push(Change::Root(plain));
        true
    }

    /// Ends the job without a page, because the start page may not be crawled.
    fn reject_seed(&mut self, warning: String) -> bool {
        if self.failure.is_none() {
            self.changes.push(Change::Warning(warning));
        }
        self.changes.push(Change::SeedOffered);
        self.changes.push(Change::SitemapsDone);
        self.phase = Phase::Done;
        false
    }

    /// Moves on from a start page that is settled or never will be.
    pub(super) fn seed_settled(&mut self) {
        if matches!(self.phase, Phase::SeedOffered | Phase::SeedInFlight) {
            self.phase = Phase::FindingSitemaps;
        }
    }

    /// Holds the start page back, once, while sitemaps are read: the pages in the sitemaps have depth 0
    /// and come before the links of the start page. Returns the page if it is not held. Without a depth
    /// limit it is held for at most [`SEED_HOLD_MS`], so that slow sitemaps do not delay the crawl.
    pub(super) fn hold_seed(&mut self, now: Timestamp, page: AcceptedPage) -> Option<AcceptedPage> {
        let waits = self.sitemap == SitemapMode::Include
            && self.limit > 1
            && matches!(self.phase, Phase::SeedInFlight);
        if !page.is_seed() || !waits {
            return Some(page);
        }
        let until = now + Duration::from_millis(SEED_HOLD_MS);
        self.held_seed = Some(((!self.scope.has_depth()).then_some(until), page));
        None
    }

    fn release_seed(&mut self) {
        if let Some((_, page)) = self.held_seed.take() {
            self.record_page(page);
        }
    }

    fn find_sitemaps(&mut self, now: Timestamp) -> bool {
        let no_place_left = self.counts.completed + self.counts.failed >= self.limit;
        if self.sitemap == SitemapMode::Skip || no_place_left {
            return self.sitemaps_done();
        }
        let host = HostKey::of(self.scope.root());
        self.hosts.request(&host, now);
        if !self.hosts.is_decided(&host) {
            return false;
        }
        if self.hosts.is_unreachable(&host) {
            return self.sitemaps_done();
        }
        let lines = self
            .hosts
            .robots(&host)
            .map(|robots| robots.sitemaps())
            .unwrap_or_default();
        let mut queue = match host.robots_url() {
            Some(base) => SitemapQueue::from_robots(&base, lines),
            None => SitemapQueue::default(),
        };
        if queue.is_empty() {
            let default_url = SitemapQueue::default_url(self.scope.root());
            if self.hosts.access(&default_url) != Access::Disallowed {
                queue.push_root(default_url);
            }
        }
        self.phase = Phase::ReadingSitemaps(queue);
        true
    }

    fn read_sitemaps(&mut self, now: Timestamp) -> bool {
        let Phase::ReadingSitemaps(queue) = &mut self.phase else {
            return false;
        };
        // The `Crawl-delay` counts from the first request.
        if let Some(url) = queue.next_file()
            && !self.hosts.ignores_robots()
        {
            self.hosts.request(&HostKey::of(url), now);
        }
        if queue.is_empty() {
            return self.sitemaps_done();
        }
        let Some((file, sitemap)) = queue.pop_read() else {
            return false;
        };
        let mut queue = match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::ReadingSitemaps(queue) => queue,
            _ => return false,
        };
        let sitemap = sitemap.unwrap_or_default();
        for page in sitemap.pages {
            self.discover(page, None);
        }
        for child in sitemap.children {
            let same_host = child[..Position::BeforePath] == file.url[..Position::BeforePath];
            let allowed = matches!(self.hosts.access(&child), Access::Allowed | Access::Unknown);
            if (same_host || self.scope.admits_host(&child)) && allowed {
                queue.push_child(&file, child);
            }
        }
        if self.is_known_full() {
            // Files in flight are not used any more; their slots are released when they arrive.
            queue.drop_queued();
        }
        self.phase = Phase::ReadingSitemaps(queue);
        true
    }

    fn sitemaps_done(&mut self) -> bool {
        self.changes.push(Change::SitemapsDone);
        self.phase = Phase::Done;
        self.release_seed();
        false
    }
}
