//! The state machine of a crawl, also used for a batch scrape, which discovers no pages. It decides
//! what to fetch and store and leaves the work to the driver: it never fetches, stores, waits or reads
//! a clock.
//!
//! The driver reports events with [`Crawl::handle`] and gets the next action from [`Crawl::poll`].
//! Invariant: a page task starts only after the batch that admitted its URL is committed.

mod admission;
pub mod batch;
pub mod batch_scrape;
mod changes;
mod hosts;
pub mod limits;
mod links;
pub mod memory_store;
mod outcome;
mod renders;
mod seeds;
mod starts;
pub mod warnings;

pub use batch::{
    AdmittedUrl, Batch, CommitResponse, JobEnd, JobState, Offer, PageError, ProcessingCounts, Progress,
    SettledOutcome, SettledUrl, Snapshot, Source,
};
pub use changes::document_bytes;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use url::Url;

use crate::api::console::Limiter;
use crate::api::crawl::{CrawlRequest, SitemapMode};
use crate::api::error::{ApiError, ErrorCode};
use crate::api::page::Document;
use crate::frontier::{Entry, Frontier};
use crate::host::HostKey;
use crate::ids::ScrapeId;
use crate::politeness::JobPace;
use crate::robots::Robots;
use crate::scope::Scope;
use crate::sitemap::Sitemap;
use crate::time::Timestamp;
use crate::url_key::UrlKey;

use changes::Changes;
use hosts::{Hosts, RobotsUpdate};
use links::SettledLinks;
use outcome::AcceptedPage;
use renders::RenderQueue;
use seeds::Phase;
use starts::{TeamSlot, TeamSlots};

const END_RETRY: Duration = Duration::from_millis(limits::END_RETRY_MS);

/// Limits set by the operator and the team, in addition to the crawl request.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// Product token matched against robots.txt groups, unless the request names one.
    pub robots_agent: String,
    /// Maximum number of pages of this job in flight (the team limit).
    pub max_concurrency: u32,
    /// Fetch every page with the browser from the start; otherwise start over plain HTTP.
    pub starts_in_browser: bool,
}

/// Kind of team slot that a page in flight holds. Each kind has its own limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotKind {
    /// For a page fetched over plain HTTP.
    Plain,
    /// For a page in the browser.
    Browser,
}

/// One URL to fetch and render with the job's scrape options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageTask {
    /// Normalized identity.
    pub key: UrlKey,
    /// URL to fetch.
    pub url: Url,
    /// Discovery depth.
    pub depth: u32,
    /// Attempt number, 1 for the first attempt by any owner.
    pub attempt: u32,
    /// URL to try when the connection to `url` fails.
    pub fallback: Option<Url>,
}

/// Events that the driver reports.
#[derive(Debug)]
pub enum Input {
    /// Response to [`Output::FetchRobots`].
    RobotsFetched {
        /// Host of the file.
        host: HostKey,
        /// Result of the fetch.
        robots: RobotsOutcome,
    },
    /// Response to [`Output::FetchSitemap`]; `None` when the file could not be fetched or parsed.
    SitemapFetched {
        /// URL of the file.
        url: Url,
        /// Parsed file.
        sitemap: Option<Sitemap>,
    },
    /// Response to [`Output::FetchPage`].
    PageFetched {
        /// Identity of the task.
        key: UrlKey,
        /// Result of the task.
        outcome: PageOutcome,
    },
    /// Response to [`Output::AcquireSlot`].
    SlotGranted(SlotKind),
    /// A page in flight needs the browser. It has released its slot and waits for [`Output::Render`].
    NeedsBrowser {
        /// Identity of the task.
        key: UrlKey,
        /// Memory that the page holds while it waits, in bytes.
        bytes: usize,
    },
    /// Response to [`Output::Commit`].
    Committed(CommitResponse),
    /// How a page was processed; sent before its [`Input::PageFetched`].
    PageProcessed {
        /// Whether it was opened in the browser.
        in_browser: bool,
        /// Whether it waited for a slot.
        waited: bool,
    },
    /// The host is at a private address that the operator allows: its site has no concurrency limit.
    PrivateHost(HostKey),
    /// URLs were added to the job in the store: the next commit admits them.
    PagesAdded,
}

