//! The admitted and not yet fetched URLs of one owner: what is next, breadth first or spread over the
//! hosts, under the pace of each host. It never decides what belongs (the scope does) nor what is
//! admitted (the store).
//!
//! A crawl may have a million of them, so what waits is kept small.

mod queue;
mod sites;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use url::Url;

use crate::crawl::Limiter;
use crate::crawl::batch::{Admitted, Source};
use crate::host::HostKey;
use crate::politeness::{HostPace, Slot};
use crate::time::Timestamp;
use crate::url_key::UrlKey;

use queue::Queue;
use sites::Sites;

/// Breadth first, ties by order of admission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Order {
    depth: u32,
    ordinal: u64,
}

/// One URL to fetch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its turn.
    pub order: Order,
    /// Identity.
    pub key: UrlKey,
    /// Address.
    pub url: Url,
    /// Politeness unit of `url`.
    pub host: HostKey,
    /// How it was found.
    pub source: Source,
    /// Attempts of earlier owners.
    pub earlier: u32,
    /// Attempts of this owner that ended in a passing fault.
    pub tries: u32,
}

impl Entry {
    /// Discovery depth.
    pub fn depth(&self) -> u32 {
        self.order.depth
    }
}

/// Queues of all hosts of a job.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    hosts: HashMap<HostKey, Host>,
    /// Hosts that may be asked, by their share and the turn of their first URL.
    ready: Sites,
    /// The host with the fewest requests in flight goes first, so that a slow one keeps no more
    /// places than its share.
    spread: bool,
    /// Hosts that may be asked later.
    timed: BTreeSet<(Timestamp, HostKey)>,
    /// URLs that wait for another attempt.
    retries: BTreeMap<(Timestamp, Order), Entry>,
    /// Hosts with URLs that wait for a request in flight to end: such with a `Crawl-delay`.
    busy: usize,
    admissions: u64,
    queued: usize,
}

#[derive(Clone, Debug, Default)]
struct Host {
    queue: Queue,
    pace: HostPace,
    /// Its robots.txt is known; until then nothing is taken.
    open: bool,
    place: Place,
    /// Number of its site.
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

/// Requests of the host in flight, where that counts; then the turn of its first URL.
type Rank = (u32, Order);

impl Frontier {
    /// An empty frontier with at most `site_limit` requests to one site (registrable domain) in flight; none: any
    /// number. With `spread` it shares the places out among the hosts instead of going breadth first.
    pub fn new(spread: bool, site_limit: Option<u32>) -> Self {
        Self {
            spread,
            ready: Sites::new(site_limit),
            ..Self::default()
        }
    }

    /// Any number of requests to the site of this host may be in flight.
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

    /// URLs queued, those that wait for another attempt included.
    pub fn len(&self) -> usize {
        self.queued + self.retries.len()
    }

    /// Whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes an admitted URL in. `true` when its host is not open yet.
    pub fn push(&mut self, admitted: Admitted, now: Timestamp) -> bool {
        let order = Order {
            depth: admitted.depth,
            ordinal: self.admissions,
        };
        self.admissions += 1;
        let host = HostKey::of(&admitted.url);
        // All URLs of a host share one text.
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

    /// From now on URLs of this host may be taken.
    pub fn open(&mut self, key: &HostKey, crawl_delay_ms: Option<u64>, now: Timestamp) {
        let host = self.host(key);
        host.open = true;
        host.pace.set_crawl_delay_ms(crawl_delay_ms);
        self.settle(key, now);
    }

    /// Nothing of this host may be taken until it is opened: its robots.txt is not known.
    pub fn close(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.open = false;
            self.settle(key, now);
        }
    }

    /// Removes and returns the queued URLs of a host that `refused` is true for, in order.
    pub fn remove(&mut self, key: &HostKey, now: Timestamp, refused: impl FnMut(&Url) -> bool) -> Vec<Entry> {
        let Some(host) = self.hosts.get_mut(key) else {
            return Vec::new();
        };
        let out = host.queue.remove(key, refused);
        self.queued -= out.len();
        self.settle(key, now);
        out
    }

    /// Whether a URL can be taken now, or when one may be; busy: not until something ends or arrives.
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

    /// What keeps URLs waiting whose hosts are open, when none may be taken now.
    pub fn limiter(&self) -> Option<Limiter> {
        if self.ready.holds_back() {
            Some(Limiter::HostConcurrency)
        } else {
            (self.busy > 0).then_some(Limiter::HostDelay)
        }
    }

    /// The next URL whose host may be asked now: there is one after [`Frontier::look`] said so. The
    /// host counts as asked until [`Frontier::ended`].
    pub fn take(&mut self, now: Timestamp) -> Option<Entry> {
        let key = self.ready.first()?.clone();
        // `ready` names a host with a queue: `settle` keeps it so.
        let taken = self.hosts.get_mut(&key).and_then(|host| {
            host.pace.start(now);
            self.ready.start(host.site);
            host.queue.pop(&key)
        });
        self.queued -= usize::from(taken.is_some());
        self.settle(&key, now);
        taken
    }

    /// Whether a host may be asked for something that is not queued here, such as a sitemap; when
    /// it may, it counts as asked until [`Frontier::ended`].
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

    /// A request in flight waits for something else than this host, which others may use meanwhile; not where requests
    /// come one at a time. Returns whether it gave its place up, for [`Frontier::rejoin`].
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

    /// The request goes on, however many others there are.
    pub fn rejoin(&mut self, key: &HostKey, left: bool, now: Timestamp) {
        if left {
            self.start(key, now);
        } else if let Some(host) = self.hosts.get_mut(key) {
            host.pace.start_again(now);
        }
    }

    /// A request to this host ended, however.
    pub fn ended(&mut self, key: &HostKey, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            if host.pace.in_flight() > 0 {
                self.ready.end(host.site);
            }
            host.pace.end();
            self.settle(key, now);
        }
    }

    /// The host asked to be left alone until then.
    pub fn pause(&mut self, key: &HostKey, until: Timestamp, now: Timestamp) {
        if let Some(host) = self.hosts.get_mut(key) {
            host.pace.pause_until(until);
            self.settle(key, now);
        }
    }

    /// Takes a URL back for another attempt, not before `at`. It keeps its turn.
    pub fn retry(&mut self, entry: Entry, at: Timestamp) {
        self.retries.insert((at, entry.order), entry);
    }

    /// Puts a host where it belongs after any change of it.
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
