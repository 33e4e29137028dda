//! The loop of one crawl: does what the core asks for and reports the results back. It decides nothing. Every
//! task it starts ends with it.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::crawl::{
    Batch, CommitResponse, Crawl, FetchFailure, Input, JobState, Output, PageOutcome, PageTask, Policy,
    SlotKind, Snapshot,
};
use harvestman_core::host::HostKey;
use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_core::scope::site_of;
use harvestman_core::url_key::UrlKey;
use harvestman_fetch::CookieJar;
use harvestman_store::{CommitError, Lease, StoreError};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::browser_pages::PageCaptures;
use crate::clock::{self, Ticker};
use crate::context::Context;
use crate::driver_signals::JobSignals;
use crate::files::FileTarget;
use crate::job_request::JobRequest;
use crate::page_cache::PageCache;
use crate::scraper::Target;
use crate::site_files::SiteFiles;
use crate::slots::{QueueTime, Slot, SlotOwner, SlotRequest};
use crate::turn::{Turn, TurnEvent};
use crate::{files, limits, tracking};

/// Why a driver stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DriverExit {
    /// The job has ended.
    Ended,
    /// Another node owns the shard.
    LeaseLost,
    /// The server is shutting down; the shard was released.
    Released,
}

/// One crawl under this node's lease.
pub(crate) struct Driver {
    context: Arc<Context>,
    lease: Lease,
    team: TeamId,
    request: JobRequest,
    options: Arc<ScrapeOptions>,
    policy: Policy,
    cache: PageCache,
    files: SiteFiles,
    jar: CookieJar,
    ticker: Ticker,
}

/// The mutable state of a run; rebuilt when the owner reloads the job.
struct Run {
    crawl: Crawl,
    tasks: JoinSet<Input>,
    commit: Option<JoinHandle<Result<CommitResponse, CommitError>>>,
    /// The slot for the next page, of each kind: first requested, then held.
    http: NextSlot,
    browser: NextSlot,
    /// Events from pages that are being scraped.
    turn_events: (mpsc::Sender<TurnEvent>, mpsc::Receiver<TurnEvent>),
    /// Pages that wait for a browser slot, and the channels that deliver their slots.
    waiting_for_browser: HashMap<UrlKey, oneshot::Sender<(Slot, QueueTime)>>,
    /// Sites whose host was already resolved to find out whether it is private.
    resolved_sites: HashSet<String>,
}

#[derive(Default)]
struct NextSlot {
    request: Option<SlotRequest>,
    slot: Option<(Slot, QueueTime)>,
}

impl NextSlot {
    async fn await_slot(&mut self) -> (Slot, QueueTime) {
        let slot = match &mut self.request {
            Some(request) => request.wait().await,
            None => std::future::pending().await,
        };
        self.request = None;
        slot
    }
}

impl Run {
    fn next_slot(&mut self, kind: SlotKind) -> &mut NextSlot {
        match kind {
            SlotKind::Plain => &mut self.http,
            SlotKind::Browser => &mut self.browser,
        }
    }
}

enum LoopEvent {
    Done(Input),
    Slot((Slot, QueueTime)),
    Turn(TurnEvent),
    Committed(Result<CommitResponse, CommitError>),
    Wake,
    Heartbeat,
    Stop,
}

impl Driver {
    pub(crate) fn new(context: Arc<Context>, lease: Lease) -> Result<Self, StoreError> {
        let request = JobRequest::read(&lease)?;
        let of_team = context.config.plans.of(lease.team).max_concurrency;
        let max_concurrency = u32::try_from(of_team).unwrap_or(u32::MAX);
        let options = request.scrape_options();
        let policy = Policy {
            robots_agent: context.config.robots_agent.clone(),
            max_concurrency,
            starts_in_browser: context.scraper.first_slot(&options) == SlotKind::Browser,
        };
        let team = lease.team;
        let cache = PageCache::new(context.store.clone(), team);
        let files = SiteFiles::of_job(&context, cache.clone(), &options);
        Ok(Self {
            context,
            lease,
            team,
            request,
            options: Arc::new(options),
            policy,
            cache,
            files,
            jar: CookieJar::default(),
            ticker: Ticker::new(),
        })
    }