/// Result of fetching robots.txt, by RFC 9309 section 2.3.1.
#[derive(Clone, Debug)]
pub enum RobotsOutcome {
    /// 2xx: the parsed rules.
    Found(Robots),
    /// 4xx: everything is allowed.
    Missing,
    /// 5xx, timeout or an invalid response, with a sentence that names the cause. Retried up to 3
    /// times, then every URL of the host is disallowed.
    Unreachable(String),
    /// The host cannot be reached: DNS, connection or TLS handshake failed. Retried while the failure
    /// is transient, then each page of the host fails with it.
    HostError(FetchFailure),
}

/// Result of one page task.
#[derive(Clone, Debug)]
pub enum PageOutcome {
    /// The target responded, with any status.
    Page(Box<FetchedPage>),
    /// No usable response.
    Failed(FetchFailure),
}

/// A fetched and rendered page.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// URL after redirects.
    pub final_url: Url,
    /// HTTP status.
    pub status: u16,
    /// Absolute URLs of every link that a crawl may follow, in document order.
    pub links: Vec<Url>,
    /// Rendered document with `metadata.scrape_id` set.
    pub document: Box<Document>,
    /// Credits charged for this page.
    pub credits: u32,
    /// `Retry-After` of the response, in ms.
    pub retry_after_ms: Option<u64>,
}

/// Why a page could not be fetched.
#[derive(Clone, Debug)]
pub struct FetchFailure {
    /// Scrape id of the attempt.
    pub id: ScrapeId,
    /// Machine code.
    pub code: ErrorCode,
    /// Message for the user.
    pub message: String,
    /// Whether a retry may help: true for timeouts, resets and refused connections; false for DNS,
    /// TLS and unsafe targets.
    pub transient: bool,
}

/// Actions for the driver.
#[derive(Debug)]
pub enum Output {
    /// Fetch a robots.txt, in a slot of the team, and report [`Input::RobotsFetched`].
    FetchRobots {
        /// Host of the file.
        host: HostKey,
        /// URL of the file.
        url: Url,
    },
    /// Fetch a sitemap in the [`SlotKind::Plain`] that was acquired last, and report [`Input::SitemapFetched`].
    FetchSitemap {
        /// URL of the file.
        url: Url,
    },
    /// A page or sitemap is ready to start: acquire one of the team's slots and report [`Input::SlotGranted`],
    /// however late. At most one request per kind is outstanding.
    AcquireSlot(SlotKind),
    /// Release the acquired slot: nothing can use it now. It is requested again when needed.
    ReleaseSlot(SlotKind),
    /// Fetch and render a page in the slot of this kind that was acquired last, release the slot when
    /// the task ends, and report [`Input::PageFetched`].
    FetchPage(PageTask, SlotKind),
    /// Continue a page that reported [`Input::NeedsBrowser`] in the browser slot that was acquired last.
    Render(UrlKey),
    /// Commit in one transaction and report [`Input::Committed`]. At most one commit is outstanding.
    Commit(Batch),
    /// The job ended, here or from outside: no further action follows.
    Finish,
}

/// Progress counters as seen by this owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// URLs that count against the page limit: settled, in flight and queued.
    pub admitted: u64,
    /// Pages with a document.
    pub completed: u64,
    /// Pages that could not be fetched.
    pub failed: u64,
    /// Credits charged for documents since this owner took over.
    pub credits: u64,
    /// URLs blocked by robots.txt since this owner took over.
    pub robots_blocked: u64,
    /// Known URLs, fetched or not.
    pub known: u64,
    /// Admitted URLs that wait to be fetched.
    pub queued: u64,
    /// Pages in flight.
    pub in_flight: u64,
}

