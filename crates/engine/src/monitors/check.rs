//! Work on one check. One batch scrape or crawl per target fetches the pages; the ids of these jobs are stored with
//! the check. Their results are compared and stored in portions, so a check of any size needs little memory and
//! continues where it was after a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::monitor::{MonitorRequest, MonitorTarget, Target, TargetKind};
use harvestman_core::api::monitor_response::{CheckPage, CheckStatus, PageStatus, TargetResult};
use harvestman_core::api::search::SearchRequest;
use harvestman_core::crawl::batch_scrape;
use harvestman_core::ids::{JobId, ScrapeId};
use harvestman_core::monitor::page::PageId;
use harvestman_core::monitor::{ORIGIN, TargetJob, job_of, target_ids};
use harvestman_core::url_key::UrlKey;
use harvestman_store::{
    CheckEnd, CheckLease, CheckPortion, JobKind, JobRow, JobStatus, NewCheckPage, NewJob, StoreError, new_id,
};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::finding::{Content, Finding, FoundPage, key_of, unreadable};
use super::judge::Judge;
use super::requests::changed_targets;
use crate::context::Context;
use crate::error::is_outage;
use crate::lease::while_renewed;
use crate::search::search_pages;
use crate::{clock, limits, outage};

/// Works on a leased check until it has ended, its lease is lost, or `stop` is cancelled.
pub(super) async fn drive(
    context: Arc<Context>,
    lease: CheckLease,
    comparisons: Arc<Semaphore>,
    stop: CancellationToken,
) {
    let renew = || context.store.renew_check(&lease, clock::now(), limits::LEASE_MS);
    let work = CheckRun::new(&context, &lease, &comparisons).work();
    tokio::select! {
        biased;
        () = stop.cancelled() => {
            let _ = context.store.renew_check(&lease, clock::now(), 0).await;
        }
        worked = while_renewed(renew, work) => match worked {
            Ok(Some(Ok(()))) => {}
            Ok(None | Some(Err(Stop::LeaseLost))) => cancel_jobs(&context, &lease).await,
            Ok(Some(Err(Stop::Store(StoreError::Unreadable(error))))) if is_damaged(&context, &lease) => {
                tracing::error!(error, "the stored state of a check is damaged");
                fail_damaged(&context, &lease).await;
            }
            // The lease expires, and this or another node continues.
            Ok(Some(Err(Stop::Store(error)))) | Err(error) => tracing::error!(%error, "cannot work on a check; it will continue when its lease expires"),
        },
    }
    context.budget.close(lease.team, lease.check);
    context.outbox.notify_one();
}

/// Cancels the jobs that this check created while its monitor was deleted, which cancelled those that existed. If
/// another node took over the check, its jobs keep running.
async fn cancel_jobs(context: &Arc<Context>, lease: &CheckLease) {
    if matches!(context.store.monitor(lease.team, lease.monitor).await, Ok(None)) {
        cancel_all(context, lease).await;
    }
}

async fn cancel_all(context: &Arc<Context>, lease: &CheckLease) {
    for job in lease.jobs.iter().filter(|job| **job != lease.check) {
        if context.store.cancel(lease.team, *job, clock::now()).await.is_ok() {
            context.driver_signals.cancel(*job);
        }
    }
}

/// Returns whether no other process can read what this one could not.
fn is_damaged(context: &Context, lease: &CheckLease) -> bool {
    read_request(&lease.request).is_ok() || !context.store.may_be_readable_elsewhere(&lease.request)
}

/// Fails a check whose stored state cannot be read, and cancels its jobs.
async fn fail_damaged(context: &Arc<Context>, lease: &CheckLease) {
    cancel_all(context, lease).await;
    let end = CheckEnd {
        status: CheckStatus::Failed,
        error: Some("the stored data of this check is damaged".to_owned()),
        target_results: None,
        credits: 0,
        job_credits: 0,
        changed_targets: Vec::new(),
    };
    let write = || context.store.finish_check(lease, end.clone(), clock::now());
    match outage::retry(StoreError::is_transient, write).await {
        Ok(None) => {}
        Ok(Some(_)) => context
            .slots
            .metrics()
            .count_job_end(JobKind::Monitor, JobStatus::Failed),
        Err(error) => tracing::error!(%error, "cannot end a damaged check"),
    }
}

