//! The loop of one crawl: what the core asks for is done, what happened is handed back. It decides
//! nothing. Everything it starts ends with it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::crawl::{
    Batch, Committed, Crawl, FetchFailure, Input, JobState, Output, PageOutcome, Policy, Snapshot,
};
use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_fetch::CookieJar;
use harvestman_store::{CommitError, Lease, StoreError};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::browser_pages::Taken;
use crate::clock::{self, Ticker};
use crate::engine::Inner;
use crate::files::Place;
use crate::job_request::JobRequest;
use crate::page_cache::PageCache;
use crate::scraper::Target;
use crate::site_files::SiteFiles;
use crate::slots::{Asked, Asker, Queued, Slot};
use crate::{files, limits, profiles, tracking};

/// Why a driver stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stopped {
    /// The job is over.
    Ended,
    /// Another owner has the shard.
    LeaseLost,
    /// The server stops; the shard was given back.
    GivenBack,
}

/// One crawl under this node's lease.
pub(crate) struct Driver {
    inner: Arc<Inner>,
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

/// The moving parts of a run; made anew when the owner has to reload.
struct Run {
    crawl: Crawl,
    tasks: JoinSet<Input>,
    commit: Option<JoinHandle<Result<Committed, CommitError>>>,
    /// The slot for the next page: asked for, then there.
    asked: Option<Asked>,
    slot: Option<(Slot, Queued)>,
}

enum Step {
    Done(Input),
    Slot((Slot, Queued)),
    Committed(Result<Committed, CommitError>),
    Wake,
    Heartbeat,
    Stop,
}

impl Driver {
    pub(crate) fn new(inner: Arc<Inner>, lease: Lease) -> Result<Self, StoreError> {
        let request = JobRequest::read(&lease)?;
        let of_team = inner.config.plans.of(lease.team).max_concurrency;
        let max_concurrency = u32::try_from(of_team).unwrap_or(u32::MAX);
        let policy = Policy {
            robots_agent: inner.config.robots_agent.clone(),
            max_concurrency,
        };
        let options = request.scrape_options();
        let team = lease.team;
        let cache = PageCache::new(inner.store.clone(), team);
        let files = SiteFiles::of_job(&inner, cache.clone(), &options);
        Ok(Self {
            inner,
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

    /// Drives the crawl until it ends, the lease is lost, or `stop` is called.
    pub(crate) async fn run(self, stop: CancellationToken, added: &Notify) -> Result<Stopped, StoreError> {
        let mut run = self.load().await?;
        let mut heartbeat = tokio::time::interval(limits::HEARTBEAT);
        heartbeat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            while let Some(output) = run.crawl.poll(self.ticker.now()) {
                if self.start(&mut run, output) {
                    self.inner.changes.announce(self.job());
                    return Ok(Stopped::Ended);
                }
            }
            let wake = run.crawl.wake_at().map(|time| self.ticker.instant(time));
            match next_step(&mut run, wake, &mut heartbeat, &stop, added).await {
                Step::Done(input) => run.crawl.handle(self.ticker.now(), input),
                Step::Slot(slot) => self.slot_taken(&mut run, slot),
                Step::Committed(Ok(committed)) => {
                    run.crawl.handle(self.ticker.now(), Input::Committed(committed));
                    self.inner.changes.announce(self.job());
                    self.inner.outbox.notify_one();
                }
                Step::Committed(Err(CommitError::LeaseLost)) => return Ok(Stopped::LeaseLost),
                Step::Committed(Err(CommitError::Repeated(mut repeated))) => {
                    tracing::info!("the answer to a commit was lost; going on from what is stored");
                    if repeated.state == JobState::Ended {
                        return Ok(Stopped::Ended);
                    }
                    // No owner was lost, so no page is to blame.
                    repeated.snapshot.progress.begun.clear();
                    run = self.restore(repeated.snapshot)?;
                }
                Step::Committed(Err(CommitError::Store(error))) => return Err(error),
                Step::Wake => {}
                Step::Heartbeat => {
                    if !self
                        .inner
                        .store
                        .renew(&self.lease, clock::now(), limits::LEASE_MS)
                        .await?
                    {
                        return Ok(Stopped::LeaseLost);
                    }
                }
                Step::Stop => return self.give_back(run).await,
            }
        }
    }

    async fn load(&self) -> Result<Run, StoreError> {
        self.restore(self.inner.store.load(&self.lease).await?)
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
            asked: None,
            slot: None,
        })
    }

    fn slot_taken(&self, run: &mut Run, slot: (Slot, Queued)) {
        run.slot = Some(slot);
        run.crawl.handle(self.ticker.now(), Input::SlotTaken);
    }

