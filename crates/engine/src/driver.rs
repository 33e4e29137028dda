//! The loop of one crawl: does what the core asks for and reports the results back. It decides nothing. Every
//! task it starts ends with it.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::crawl::{
    Batch, CommitResponse, Crawl, FetchFailure, Input, JobEnd, JobState, Output, PageOutcome, PageTask,
    Policy, SlotKind, document_bytes,
};
use harvestman_core::host::HostKey;
use harvestman_core::ids::JobId;
use harvestman_core::scope::site_of;
use harvestman_core::url_key::UrlKey;
use harvestman_store::{CommitError, JobStatus, Lease, StoreError};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::{self, Ticker};
use crate::context::Context;
use crate::conversions::UnstoredDocument;
use crate::driver_signals::JobSignals;
use crate::error::ScrapeFailure;
use crate::files::FileTarget;
use crate::host_turns::HostTurns;
use crate::job_request::JobRequest;
use crate::lease::LeaseEnd;
use crate::page_visit::{Page, PageVisits};
use crate::site_files::SiteFiles;
use crate::slots::{QueueTime, Slot, SlotOwner, SlotRequest};
use crate::turn::{Turn, TurnEvent};
use crate::{limits, outage};

/// One crawl under this node's lease.
pub(crate) struct Driver {
    context: Arc<Context>,
    lease: Lease,
    request: JobRequest,
    policy: Policy,
    visits: Arc<PageVisits>,
    files: SiteFiles,
    turns: HostTurns,
    ticker: Ticker,
}

/// The mutable state of a run; rebuilt when the owner reloads the job.
struct Run {
    crawl: Crawl,
    tasks: JoinSet<Input>,
    commit: Option<JoinHandle<Result<CommitResponse, CommitError>>>,
    /// For each kind, the slot for the next request: first requested, then held.
    http: NextSlot,
    browser: NextSlot,
    /// Events from pages that are being scraped.
    turn_events: (mpsc::Sender<TurnEvent>, mpsc::Receiver<TurnEvent>),
    /// Pages that wait for a browser slot, and the channels that deliver their slots.
    waiting_for_browser: HashMap<UrlKey, oneshot::Sender<(Slot, QueueTime)>>,
    /// Hosts of pages in flight that need time between two requests.
    delayed_hosts: HashMap<UrlKey, HostKey>,
    /// Sites whose host was already resolved to find out whether it is private.
    resolved_sites: HashSet<String>,
    /// Large pages whose documents are not stored yet.
    unstored: HashMap<UrlKey, UnstoredDocument>,
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

    fn take_slot(&mut self, kind: SlotKind) -> (Slot, QueueTime) {
        let slot = self.next_slot(kind).slot.take();
        slot.expect("the core starts a request only in a slot that it was given")
    }
}