/// One crawl or batch scrape, or the shard of it that one owner drives.
#[derive(Clone, Debug)]
pub struct Crawl {
    scope: Scope,
    /// A batch scrape: nothing is discovered, and no single page decides how the job ends.
    is_batch_scrape: bool,
    /// The store holds URLs that the next commit admits: added to a batch, or left over from a continued crawl.
    has_added_urls: bool,
    sitemap: SitemapMode,
    limit: u64,
    /// The start URL had no scheme, and `https` has not failed yet.
    scheme_guessed: bool,
    known_max: usize,
    agent: String,

    phase: Phase,
    hosts: Hosts,
    robots_in_flight: u32,
    frontier: Frontier,
    pace: JobPace,
    /// Whether the request sets `maxConcurrency`.
    max_concurrency_given: bool,
    team_slots: TeamSlots,
    /// Kind of slot that a page starts with.
    initial_slot: SlotKind,
    /// Start a sitemap before a page when both are ready.
    sitemap_turn: bool,

    /// Keys of every URL that was offered, blocked or the target of a redirect.
    known: HashSet<UrlKey>,
    /// Links that need no further check.
    settled_links: SettledLinks,
    /// Admitted and not yet settled.
    open: HashSet<UrlKey>,
    running: HashMap<UrlKey, Entry>,
    renders: RenderQueue,
    /// Pages that were in flight when earlier owners died. While there are any, pages are fetched one at a time.
    suspects: HashSet<UrlKey>,
    /// Pages that redirected to a host whose robots.txt has not arrived, by host.
    awaiting_robots: HashMap<HostKey, Vec<(Entry, Box<FetchedPage>)>>,
    awaiting_robots_pages: usize,
    awaiting_robots_bytes: usize,
    /// The start page while sitemaps are read, and the latest time to hold it; `None` for no limit.
    held_seed: Option<(Option<Timestamp>, AcceptedPage)>,

    changes: Changes,
    /// When the last batch was handed out.
    batch_sent_at: Timestamp,
    /// Whether the outstanding batch proposes to end the job.
    end_proposed: bool,
    end_not_before: Option<Timestamp>,
    /// Error of the job in case it fails.
    failure: Option<String>,
    rejected_non_child: bool,
    /// Number of URLs this owner offered.
    offered: u64,
    issued_warnings: HashSet<&'static str>,
    counts: Counts,

    wake: Option<Timestamp>,
    limiter: Option<Limiter>,
    ended: bool,
    finished: bool,
}

impl Crawl {
    /// Creates a crawl with no progress. Fails with a 400 error when a pattern of the request is invalid.
    pub fn new(request: &CrawlRequest, policy: Policy) -> Result<Crawl, ApiError> {
        Self::restore(request, policy, Snapshot::default())
    }

    /// Restores a crawl from the store; pages that were in flight are fetched again. Fails with a 400
    /// error when a pattern of the request is invalid.
    pub fn restore(request: &CrawlRequest, policy: Policy, snapshot: Snapshot) -> Result<Crawl, ApiError> {
        Self::resume(request, policy, snapshot, false)
    }

