//! The crawl as a state machine, and the batch scrape as one that finds nothing: it decides, the
//! shell does. It never fetches, stores, waits or
//! looks at a clock.
//!
//! The shell hands in what happened ([`Crawl::handle`]) and asks what to do next
//! ([`Crawl::poll`]). A task starts only after the batch that admitted its URL is committed.

mod admission;
pub mod batch;
mod changes;
pub mod given;
mod hosts;
pub mod limits;
mod outcome;
mod renders;
mod seeds;
mod starts;
pub mod warnings;

pub use batch::{
    Admitted, Batch, Committed, JobEnd, JobState, Offer, PaceCounts, PageError, Progress, Settled,
    SettledOutcome, Snapshot, Source,
};

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use url::Url;

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
use hosts::{Answer, Hosts};
use outcome::Found;
use renders::Renders;
use seeds::Phase;
use starts::{TeamSlot, TeamSlots};

const END_RETRY: Duration = Duration::from_millis(limits::END_RETRY_MS);
const GATHER: Duration = Duration::from_millis(limits::GATHER_MS);

/// What the operator and the team allow a crawl, beside its own request.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// Product token matched against robots.txt groups, unless the request names one.
    pub robots_agent: String,
    /// Pages of this job in flight at once, at most (the team limit).
    pub max_concurrency: u32,
    /// Every page begins in the browser; otherwise by plain HTTP.
    pub starts_in_browser: bool,
}

/// What a page in flight needs of its team. Each kind has a limit of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotKind {
    /// A page that is fetched by plain HTTP.
    Plain,
    /// A page in the browser.
    Browser,
}

/// One URL to fetch and render with the job's scrape options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageTask {
    /// Identity.
    pub key: UrlKey,
    /// Address to fetch.
    pub url: Url,
    /// Discovery depth.
    pub depth: u32,
    /// 1 for the first attempt of any owner.
    pub attempt: u32,
    /// Where to try the same page when the connection to `url` fails.
    pub fallback: Option<Url>,
}

/// What happened outside.
#[derive(Debug)]
pub enum Input {
    /// Answer to [`Output::FetchRobots`].
    RobotsFetched {
        /// Host that was asked.
        host: HostKey,
        /// What came back.
        robots: RobotsOutcome,
    },
    /// Answer to [`Output::FetchSitemap`]; `None` when it could not be fetched or read.
    SitemapFetched {
        /// Address that was asked.
        url: Url,
        /// Parsed file.
        sitemap: Option<Sitemap>,
    },
    /// Answer to [`Output::FetchPage`].
    PageFetched {
        /// Identity of the task.
        key: UrlKey,
        /// What came back.
        outcome: PageOutcome,
    },
    /// Answer to [`Output::WantSlot`].
    SlotTaken(SlotKind),
    /// A page in flight goes on in the browser. Its slot is free again; it waits for [`Output::Render`].
    WantsBrowser {
        /// Identity of the task.
        key: UrlKey,
        /// Memory that the page holds while it waits, in bytes.
        bytes: usize,
    },
    /// Answer to [`Output::Commit`].
    Committed(Committed),
    /// What a page took that was worked on; comes before [`Input::PageFetched`].
    PageWorked {
        /// It was opened in the browser.
        in_browser: bool,
        /// It waited for a slot.
        waited: bool,
    },
    /// The host is at a private address that the operator allows: its site has no limit of requests at once.
    PrivateHost(HostKey),
    /// The store has URLs that nobody was told of, added from outside: the next commit admits them.
    Added,
}

/// A robots.txt after RFC 9309 section 2.3.1.
#[derive(Clone, Debug)]
pub enum RobotsOutcome {
    /// 2xx: the parsed rules.
    Found(Robots),
    /// 4xx: everything is allowed.
    Missing,
    /// 5xx, timeout or a broken answer, with a sentence that says which: asked again up to 3 times,
    /// then everything is refused.
    Unreachable(String),
    /// The host itself cannot be reached: its name, a connection or the handshake failed. Asked
    /// again while that may pass, then each of its pages fails with this.
    HostFault(FetchFailure),
}

