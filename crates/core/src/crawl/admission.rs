//! From a discovered URL to an admitted one: scope, identity, robots.txt, the bound on known URLs,
//! the offer; then what the store admitted goes to the frontier.

use url::Url;

use crate::crawl::batch::{Admitted, Committed, JobState, Offer, Settled, SettledOutcome, Source};
use crate::crawl::changes::{Change, Outcome};
use crate::crawl::hosts::Access;
use crate::crawl::seeds::Phase;
use crate::crawl::{Crawl, warnings};
use crate::host::HostKey;
use crate::scope::{Reason, Verdict};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

impl Crawl {
    /// Looks at a URL found on a page or in a sitemap. Each page of the job is offered once.
    pub(super) fn discover(&mut self, mut url: Url, depth: u32, source: Source) {
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
            Access::Allowed | Access::Unknown => self.offer(key, url, depth, source),
        }
    }

    /// Whether no further URL will be taken in.
    pub(super) fn knows_enough(&self) -> bool {
        self.known.len() >= self.known_max
    }

    pub(super) fn key_of(&self, url: &Url) -> UrlKey {
        UrlKey::of(url, self.scope.identity())
    }

    pub(super) fn offer(&mut self, key: UrlKey, url: Url, depth: u32, source: Source) {
        let host = HostKey::of(&url);
        self.offered += 1;
        self.changes.push(Change::Offer(Offer {
            key,
            url,
            host,
            depth,
            source,
        }));
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
        let host = HostKey::of(&admitted.url);
        match self.hosts.access(&admitted.url) {
            Access::Refused => self.drop_refused(admitted.key, admitted.url, admitted.source),
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
        let refused = self
            .frontier
            .remove(host, now, |url| hosts.access(url) == Access::Refused);
        for entry in refused {
            self.drop_refused(entry.key, entry.url, entry.source);
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

    /// An admitted URL turns out to be refused: its place goes to the next offer.
    fn drop_refused(&mut self, key: UrlKey, url: Url, source: Source) {
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