    fn resume(
        request: &CrawlRequest,
        policy: Policy,
        snapshot: Snapshot,
        is_batch_scrape: bool,
    ) -> Result<Crawl, ApiError> {
        let mut scope = Scope::compile(request)?;
        let mut scheme_guessed = request.url.scheme_guessed;
        if let Some(root) = &snapshot.progress.root {
            scope.rebase(root);
            scheme_guessed = false;
        }
        let phase = if is_batch_scrape || snapshot.progress.sitemaps_done {
            Phase::Done
        } else if !snapshot.progress.seed_offered {
            Phase::BeforeSeed
        } else if snapshot
            .open
            .iter()
            .any(|admitted| admitted.source == Source::Seed)
        {
            Phase::SeedInFlight
        } else {
            Phase::FindingSitemaps
        };
        let begun = snapshot.progress.begun.clone();
        let concurrency = request
            .max_concurrency
            .map_or(policy.max_concurrency, |wish| wish.min(policy.max_concurrency));
        let site_limit = request
            .max_concurrency
            .is_none()
            .then_some(limits::SITE_MAX_IN_FLIGHT);
        let mut crawl = Crawl {
            scope,
            is_batch_scrape,
            // At the page limit, the store has nothing left to admit.
            has_added_urls: snapshot.spare > 0 && (is_batch_scrape || snapshot.admitted < request.limit),
            sitemap: request.sitemap,
            limit: request.limit,
            scheme_guessed,
            known_max: limits::known_urls_max(request.limit)
                .saturating_add(usize::try_from(snapshot.progress.inherited).unwrap_or(usize::MAX)),
            agent: request.robots_user_agent.clone().unwrap_or(policy.robots_agent),
            phase,
            hosts: Hosts::new(request.ignore_robots_txt),
            robots_in_flight: 0,
            frontier: Frontier::new(is_batch_scrape, site_limit),
            pace: JobPace::new(concurrency, request.delay_ms()),
            max_concurrency_given: request.max_concurrency.is_some(),
            team_slots: TeamSlots::default(),
            initial_slot: if policy.starts_in_browser {
                SlotKind::Browser
            } else {
                SlotKind::Plain
            },
            sitemap_turn: true,
            known: snapshot.seen.into_iter().collect(),
            settled_links: SettledLinks::default(),
            open: HashSet::new(),
            running: HashMap::new(),
            renders: RenderQueue::default(),
            suspects: HashSet::new(),
            awaiting_robots: HashMap::new(),
            awaiting_robots_pages: 0,
            awaiting_robots_bytes: 0,
            held_seed: None,
            changes: Changes::new(snapshot.last_batch, snapshot.progress),
            batch_sent_at: Timestamp::default(),
            end_proposed: false,
            end_not_before: None,
            failure: None,
            rejected_non_child: false,
            offered: 0,
            issued_warnings: HashSet::new(),
            counts: Counts {
                completed: snapshot.completed,
                failed: snapshot.failed,
                ..Counts::default()
            },
            wake: None,
            limiter: None,
            ended: false,
            finished: false,
        };
        for mut admitted in snapshot.open {
            admitted.attempts = begun.get(&admitted.key).copied().unwrap_or(0);
            crawl.admit(admitted, Timestamp::default());
        }
        crawl.counts.admitted = snapshot.admitted;
        Ok(crawl)
    }

    /// Returns the URL that scope is relative to: the start URL, or its redirect target.
    pub fn root(&self) -> &Url {
        self.scope.root()
    }

    /// Returns the product token with which the driver parses each robots.txt.
    pub fn robots_agent(&self) -> &str {
        &self.agent
    }

    /// Processes an event. Ignores responses to actions that are not outstanding.
    pub fn handle(&mut self, now: Timestamp, input: Input) {
        if self.ended {
            return;
        }
        match input {
            Input::RobotsFetched { host, robots } => {
                let Some(update) = self.hosts.handle_response(&host, robots, now) else {
                    return;
                };
                self.pace.end();
                self.robots_in_flight -= 1;
                match update {
                    RobotsUpdate::Decided => self.host_decided(now, &host),
                    RobotsUpdate::Retrying => {}
                }
            }
            Input::SitemapFetched { url, sitemap } => {
                if let Phase::ReadingSitemaps(queue) = &mut self.phase
                    && queue.store_result(&url, sitemap)
                {
                    self.pace.end();
                    self.frontier.finish(&HostKey::of(&url), now);
                }
            }
            Input::PageFetched { key, outcome } => self.page_fetched(now, key, outcome),
            Input::SlotGranted(kind) => self.team_slots.set(kind, TeamSlot::Held),
            Input::NeedsBrowser { key, bytes } => self.queue_render(now, key, bytes),
            Input::Committed(committed) => self.committed(now, committed),
            Input::PageProcessed { in_browser, waited } => {
                let counts = self.changes.processing();
                counts.in_browser += u64::from(in_browser);
                counts.waited += u64::from(waited);
            }
            Input::PrivateHost(host) => self.frontier.lift_site_limit(&host),
            Input::PagesAdded => self.has_added_urls = true,
        }
    }

