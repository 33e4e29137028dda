//! Simulates one crawl or batch scrape of a scripted web on virtual time, with owners that crash, responses that are
//! lost or repeated, and callers that cancel. Checks every rule at every step.

#[path = "pace.rs"]
mod pace;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use harvestman_core::crawl::batch::{Batch, CommitResponse, JobEnd};
use harvestman_core::crawl::{
    Counts, Crawl, Input, Output, PageOutcome, RobotsOutcome, SlotKind, batch_scrape, limits,
};
use harvestman_core::host::HostKey;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::{Identity, UrlKey};
use url::{Position, Url};

use crate::model_store::{LeaseLost, ModelStore, State};
use crate::rng::Rng;
use crate::world::{HOST_ERROR, World, content_key};

const MAX_STEPS: u64 = 200_000;

/// Faults in addition to those of the web.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Faults {
    None,
    /// Crashes, lost and repeated responses.
    Owners,
    /// The same, and a cancellation.
    Cancel,
}

/// Result that is compared between runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Result {
    pub(crate) pages: BTreeSet<String>,
    pub(crate) failed: BTreeSet<String>,
    pub(crate) blocked: BTreeSet<String>,
}

/// Why the state is loaded again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takeover {
    /// The owner crashed: the pages that it had started may be to blame.
    Crash,
    /// The owner shut down.
    Stopped,
    /// Pages were added to a job that had ended.
    Reopened,
}

enum Event {
    Deliver(Box<Input>),
    /// The store executes the commit only now, or once more, because its response was lost.
    Commit(Box<Batch>),
}

pub(crate) struct Run {
    rng: Rng,
    world: World,
    root: Url,
    faults: Faults,
    pub(crate) store: ModelStore,
    crawl: Crawl,
    epoch: u64,
    now: Timestamp,
    events: BTreeMap<(Timestamp, u64), Event>,
    sequence: u64,
    crashes_left: u64,
    /// How often pages are still added to a batch; the last time adds all of them.
    additions_left: u64,
    owner: Owner,
}

/// State of one owner that the checks need.
#[derive(Default)]
struct Owner {
    in_flight: HashMap<String, HostKey>,
    attempts: HashMap<UrlKey, u32>,
    /// Number of owners lost on each page before this one.
    lost: BTreeMap<UrlKey, u32>,
    last_start: Option<Timestamp>,
    last_host_start: HashMap<HostKey, Timestamp>,
    paused_until: HashMap<HostKey, Timestamp>,
    robots_read: BTreeSet<HostKey>,
    robots_attempts: HashMap<HostKey, u32>,
    sitemaps_requested: BTreeSet<Url>,
    is_committing: bool,
    slots: [TeamSlot; 2],
    /// Pages that wait for the browser, with their outcome.
    awaiting_browser: HashMap<UrlKey, PageOutcome>,
    /// Those of them that keep their host slot.
    waiting_with_host_slot: HashMap<String, HostKey>,
    /// Pages in the browser.
    rendering: BTreeSet<String>,
}

/// State of the team slot for the next page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum TeamSlot {
    #[default]
    Free,
    Requested,
    Held,
}

impl Run {
    pub(crate) fn new(seed: u64, faults: Faults) -> Run {
        Run::of(World::new(seed), seed, faults)
    }

    /// Creates a batch scrape; pages are added while it runs and after it has ended.
    pub(crate) fn batch(seed: u64, faults: Faults) -> Run {
        let mut run = Run::of(World::batch(seed), seed, faults);
        run.additions_left = run.rng.between(1, 4);
        run.add_pages();
        run
    }

    fn of(world: World, seed: u64, faults: Faults) -> Run {
        let mut rng = Rng::new(seed.wrapping_mul(31) ^ 0xfa17 ^ faults as u64);
        let limit = if world.batch_pages.is_empty() {
            world.request.limit
        } else {
            0
        };
        let mut store = ModelStore::new(limit);
        let (epoch, snapshot) = store.lease();
        let crawl = world.crawl(snapshot);
        Run {
            root: world.root(),
            crashes_left: if faults == Faults::None { 0 } else { rng.below(6) },
            rng,
            world,
            faults,
            store,
            crawl,
            epoch,
            now: Timestamp(1_700_000_000_000),
            events: BTreeMap::new(),
            sequence: 0,
            additions_left: 0,
            owner: Owner::default(),
        }
    }

    pub(crate) fn is_comparable(&self) -> bool {
        self.world.comparable
    }

    pub(crate) fn expected(&self) -> BTreeSet<String> {
        self.world.expected()
    }