enum LoopEvent {
    Done(Input),
    Slot((Slot, QueueTime)),
    Turn(TurnEvent),
    Committed(Result<CommitResponse, CommitError>),
    Panicked(JoinError),
    Wake,
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
        let files = FileTarget {
            base: lease.base.clone(),
            keep: !request.zero_data_retention(),
            retention: context.config.retention,
        };
        let owner = SlotOwner::of(&lease);
        let visits = PageVisits::new(context.clone(), owner, Arc::new(options), Some(files));
        Ok(Self {
            files: SiteFiles::of_job(&context, &visits),
            turns: HostTurns::new(
                context.holdings.limits().cloned(),
                context.host_pauses.clone(),
                request.delay(),
            ),
            context,
            lease,
            request,
            policy,
            visits: Arc::new(visits),
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
    ) -> Result<LeaseEnd, StoreError> {
        let mut run = self.load().await?;
        loop {
            while let Some(output) = run.crawl.poll(self.ticker.now()) {
                if self.start(&mut run, output) {
                    self.context.changes.announce(self.job());
                    return Ok(LeaseEnd::JobEnded);
                }
            }
            signals.set_limiter(run.crawl.limiter());
            let wake = run.crawl.wake_at().map(|time| self.ticker.instant(time));
            match next_event(&mut run, wake, &stop, &signals.pages_added).await {
                LoopEvent::Done(input) => {
                    let mut large = None;
                    match &input {
                        Input::PageFetched { key, outcome } => {
                            run.waiting_for_browser.remove(key);
                            run.delayed_hosts.remove(key);
                            large = self.unstored(outcome).map(|large| (*key, large));
                        }
                        Input::RobotsFetched { host, robots } if self.request.obeys_robots() => {
                            self.turns.learn(host, robots);
                        }
                        _ => {}
                    }
                    run.crawl.handle(self.ticker.now(), input);
                    let is_kept = |(key, _): &(UrlKey, _)| run.crawl.awaits_commit(*key);
                    run.unstored.extend(large.filter(is_kept));
                }
                LoopEvent::Turn(event) => self.handle_turn_event(&mut run, event),
                LoopEvent::Slot(slot) => self.slot_acquired(&mut run, slot),
                LoopEvent::Committed(Ok(committed)) => {
                    run.crawl.handle(self.ticker.now(), Input::Committed(committed));
                    self.context.changes.announce(self.job());
                    self.context.outbox.notify_one();
                }
                LoopEvent::Committed(Err(CommitError::LeaseLost)) => return Ok(LeaseEnd::Lost),
                LoopEvent::Committed(Err(CommitError::Store(error))) => return Err(error),
                LoopEvent::Panicked(panic) => {
                    tracing::error!(%panic, "a task of a job panicked");
                    return Ok(LeaseEnd::Panicked);
                }
                LoopEvent::Wake => {}
                LoopEvent::Stop => return self.release(run).await,
            }
        }
    }

    async fn load(&self) -> Result<Run, StoreError> {
        let snapshot = self.context.store.load(&self.lease).await?;
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
            delayed_hosts: HashMap::new(),
            resolved_sites: HashSet::new(),
            unstored: HashMap::new(),
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
                let (files, slots) = (self.files.clone(), self.context.slots.clone());
                let owner = SlotOwner::of(&self.lease);
                let agent = run.crawl.robots_agent().to_owned();
                let work = async move {
                    let _slot = slots.acquire(owner, SlotKind::Plain).await;
                    Input::RobotsFetched {
                        host,
                        robots: files.robots(url, &agent).await,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::FetchSitemap { url } => {
                let (files, turns) = (self.files.clone(), self.turns.clone());
                let slot = run.take_slot(SlotKind::Plain);
                let work = async move {
                    let _slot = slot;
                    turns.wait(&HostKey::of(&url)).await;
                    Input::SitemapFetched {
                        sitemap: files.sitemap(url.clone()).await,
                        url,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::AcquireSlot(kind) => {
                let mut request = self.context.slots.request(SlotOwner::of(&self.lease), kind);
                match request.try_slot() {
                    Some(slot) => self.slot_acquired(run, slot),
                    None => run.next_slot(kind).request = Some(request),
                }
            }
            Output::ReleaseSlot(kind) => run.next_slot(kind).slot = None,
            Output::Render(key) => {
                let slot = run.browser.slot.take();
                if let Some((mut reply, slot)) = run.waiting_for_browser.remove(&key).zip(slot) {
                    let (host, turns) = (run.delayed_hosts.get(&key).cloned(), self.turns.clone());
                    tokio::spawn(async move {
                        // The browser requests the page again.
                        if let Some(host) = host {
                            tokio::select! {
                                () = turns.wait(&host) => {}
                                () = reply.closed() => {}
                            }
                        }
                        // The page may have ended meanwhile; the slot is released again in that case.
                        let _ = reply.send(slot);
                    });
                }
            }
            Output::FetchPage(task, kind) => {
                let work = self.fetch_page(run, task, kind);
                run.tasks.spawn(work.instrument(span));
            }
            Output::Commit(batch) => {
                let settled = batch.settled.iter();
                let large: Vec<_> = settled.filter_map(|url| run.unstored.remove(&url.key)).collect();
                let committing = commit(self.context.clone(), self.lease.clone(), batch);
                let work = async move {
                    let _until_stored = large;
                    committing.await
                };
                run.commit = Some(tokio::spawn(work.instrument(span)));
            }
            Output::Finish => return true,
        }
        false
    }

    /// Fetches a page in the slot that the core was granted.
    fn fetch_page(
        &self,
        run: &mut Run,
        task: PageTask,
        kind: SlotKind,
    ) -> impl Future<Output = Input> + Send + use<> {
        let slot = run.take_slot(kind);
        let slots = &self.context.slots;
        if task.attempt > 1 {
            slots.metrics().count_retry();
        }
        let turn = Turn::of_job(slots.clone(), task.key, run.turn_events.0.clone(), slot);
        let (host, turns) = (HostKey::of(&task.url), self.turns.clone());
        if turns.has_delay(&host) {
            run.delayed_hosts.insert(task.key, host.clone());
        }
        let is_own_origin = self.request.names_origin_of(&task.url, run.crawl.root());
        let resolving = self.resolve_site(run, &task);
        let visits = self.visits.clone();
        let keep = !self.request.zero_data_retention();
        async move {
            resolving.await;
            turns.wait(&host).await;
            let id = clock::new_scrape_id();
            let page = Page {
                url: &task.url,
                fallback: task.fallback,
                is_own_origin,
                id,
                reservation: None,
            };
            let deadline = Instant::now() + visits.timeout();
            let visit = AssertUnwindSafe(visits.visit(page, &turn, deadline)).catch_unwind();
            let outcome = match visit.await.unwrap_or_else(|_| Err(panic_failure())) {
                Ok(page) => PageOutcome::Page(Box::new(page)),
                Err(failure) => {
                    let ApiError { code, message, .. } = failure.error;
                    if keep {
                        tracing::debug!(url = %task.url, code = code.as_str(), error = message, "page failed");
                    }
                    PageOutcome::Failed(FetchFailure {
                        id,
                        code,
                        message,
                        transient: failure.transient,
                    })
                }
            };
            if let PageOutcome::Page(page) = &outcome {
                turns.report(&host, page).await;
            }
            turn.report().await;
            drop(turn);
            Input::PageFetched {
                key: task.key,
                outcome,
            }
        }
    }

    fn unstored(&self, outcome: &PageOutcome) -> Option<UnstoredDocument> {
        match outcome {
            PageOutcome::Page(page) => {
                let conversions = self.context.scraper.conversions();
                conversions.unstored(document_bytes(&page.document))
            }
            PageOutcome::Failed(_) => None,
        }
    }

    /// Resolves the host before the first page of a site is fetched, to find out whether the site is at a
    /// private address.
    fn resolve_site(&self, run: &mut Run, task: &PageTask) -> impl Future<Output = ()> + use<> {
        let is_new = !self.visits.options().cache_only() && run.resolved_sites.insert(site_of(&task.url));
        let fetcher = self.context.scraper.fetcher().clone();
        let (url, turn_events) = (task.url.clone(), run.turn_events.0.clone());
        let routes = self.visits.routes().clone();
        async move {
            let proxy = routes.proxy(routes.first(), &url);
            if is_new && fetcher.is_private(&url, proxy.as_deref()).await {
                // The receiver is gone once the driver has ended.
                let _ = turn_events.send(TurnEvent::PrivateHost(HostKey::of(&url))).await;
            }
        }
    }

    /// Shuts down: drops pages in flight (the next owner fetches them again), commits the settled ones, and releases
    /// the shard at once.
    async fn release(&self, run: Run) -> Result<LeaseEnd, StoreError> {
        let Run {
            mut crawl,
            mut tasks,
            commit: outstanding,
            ..
        } = run;
        tasks.shutdown().await;
        let committing = async {
            if let Some(outstanding) = outstanding
                && let Ok(Ok(committed)) = outstanding.await
            {
                crawl.handle(self.ticker.now(), Input::Committed(committed));
            }
            if let Some(batch) = crawl.last_batch() {
                commit(self.context.clone(), self.lease.clone(), batch).await?;
                self.context.changes.announce(self.job());
            }
            Ok::<_, CommitError>(())
        };
        match timeout(limits::DRAIN_TIMEOUT, committing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "cannot commit the last pages of a job"),
            Err(_) => tracing::debug!("no time to commit the last pages of a job"),
        }
        self.context.store.release(&self.lease).await?;
        Ok(LeaseEnd::Released)
    }
}

async fn next_event(
    run: &mut Run,
    wake: Option<Instant>,
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
            result.map_or_else(LoopEvent::Panicked, LoopEvent::Committed)
        }
        // Polled before finished tasks, so that a page's times are counted before the page ends.
        Some(event) = turn_events.recv() => LoopEvent::Turn(event),
        Some(result) = tasks.join_next() => result.map_or_else(LoopEvent::Panicked, LoopEvent::Done),
        slot = http.await_slot() => LoopEvent::Slot(slot),
        slot = browser.await_slot() => LoopEvent::Slot(slot),
        () = pages_added.notified() => LoopEvent::Done(Input::PagesAdded),
        () = waking => LoopEvent::Wake,
    }
}

/// Returns the failure of a page whose task panicked: the page fails, the job continues.
fn panic_failure() -> ScrapeFailure {
    ScrapeFailure::permanent(ApiError::new(
        ErrorCode::Unknown,
        "internal error while processing this page; see the server log",
    ))
}

/// Commits a batch. While a commit takes long, the core starts no further page.
async fn commit(context: Arc<Context>, lease: Lease, batch: Batch) -> Result<CommitResponse, CommitError> {
    let is_transient =
        |error: &CommitError| matches!(error, CommitError::Store(error) if error.is_transient());
    let write = || {
        context
            .store
            .commit(&lease, &batch, clock::now(), limits::LEASE_MS)
    };
    let response = outage::retry(is_transient, write).await?;
    context.budget.committed(lease.team, lease.job, batch.credits());
    if let (JobState::Ended, Some(end)) = (response.state, &batch.end) {
        let status = match end {
            JobEnd::Completed => JobStatus::Completed,
            JobEnd::Failed { .. } => JobStatus::Failed,
        };
        context.slots.metrics().count_job_end(lease.kind, status);
        tracing::info!(status = status.as_str(), "job ended");
    }
    Ok(response)
}
