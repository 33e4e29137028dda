//! Checks the pace rules at every start.

use harvestman_core::crawl::{Input, PageTask, SlotKind, limits};
use harvestman_core::host::HostKey;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scope::site_of;
use harvestman_core::url_key::UrlKey;
use url::Url;
use uuid::Uuid;

use super::{Run, TeamSlot};
use crate::model_store::State;

impl Run {
    /// Releases a slot, to the team or to the page that starts.
    pub(super) fn release_slot(&mut self, kind: SlotKind) {
        let slot = &mut self.owner.slots[kind as usize];
        assert_eq!(*slot, TeamSlot::Held, "only a held slot can be released");
        *slot = TeamSlot::Free;
    }

    /// Takes a page out of flight until it is rendered. On a host with a `Crawl-delay` it keeps its host slot.
    pub(super) fn queue_render(&mut self, key: UrlKey) {
        let url = self.store.url(key).unwrap().clone();
        let name = format!("page {url}");
        let host = self.owner.in_flight.remove(&name).unwrap();
        if self.crawl_delay_of(&host).is_some() {
            self.owner.waiting_with_host_slot.insert(name, host);
        }
    }

    pub(super) fn render(&mut self, key: UrlKey) {
        let outcome = self
            .owner
            .awaiting_browser
            .remove(&key)
            .expect("a page that waits");
        let url = self.store.url(key).unwrap().clone();
        let (host, name) = (HostKey::of(&url), format!("page {url}"));
        self.owner.waiting_with_host_slot.remove(&name);
        self.check_delay();
        self.owner.last_host_start.insert(host.clone(), self.now);
        self.owner.rendering.insert(name.clone());
        self.start(&name, &host);
        let latency = 100 + self.rng.below(400);
        self.deliver_after(latency, Input::PageFetched { key, outcome });
    }

    pub(super) fn fetch_page(&mut self, task: PageTask) {
        let url = &task.url;
        assert_eq!(
            self.store.state(task.key),
            Some(State::Open),
            "{url} must be admitted and not settled"
        );
        let attempts = self.owner.attempts.entry(task.key).or_default();
        *attempts += 1;
        assert!(
            *attempts <= limits::ATTEMPTS_MAX
                && task.attempt == *attempts + self.owner.lost.get(&task.key).copied().unwrap_or(0),
            "attempts of {url}"
        );
        assert!(self.world.robots_allow(url), "robots.txt disallows {url}");
        let host = HostKey::of(url);
        assert!(self.world.request.ignore_robots_txt || self.owner.robots_read.contains(&host));
        let fallback = task.fallback.as_ref().map(Url::scheme);
        assert_eq!(fallback, (url.scheme() == "https").then_some("http"), "{url}");
        if !self.is_batch() && *url != self.world.request.url.url {
            let reason = self.world.out_of_scope(&self.root, url, task.depth);
            assert_eq!(reason, None, "{url} at depth {}, root {}", task.depth, self.root);
        }
        self.check_pace(&host);
        self.start(&format!("page {url}"), &host);
        let id = ScrapeId(Uuid::from_u128(u128::from(self.rng.next())));
        let outcome = self.world.page(url, id);
        let latency = self.world.latency_ms(url) + self.rng.below(30);
        let key = task.key;
        // The start page decides about the whole crawl; others need the browser now and then.
        if self.rng.percent(10) && (task.depth > 0 || self.is_batch()) {
            self.owner.awaiting_browser.insert(key, outcome);
            self.deliver_after(latency, Input::NeedsBrowser { key, bytes: 1000 });
        } else {
            self.deliver_after(latency, Input::PageFetched { key, outcome });
        }
    }

    pub(super) fn start(&mut self, name: &str, host: &HostKey) {
        assert!(
            self.owner
                .in_flight
                .insert(name.to_owned(), host.clone())
                .is_none(),
            "{name} twice at once"
        );
        let allowed = self
            .world
            .request
            .max_concurrency
            .unwrap_or(u32::MAX)
            .min(self.world.concurrency);
        let allowed = if self.world.request.delay.is_some() {
            1
        } else {
            allowed
        };
        // A page that owners were lost on is fetched alone.
        let suspected = |(key, lost): (&UrlKey, &u32)| {
            let name = self.store.url(*key).map(|url| format!("page {url}"));
            *lost >= limits::LOST_OWNERS_SUSPECT
                && name.is_some_and(|name| self.owner.in_flight.contains_key(&name))
        };
        let suspects = self.owner.lost.iter().any(suspected);
        let allowed = if suspects { 1 } else { allowed };
        // Without `maxConcurrency`, only the team limits pages in the browser.
        let request = &self.world.request;
        let counted = request.max_concurrency.is_some() || request.delay.is_some() || suspects;
        let in_flight = self.owner.in_flight.keys();
        let in_flight = in_flight.filter(|name| counted || !self.owner.rendering.contains(*name));
        let site = site_of(&Url::parse(host.as_str()).unwrap());
        let of_site = |(name, at): (&String, &HostKey)| {
            site_of(&Url::parse(at.as_str()).unwrap()) == site
                && !name.ends_with("robots.txt")
                && !self.owner.rendering.contains(name)
        };
        let many = self.owner.in_flight.iter().filter(|one| of_site(*one)).count();
        assert!(
            self.world.request.max_concurrency.is_some()
                || many <= usize::try_from(limits::SITE_MAX_IN_FLIGHT).unwrap(),
            "{many} at once at {site}"
        );
        assert!(
            in_flight.count() <= usize::try_from(allowed).unwrap(),
            "concurrency {allowed}"
        );
    }

    fn check_delay(&mut self) {
        if let (Some(delay_ms), Some(last)) = (self.world.request.delay_ms(), self.owner.last_start) {
            assert!(self.now.millis_since(last) >= delay_ms, "delay");
        }
        self.owner.last_start = Some(self.now);
    }

    /// Returns the `Crawl-delay` of a host unless the job ignores robots.txt.
    fn crawl_delay_of(&self, host: &HostKey) -> Option<u64> {
        self.world.crawl_delay_ms(host).filter(|_| !self.is_batch())
    }

    pub(super) fn check_pace(&mut self, host: &HostKey) {
        self.check_delay();
        let crawl_delay_ms = self.crawl_delay_of(host);
        let owner = &mut self.owner;
        if let Some(delay_ms) = crawl_delay_ms {
            let others = owner
                .in_flight
                .iter()
                .chain(&owner.waiting_with_host_slot)
                .filter(|(name, at)| *at == host && !name.ends_with("robots.txt"));
            assert_eq!(others.count(), 0, "one at a time on {host}");
            if let Some(last) = owner.last_host_start.get(host) {
                assert!(self.now.millis_since(*last) >= delay_ms, "Crawl-delay of {host}");
            }
        }
        owner.last_host_start.insert(host.clone(), self.now);
        if let Some(until) = owner.paused_until.get(host) {
            assert!(self.now >= *until, "Retry-After of {host}");
        }
    }
}