    /// Returns the next action. Call it until it returns `None`, after every input and at
    /// [`Crawl::wake_at`].
    pub fn poll(&mut self, now: Timestamp) -> Option<Output> {
        self.wake = None;
        self.limiter = None;
        if self.ended {
            return (!std::mem::replace(&mut self.finished, true)).then_some(Output::Finish);
        }
        self.advance_seeding(now);
        self.next_robots(now)
            .or_else(|| self.next_fetch(now))
            .or_else(|| self.next_commit(now))
            .or_else(|| self.release_unused_slot(now))
    }

    /// Returns the uncommitted changes at once, for an owner that stops. Returns `None` while a commit is
    /// outstanding.
    pub fn last_batch(&mut self) -> Option<Batch> {
        (!self.changes.is_outstanding() && !self.changes.is_empty()).then(|| self.changes.next_batch(|| None))
    }

    /// Returns whether the outcome of a page waits for the next batch. False for a page that will be fetched again.
    pub fn awaits_commit(&self, key: UrlKey) -> bool {
        self.changes.has_settled(key)
    }

    /// Returns when to poll again if no event arrives first. Valid after a poll that returned `None`.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Returns why no further page starts, or `None` when every known page has started. Valid after a
    /// poll that returned `None`.
    pub fn limiter(&self) -> Option<Limiter> {
        self.limiter
    }

    /// Returns the progress counters.
    pub fn counts(&self) -> Counts {
        let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        Counts {
            known: count(self.known.len()),
            queued: count(self.frontier.len()),
            in_flight: count(self.running.len()),
            ..self.counts
        }
    }

    fn next_commit(&mut self, now: Timestamp) -> Option<Output> {
        if self.changes.is_outstanding() {
            return None;
        }
        let idle = matches!(self.phase, Phase::Done) && self.open.is_empty();
        if self.changes.is_empty() && !self.has_added_urls {
            if !idle {
                return None;
            }
            if let Some(time) = self.end_not_before.filter(|time| *time > now) {
                self.wake_by(Some(time));
                return None;
            }
        } else if self.has_enough_queued() {
            let gathered = self.batch_sent_at + self.changes.gathering_time();
            if gathered > now {
                self.wake_by(Some(gathered));
                return None;
            }
        }
        if idle
            && self.limit > 1
            && self.offered == 1
            && self.counts.completed == 1
            && self.rejected_non_child
        {
            self.warn_once(warnings::ONLY_CHILDREN);
        }
        let end = (idle && !self.has_added_urls).then(|| self.end());
        self.batch_sent_at = now;
        let batch = self.changes.next_batch(|| end);
        self.end_proposed = batch.end.is_some();
        self.has_added_urls = false;
        Some(Output::Commit(batch))
    }

    /// Returns whether enough pages are queued to stay busy until the next commit admits more: at least as many as
    /// are in flight, because every page that may start has already started.
    fn has_enough_queued(&self) -> bool {
        !self.changes.is_full() && self.frontier.len() >= self.running.len().max(1)
    }

    /// Returns how the job ends if the store agrees: failed only when the start page was unreachable and
    /// there was no other page.
    fn end(&self) -> JobEnd {
        let nothing_else = !self.is_batch_scrape
            && self.counts.completed == 0
            && self.counts.failed <= 1
            && self.known.len() <= 1;
        match (&self.failure, self.counts.failed) {
            (Some(failure), _) if nothing_else => JobEnd::Failed {
                error: failure.clone(),
            },
            (None, 1) if nothing_else => JobEnd::Failed {
                error: warnings::seed_unreachable(self.scope.root(), ""),
            },
            _ => JobEnd::Completed,
        }
    }

    fn wake_by(&mut self, time: Option<Timestamp>) {
        self.wake = [self.wake, time].into_iter().flatten().min();
    }
}
