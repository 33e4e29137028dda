//! The path of a URL from discovery to admission: scope, identity, the bound on known URLs, robots.txt,
//! the offer to the store, and the queueing of what the store admitted.

use url::Url;
use uuid::{Builder, Uuid};

use crate::api::error::ErrorCode;
use crate::crawl::batch::{AdmittedUrl, CommitResponse, JobState, Offer, SettledOutcome, SettledUrl, Source};
use crate::crawl::changes::{Change, Outcome, document_bytes};
use crate::crawl::hosts::Access;
use crate::crawl::limits::{LOST_OWNERS_MAX, LOST_OWNERS_SUSPECT};
use crate::crawl::links::LinkHash;
use crate::crawl::seeds::Phase;
use crate::crawl::{Crawl, FetchFailure, warnings};
use crate::frontier::Entry;
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::scope::{Reason, Verdict};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

impl Crawl {
    /// Offers a URL found on `page`, or in a sitemap if `page` is `None`. Offers each URL once.
    pub(super) fn discover(&mut self, mut url: Url, page: Option<&Entry>) {
        let depth = page.map_or(0, |page| page.depth() + 1);
        url.set_fragment(None);
        // A link must not make us send credentials. Both calls fail only for URLs without a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let link = LinkHash::of(&url);
        if self.settled_links.contains(link) {
            return;
        }
        match self.scope.judge(&url, depth) {
            Verdict::Admit => {}
            Verdict::Reject(reason) => {
                self.rejected_non_child |= reason == Reason::NotChild;
                if reason == Reason::TooCostly {
                    self.warn_once(warnings::COSTLY_PATTERNS);
                }
                if reason != Reason::TooDeep {
                    self.settled_links.insert(link);
                }
                return;
            }
        }
        let key = self.key_of(&url);
        if self.known.contains(&key) {
            self.settled_links.insert(link);
            return;
        }
        if self.is_known_full() {
            self.warn_once(warnings::TOO_MANY_URLS);
            return;
        }
        self.known.insert(key);
        match self.hosts.access(&url) {
            Access::Disallowed => self.block(key, url),
            Access::Allowed | Access::HostUnreachable | Access::Unknown => self.offer(Offer {
                key,
                host: HostKey::of(&url),
                url,
                depth,
                source: page.map_or(Source::Sitemap, |_| Source::Link),
                found_on: page.map(|page| page.key),
            }),
        }
    }

    /// Returns whether the job has reached its limit of known URLs.
    pub(super) fn is_known_full(&self) -> bool {
        self.known.len() >= self.known_max
    }

    pub(super) fn key_of(&self, url: &Url) -> UrlKey {
        UrlKey::of(url, self.scope.identity())
    }

    pub(super) fn offer(&mut self, offer: Offer) {
        self.offered += 1;
        self.changes.push(Change::Offer(offer));
    }

    /// Records a URL that robots.txt blocked before it was offered.
    pub(super) fn block(&mut self, key: UrlKey, url: Url) {
        self.counts.robots_blocked += 1;
        self.changes.push(Change::Blocked(key, url));
        self.warn_once(warnings::ROBOTS);
    }

    /// Processes the store's response. Ignores late and repeated responses.
    pub(super) fn committed(&mut self, now: Timestamp, committed: CommitResponse) {
        if !self.changes.acknowledge(committed.number) {
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
        // If an earlier response was lost, this one has every open URL, including those that have been settled since.
        let settled = self.changes.settled_keys();
        for admitted in committed.admitted {
            if !settled.contains(&admitted.key) {
                self.admit(admitted, now);
            }
        }
        // With nothing left to send, this response covers the batch that offered the seed.
        if matches!(self.phase, Phase::SeedOffered) && self.changes.is_empty() {
            self.seed_settled();
        }
    }

    /// Queues a URL that may be fetched from now on.
    pub(super) fn admit(&mut self, admitted: AdmittedUrl, now: Timestamp) {
        if !self.open.insert(admitted.key) {
            return;
        }
        self.known.insert(admitted.key);
        self.counts.admitted += 1;
        if admitted.source == Source::Seed && matches!(self.phase, Phase::SeedOffered) {
            self.phase = Phase::SeedInFlight;
        }
        if admitted.attempts >= LOST_OWNERS_MAX {
            let failure = owners_lost(&admitted);
            return self.fail(admitted.key, admitted.url, admitted.source, failure);
        }
        if admitted.attempts >= LOST_OWNERS_SUSPECT {
            self.suspects.insert(admitted.key);
            self.pace.set_one_at_a_time(true);
        }
        let host = HostKey::of(&admitted.url);
        match self.hosts.access(&admitted.url) {
            Access::Disallowed | Access::HostUnreachable => {
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
                self.hosts.request(&host, now);
            }
        }
    }

    /// Releases the queue of a host whose robots.txt is known, and drops the URLs that it disallows.
    pub(super) fn host_decided(&mut self, now: Timestamp, host: &HostKey) {
        let hosts = &self.hosts;
        let denied = self
            .frontier
            .remove(host, now, |url| hosts.access(url) != Access::Allowed);
        for entry in denied {
            self.settle_denied(host, entry.key, entry.url, entry.source);
        }
        self.open_host(host, now);
        for (entry, page) in self.awaiting_robots.remove(host).unwrap_or_default() {
            self.awaiting_robots_pages -= 1;
            self.awaiting_robots_bytes -= document_bytes(&page.document);
            self.accept(now, entry, page);
        }
    }

    fn open_host(&mut self, host: &HostKey, now: Timestamp) {
        let own_pace = self.pace.has_delay() || self.hosts.ignores_robots();
        let crawl_delay = self.hosts.robots(host).and_then(|robots| robots.crawl_delay_ms());
        self.frontier.open(host, crawl_delay.filter(|_| !own_pace), now);
    }

    /// Settles an admitted URL that cannot be fetched: as failed when its host is unreachable, otherwise
    /// as blocked, so that it no longer counts against the page limit.
    fn settle_denied(&mut self, host: &HostKey, key: UrlKey, url: Url, source: Source) {
        if let Some(host_failure) = self.hosts.failure(host) {
            let mut failure = host_failure.clone();
            failure.id = page_id(failure.id, key);
            return self.fail(key, url, source, failure);
        }
        self.counts.robots_blocked += 1;
        self.warn_once(warnings::ROBOTS);
        let outcome = Outcome {
            blocked: Some((key, url.clone())),
            ..Outcome::new(SettledUrl {
                key,
                url,
                outcome: SettledOutcome::Dropped(None),
            })
        };
        self.settle(source, outcome);
    }

    /// Adds a warning to the job. The store keeps each text once.
    pub fn warn(&mut self, warning: String) {
        self.changes.push(Change::Warning(warning));
    }

    pub(super) fn warn_once(&mut self, warning: &'static str) {
        if self.issued_warnings.insert(warning) {
            self.warn(warning.to_owned());
        }
    }
}

/// Returns the failure of a page that is assumed to crash its owners.
fn owners_lost(admitted: &AdmittedUrl) -> FetchFailure {
    FetchFailure {
        id: page_id(ScrapeId(Uuid::nil()), admitted.key),
        code: ErrorCode::Unknown,
        message: format!(
            "the server stopped {} times while it processed this page; the page is not retried",
            admitted.attempts
        ),
        transient: false,
    }
}

/// Derives an id for a page that was not fetched from the id of the failed host and the page's key.
fn page_id(of: ScrapeId, key: UrlKey) -> ScrapeId {
    ScrapeId(Builder::from_custom_bytes((of.0.as_u128() ^ key.0).to_be_bytes()).into_uuid())
}