    /// Starts what the core asks for; true when there is nothing more to do.
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
            Output::WantSlot => {
                let mut asked = self.inner.slots.ask(Asker {
                    team: self.team,
                    key: self.lease.key,
                    job: self.job(),
                });
                match asked.at_once() {
                    Some(slot) => self.slot_taken(run, slot),
                    None => run.asked = Some(asked),
                }
            }
            Output::ReturnSlot => run.slot = None,
            Output::FetchPage(task) => {
                let (slot, queued) = run
                    .slot
                    .take()
                    .expect("the core starts a page in the slot that it was told of");
                let inner = self.inner.clone();
                let (options, jar) = (self.options.clone(), self.jar.clone());
                let (team, job) = (self.team, self.job());
                let cache = self.cache.clone();
                let (base, keep) = (self.lease.base.clone(), !self.request.zero_data_retention());
                let work = async move {
                    let id = clock::new_scrape_id();
                    let failed = |error: ApiError, passing| {
                        PageOutcome::Failed(FetchFailure {
                            id,
                            code: error.code,
                            message: error.message,
                            passing,
                        })
                    };
                    let reserved = match inner.budget.reserve(&inner.store, team).await {
                        Ok(reserved) => reserved,
                        Err(error) => {
                            let passing = error.code != ErrorCode::InsufficientCredits;
                            return Input::PageFetched {
                                key: task.key,
                                outcome: failed(error, passing),
                            };
                        }
                    };
                    let profile = match inner.open_profile(team, &options, job).await {
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
                    };
                    let page = AssertUnwindSafe(inner.scraper.page(target, &cache, &options, id, &jar));
                    let (mut outcome, mut taken) = page
                        .catch_unwind()
                        .await
                        .unwrap_or_else(|_| (panicked(id), Taken::default()));
                    if let PageOutcome::Page(page) = &mut outcome {
                        queued.note(&mut page.document.metadata);
                        let document = &mut page.document;
                        let place = Place {
                            store: &inner.store,
                            base: &base,
                            keep,
                        };
                        let finished = async {
                            profiles::keep(&inner, profile, &mut taken).await?;
                            files::attach(place, document, taken).await?;
                            tracking::track(&inner.store, team, &task.url, &options, document).await
                        };
                        if let Err(error) = finished.await {
                            outcome = failed(error, true);
                        }
                    }
                    if let PageOutcome::Page(page) = &outcome {
                        reserved.spend(page.credits);
                    }
                    drop(slot);
                    Input::PageFetched {
                        key: task.key,
                        outcome,
                    }
                };
                run.tasks.spawn(work.instrument(span));
            }
            Output::Commit(batch) => {
                run.commit = Some(tokio::spawn(
                    commit(self.inner.clone(), self.lease.clone(), batch).instrument(span),
                ));
            }
            Output::Finish => return true,
        }
        false
    }

    /// At shutdown: the last commit is awaited, pages in flight are dropped (the next owner fetches
    /// them again), the shard is free at once.
    async fn give_back(&self, run: Run) -> Result<Stopped, StoreError> {
        let Run {
            mut tasks, commit, ..
        } = run;
        tasks.shutdown().await;
        if let Some(commit) = commit {
            let _ = tokio::time::timeout(limits::DRAIN, commit).await;
        }
        self.inner.store.release(&self.lease).await?;
        Ok(Stopped::GivenBack)
    }
}

async fn next_step(
    run: &mut Run,
    wake: Option<Instant>,
    heartbeat: &mut tokio::time::Interval,
    stop: &CancellationToken,
    added: &Notify,
) -> Step {
    let Run {
        tasks, commit, asked, ..
    } = run;
    let committing = async {
        match commit {
            Some(handle) => handle.await,
            None => std::future::pending().await,
        }
    };
    let taking = async {
        match asked {
            Some(asked) => asked.await_slot().await,
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
        () = stop.cancelled() => Step::Stop,
        result = committing => {
            run.commit = None;
            Step::Committed(result.unwrap_or_else(|panic| Err(CommitError::Store(StoreError::Unreadable(panic.to_string())))))
        }
        Some(result) = tasks.join_next() => match result {
            Ok(input) => Step::Done(input),
            // A task that panicked is a bug; the shard is taken over anew and the page fetched again.
            Err(panic) => Step::Committed(Err(CommitError::Store(StoreError::Unreadable(panic.to_string())))),
        },
        slot = taking => {
            run.asked = None;
            Step::Slot(slot)
        }
        () = added.notified() => Step::Done(Input::Added),
        () = waking => Step::Wake,
        _ = heartbeat.tick() => Step::Heartbeat,
    }
}

/// A bug met by one page costs that page.
fn panicked(id: ScrapeId) -> PageOutcome {
    let message = "the server failed on this page; its log says where".to_owned();
    PageOutcome::Failed(FetchFailure {
        id,
        code: ErrorCode::Unknown,
        message,
        passing: false,
    })
}

/// Commits a batch, again and again while the store cannot take it (busy, disk full): nothing is
/// lost, and nothing new is fetched meanwhile beyond what is in flight.
async fn commit(inner: Arc<Inner>, lease: Lease, batch: Batch) -> Result<Committed, CommitError> {
    let mut pause = limits::COMMIT_RETRY;
    loop {
        match inner
            .store
            .commit(&lease, &batch, clock::now(), limits::LEASE_MS)
            .await
        {
            Err(CommitError::Store(error)) if error.passing() => {
                tracing::warn!(crawl.id = %lease.job, %error, "a commit has to wait");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(limits::COMMIT_RETRY_MAX);
            }
            result => return result,
        }
    }
}
