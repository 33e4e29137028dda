//! The frontier: admitted and not yet fetched URLs of one owner. Decides which URL is next, breadth first or
//! balanced over the hosts, within the pace of each host. Which URLs belong is up to
//! [`crate::scope`], which are admitted is up to the store.
//!
//! A crawl may queue a million URLs, so a queued URL takes little memory.

mod queue;
mod sites;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use url::Url;

use crate::api::console::Limiter;
use crate::crawl::batch::{AdmittedUrl, Source};
use crate::host::HostKey;
use crate::politeness::{Availability, HostPace};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

use queue::Queue;
use sites::Sites;

/// Position in the queue: breadth first, then by order of admission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    depth: u32,
    ordinal: u64,
}

/// A URL to fetch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its position.
    pub position: Position,
    /// Normalized identity.
    pub key: UrlKey,
    /// URL to fetch.
    pub url: Url,
    /// Host of `url`.
    pub host: HostKey,
    /// How it was found.
    pub source: Source,
    /// Number of attempts by earlier owners.
    pub earlier_attempts: u32,
    /// Number of attempts by this owner that failed with a transient error.
    pub failed_attempts: u32,
}

impl Entry {
    /// Discovery depth.
    pub fn depth(&self) -> u32 {
        self.position.depth
    }
}

/// The queues of all hosts of a job.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    hosts: HashMap<HostKey, Host>,
    /// Hosts with a URL that may be fetched now, ordered by [`Rank`].
    ready: Sites,
    /// Prefer the host with the fewest requests in flight, so that a slow host takes no more than its
    /// share of the concurrency.
    balanced: bool,
    /// Hosts with a URL that may be fetched later.
    delayed: BTreeSet<(Timestamp, HostKey)>,
    /// URLs that wait for a retry.
    retries: BTreeMap<(Timestamp, Position), Entry>,
    /// Number of hosts with a `Crawl-delay` whose next URL waits for the request in flight.
    busy: usize,
    admissions: u64,
    queued: usize,
}

#[derive(Clone, Debug, Default)]
struct Host {
    queue: Queue,
    pace: HostPace,
    /// Whether its robots.txt is known; until then no URL is taken.
    open: bool,
    state: HostState,
    /// Index of its site in [`Sites`].
    site: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum HostState {
    #[default]
    Idle,
    Busy,
    Ready(Rank),
    Delayed(Timestamp),
}

/// Requests of the host in flight if the frontier balances hosts, else 0; then the position of its first URL.
type Rank = (u32, Position);

impl Frontier {
    /// Creates an empty frontier with at most `site_limit` requests in flight per site (registrable
    /// domain), or without a limit for `None`. `balanced` balances requests over the hosts instead of
    /// going breadth first.
    pub fn new(balanced: bool, site_limit: Option<u32>) -> Self {
        Self {
            balanced,
            ready: Sites::new(site_limit),
            ..Self::default()
        }
    }

    /// Removes the concurrency limit of the site of this host.
    pub fn lift_site_limit(&mut self, key: &HostKey) {
        let site = self.host(key).site;
        self.ready.lift_limit(site);
    }

    fn host(&mut self, key: &HostKey) -> &mut Host {
        let ready = &mut self.ready;
        self.hosts.entry(key.clone()).or_insert_with(|| Host {
            site: ready.site_of(key),
            ..Host::default()
        })
    }

    /// Returns the number of queued URLs, including those that wait for a retry.
    pub fn len(&self) -> usize {
        self.queued + self.retries.len()
    }

    /// Returns whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Queues an admitted URL. Returns `true` if its host is not open yet.
    pub fn push(&mut self, admitted: AdmittedUrl, now: Timestamp) -> bool {
        let position = Position {
            depth: admitted.depth,
            ordinal: self.admissions,
        };
        self.admissions += 1;
        let host = HostKey::of(&admitted.url);
        // All entries of a host share one string.
        let known = self.hosts.get_key_value(&host).map(|(known, _)| known.clone());
        let entry = Entry {
            position,
            host: known.unwrap_or(host),
            key: admitted.key,
            url: admitted.url,
            source: admitted.source,
            earlier_attempts: admitted.attempts,
            failed_attempts: 0,
        };
        let host = entry.host.clone();
        self.enqueue(entry, now);
        !self.hosts.get(&host).is_some_and(|host| host.open)
    }

    fn enqueue(&mut self, entry: Entry, now: Timestamp) {
        let key = entry.host.clone();
        self.host(&key).queue.push(entry);
        self.queued += 1;
        self.update(&key, now);
    }

    /// Allows URLs of this host to be taken from now on.
    pub fn open(&mut self, key: &HostKey, crawl_delay_ms: Option<u64>, now: Timestamp) {
        let host = self.host(key);
        host.open = true;
        host.pace.set_crawl_delay_ms(crawl_delay_ms);
        self.update(key, now);
    }

    /// Stops URLs of this host from being taken until it is opened, because its robots.txt is not known.
    pub fn close(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.open = false;
            self.update(key, now);
        }
    }

