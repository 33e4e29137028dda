//! Ready hosts under a concurrency limit per site: a registrable domain, or a host that has none. Only the first
//! ready host of a site below its limit is a candidate, so a site at its limit costs nothing however many
//! hosts it has.

use std::collections::{BTreeSet, HashMap};

use url::Url;

use crate::frontier::Rank;
use crate::host::HostKey;
use crate::scope::site_of;

/// The ready hosts of all sites.
#[derive(Clone, Debug, Default)]
pub(super) struct Sites {
    limit: Option<u32>,
    sites: Vec<Site>,
    numbers: HashMap<String, usize>,
    /// The first ready host of each site below its limit.
    candidates: BTreeSet<(Rank, HostKey)>,
    /// Number of sites at their limit with ready hosts.
    blocked_sites: usize,
}

#[derive(Clone, Debug, Default)]
struct Site {
    unlimited: bool,
    in_flight: u32,
    ready: BTreeSet<(Rank, HostKey)>,
    /// Whether it counts in `blocked_sites`.
    is_blocked: bool,
    /// Its entry in `candidates`.
    candidate: Option<(Rank, HostKey)>,
}

impl Sites {
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the index of the site of a host; adds the site if it is new.
    pub(super) fn site_of(&mut self, key: &HostKey) -> usize {
        let name = Url::parse(key.as_str()).map_or_else(|_| key.to_string(), |url| site_of(&url));
        let next = self.sites.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.sites.push(Site::default());
        }
        number
    }

    pub(super) fn lift_limit(&mut self, site: usize) {
        self.sites[site].unlimited = true;
        self.update(site);
    }

    pub(super) fn is_full(&self, site: usize) -> bool {
        let site = &self.sites[site];
        !site.unlimited && self.limit.is_some_and(|limit| site.in_flight >= limit)
    }

    /// Returns the host to request next.
    pub(super) fn first(&self) -> Option<&HostKey> {
        self.candidates.first().map(|(_, key)| key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns whether some host would be ready if its site were below its limit.
    pub(super) fn has_blocked_sites(&self) -> bool {
        self.blocked_sites > 0
    }

    pub(super) fn insert(&mut self, site: usize, rank: Rank, key: &HostKey) {
        self.sites[site].ready.insert((rank, key.clone()));
        self.update(site);
    }

    pub(super) fn remove(&mut self, site: usize, rank: Rank, key: &HostKey) {
        self.sites[site].ready.remove(&(rank, key.clone()));
        self.update(site);
    }

    /// Records the start of a request to a host of the site.
    pub(super) fn start(&mut self, site: usize) {
        self.sites[site].in_flight += 1;
        self.update(site);
    }

    /// Records the end of a request to a host of the site.
    pub(super) fn end(&mut self, site: usize) {
        let in_flight = &mut self.sites[site].in_flight;
        *in_flight = in_flight.saturating_sub(1);
        self.update(site);
    }

    /// Updates the site's candidate after any change.
    fn update(&mut self, number: usize) {
        let is_full = self.is_full(number);
        let site = &mut self.sites[number];
        let is_blocked = is_full && !site.ready.is_empty();
        match (std::mem::replace(&mut site.is_blocked, is_blocked), is_blocked) {
            (false, true) => self.blocked_sites += 1,
            (true, false) => self.blocked_sites -= 1,
            _ => {}
        }
        let candidate = site.ready.first().filter(|_| !is_full);
        if site.candidate.as_ref() == candidate {
            return;
        }
        let candidate = candidate.cloned();
        if let Some(before) = std::mem::replace(&mut site.candidate, candidate.clone()) {
            self.candidates.remove(&before);
        }
        self.candidates.extend(candidate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::Position;

    fn host(text: &str) -> HostKey {
        HostKey::from(text)
    }

    fn rank(ordinal: u64) -> Rank {
        (0, Position { depth: 0, ordinal })
    }

    #[test]
    fn hosts_of_one_domain_share_a_limit_that_does_not_block_others() {
        let mut sites = Sites::new(Some(2));
        let (www, api, other) = (
            host("https://www.a.example"),
            host("http://api.a.example:8080"),
            host("https://b.example"),
        );
        let site = sites.site_of(&www);
        assert_eq!(sites.site_of(&api), site);
        let second = sites.site_of(&other);
        assert_ne!(second, site);
        sites.insert(site, rank(2), &www);
        sites.insert(site, rank(1), &api);
        sites.insert(second, rank(3), &other);
        assert_eq!(sites.first(), Some(&api));
        sites.start(site);
        assert_eq!(sites.first(), Some(&api));
        sites.start(site);
        assert!(sites.is_full(site) && sites.has_blocked_sites());
        assert_eq!(sites.first(), Some(&other));
        sites.remove(site, rank(1), &api);
        sites.end(site);
        assert_eq!(sites.first(), Some(&www));
        assert!(!sites.has_blocked_sites());
    }

    #[test]
    fn ip_addresses_and_single_labels_are_sites_regardless_of_port() {
        let mut sites = Sites::new(Some(1));
        let numbers: Vec<usize> = [
            "http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.2:1", "http://[::1]:1",
            "http://localhost",
        ]
        .iter()
        .map(|key| sites.site_of(&host(key)))
        .collect();
        assert_eq!(numbers, [0, 0, 1, 2, 3]);
    }

    #[test]
    fn lifting_a_limit_takes_effect_at_once() {
        let mut sites = Sites::new(Some(1));
        let key = host("http://127.0.0.1");
        let site = sites.site_of(&key);
        sites.insert(site, rank(1), &key);
        sites.start(site);
        assert_eq!(sites.first(), None);
        sites.lift_limit(site);
        assert_eq!(sites.first(), Some(&key));
        assert!(!sites.is_full(site) && !sites.is_empty());
    }
}
