//! The frontier: admitted and not yet fetched URLs of one owner. Decides which URL is next, breadth first or
//! balanced over the hosts, within the pace of each host. Which URLs belong is up to
//! [`crate::scope`], which are admitted is up to the store.
//!
//! A crawl may queue a million URLs, so a queued URL takes little memory.

mod queue;
mod sites;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use url::Url;

use crate::crawl::Limiter;
use crate::crawl::batch::{AdmittedUrl, Source};
use crate::host::HostKey;
use crate::politeness::{HostPace, Slot};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

use queue::Queue;
use sites::Sites;

/// Position in the queue: breadth first, then by order of admission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Order {
    depth: u32,
    ordinal: u64,
}

/// A URL to fetch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its position.
    pub order: Order,
    /// Normalized identity.
    pub key: UrlKey,
    /// URL to fetch.
    pub url: Url,
    /// Host of `url`.
    pub host: HostKey,
    /// How it was found.
    pub source: Source,
    /// Number of attempts by earlier owners.
    pub earlier: u32,
    /// Number of attempts by this owner that failed with a transient error.
    pub tries: u32,
}

impl Entry {
    /// Discovery depth.
    pub fn depth(&self) -> u32 {
        self.order.depth
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
    spread: bool,
    /// Hosts with a URL that may be fetched later.
    timed: BTreeSet<(Timestamp, HostKey)>,
    /// URLs that wait for a retry.
    retries: BTreeMap<(Timestamp, Order), Entry>,
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
    place: Place,
    /// Index of its site in [`Sites`].
    site: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    Busy,
    Ready(Rank),
    Timed(Timestamp),
}

/// Requests of the host in flight if the frontier balances hosts, else 0; then the position of its first URL.
type Rank = (u32, Order);

impl Frontier {
    /// Creates an empty frontier with at most `site_limit` requests in flight per site (registrable
    /// domain), or without a limit for `None`. `spread` balances requests over the hosts instead of
    /// going breadth first.
    pub fn new(spread: bool, site_limit: Option<u32>) -> Self {
        Self {
            spread,
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
        let order = Order {
            depth: admitted.depth,
            ordinal: self.admissions,
        };
        self.admissions += 1;
        let host = HostKey::of(&admitted.url);
        // All entries of a host share one string.
        let known = self.hosts.get_key_value(&host).map(|(known, _)| known.clone());
        let entry = Entry {
            order,
            host: known.unwrap_or(host),
            key: admitted.key,
            url: admitted.url,
            source: admitted.source,
            earlier: admitted.attempts,
            tries: 0,
        };
        let host = entry.host.clone();
        self.enqueue(entry, now);
        !self.hosts.get(&host).is_some_and(|host| host.open)
    }

    fn enqueue(&mut self, entry: Entry, now: Timestamp) {
        let key = entry.host.clone();
        self.host(&key).queue.push(entry);
        self.queued += 1;
        self.settle(&key, now);
    }

    /// Allows URLs of this host to be taken from now on.
    pub fn open(&mut self, key: &HostKey, crawl_delay_ms: Option<u64>, now: Timestamp) {
        let host = self.host(key);
        host.open = true;
        host.pace.set_crawl_delay_ms(crawl_delay_ms);
        self.settle(key, now);
    }

    /// Stops URLs of this host from being taken until it is opened, because its robots.txt is not known.
    pub fn close(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.open = false;
            self.settle(key, now);
        }
    }

    /// Removes and returns the queued URLs of a host for which `refused` returns true, in order.
    pub fn remove(&mut self, key: &HostKey, now: Timestamp, refused: impl FnMut(&Url) -> bool) -> Vec<Entry> {
        let Some(host) = self.hosts.get_mut(key) else {
            return Vec::new();
        };
        let out = host.queue.remove(key, refused);
        self.queued -= out.len();
        self.settle(key, now);
        out
    }

    /// Returns whether a URL can be taken now or at a later time. `Busy` means not until a request ends
    /// or a URL arrives.
    pub fn look(&mut self, now: Timestamp) -> Slot {
        while let Some(first) = self.retries.first_entry()
            && first.key().0 <= now
        {
            let entry = first.remove();
            self.enqueue(entry, now);
        }
        while let Some((time, key)) = self.timed.first().cloned()
            && time <= now
        {
            self.settle(&key, now);
        }
        if !self.ready.is_empty() {
            return Slot::Free;
        }
        let times = [
            self.retries.keys().next().map(|key| key.0),
            self.timed.first().map(|host| host.0),
        ];
        times.into_iter().flatten().min().map_or(Slot::Busy, Slot::At)
    }