/// Result of one page task.
#[derive(Clone, Debug)]
pub enum PageOutcome {
    /// The target answered, with whatever status.
    Page(Box<FetchedPage>),
    /// No answer that could be used.
    Failed(FetchFailure),
}

/// A fetched and rendered page.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// URL after redirects.
    pub final_url: Url,
    /// HTTP status.
    pub status: u16,
    /// Every link of the page that a crawl may follow, absolute, document order.
    pub links: Vec<Url>,
    /// Rendered document; `metadata.scrape_id` is set.
    pub document: Box<Document>,
    /// Credits of this page.
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
    /// Human sentence.
    pub message: String,
    /// Whether another attempt may help (timeout, reset, refused connection; not DNS, TLS, unsafe).
    pub passing: bool,
}

/// What the shell shall do.
#[derive(Debug)]
pub enum Output {
    /// Fetch a robots.txt and answer with [`Input::RobotsFetched`].
    FetchRobots {
        /// Whose.
        host: HostKey,
        /// Address.
        url: Url,
    },
    /// Fetch a sitemap and answer with [`Input::SitemapFetched`].
    FetchSitemap {
        /// Address.
        url: Url,
    },
    /// A page could start now: take one of the team's slots and answer with [`Input::SlotTaken`],
    /// however late. At most one of each kind is asked for at a time.
    WantSlot(SlotKind),
    /// The slot that was taken is not needed now: give it back. It will be asked for again.
    ReturnSlot(SlotKind),
    /// Fetch and render a page in the slot of this kind that was taken last, give the slot back when that
    /// ended, and answer with [`Input::PageFetched`].
    FetchPage(PageTask, SlotKind),
    /// Let a page that asked with [`Input::WantsBrowser`] go on, in the browser slot that was taken last.
    Render(UrlKey),
    /// Commit in one transaction and answer with [`Input::Committed`]. At most one is out at a time.
    Commit(Batch),
    /// The job ended (by itself or from outside): nothing more will be asked for.
    Finish,
}

/// Why no further page of a job starts now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limiter {
    /// The next page waits for its time: `delay`, `Crawl-delay`, `Retry-After`, or another attempt.
    HostDelay,
    /// As many pages as allowed are in flight at each site.
    HostConcurrency,
    /// As many pages as allowed are in flight: `maxConcurrency`, or the team's slots.
    Concurrency,
    /// Pages wait for the browser.
    Browser,
    /// Pages wait to be converted, on every core.
    Conversion,
    /// Pages wait to be stored.
    Storage,
}

impl Limiter {
    /// The word for it in the console's API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostDelay => "hostDelay",
            Self::HostConcurrency => "hostConcurrency",
            Self::Concurrency => "concurrency",
            Self::Browser => "browser",
            Self::Conversion => "conversion",
            Self::Storage => "storage",
        }
    }
}

/// How far a crawl is, for this owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Places taken: pages settled, in flight and queued.
    pub admitted: u64,
    /// Pages with a document.
    pub completed: u64,
    /// Pages that could not be fetched.
    pub failed: u64,
    /// Credits of the documents since this owner took over.
    pub credits: u64,
    /// URLs refused by robots.txt since this owner took over.
    pub robots_blocked: u64,
    /// URLs known, fetched or not.
    pub known: u64,
    /// Admitted URLs that wait.
    pub queued: u64,
    /// Pages being fetched.
    pub in_flight: u64,
}

/// One crawl, or the part of it that one owner has.
#[derive(Clone, Debug)]
pub struct Crawl {
    scope: Scope,
    /// The pages are given: nothing is discovered, and no page decides about the job.
    given: bool,
    /// The store holds URLs that the next commit admits.
    added: bool,
    sitemap: SitemapMode,
    limit: u64,
    /// The start URL came without a scheme and https was not found wrong.
    scheme_guessed: bool,
    known_max: usize,
    agent: String,