    /// Runs to the end.
    pub(crate) fn finish(&mut self) -> Result {
        for _ in 0..MAX_STEPS {
            if self.step() {
                assert!(self.store.has_ended(), "finished before the store said so");
                while self.store.has_ended() && !self.store.cancelled && self.additions_left > 0 {
                    self.add_pages();
                }
                if self.store.has_ended() {
                    return self.result();
                }
            }
        }
        panic!("does not end: {:?}", self.crawl.counts());
    }

    fn step(&mut self) -> bool {
        if self.crashes_left > 0 && self.rng.below(40) == 0 {
            match self.rng.percent(50) {
                true => self.crash(),
                false => self.stop(),
            }
        }
        if self.faults == Faults::Cancel && self.rng.below(60) == 0 && !self.store.has_ended() {
            self.store.cancelled = true;
        }
        if self.additions_left > 0 && self.rng.below(30) == 0 && !self.store.cancelled {
            self.add_pages();
        }
        while let Some(output) = self.crawl.poll(self.now) {
            if self.handle_output(output) {
                assert!(self.crawl.poll(self.now).is_none(), "something after the end");
                return true;
            }
            self.check_counts();
            // A crash may happen between any two outputs.
            if self.crashes_left > 0 && self.rng.below(60) == 0 {
                self.crash();
            }
        }
        let event = self.events.first_key_value().map(|((at, _), _)| *at);
        match (event, self.crawl.wake_at()) {
            (Some(at), wake) if wake.is_none_or(|wake| at <= wake) => {
                let ((at, _), event) = self.events.pop_first().unwrap();
                self.now = at;
                self.handle_event(event);
            }
            (_, Some(wake)) => {
                assert!(wake > self.now, "woken for nothing");
                self.now = wake;
            }
            (_, None) => panic!("nothing to do and not ended: {:?}", self.crawl.counts()),
        }
        self.check_counts();
        false
    }

    /// Adds some of the pages, and all of them the last time.
    fn add_pages(&mut self) {
        self.additions_left -= 1;
        let share = if self.additions_left == 0 {
            100
        } else {
            self.rng.below(60)
        };
        let mut some = self.world.batch_pages.clone();
        some.retain(|_| self.rng.percent(share));
        let ended = self.store.has_ended();
        let new = self.store.add(&batch_scrape::offers(some));
        if ended && new > 0 {
            self.take_over(Takeover::Reopened);
        } else if self.rng.percent(50) {
            // Otherwise the owner is on another node and learns of them only from the store.
            self.crawl.handle(self.now, Input::PagesAdded);
        }
    }

    fn is_batch(&self) -> bool {
        !self.world.batch_pages.is_empty()
    }

    fn handle_output(&mut self, output: Output) -> bool {
        match output {
            Output::FetchRobots { host, url } => {
                assert!(!self.is_batch(), "a batch scrape does not fetch robots.txt");
                assert!(!self.world.request.ignore_robots_txt || self.owner.robots_attempts.is_empty());
                let requests = self.owner.robots_attempts.entry(host.clone()).or_default();
                *requests += 1;
                assert!(*requests <= limits::ATTEMPTS_MAX && !self.owner.robots_read.contains(&host));
                let robots = self.world.robots(&host, self.crawl.robots_agent());
                self.start(url.as_str(), &host);
                let latency = self.world.latency_ms(&url);
                self.deliver_after(latency, Input::RobotsFetched { host, robots });
            }
            Output::FetchSitemap { url } => {
                assert!(
                    self.owner.sitemaps_requested.insert(url.clone()),
                    "{url} must be read once"
                );
                let host = HostKey::of(&url);
                self.release_slot(SlotKind::Plain);
                self.check_pace(&host);
                self.start(url.as_str(), &host);
                let sitemap = self.world.sitemap(&url);
                self.deliver_after(10, Input::SitemapFetched { url, sitemap });
            }
            Output::AcquireSlot(kind) => {
                let slot = &mut self.owner.slots[kind as usize];
                assert_eq!(*slot, TeamSlot::Free, "one slot request at a time");
                *slot = TeamSlot::Requested;
                // Other jobs of the team may hold all slots, sometimes for long.
                let wait = if self.rng.percent(70) {
                    0
                } else {
                    self.rng.below(4_000)
                };
                self.deliver_after(wait, Input::SlotGranted(kind));
            }
            Output::ReleaseSlot(kind) => self.release_slot(kind),
            Output::FetchPage(task, kind) => {
                assert_eq!(kind, SlotKind::Plain);
                self.release_slot(kind);
                self.fetch_page(task);
            }
            Output::Render(key) => {
                self.release_slot(SlotKind::Browser);
                self.render(key);
            }
            Output::Commit(batch) => self.commit(batch),
            Output::Finish => return true,
        }
        false
    }