    /// Removes and returns the queued URLs of a host for which `refused` returns true, in order.
    pub fn remove(&mut self, key: &HostKey, now: Timestamp, refused: impl FnMut(&Url) -> bool) -> Vec<Entry> {
        let Some(host) = self.hosts.get_mut(key) else {
            return Vec::new();
        };
        let out = host.queue.remove(key, refused);
        self.queued -= out.len();
        self.update(key, now);
        out
    }

    /// Returns whether a URL can be taken now or at a later time. `Busy` means not until a request ends
    /// or a URL arrives.
    pub fn next_start(&mut self, now: Timestamp) -> Availability {
        while let Some(first) = self.retries.first_entry()
            && first.key().0 <= now
        {
            let entry = first.remove();
            self.enqueue(entry, now);
        }
        while let Some((time, key)) = self.delayed.first().cloned()
            && time <= now
        {
            self.update(&key, now);
        }
        if !self.ready.is_empty() {
            return Availability::Now;
        }
        let times = [
            self.retries.keys().next().map(|key| key.0),
            self.delayed.first().map(|host| host.0),
        ];
        times
            .into_iter()
            .flatten()
            .min()
            .map_or(Availability::Busy, Availability::At)
    }

    /// Returns what keeps URLs of open hosts waiting when none can be taken now.
    pub fn limiter(&self) -> Option<Limiter> {
        if self.ready.has_blocked_sites() {
            Some(Limiter::HostConcurrency)
        } else {
            (self.busy > 0).then_some(Limiter::HostDelay)
        }
    }

    /// Takes the next URL whose host may be requested now; there is one if [`Frontier::next_start`] returned
    /// `Now`. The request counts as in flight until [`Frontier::finish`].
    pub fn take(&mut self, now: Timestamp) -> Option<Entry> {
        let key = self.ready.first()?.clone();
        // Every host in `ready` has a queued URL: `update` maintains this.
        let entry = self.hosts.get_mut(&key).and_then(|host| {
            host.pace.start(now);
            self.ready.start(host.site);
            host.queue.pop(&key)
        });
        self.queued -= usize::from(entry.is_some());
        self.update(&key, now);
        entry
    }

    /// Returns when a request that is not queued here, such as one for a sitemap, may start.
    pub fn availability(&mut self, key: &HostKey, now: Timestamp) -> Availability {
        let host = self.host(key);
        let (availability, site) = (host.pace.availability(now), host.site);
        if availability == Availability::Now && self.ready.is_full(site) {
            return Availability::Busy;
        }
        availability
    }

    /// Starts a request that is not queued here. It counts as in flight until [`Frontier::finish`].
    pub fn start(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.pace.start(now);
            self.ready.start(host.site);
            self.update(key, now);
        }
    }

    /// Releases the host slot of a request in flight while it waits for something other than this host,
    /// unless the host has a `Crawl-delay`. Returns whether it was released, for [`Frontier::resume`].
    pub fn release_slot(&mut self, key: &HostKey, now: Timestamp) -> bool {
        let releases = self
            .hosts
            .get(key)
            .is_some_and(|host| !host.pace.has_crawl_delay());
        if releases {
            self.finish(key, now);
        }
        releases
    }

    /// Continues a request after [`Frontier::release_slot`], regardless of the concurrency limits.
    pub fn resume(&mut self, key: &HostKey, released: bool, now: Timestamp) {
        if released {
            self.start(key, now);
        } else if let Some(host) = self.hosts.get_mut(key) {
            host.pace.record_request(now);
        }
    }

    /// Ends a request to this host, successful or not.
    pub fn finish(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            if host.pace.in_flight() > 0 {
                self.ready.end(host.site);
            }
            host.pace.end();
            self.update(key, now);
        }
    }

    /// Pauses a host until the given time, as it requested.
    pub fn pause(&mut self, key: &HostKey, until: Timestamp, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.pace.pause_until(until);
            self.update(key, now);
        }
    }

    /// Requeues a URL for a retry, not before `at`. It keeps its position.
    pub fn retry(&mut self, entry: Entry, at: Timestamp) {
        self.retries.insert((at, entry.position), entry);
    }

    /// Updates the state of a host after any change.
    fn update(&mut self, key: &HostKey, now: Timestamp) {
        let Some(host) = self.hosts.get_mut(key) else {
            return;
        };
        let share = if self.balanced { host.pace.in_flight() } else { 0 };
        let state = match host.queue.first() {
            Some(first) if host.open => match host.pace.availability(now) {
                Availability::Now => HostState::Ready((share, first)),
                Availability::At(time) => HostState::Delayed(time),
                Availability::Busy => HostState::Busy,
            },
            _ => HostState::Idle,
        };
        let before = std::mem::replace(&mut host.state, state);
        if before == state {
            return;
        }
        match before {
            HostState::Idle => {}
            HostState::Busy => self.busy -= 1,
            HostState::Ready(rank) => self.ready.remove(host.site, rank, key),
            HostState::Delayed(time) => drop(self.delayed.remove(&(time, key.clone()))),
        }
        match state {
            HostState::Idle => {}
            HostState::Busy => self.busy += 1,
            HostState::Ready(rank) => self.ready.insert(host.site, rank, key),
            HostState::Delayed(time) => drop(self.delayed.insert((time, key.clone()))),
        }
    }
}