    phase: Phase,
    hosts: Hosts,
    robots_in_flight: u32,
    frontier: Frontier,
    pace: JobPace,
    /// The request says how many pages are in flight at most.
    max_concurrency_given: bool,
    team_slots: TeamSlots,
    /// What the first slot of a page is.
    first_kind: SlotKind,
    /// A sitemap, not a page, goes first when both could.
    sitemap_turn: bool,

    /// Every URL that was ever offered, fetched under another address or refused.
    known: HashSet<UrlKey>,
    /// Admitted and not settled.
    open: HashSet<UrlKey>,
    running: HashMap<UrlKey, Entry>,
    renders: Renders,
    /// Pages that earlier owners were lost over: while there are any, one page at a time is fetched.
    suspects: HashSet<UrlKey>,
    /// Pages that led to a host whose robots.txt is awaited.
    held: HashMap<HostKey, Vec<(Entry, Box<FetchedPage>)>>,
    held_pages: usize,
    /// The start page while sitemaps are read, and until when if not to their end.
    held_seed: Option<(Option<Timestamp>, Found)>,

    changes: Changes,
    /// When the last batch left.
    batch_left: Timestamp,
    /// The batch that is out proposes the end.
    end_proposed: bool,
    end_not_before: Option<Timestamp>,
    /// Why nothing could be done, if it turns out so.
    failure: Option<String>,
    saw_not_child: bool,
    /// Offers of this owner.
    offered: u64,
    said: HashSet<&'static str>,
    counts: Counts,

    wake: Option<Timestamp>,
    limiter: Option<Limiter>,
    ended: bool,
    finished: bool,
}

impl Crawl {
    /// A crawl that has done nothing yet. 400 when a pattern of the request is bad.
    pub fn new(request: &CrawlRequest, policy: Policy) -> Result<Crawl, ApiError> {
        Self::restore(request, policy, Snapshot::default())
    }

    /// A crawl as the store remembers it. What was in flight is fetched again; what was known is
    /// known. 400 when a pattern of the request is bad.
    pub fn restore(request: &CrawlRequest, policy: Policy, snapshot: Snapshot) -> Result<Crawl, ApiError> {
        Self::resume(request, policy, snapshot, false)
    }