    fn deliver_after(&mut self, after_ms: u64, input: Input) {
        self.schedule(after_ms, Event::Deliver(Box::new(input)));
    }

    fn schedule(&mut self, after_ms: u64, event: Event) {
        self.sequence += 1;
        self.events
            .insert((Timestamp(self.now.0 + after_ms), self.sequence), event);
    }

    fn commit(&mut self, batch: Batch) {
        assert!(
            !std::mem::replace(&mut self.owner.is_committing, true),
            "one commit at a time"
        );
        assert!(batch.settled.len() <= limits::BATCH_MAX_SETTLED);
        assert!(
            batch.offers.len() + batch.robots_blocked.len()
                <= limits::BATCH_MAX_OFFERS + limits::BATCH_MAX_SETTLED
        );
        let wait = self.rng.below(40);
        let kind = if self.faults == Faults::None {
            0
        } else {
            self.rng.below(10)
        };
        match kind {
            0..6 => self.execute(batch, wait),
            6 => self.schedule(wait, Event::Commit(Box::new(batch))),
            7 => {
                self.apply(&batch);
                self.schedule(wait, Event::Commit(Box::new(batch)));
            }
            _ => {
                // The response arrives twice.
                let committed = self.apply(&batch);
                let wait_more = wait + self.rng.below(100);
                self.deliver_after(wait, Input::Committed(committed.clone()));
                self.deliver_after(wait_more, Input::Committed(committed));
            }
        }
    }

    fn execute(&mut self, batch: Batch, wait: u64) {
        let committed = self.apply(&batch);
        self.deliver_after(wait, Input::Committed(committed));
    }