    /// Returns what keeps URLs of open hosts waiting when none can be taken now.
    pub fn limiter(&self) -> Option<Limiter> {
        if self.ready.holds_back() {
            Some(Limiter::HostConcurrency)
        } else {
            (self.busy > 0).then_some(Limiter::HostDelay)
        }
    }

    /// Takes the next URL whose host may be requested now; there is one if [`Frontier::look`] said so.
    /// The request counts as in flight until [`Frontier::ended`].
    pub fn take(&mut self, now: Timestamp) -> Option<Entry> {
        let key = self.ready.first()?.clone();
        // Every host in `ready` has a queued URL: `settle` maintains this.
        let taken = self.hosts.get_mut(&key).and_then(|host| {
            host.pace.start(now);
            self.ready.start(host.site);
            host.queue.pop(&key)
        });
        self.queued -= usize::from(taken.is_some());
        self.settle(&key, now);
        taken
    }

    /// Starts a request that is not queued here, such as a sitemap, if the host may be requested now.
    /// It then counts as in flight until [`Frontier::ended`].
    pub fn ask(&mut self, key: &HostKey, now: Timestamp) -> Slot {
        let host = self.host(key);
        let (slot, site) = (host.pace.slot(now), host.site);
        if slot == Slot::Free && self.ready.is_full(site) {
            return Slot::Busy;
        }
        if slot == Slot::Free {
            self.start(key, now);
        }
        slot
    }

    fn start(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.pace.start(now);
            self.ready.start(host.site);
            self.settle(key, now);
        }
    }

    /// Releases the host slot of a request in flight while it waits for something else than this host,
    /// unless the host has a `Crawl-delay`. Returns whether it was released, for [`Frontier::rejoin`].
    pub fn leave(&mut self, key: &HostKey, now: Timestamp) -> bool {
        let leaves = self
            .hosts
            .get(key)
            .is_some_and(|host| !host.pace.has_crawl_delay());
        if leaves {
            self.ended(key, now);
        }
        leaves
    }

    /// Continues a request after [`Frontier::leave`], regardless of the concurrency limits.
    pub fn rejoin(&mut self, key: &HostKey, left: bool, now: Timestamp) {
        if left {
            self.start(key, now);
        } else if let Some(host) = self.hosts.get_mut(key) {
            host.pace.start_again(now);
        }
    }

    /// Ends a request to this host, successful or not.
    pub fn ended(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            if host.pace.in_flight() > 0 {
                self.ready.end(host.site);
            }
            host.pace.end();
            self.settle(key, now);
        }
    }

    /// Pauses a host until the given time, as it requested.
    pub fn pause(&mut self, key: &HostKey, until: Timestamp, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.pace.pause_until(until);
            self.settle(key, now);
        }
    }

    /// Requeues a URL for a retry, not before `at`. It keeps its position.
    pub fn retry(&mut self, entry: Entry, at: Timestamp) {
        self.retries.insert((at, entry.order), entry);
    }

    /// Updates the state of a host after any change.
    fn settle(&mut self, key: &HostKey, now: Timestamp) {
        let Some(host) = self.hosts.get_mut(key) else {
            return;
        };
        let share = if self.spread { host.pace.in_flight() } else { 0 };
        let place = match host.queue.first() {
            Some(first) if host.open => match host.pace.slot(now) {
                Slot::Free => Place::Ready((share, first)),
                Slot::At(time) => Place::Timed(time),
                Slot::Busy => Place::Busy,
            },
            _ => Place::Nowhere,
        };
        let before = std::mem::replace(&mut host.place, place);
        if before == place {
            return;
        }
        match before {
            Place::Nowhere => {}
            Place::Busy => self.busy -= 1,
            Place::Ready(rank) => self.ready.remove(host.site, rank, key),
            Place::Timed(time) => drop(self.timed.remove(&(time, key.clone()))),
        }
        match place {
            Place::Nowhere => {}
            Place::Busy => self.busy += 1,
            Place::Ready(rank) => self.ready.insert(host.site, rank, key),
            Place::Timed(time) => drop(self.timed.insert((time, key.clone()))),
        }
    }
}
