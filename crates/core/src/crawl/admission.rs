//! From a discovered URL to an admitted one: scope, identity, robots.txt, the bound on known URLs,
//! the offer; then what the store admitted goes to the frontier.

use url::Url;
use uuid::{Builder, Uuid};

use crate::api::error::ErrorCode;
use crate::crawl::batch::{Admitted, Committed, JobState, Offer, Settled, SettledOutcome, Source};
use crate::crawl::changes::{Change, Outcome};
use crate::crawl::hosts::Access;
use crate::crawl::limits::{LOST_OWNERS_MAX, LOST_OWNERS_SUSPECT};
use crate::crawl::seeds::Phase;
use crate::crawl::{Crawl, FetchFailure, warnings};
use crate::frontier::Entry;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::scope::{Reason, Verdict};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

impl Crawl {
    /// Looks at a URL found on a page or, without one, in a sitemap. Each page of the job is offered once.
    pub(super) fn discover(&mut self, mut url: Url, page: Option<&Entry>) {
        let depth = page.map_or(0, |page| page.depth() + 1);
        url.set_fragment(None);
        // A link must not make us send credentials. Both fail for URLs without a host alone.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        match self.scope.judge(&url, depth) {
            Verdict::Admit => {}
            Verdict::Reject(reason) => {
                self.saw_not_child |= reason == Reason::NotChild;
                return;
            }
        }
        let key = self.key_of(&url);
        if self.known.contains(&key) {
            return;
        }
        if self.knows_enough() {
            self.warn_once(warnings::TOO_MANY_URLS);
            return;
        }
        self.known.insert(key);
        match self.hosts.access(&url) {
            Access::Refused => self.block(key, url),
            Access::Allowed | Access::Faulty | Access::Unknown => self.offer(Offer {
                key,
                host: HostKey::of(&url),
                url,
                depth,
                source: page.map_or(Source::Sitemap, |_| Source::Link),
                found_on: page.map(|page| page.key),
            }),
        }
    }

    /// Whether no further URL will be taken in.
    pub(super) fn knows_enough(&self) -> bool {
        self.known.len() >= self.known_max
    }

    pub(super) fn key_of(&self, url: &Url) -> UrlKey {
        UrlKey::of(url, self.scope.identity())
    }

    pub(super) fn offer(&mut self, offer: Offer) {
        self.offered += 1;
        self.changes.push(Change::Offer(offer));
    }

    /// A URL that was not offered is refused by robots.txt.
    pub(super) fn block(&mut self, key: UrlKey, url: Url) {
        self.counts.robots_blocked += 1;
        self.changes.push(Change::Blocked(key, url));
        self.warn_once(warnings::ROBOTS);
    }

    /// The store answered. Late and repeated answers change nothing.
    pub(super) fn committed(&mut self, now: Timestamp, committed: Committed) {
        if !self.changes.answered(committed.number) {
            return;
        }
        if committed.state == JobState::Ended {
            self.ended = true;
            return;
        }
        if committed.admitted.is_empty() {
            self.end_not_before = self.end_proposed.then_some(now + super::END_RETRY);
        }
        self.end_proposed = false;
        for admitted in committed.admitted {
            self.admit(admitted, now);
        }
        // The answer is to the batch that held the seed when nothing is left to send.
        if matches!(self.phase, Phase::Offered) && self.changes.is_empty() {
            self.seed_settled();
        }
    }

    /// Takes in what may be fetched from now on.
    pub(super) fn admit(&mut self, admitted: Admitted, now: Timestamp) {
        if !self.open.insert(admitted.key) {
            return;
        }
        self.known.insert(admitted.key);
        self.counts.admitted += 1;
        if admitted.source == Source::Seed && matches!(self.phase, Phase::Offered) {
            self.phase = Phase::Open;
        }
        if admitted.attempts >= LOST_OWNERS_MAX {
            let failure = owners_lost(&admitted);
            return self.fail(admitted.key, admitted.url, admitted.source, failure);
        }
        if admitted.attempts >= LOST_OWNERS_SUSPECT {
            self.suspects.insert(admitted.key);
            self.pace.one_at_a_time(true);
        }
        let host = HostKey::of(&admitted.url);
        match self.hosts.access(&admitted.url) {
            Access::Refused | Access::Faulty => {
                self.settle_denied(&host, admitted.key, admitted.url, admitted.source);
            }
            Access::Allowed => {
                if self.frontier.push(admitted, now) {
                    self.open_host(&host, now);
                }
            }
            Access::Unknown => {
                self.frontier.close(&host, now);
                self.frontier.push(admitted, now);
                self.hosts.want(&host, now);
            }
        }
    }

    /// robots.txt of a host is known: its queue may move, or parts of it are dropped.
    pub(super) fn host_decided(&mut self, now: Timestamp, host: &HostKey) {
        let hosts = &self.hosts;
        let denied = self
            .frontier
            .remove(host, now, |url| hosts.access(url) != Access::Allowed);
        for entry in denied {
            self.settle_denied(host, entry.key, entry.url, entry.source);
        }
        self.open_host(host, now);
        for (entry, page) in self.held.remove(host).unwrap_or_default() {
            self.held_pages -= 1;
            self.accept(now, entry, page);
        }
    }

    fn open_host(&mut self, host: &HostKey, now: Timestamp) {
        let own_pace = self.pace.has_delay() || self.hosts.ignores_robots();
        let crawl_delay = self.hosts.robots(host).and_then(|robots| robots.crawl_delay_ms());
        self.frontier.open(host, crawl_delay.filter(|_| !own_pace), now);
    }

    /// An admitted URL turns out to be one that cannot be fetched. It fails when its host cannot be
    /// reached. When it is refused its place goes to the next offer.
    fn settle_denied(&mut self, host: &HostKey, key: UrlKey, url: Url, source: Source) {
        if let Some(fault) = self.hosts.fault(host) {
            let mut failure = fault.clone();
            failure.id = page_id(failure.id, key);
            return self.fail(key, url, source, failure);
        }
        self.counts.robots_blocked += 1;
        self.warn_once(warnings::ROBOTS);
        let outcome = Outcome {
            blocked: Some((key, url.clone())),
            ..Outcome::new(Settled {
                key,
                url,
                outcome: SettledOutcome::Dropped(None),
            })
        };
        self.settle(source, outcome);
    }

    pub(super) fn warn_once(&mut self, warning: &'static str) {
        if self.said.insert(warning) {
            self.changes.push(Change::Warning(warning.to_owned()));
        }
    }
}

/// A page over which so many owners were lost that it is taken to be the reason.
fn owners_lost(admitted: &Admitted) -> FetchFailure {
    FetchFailure {
        id: page_id(ScrapeId(Uuid::nil()), admitted.key),
        code: ErrorCode::Unknown,
        message: format!(
            "the server stopped {} times while it worked on this page; it is not tried again",
            admitted.attempts
        ),
        passing: false,
    }
}

/// Id of a page for which nothing was fetched, from the id of what was and the page's identity.
fn page_id(of: ScrapeId, key: UrlKey) -> ScrapeId {
    ScrapeId(Builder::from_custom_bytes((of.0.as_u128() ^ key.0).to_be_bytes()).into_uuid())
}