struct CheckRun<'c> {
    context: &'c Arc<Context>,
    lease: &'c CheckLease,
    /// Permits for comparisons, which hold pages in memory.
    comparisons: &'c Semaphore,
    judge: Judge<'c>,
    target_ids: Vec<String>,
    /// Figures of the targets so far; stored with each portion.
    results: Vec<TargetResult>,
    /// Credits of searches and judgments that are not stored yet.
    credits: u32,
    job_credits: u64,
    /// No check of this monitor has ended before.
    first: bool,
}

/// Why a check stopped before its end.
enum Stop {
    LeaseLost,
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<'c> CheckRun<'c> {
    fn new(context: &'c Arc<Context>, lease: &'c CheckLease, comparisons: &'c Semaphore) -> Self {
        Self {
            context,
            lease,
            comparisons,
            judge: Judge::new(context, None),
            target_ids: Vec::new(),
            results: Vec::new(),
            credits: 0,
            job_credits: 0,
            first: false,
        }
    }

    async fn work(mut self) -> Result<(), Stop> {
        let context = self.context;
        let request = read_request(&self.lease.request)?;
        let monitor = context.store.monitor(self.lease.team, self.lease.monitor).await?;
        let monitor = monitor.ok_or(Stop::LeaseLost)?;
        self.first = monitor.last_summary.is_none();
        self.judge = Judge::new(context, request.judged_goal());
        self.target_ids = target_ids(&request.targets);
        if !self.lease.running {
            let checked = outage::retry(is_outage, || context.budget.check(self.lease.team)).await;
            if let Err(error) = checked {
                let status = match error.code {
                    ErrorCode::InsufficientCredits => CheckStatus::SkippedNoCredits,
                    _ => CheckStatus::Failed,
                };
                return self.finish(status, Some(error.message), None).await;
            }
            self.create_jobs(&request.targets).await?;
            if !context.store.begin_check(self.lease, clock::now()).await? {
                return Err(Stop::LeaseLost);
            }
        }
        self.results = self.stored_results().await?;
        for (index, target) in request.targets.iter().enumerate() {
            self.check_target(index, &target.target).await?;
        }
        let failed = self.results.iter().filter(|result| result.error.is_some());
        let failed: Vec<&TargetResult> = failed.collect();
        let status = match failed.len() {
            0 => CheckStatus::Completed,
            some if some < self.results.len() => CheckStatus::Partial,
            _ => CheckStatus::Failed,
        };
        let error = failed.first().and_then(|result| result.error.clone());
        let results = serde_json::to_string(&self.results).map_err(unreadable)?;
        self.finish(status, error, Some(results)).await
    }

    /// Returns the figures that an interrupted check stored.
    async fn stored_results(&self) -> Result<Vec<TargetResult>, StoreError> {
        let CheckLease { monitor, check, .. } = *self.lease;
        let row = self.context.store.check(monitor, check, clock::now()).await?;
        match row.and_then(|row| row.target_results) {
            Some(results) => serde_json::from_str(&results).map_err(unreadable),
            None => Ok(Vec::new()),
        }
    }

    async fn finish(
        &self,
        status: CheckStatus,
        error: Option<String>,
        target_results: Option<String>,
    ) -> Result<(), Stop> {
        let store = &self.context.store;
        let request = read_request(&self.lease.request)?;
        let monitor = store.monitor(self.lease.team, self.lease.monitor).await?;
        let now = read_request(&monitor.ok_or(Stop::LeaseLost)?.request)?;
        let end = CheckEnd {
            status,
            error,
            target_results,
            credits: self.credits,
            job_credits: self.job_credits,
            changed_targets: changed_targets(&request.targets, &now.targets),
        };
        let write = || store.finish_check(self.lease, end.clone(), clock::now());
        let summary = outage::retry(StoreError::is_transient, write)
            .await?
            .ok_or(Stop::LeaseLost)?;
        self.committed(self.credits);
        tracing::info!(
            status = status.as_str(),
            pages = summary.total_pages,
            changed = summary.changed,
            "check ended"
        );
        let job_status = match status {
            CheckStatus::Failed => JobStatus::Failed,
            _ => JobStatus::Completed,
        };
        self.context
            .slots
            .metrics()
            .count_job_end(JobKind::Monitor, job_status);
        Ok(())
    }

    /// Creates the jobs that do not exist yet: the server may have stopped in between.
    async fn create_jobs(&self, targets: &[MonitorTarget]) -> Result<(), StoreError> {
        let store = &self.context.store;
        for (target, id) in targets.iter().zip(&self.lease.jobs) {
            if store.job(self.lease.team, *id, clock::now()).await?.is_some() {
                continue;
            }
            match job_of(&target.target, self.lease.monitor) {
                TargetJob::Pages(batch, urls) => {
                    let pages = batch_scrape::offers(urls);
                    let url = pages.first().map(|page| page.url.to_string()).unwrap_or_default();
                    let request = serde_json::to_string(&*batch).map_err(unreadable)?;
                    let job = self.new_job(*id, JobKind::BatchScrape, url, request, pages.len() as u64);
                    store.create_batch(&job, pages, None).await?;
                }
                TargetJob::Crawl(crawl) => {
                    let request = serde_json::to_string(&*crawl).map_err(unreadable)?;
                    let url = crawl.url.url.to_string();
                    let job = self.new_job(*id, JobKind::Crawl, url, request, crawl.limit);
                    store.create_crawl(&job, None).await?;
                }
                TargetJob::Searches(_) => {}
            }
        }
        self.context.new_work.notify_one();
        Ok(())
    }

    fn new_job(&self, id: JobId, kind: JobKind, url: String, request: String, page_limit: u64) -> NewJob {
        let retention = self.context.config.retention.as_millis();
        NewJob {
            id,
            team: self.lease.team,
            key: self.lease.key,
            kind,
            url,
            request,
            base: self.lease.base.clone(),
            page_limit,
            webhook: None,
            origin: Some(ORIGIN.to_owned()),
            integration: None,
            username: None,
            zero_data_retention: false,
            retention_ms: u64::try_from(retention).unwrap_or(u64::MAX),
            created_at: clock::now(),
        }
    }

    async fn check_target(&mut self, index: usize, target: &Target) -> Result<(), Stop> {
        if self.results.len() == index {
            self.results.push(TargetResult {
                target_id: self.target_ids[index].clone(),
                kind: target.kind().to_string(),
                ..TargetResult::default()
            });
        }
        let result = &mut self.results[index];
        self.judge.start_target(result);
        match job_of(target, self.lease.monitor) {
            TargetJob::Searches(searches) => {
                self.search(index, searches).await?;
            }
            TargetJob::Pages(..) | TargetJob::Crawl(_) => {
                let job = self.lease.jobs.get(index).copied().ok_or_else(|| {
                    StoreError::Unreadable("a check has fewer jobs than targets".to_owned())
                })?;
                match target.kind() {
                    TargetKind::Crawl => result.crawl_id = Some(job.to_string()),
                    _ => result.expected_jobs = Some(vec![job.to_string()]),
                }
                self.compare_job(index, job).await?;
            }
        }
        self.judge.report(&mut self.results[index]);
        Ok(())
    }

    /// Waits for the end of a job, then compares its pages.
    async fn compare_job(&mut self, index: usize, id: JobId) -> Result<(), Stop> {
        let target = target_number(index);
        let Some(job) = self.wait(id).await? else {
            self.results[index].error = Some("its pages expired while the server was stopped".to_owned());
            return Ok(());
        };
        self.job_credits += job.credits;
        // The semaphore is never closed.
        let _permit = self.comparisons.acquire().await.ok();
        let store = &self.context.store;
        let stored = store.compared_pages(self.lease.check, target).await?;
        let mut portion = Portion { target, stored };
        let mut skip = 0;
        loop {
            let stored = portion.stored;
            let limit = Some(limits::CHECK_PORTION);
            let chunk = store.documents(id, skip, limit, limits::CHECK_PAGE_BYTES).await?;
            let (from, upto) = (skip, chunk.next_skip);
            if chunk.documents.is_empty() {
                break;
            }
            if upto > stored {
                let documents = chunk
                    .documents
                    .into_iter()
                    .zip(from..)
                    .filter(|(_, no)| *no >= stored);
                let documents = documents.map(|(text, _)| Finding::Page(text));
                self.store_portion(&mut portion, documents.collect()).await?;
            }
            skip = upto;
            if !chunk.more {
                break;
            }
        }
        let errors = store.errors(id).await?.errors;
        let failed: Vec<Finding> = errors
            .into_iter()
            .map(|error| Finding::Failed(error.url, error.message))
            .collect();
        let total = skip + failed.len() as u64;
        let rest = usize::try_from(portion.stored.saturating_sub(skip)).unwrap_or(usize::MAX);
        self.store_portion(&mut portion, failed.into_iter().skip(rest).collect())
            .await?;
        self.results[index].result_count = total;
        if job.status == JobStatus::Completed && job.admitted < job.page_limit && job.kind == JobKind::Crawl {
            self.report_missing(&mut portion).await?;
        }
        if job.status != JobStatus::Completed && skip == 0 {
            let reason = job.error.unwrap_or_else(|| format!("its job was {}", job.status));
            self.results[index].error = Some(reason);
        }
        Ok(())
    }

    async fn wait(&self, id: JobId) -> Result<Option<JobRow>, StoreError> {
        let notify = self.context.changes.subscribe(id);
        loop {
            let notified = notify.notified();
            match self.context.store.job(self.lease.team, id, clock::now()).await? {
                Some(job) if !job.status.is_final() => {
                    let _ = tokio::time::timeout(limits::CHECK_POLL, notified).await;
                }
                ended => return Ok(ended),
            }
        }
    }

    /// Reports pages that the last check found and this one did not.
    async fn report_missing(&mut self, portion: &mut Portion) -> Result<(), Stop> {
        loop {
            let store = &self.context.store;
            let missing = store
                .missing_urls(self.lease, portion.target, limits::CHECK_PORTION)
                .await?;
            if missing.is_empty() {
                return Ok(());
            }
            let missing = missing
                .into_iter()
                .map(|(key, url, scrape)| Finding::Missing(key, url, scrape));
            self.store_portion(portion, missing.collect()).await?;
        }
    }

    async fn search(&mut self, index: usize, searches: Vec<SearchRequest>) -> Result<(), Stop> {
        let target = target_number(index);
        let result = &mut self.results[index];
        let store = &self.context.store;
        let stored = store.compared_pages(self.lease.check, target).await?;
        let was_stored = stored > 0 || result.search_completed.is_some();
        result.search_completed.get_or_insert(true);
        if was_stored {
            result.result_count = stored;
            return Ok(());
        }
        let (mut found, mut seen, mut credits) = (Vec::new(), std::collections::HashSet::new(), 0u32);
        for search in searches {
            let deadline = Instant::now() + Duration::from_millis(search.timeout);
            match search_pages(self.context, self.lease.team, self.lease.check, &search, deadline).await {
                Ok(pages) => {
                    credits = credits.saturating_add(pages.credits);
                    for page in pages.pages {
                        if let Ok(url) = Url::parse(&page.url)
                            && seen.insert(key_of(&url))
                        {
                            found.push(Finding::Result(url, page.title, page.description));
                        }
                    }
                }
                Err(ApiError { message, .. }) => {
                    result.search_completed = Some(false);
                    result.error = Some(message);
                }
            }
        }
        result.search_credits = Some(credits.into());
        result.result_count = found.len() as u64;
        self.credits = self.credits.saturating_add(credits);
        // In one transaction: another search might have other results.
        self.store_portion(&mut Portion { target, stored: 0 }, found)
            .await
    }

    async fn store_portion(&mut self, portion: &mut Portion, found: Vec<Finding>) -> Result<(), Stop> {
        if found.is_empty() {
            return Ok(());
        }
        let store = &self.context.store;
        let mut pages = Vec::with_capacity(found.len());
        for found in found {
            pages.push(found.read()?);
        }
        let keys: Vec<UrlKey> = pages.iter().map(|page| page.key).collect();
        let known = store
            .target_pages(self.lease.monitor, portion.target, &keys)
            .await?;
        let known: HashMap<UrlKey, Option<ScrapeId>> = known.into_iter().collect();
        let judged_before = self.judge.credits;
        let mut entries = Vec::with_capacity(pages.len());
        for page in pages {
            entries.push(self.compare(portion.target, page, &known).await?);
        }
        self.judge.report(&mut self.results[portion.target as usize]);
        let target_results = serde_json::to_string(&self.results).map_err(unreadable)?;
        let judged = self.judge.credits - judged_before;
        let CheckLease { team, check, .. } = *self.lease;
        self.context.budget.spend(team, check, judged);
        let credits = std::mem::take(&mut self.credits).saturating_add(judged);
        let count = entries.len() as u64;
        let new = CheckPortion {
            target: portion.target,
            after: portion.stored,
            pages: entries,
            credits,
            target_results,
        };
        let write = || store.add_check_pages(self.lease, new.clone(), clock::now());
        if !outage::retry(StoreError::is_transient, write).await? {
            return Err(Stop::LeaseLost);
        }
        self.committed(credits);
        portion.stored += count;
        self.context.outbox.notify_one();
        Ok(())
    }

    fn committed(&self, credits: u32) {
        let CheckLease { team, check, .. } = *self.lease;
        self.context.budget.committed(team, check, credits.into());
    }

    async fn compare(
        &mut self,
        target: u32,
        page: FoundPage,
        known: &HashMap<UrlKey, Option<ScrapeId>>,
    ) -> Result<NewCheckPage, StoreError> {
        let id = PageId {
            id: new_id().to_string(),
            target: self.target_ids[target as usize].clone(),
            url: page.url.clone(),
            previous: known.get(&page.key).copied().flatten(),
            at: clock::now(),
        };
        let (mut entry, diff) = match page.content {
            Content::Document(document) => id.fetched(*document),
            Content::Failed(error) => (id.failed(error), None),
            Content::Missing(previous) => (PageId { previous, ..id }.entry(PageStatus::Removed), None),
            Content::Result { title, description } => {
                let status = match known.contains_key(&page.key) {
                    true => PageStatus::Same,
                    false => PageStatus::New,
                };
                let metadata = [("title", title), ("description", description)];
                let metadata = metadata.map(|(name, text)| (name.to_owned(), text.into()));
                let entry = CheckPage {
                    metadata: Some(metadata.into_iter().collect()),
                    ..id.entry(status)
                };
                (entry, None)
            }
        };
        self.judge.judge(&mut entry, diff, self.first).await;
        Ok(NewCheckPage {
            status: entry.status,
            scrape: entry.current_scrape_id.as_deref().and_then(|id| id.parse().ok()),
            entry: serde_json::to_string(&entry).map_err(unreadable)?,
            key: page.key,
            url: page.url,
        })
    }
}

/// Position in the pages of a target.
struct Portion {
    target: u32,
    stored: u64,
}

fn target_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn read_request(text: &str) -> Result<MonitorRequest, StoreError> {
    MonitorRequest::from_json(text.as_bytes()).map_err(|error| StoreError::Unreadable(error.to_string()))
}