    fn resume(
        request: &CrawlRequest,
        policy: Policy,
        snapshot: Snapshot,
        given: bool,
    ) -> Result<Crawl, ApiError> {
        let mut scope = Scope::compile(request)?;
        let mut scheme_guessed = request.url.scheme_guessed;
        if let Some(root) = &snapshot.progress.root {
            scope.rebase(root);
            scheme_guessed = false;
        }
        let phase = if given || snapshot.progress.sitemaps_done {
            Phase::Done
        } else if !snapshot.progress.seed_offered {
            Phase::Start
        } else if snapshot
            .open
            .iter()
            .any(|admitted| admitted.source == Source::Seed)
        {
            Phase::Open
        } else {
            Phase::Naming
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
            given,
            added: given && snapshot.spare > 0,
            sitemap: request.sitemap,
            limit: request.limit,
            scheme_guessed,
            known_max: limits::known_urls_max(request.limit),
            agent: request.robots_user_agent.clone().unwrap_or(policy.robots_agent),
            phase,
            hosts: Hosts::new(request.ignore_robots_txt),
            robots_in_flight: 0,
            frontier: Frontier::new(given, site_limit),
            pace: JobPace::new(concurrency, request.delay_ms()),
            max_concurrency_given: request.max_concurrency.is_some(),
            team_slots: TeamSlots::default(),
            first_kind: if policy.starts_in_browser {
                SlotKind::Browser
            } else {
                SlotKind::Plain
            },
            sitemap_turn: true,
            known: snapshot.seen.into_iter().collect(),
            open: HashSet::new(),
            running: HashMap::new(),
            renders: Renders::default(),
            suspects: HashSet::new(),
            held: HashMap::new(),
            held_pages: 0,
            held_seed: None,
            changes: Changes::new(snapshot.last_batch, snapshot.progress),
            batch_left: Timestamp::default(),
            end_proposed: false,
            end_not_before: None,
            failure: None,
            saw_not_child: false,
            offered: 0,
            said: HashSet::new(),
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

    /// Product token for robots.txt: the shell parses each file with it.
    pub fn robots_agent(&self) -> &str {
        &self.agent
    }

    /// Something happened. Answers that nobody waits for change nothing.
    pub fn handle(&mut self, now: Timestamp, input: Input) {
        if self.ended {
            return;
        }
        match input {
            Input::RobotsFetched { host, robots } => {
                let Some(answer) = self.hosts.answer(&host, robots, now) else {
                    return;
                };
                self.pace.end();
                self.robots_in_flight -= 1;
                match answer {
                    Answer::Decided => self.host_decided(now, &host),
                    Answer::Again => {}
                }
            }
            Input::SitemapFetched { url, sitemap } => {
                if let Phase::Reading(walk) = &mut self.phase
                    && walk.answer(&url, sitemap)
                {
                    self.pace.end();
                    self.frontier.ended(&HostKey::of(&url), now);
                }
            }
            Input::PageFetched { key, outcome } => self.page_fetched(now, key, outcome),
            Input::SlotTaken(kind) => self.team_slots.set(kind, TeamSlot::Taken),
            Input::WantsBrowser { key, bytes } => self.set_aside(now, key, bytes),
            Input::Committed(committed) => self.committed(now, committed),
            Input::PageWorked { in_browser, waited } => {
                let pace = self.changes.pace();
                pace.in_browser += u64::from(in_browser);
                pace.waited += u64::from(waited);
            }
            Input::PrivateHost(host) => self.frontier.lift_site_limit(&host),
            Input::Added => self.added = true,
        }
    }

    /// The next thing to do; to be called until there is none, after every input and at
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
            .or_else(|| self.return_slot(now))
    }

    /// When to poll again although nothing happened. Valid after a poll that gave nothing.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Why no further page starts; none when all that are known have started. Valid after a poll that gave nothing.
    pub fn limiter(&self) -> Option<Limiter> {
        self.limiter
    }

    /// How far the crawl is.
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
        if self.changes.is_empty() && !self.added {
            if !idle {
                return None;
            }
            if let Some(time) = self.end_not_before.filter(|time| *time > now) {
                self.wake_by(Some(time));
                return None;
            }
        } else if self.goes_on_by_itself() {
            let gathered = self.batch_left + GATHER;
            if gathered > now {
                self.wake_by(Some(gathered));
                return None;
            }
        }
        if idle && self.limit > 1 && self.offered == 1 && self.counts.completed == 1 && self.saw_not_child {
            self.warn_once(warnings::ONLY_CHILDREN);
        }
        let end = (idle && !self.added).then(|| self.end());
        self.batch_left = now;
        let batch = self.changes.next_batch(|| end);
        self.end_proposed = batch.end.is_some();
        self.added = false;
        Some(Output::Commit(batch))
    }

    /// Whether there is enough to fetch without what the next commit admits.
    fn goes_on_by_itself(&self) -> bool {
        !self.changes.is_full() && self.frontier.len() >= self.pace.max_in_flight() as usize
    }

    /// How the job ends if the store agrees: failed only when there was nothing but a start page
    /// that could not be reached.
    fn end(&self) -> JobEnd {
        let nothing_else =
            !self.given && self.counts.completed == 0 && self.counts.failed <= 1 && self.known.len() <= 1;
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