    fn job(&self) -> JobId {
        self.lease.job
    }

    /// Drives the crawl until it ends, the lease is lost, or `stop` is cancelled.
    pub(crate) async fn run(
        self,
        stop: CancellationToken,
        signals: &JobSignals,
    ) -> Result<DriverExit, StoreError> {
        let mut run = self.load().await?;
        let mut heartbeat = tokio::time::interval(limits::HEARTBEAT);
        heartbeat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            while let Some(output) = run.crawl.poll(self.ticker.now()) {
                if self.start(&mut run, output) {
                    self.context.changes.announce(self.job());
                    return Ok(DriverExit::Ended);
                }
            }
            signals.set_limiter(run.crawl.limiter());
            let wake = run.crawl.wake_at().map(|time| self.ticker.instant(time));
            match next_event(&mut run, wake, &mut heartbeat, &stop, &signals.pages_added).await {
                LoopEvent::Done(input) => {
                    if let Input::PageFetched { key, .. } = &input {
                        run.waiting_for_browser.remove(key);
                    }
                    run.crawl.handle(self.ticker.now(), input);
                }
                LoopEvent::Turn(event) => self.handle_turn_event(&mut run, event),
                LoopEvent::Slot(slot) => self.slot_acquired(&mut run, slot),
                LoopEvent::Committed(Ok(committed)) => {
                    run.crawl.handle(self.ticker.now(), Input::Committed(committed));
                    self.context.changes.announce(self.job());
                    self.context.outbox.notify_one();
                }
                LoopEvent::Committed(Err(CommitError::LeaseLost)) => return Ok(DriverExit::LeaseLost),
                LoopEvent::Committed(Err(CommitError::Repeated(mut repeated))) => {
                    tracing::info!("the response to a commit was lost; continuing from the stored state");
                    if repeated.state == JobState::Ended {
                        return Ok(DriverExit::Ended);
                    }
                    // The owner is still the same, so no page caused a crash.
                    repeated.snapshot.progress.begun.clear();
                    run = self.restore(repeated.snapshot)?;
                }
                LoopEvent::Committed(Err(CommitError::Store(error))) => return Err(error),
                LoopEvent::Wake => {}
                LoopEvent::Heartbeat => {
                    if !self
                        .context
                        .store
                        .renew(&self.lease, clock::now(), limits::LEASE_MS)
                        .await?
                    {
                        return Ok(DriverExit::LeaseLost);
                    }
                }
                LoopEvent::Stop => return self.release(run).await,
            }
        }
    }

    async fn load(&self) -> Result<Run, StoreError> {
        self.restore(self.context.store.load(&self.lease).await?)
    }

    fn restore(&self, snapshot: Snapshot) -> Result<Run, StoreError> {
        let crawl = self
            .request
            .restore(self.policy.clone(), snapshot)
            .map_err(|error| StoreError::Unreadable(format!("stored crawl {}: {error}", self.job())))?;
        Ok(Run {
            crawl,
            tasks: JoinSet::new(),
            commit: None,
            http: NextSlot::default(),
            browser: NextSlot::default(),
            turn_events: mpsc::channel(limits::TURN_EVENTS_QUEUED),
            waiting_for_browser: HashMap::new(),
            resolved_sites: HashSet::new(),
        })
    }

    fn slot_acquired(&self, run: &mut Run, slot: (Slot, QueueTime)) {
        let kind = slot.0.kind();
        run.next_slot(kind).slot = Some(slot);
        run.crawl.handle(self.ticker.now(), Input::SlotGranted(kind));
    }

    /// Forwards an event of a page to the core.
    fn handle_turn_event(&self, run: &mut Run, event: TurnEvent) {
        let input = match event {
            TurnEvent::NeedsBrowser { key, bytes, reply } => {
                run.waiting_for_browser.insert(key, reply);
                Input::NeedsBrowser { key, bytes }
            }
            TurnEvent::PrivateHost(host) => Input::PrivateHost(host),
            TurnEvent::Finished { in_browser, waited } => Input::PageProcessed { in_browser, waited },
        };
        run.crawl.handle(self.ticker.now(), input);
    }

    /// Starts what the core asks for. Returns true when the job has ended.
    fn start(&self, run: &mut Run, output: Output) -> bool {
        let span = tracing::Span::current();
        match output {
            Output::FetchRobots { host, url } => {
                let files = self.files.clone();
                let agent = run.crawl.robots_agent().to_owned();
                let work = async move {
                    Input::RobotsFetched {
                        host,
                        robots: files.robots(url, &agent).await,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::FetchSitemap { url } => {
                let files = self.files.clone();
                let work = async move {
                    Input::SitemapFetched {
                        sitemap: files.sitemap(url.clone()).await,
                        url,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::AcquireSlot(kind) => {
                let owner = SlotOwner {
                    team: self.team,
                    key: self.lease.key,
                    job: self.job(),
                };
                let mut request = self.context.slots.request(owner, kind);
                match request.try_slot() {
                    Some(slot) => self.slot_acquired(run, slot),
                    None => run.next_slot(kind).request = Some(request),
                }
            }
            Output::ReleaseSlot(kind) => run.next_slot(kind).slot = None,
            Output::Render(key) => {
                let slot = run.browser.slot.take();
                if let Some((reply, slot)) = run.waiting_for_browser.remove(&key).zip(slot) {
                    // The page may have ended meanwhile; the slot is released again in that case.
                    let _ = reply.send(slot);
                }
            }
            Output::FetchPage(task, kind) => {
                let slot = run
                    .next_slot(kind)
                    .slot
                    .take()
                    .expect("the core starts a page only in a slot that it was given");
                let turn = Turn::of_job(
                    self.context.slots.clone(),
                    task.key,
                    run.turn_events.0.clone(),
                    slot,
                );
                if task.attempt > 1 {
                    self.context.slots.counters().count_retry();
                }
                let resolving = self.resolve_site(run, &task);
                let context = self.context.clone();
                let (options, jar) = (self.options.clone(), self.jar.clone());
                let (team, job) = (self.team, self.job());
                let cache = self.cache.clone();
                let (base, keep) = (self.lease.base.clone(), !self.request.zero_data_retention());
                let work = async move {
                    resolving.await;
                    let id = clock::new_scrape_id();
                    let failed = |error: ApiError, transient| {
                        PageOutcome::Failed(FetchFailure {
                            id,
                            code: error.code,
                            message: error.message,
                            transient,
                        })
                    };
                    let reservation = match context.budget.reserve(&context.store, team).await {
                        Ok(reservation) => reservation,
                        Err(error) => {
                            let transient = error.code != ErrorCode::InsufficientCredits;
                            return Input::PageFetched {
                                key: task.key,
                                outcome: failed(error, transient),
                            };
                        }
                    };
                    let profile = match context
                        .profiles
                        .open(&context.store, team, options.profile.as_ref(), job)
                        .await
                    {
                        Ok(profile) => profile,
                        Err(error) => {
                            return Input::PageFetched {
                                key: task.key,
                                outcome: failed(error, true),
                            };
                        }
                    };
                    let target = Target {
                        url: &task.url,
                        fallback: task.fallback,
                        profile: profile.as_ref(),
                        turn: &turn,
                    };
                    let page =
                        AssertUnwindSafe(context.scraper.scrape_task(target, &cache, &options, id, &jar));
                    let (mut outcome, mut captures) = page
                        .catch_unwind()
                        .await
                        .unwrap_or_else(|_| (panic_outcome(id), PageCaptures::default()));
                    if let PageOutcome::Page(page) = &mut outcome {
                        turn.record_in(&mut page.document.metadata);
                        let document = &mut page.document;
                        let file_target = FileTarget {
                            store: &context.store,
                            base: &base,
                            keep,
                        };
                        let finished = async {
                            if let (Some(profile), Some(storage)) = (&profile, captures.storage.take()) {
                                profile.save(&context.store, storage).await?;
                            }
                            files::attach(file_target, document, captures).await?;
                            tracking::track(&context.store, team, &task.url, &options, document).await
                        };
                        if let Err(error) = finished.await {
                            outcome = failed(error, true);
                        }
                    }
                    if let PageOutcome::Page(page) = &outcome {
                        reservation.spend(page.credits);
                    }
                    turn.report().await;
                    drop(turn);
                    Input::PageFetched {
                        key: task.key,
                        outcome,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::Commit(batch) => {
                run.commit = Some(tokio::spawn(
                    commit(self.context.clone(), self.lease.clone(), batch).instrument(span),
                ));
            }
            Output::Finish => return true,
        }
        false
    }

    /// Resolves the host before the first page of a site is fetched, to find out whether the site is at a
    /// private address.
    fn resolve_site(&self, run: &mut Run, task: &PageTask) -> impl Future<Output = ()> + use<> {
        let is_new = !self.options.cache_only() && run.resolved_sites.insert(site_of(&task.url));
        let fetcher = self.context.scraper.fetcher().clone();
        let (url, turn_events) = (task.url.clone(), run.turn_events.0.clone());
        async move {
            if is_new && fetcher.is_private(&url).await {
                // The receiver is gone once the driver has ended.
                let _ = turn_events.send(TurnEvent::PrivateHost(HostKey::of(&url))).await;
            }
        }
    }

    /// Shuts down: waits for the last commit, drops pages in flight (the next owner fetches them again) and
    /// releases the shard at once.
    async fn release(&self, run: Run) -> Result<DriverExit, StoreError> {
        let Run {
            mut tasks, commit, ..
        } = run;
        tasks.shutdown().await;
        if let Some(commit) = commit {
            let _ = tokio::time::timeout(limits::DRAIN_TIMEOUT, commit).await;
        }
        self.context.store.release(&self.lease).await?;
        Ok(DriverExit::Released)
    }
}

async fn next_event(
    run: &mut Run,
    wake: Option<Instant>,
    heartbeat: &mut tokio::time::Interval,
    stop: &CancellationToken,
    pages_added: &Notify,
) -> LoopEvent {
    let Run {
        tasks,
        commit,
        http,
        browser,
        turn_events: (_, turn_events),
        ..
    } = run;
    let committing = async {
        match commit {
            Some(handle) => handle.await,
            None => std::future::pending().await,
        }
    };
    let waking = async {
        match wake {
            Some(instant) => tokio::time::sleep_until(instant).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => LoopEvent::Stop,
        result = committing => {
            run.commit = None;
            LoopEvent::Committed(result.unwrap_or_else(|panic| Err(CommitError::Store(StoreError::Unreadable(panic.to_string())))))
        }
        // Polled before finished tasks, so that a page's times are counted before the page ends.
        Some(event) = turn_events.recv() => LoopEvent::Turn(event),
        Some(result) = tasks.join_next() => match result {
            Ok(input) => LoopEvent::Done(input),
            // A panic in a task is a bug; the shard is leased again and the page fetched again.
            Err(panic) => LoopEvent::Committed(Err(CommitError::Store(StoreError::Unreadable(panic.to_string())))),
        },
        slot = http.await_slot() => LoopEvent::Slot(slot),
        slot = browser.await_slot() => LoopEvent::Slot(slot),
        () = pages_added.notified() => LoopEvent::Done(Input::PagesAdded),
        () = waking => LoopEvent::Wake,
        _ = heartbeat.tick() => LoopEvent::Heartbeat,
    }
}

/// Returns the outcome of a page whose task panicked: the page fails, the job goes on.
fn panic_outcome(id: ScrapeId) -> PageOutcome {
    let message = "internal error while processing this page; see the server log".to_owned();
    PageOutcome::Failed(FetchFailure {
        id,
        code: ErrorCode::Unknown,
        message,
        transient: false,
    })
}

/// Commits a batch; retries while the store is unavailable (busy, disk full). Nothing is lost, and meanwhile
/// nothing new is fetched beyond what is in flight.
async fn commit(context: Arc<Context>, lease: Lease, batch: Batch) -> Result<CommitResponse, CommitError> {
    let mut pause = limits::COMMIT_RETRY;
    loop {
        match context
            .store
            .commit(&lease, &batch, clock::now(), limits::LEASE_MS)
            .await
        {
            Err(CommitError::Store(error)) if error.is_transient() => {
                tracing::warn!(crawl.id = %lease.job, %error, "cannot commit a batch; retrying");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(limits::COMMIT_RETRY_MAX);
            }
            result => return result,
        }
    }
}