    fn apply(&mut self, batch: &Batch) -> CommitResponse {
        self.store
            .commit(self.epoch, batch)
            .expect("the owner holds its lease and numbers its batches")
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Deliver(input) => {
                match &*input {
                    Input::RobotsFetched { host, robots } => {
                        let url = host.robots_url().unwrap();
                        self.owner.in_flight.remove(url.as_str());
                        if matches!(robots, RobotsOutcome::Found(_) | RobotsOutcome::Missing) {
                            self.owner.robots_read.insert(host.clone());
                        }
                    }
                    Input::SitemapFetched { url, .. } => drop(self.owner.in_flight.remove(url.as_str())),
                    Input::PageFetched { key, outcome } => self.page_arrives(*key, outcome),
                    Input::NeedsBrowser { key, .. } => self.queue_render(*key),
                    Input::SlotGranted(kind) => self.owner.slots[*kind as usize] = TeamSlot::Held,
                    Input::Committed(_) => self.owner.is_committing = false,
                    Input::PagesAdded | Input::PrivateHost(_) | Input::PageProcessed { .. } => {}
                }
                let again = match &*input {
                    Input::PageFetched { key, outcome } if self.faults != Faults::None => {
                        self.rng.percent(5).then(|| (*key, outcome.clone()))
                    }
                    _ => None,
                };
                self.crawl.handle(self.now, *input);
                if let Some((key, outcome)) = again {
                    self.crawl.handle(self.now, Input::PageFetched { key, outcome });
                }
            }
            Event::Commit(batch) => self.execute(*batch, 0),
        }
    }

    fn page_arrives(&mut self, key: UrlKey, outcome: &PageOutcome) {
        let name = match outcome {
            PageOutcome::Page(page) => page.document.metadata.source_url.clone(),
            PageOutcome::Failed(_) => None,
        };
        // A failed outcome does not have its URL; the store does.
        let name = name.or_else(|| self.store.url(key).map(Url::to_string)).unwrap();
        let name = format!("page {name}");
        self.owner.rendering.remove(&name);
        let host = self.owner.in_flight.remove(&name);
        if let (PageOutcome::Page(page), Some(host)) = (outcome, host)
            && let Some(wait) = page.retry_after_ms.filter(|_| matches!(page.status, 429 | 503))
        {
            let until = Timestamp(self.now.0 + wait.min(limits::RETRY_AFTER_MAX_MS));
            let paused_until = self.owner.paused_until.entry(host).or_default();
            *paused_until = until.max(*paused_until);
        }
    }

    fn crash(&mut self) {
        self.crashes_left -= 1;
        let frozen = (self.epoch, self.crawl.clone(), self.owner.is_committing);
        self.take_over(Takeover::Crash);
        // The commit of a frozen owner that wakes up late is rejected.
        let (epoch, mut crawl, is_committing) = frozen;
        while let (false, Some(output)) = (is_committing, crawl.poll(self.now)) {
            if let Output::Commit(batch) = output {
                assert_eq!(self.store.commit(epoch, &batch).unwrap_err(), LeaseLost);
                break;
            }
        }
    }

    /// Stops the owner. Without an outstanding commit, no settled page may be fetched again.
    fn stop(&mut self) {
        self.crashes_left -= 1;
        let settled = self.crawl.counts();
        let last_batch = self.crawl.last_batch();
        if let Some(batch) = &last_batch {
            self.apply(batch);
        }
        self.take_over(Takeover::Stopped);
        let kept = self.crawl.counts();
        if last_batch.is_some() && !self.store.cancelled {
            let counts = |counts: Counts| (counts.completed, counts.failed);
            assert_eq!(counts(kept), counts(settled), "a settled page is fetched again");
        }
    }

    fn take_over(&mut self, because: Takeover) {
        let (epoch, mut snapshot) = self.store.lease();
        if because != Takeover::Crash {
            snapshot.progress.begun.clear();
        }
        self.epoch = epoch;
        let begun = snapshot.progress.begun.clone();
        self.crawl = self.world.crawl(snapshot);
        self.events.clear();
        for key in begun.keys() {
            assert_eq!(
                self.store.state(*key),
                Some(State::Open),
                "started and not settled"
            );
        }
        self.owner = Owner {
            lost: begun,
            ..Owner::default()
        };
    }

    fn check_counts(&self) {
        let counts = self.crawl.counts();
        assert!(counts.admitted <= self.store.limit, "{counts:?}");
        assert!(
            counts.completed + counts.failed + counts.queued + counts.in_flight <= counts.admitted,
            "{counts:?}"
        );
        assert!(
            counts.completed >= self.store.completed || self.owner.is_committing,
            "{counts:?}"
        );
        assert!(
            counts.known
                <= u64::try_from(limits::known_urls_max(self.store.limit)).unwrap() + counts.admitted
        );
    }

    /// Checks that every listed page has a document or an error, and nothing else has.
    fn result_of_batch(&self) -> Result {
        let batch_pages = batch_scrape::offers(self.world.batch_pages.clone());
        let name = |url: &Url| url[..Position::AfterQuery].to_owned();
        let names = |urls: Vec<&Url>| urls.into_iter().map(name).collect();
        let result = Result {
            pages: names(self.store.pages.iter().map(|page| &page.offer.url).collect()),
            failed: names(self.store.errors.iter().map(|(url, _)| url).collect()),
            blocked: BTreeSet::new(),
        };
        assert!(self.store.robots_blocked.is_empty() && self.store.warnings.is_empty());
        if !self.store.cancelled {
            let settled = result.pages.len() + result.failed.len();
            assert_eq!(
                (settled, self.store.known()),
                (batch_pages.len(), batch_pages.len())
            );
            assert_eq!(self.store.end, Some(JobEnd::Completed), "no page fails a batch");
        }
        result
    }

    fn result(&self) -> Result {
        if self.is_batch() {
            return self.result_of_batch();
        }
        let set = |urls: Vec<&Url>| urls.into_iter().map(content_key).collect();
        for page in &self.store.pages {
            assert_eq!(
                Some(page.offer.url.as_str()),
                page.document.metadata.source_url.as_deref()
            );
            let final_url = Url::parse(page.document.metadata.url.as_deref().unwrap()).unwrap();
            assert!(
                self.world.robots_allow(&final_url),
                "robots.txt disallows {final_url}"
            );
        }
        for (url, error) in &self.store.errors {
            let dead = error.message == HOST_ERROR;
            assert!(
                !dead || self.world.is_dead(url),
                "{url} must fail only with its host"
            );
        }
        let mut keys = BTreeSet::new();
        let identity = Identity {
            ignore_query: self.world.request.ignore_query_parameters,
            merge_similar: self.world.request.deduplicate_similar_urls,
        };
        let final_url = |page: &crate::model_store::StoredPage| page.document.metadata.url.clone().unwrap();
        let final_urls: Vec<Url> = self
            .store
            .pages
            .iter()
            .map(|page| Url::parse(&final_url(page)).unwrap())
            .collect();
        for url in &final_urls {
            assert!(
                keys.insert(UrlKey::of(url, identity)),
                "{url} is in the result twice"
            );
        }
        Result {
            pages: set(final_urls.iter().collect()),
            failed: set(self.store.errors.iter().map(|(url, _)| url).collect()),
            blocked: set(self.store.robots_blocked.iter().collect()),
        }
    }
}
