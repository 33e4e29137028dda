//! The engine's public operations: starts and cancels crawls, scrapes pages, maps sites, waits for changes,
//! shuts down.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use harvestman_core::api::crawl::{CrawlRequest, Enabled};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::map::{MapAnswer, MapRequest};
use harvestman_core::api::page::Document;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::problem;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::billing::MAP_CREDITS;
use harvestman_core::crawl::{Limiter, SlotKind};
use harvestman_core::ids::{JobId, WebhookId};
use harvestman_core::scope::Scope;
use harvestman_core::scrape::{Capabilities, Upload, check_supported};
use harvestman_core::webhook::{Event, Family};
use harvestman_fetch::Fetcher;
use harvestman_store::{
    CancelOutcome, CreateOutcome, Idempotency, JobKind, JobStatus, NewJob, Principal, Store, StoreError,
    WebhookEvents,
};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::browser_pages::BrowserPages;
use crate::budget::Budget;
use crate::changes::JobChanges;
use crate::driver_signals::DriverSignals;
use crate::file_reader::FileReader;
use crate::llm::Llm;
use crate::map::SiteMapper;
use crate::new_job::new_job;
use crate::page_metrics::PageMetrics;
use crate::plans::Plans;
use crate::profiles::Profiles;
use crate::scraper::Scraper;
use crate::search::Search;
use crate::sessions::{self, Sessions};
use crate::single::SingleScrape;
use crate::slots::Slots;
use crate::{clock, expiry, limits, scheduler, webhooks};

/// Settings made by the operator.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Product token matched against robots.txt groups.
    pub robots_agent: String,
    /// Limits of each team.
    pub plans: Plans,
    /// The language model. Without one, prompts are read as plain steps and data comes from what pages state.
    pub llm: Option<Llm>,
    /// The search provider. Without one, searches use the team's own cached pages.
    pub search: Option<Search>,
    /// Options that only the operator can enable.
    pub enabled: Enabled,
    /// Number of pages converted at once.
    pub cores: usize,
    /// Number of browser pages open at once, over all teams.
    pub browser_pages: usize,
    /// Secret that signs webhooks; `None` omits the signature.
    pub webhook_secret: Option<String>,
    /// Pauses before the second, third, ... attempt of a webhook delivery.
    pub webhook_retries: Vec<Duration>,
    /// Further header names that carry the signature.
    pub webhook_signature_aliases: Vec<String>,
    /// Program that reads files when called with [`crate::READ_FILE_COMMAND`].
    pub file_reader: PathBuf,
}

/// An uploaded file, converted like a page.
#[derive(Clone, Debug)]
pub struct UploadedFile {
    /// File name.
    pub name: String,
    /// Content type that the client sent.
    pub content_type: Option<String>,
    /// File contents.
    pub body: Bytes,
}

/// Runs jobs. Cheap to clone; stopped by [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) config: EngineConfig,
    pub(crate) store: Store,
    pub(crate) scraper: Scraper,
    pub(crate) slots: Slots,
    pub(crate) budget: Budget,
    pub(crate) sessions: Sessions,
    pub(crate) profiles: Profiles,
    /// Permits for maps, which hold many URLs in memory.
    pub(crate) maps: Arc<Semaphore>,
    /// Permits for reading sitemaps.
    pub(crate) sitemaps: Arc<Semaphore>,
    pub(crate) changes: JobChanges,
    pub(crate) driver_signals: DriverSignals,
    /// Identifies this process among others that use the same store.
    pub(crate) node: String,
    pub(crate) new_work: Notify,
    pub(crate) outbox: Notify,
    pub(crate) stop: CancellationToken,
    loops: Mutex<Vec<JoinHandle<()>>>,
}

impl Engine {
    /// Starts the loops that drive stored jobs. Jobs that were running continue.
    pub fn start(
        config: EngineConfig,
        store: Store,
        fetcher: Fetcher,
        browser: Option<BrowserPages>,
    ) -> Engine {
        let live = browser.as_ref().map(|browser| browser.live().clone());
        let inner = Arc::new(Inner {
            scraper: Scraper::new(
                fetcher,
                browser,
                FileReader::new(config.file_reader.clone(), config.cores),
                config.llm.clone(),
                config.cores,
            ),
            slots: Slots::new(config.plans.clone(), config.browser_pages),
            budget: Budget::new(config.plans.clone()),
            sessions: Sessions::new(live, config.plans.clone()),
            profiles: Profiles::default(),
            maps: Arc::new(Semaphore::new(limits::MAPS_AT_ONCE)),
            sitemaps: Arc::new(Semaphore::new(config.cores.max(1))),
            changes: JobChanges::default(),
            driver_signals: DriverSignals::default(),
            node: clock::new_job_id().to_string(),
            new_work: Notify::new(),
            outbox: Notify::new(),
            stop: CancellationToken::new(),
            loops: Mutex::default(),
            config,
            store,
        });
        let loops = vec![
            tokio::spawn(scheduler::run(inner.clone(), inner.stop.clone())),
            tokio::spawn(webhooks::run(inner.clone(), inner.stop.clone())),
            tokio::spawn(expiry::run(inner.clone(), inner.stop.clone())),
            tokio::spawn(sessions::run(inner.clone(), inner.stop.clone())),
        ];
        *inner.loops.lock().unwrap_or_else(PoisonError::into_inner) = loops;
        Engine { inner }
    }

    /// Returns the store that the engine works on.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the limits of each team.
    pub fn plans(&self) -> &Plans {
        &self.inner.config.plans
    }

    /// Returns whether the browser's program starts, judged by the pages rendered so far; `None` without a
    /// browser.
    pub fn browser_is_healthy(&self) -> Option<bool> {
        self.inner.scraper.browser().map(BrowserPages::is_healthy)
    }

    /// Returns whether the last request to the language model succeeded; `None` without a model.
    pub fn model_is_healthy(&self) -> Option<bool> {
        self.inner.config.llm.as_ref().map(Llm::is_healthy)
    }

    /// Returns whether the last request to the search provider succeeded; `None` without a provider.
    pub fn search_is_healthy(&self) -> Option<bool> {
        self.inner.config.search.as_ref().map(Search::is_healthy)
    }

    /// Returns how many pages of the team are in flight (HTTP and browser), and the limit of pages over HTTP.
    pub fn concurrency(&self, principal: &Principal) -> (usize, usize) {
        let limit = self.inner.config.plans.of(principal.team).max_concurrency;
        (self.inner.slots.in_use(principal.team), limit)
    }

    /// Returns why no further page of a job starts now; `None` if nothing limits it or another node drives
    /// it.
    pub fn limiter(&self, job: JobId) -> Option<Limiter> {
        let limiter = self.inner.driver_signals.limiter(job)?;
        let behind = self.inner.scraper.conversions().is_behind();
        // Pages that wait for a conversion hold their slots, so conversion is the real limit.
        Some(match limiter {
            Limiter::Concurrency | Limiter::HostConcurrency if behind => Limiter::Conversion,
            limiter => limiter,
        })
    }

    /// Returns page counters since the start, over all teams.
    pub fn page_metrics(&self) -> PageMetrics {
        let slots = &self.inner.slots;
        PageMetrics {
            plain_in_flight: slots.in_use_in_all_teams(SlotKind::Plain) as u64,
            browser_in_flight: slots.in_use_in_all_teams(SlotKind::Browser) as u64,
            waiting_for_conversion: self.inner.scraper.conversions().waiting() as u64,
            ..slots.counters().read()
        }
    }

    /// Stores a crawl and starts it. Returns once the job is stored. The same idempotency key with the same
    /// body returns the id of the first job. `base` is this server's URL as the client sees it, for links in
    /// documents.
    pub async fn start_crawl(
        &self,
        principal: &Principal,
        request: CrawlRequest,
        idempotency: Option<Idempotency>,
        base: &str,
    ) -> Result<JobId, ApiError> {
        self.check_crawl(&request).await?;
        if let Some(first) = self.afford(principal, idempotency.as_ref()).await? {
            return Ok(first);
        }
        let job = NewJob {
            base: base.to_owned(),
            page_limit: request.limit,
            webhook: request
                .webhook
                .as_ref()
                .map(|webhook| subscribed(webhook, Family::Crawl)),
            zero_data_retention: request.zero_data_retention,
            ..new_job(
                principal,
                JobKind::Crawl,
                &request.url.url,
                &request,
                &request.caller,
            )?
        };
        match self
            .inner
            .store
            .create_crawl(&job, idempotency.as_ref())
            .await
            .map_err(|error| unavailable(&error))?
        {
            CreateOutcome::Created => {
                tracing::info!(crawl.id = %job.id, team.id = %principal.team, "crawl started");
                self.inner.new_work.notify_one();
                self.inner.outbox.notify_one();
                Ok(job.id)
            }
            CreateOutcome::Repeated(id) => Ok(id),
            CreateOutcome::KeyReused => Err(key_reused()),
        }
    }

    /// Checks that the team has a credit left for a new job. A repeated request (same idempotency key and
    /// body) costs nothing: without credits it returns the id of the first job.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn afford(
        &self,
        principal: &Principal,
        idempotency: Option<&Idempotency>,
    ) -> Result<Option<JobId>, ApiError> {
        let store = &self.inner.store;
        let Err(refusal) = self.inner.budget.check(store, principal.team).await else {
            return Ok(None);
        };
        let Some(idempotency) = idempotency else {
            return Err(refusal);
        };
        match store
            .find_earlier_request(principal.team, idempotency, clock::now())
            .await
            .map_err(|error| unavailable(&error))?
        {
            Some(CreateOutcome::Repeated(id)) => Ok(Some(id)),
            Some(CreateOutcome::KeyReused) => Err(key_reused()),
            Some(CreateOutcome::Created) | None => Err(refusal),
        }
    }

    async fn check_crawl(&self, request: &CrawlRequest) -> Result<(), ApiError> {
        Scope::compile(request)?;
        request.check_enabled(self.inner.config.enabled)?;
        check_supported(&request.scrape_options, &self.inner.capabilities())
            .map_err(|error| problem::under("scrapeOptions", error))?;
        if !request.scrape_options.lockdown {
            self.check_target(&request.url.url).await?;
        }
        self.check_receiver(request.webhook.as_ref()).await
    }

    /// Rejects a webhook receiver at a private address.
    pub(crate) async fn check_receiver(&self, webhook: Option<&WebhookSpec>) -> Result<(), ApiError> {
        match webhook {
            Some(webhook) => self.check_receiver_at(&["webhook", "url"], webhook).await,
            None => Ok(()),
        }
    }

    /// Like [`Self::check_receiver`], for a receiver whose URL is at `path` of the body.
    pub(crate) async fn check_receiver_at(
        &self,
        path: &[&str],
        webhook: &WebhookSpec,
    ) -> Result<(), ApiError> {
        self.check_target(&webhook.url).await.map_err(|error| {
            let message = format!("`{}`: {}", path.join("."), error.message);
            ApiError::new(ErrorCode::BadRequest, message)
                .with_details(serde_json::json!([{ "path": path, "message": error.message }]))
        })
    }

    /// Rejects a private address before anything is stored. A host that does not resolve is accepted here:
    /// the job reports it.
    pub(crate) async fn check_target(&self, url: &url::Url) -> Result<(), ApiError> {
        match self.inner.scraper.fetcher().check_target(url).await {
            Err(error) if error.code() == ErrorCode::UnsafeTarget => {
                Err(ApiError::new(error.code(), error.to_string()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Cancels a job of the team. Cancelling it again succeeds.
    pub async fn cancel(&self, principal: &Principal, job: JobId) -> Result<(), ApiError> {
        match self
            .inner
            .store
            .cancel(principal.team, job, clock::now())
            .await
            .map_err(|error| unavailable(&error))?
        {
            CancelOutcome::Cancelled => {
                self.inner.driver_signals.cancel(job);
                self.inner.changes.announce(job);
                Ok(())
            }
            CancelOutcome::AlreadyEnded(status) => Err(ApiError::new(
                ErrorCode::Conflict,
                format!(
                    "the job is already {}; there is nothing to cancel",
                    status.as_str()
                ),
            )),
            CancelOutcome::NotFound => Err(job_not_found()),
        }
    }

    /// Sends an event of a job of the team again. Returns false if there is no such event.
    pub async fn resend_event(
        &self,
        principal: &Principal,
        job: JobId,
        event: WebhookId,
    ) -> Result<bool, StoreError> {
        let exists = self
            .inner
            .store
            .resend_event(principal.team, job, event, clock::now())
            .await?;
        self.inner.outbox.notify_one();
        Ok(exists)
    }

    /// Scrapes one page and stores the result under its scrape id. For `base` see [`Self::start_crawl`].
    pub async fn scrape(
        &self,
        principal: &Principal,
        request: ScrapeRequest,
        base: &str,
    ) -> Result<Document, ApiError> {
        request.check_enabled(self.inner.config.enabled)?;
        check_supported(&request.options, &self.inner.capabilities())?;
        // With `lockdown` the host name is not even resolved.
        if !request.options.lockdown {
            self.check_target(&request.url.url).await?;
        }
        let reservation = self
            .inner
            .budget
            .reserve(&self.inner.store, principal.team)
            .await?;
        let scrape = SingleScrape::begin(self.inner.clone(), principal.clone(), request, base).await?;
        let document = scrape.run().await?;
        reservation.spend(document.metadata.credits_used.unwrap_or(0));
        Ok(document)
    }

    /// Lists the URLs of a site.
    pub async fn map(&self, principal: &Principal, request: MapRequest) -> Result<MapAnswer, ApiError> {
        let reservation = self
            .inner
            .budget
            .reserve(&self.inner.store, principal.team)
            .await?;
        let answer = SiteMapper::new(self.inner.clone(), principal.team, request)
            .run(principal)
            .await?;
        reservation.spend(MAP_CREDITS);
        Ok(answer)
    }

    /// Converts an uploaded file and stores the result under its scrape id.
    ///
    /// # Errors
    /// 400 for unsupported file types and options, 402 without a credit; otherwise as for a scrape.
    pub async fn parse(
        &self,
        principal: &Principal,
        file: UploadedFile,
        request: ParseOptions,
    ) -> Result<Document, ApiError> {
        request.check_allowed()?;
        let capabilities = Capabilities {
            browser: false,
            ..self.inner.capabilities()
        };
        check_supported(&request.options, &capabilities)?;
        let upload = file.upload();
        let content_type = upload.kind()?;
        let request = ScrapeRequest {
            options: request.options,
            caller: request.caller,
            ..ScrapeRequest::new(upload.url())
        };
        let reservation = self
            .inner
            .budget
            .reserve(&self.inner.store, principal.team)
            .await?;
        // An upload has no screenshots, so no link needs a base URL.
        let scrape = SingleScrape::begin(self.inner.clone(), principal.clone(), request, "").await?;
        let document = scrape.with_upload(file, content_type).run().await?;
        reservation.spend(document.metadata.credits_used.unwrap_or(0));
        Ok(document)
    }

    /// Waits until the job has more than `seen_completed` documents, has ended, or `wait` has passed.
    pub async fn wait_for_change(
        &self,
        principal: &Principal,
        job: JobId,
        seen_completed: u64,
        wait: Duration,
    ) {
        let notify = self.inner.changes.subscribe(job);
        let watching = async {
            loop {
                let notified = notify.notified();
                match self.inner.store.job(principal.team, job, clock::now()).await {
                    Ok(Some(row)) if row.completed <= seen_completed && row.status == JobStatus::Scraping => {
                        notified.await
                    }
                    Ok(_) | Err(_) => return,
                }
            }
        };
        let _ = tokio::time::timeout(wait, watching).await;
    }

    /// Shuts down: starts nothing new, drops pages in flight, releases shards, ends browser sessions.
    pub async fn shutdown(&self) {
        self.inner.stop.cancel();
        let loops = std::mem::take(&mut *self.inner.loops.lock().unwrap_or_else(PoisonError::into_inner));
        let ending = async {
            for handle in loops {
                let _ = handle.await;
            }
        };
        tokio::join!(ending, self.inner.end_sessions());
        self.inner.scraper.stop().await;
    }
}

impl Inner {
    /// Returns what this server can do for a page.
    pub(crate) fn capabilities(&self) -> Capabilities {
        Capabilities {
            browser: self.scraper.browser().is_some(),
            model: self.config.llm.is_some(),
        }
    }
}

impl UploadedFile {
    pub(crate) fn upload(&self) -> Upload<'_> {
        Upload {
            name: &self.name,
            content_type: self.content_type.as_deref(),
            body: &self.body,
        }
    }
}

/// Returns the events of a family that a receiver subscribed to.
pub(crate) fn subscribed(webhook: &WebhookSpec, family: Family) -> WebhookEvents {
    let wants = |name| Event::of(family, name).is_some_and(|event| webhook.wants(event));
    WebhookEvents {
        started: wants("started"),
        page: wants("page") || wants("action"),
        completed: wants("completed"),
        failed: wants("failed"),
        cancelled: wants("cancelled"),
    }
}

pub(crate) fn key_reused() -> ApiError {
    ApiError::new(
        ErrorCode::IdempotencyKeyReused,
        "this x-idempotency-key was used with a different body; use a new key for a new request",
    )
}

pub(crate) fn job_not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "no such job; it may have expired")
}

/// Logs a store error and returns a 503: the failure is transient, so 5xx, never 404 (docs/API.md section 2).
pub(crate) fn unavailable(error: &StoreError) -> ApiError {
    tracing::error!(%error, "the store failed to handle a request");
    ApiError::new(
        ErrorCode::Unavailable,
        "the database is temporarily unavailable; try again in a moment",
    )
}

pub(crate) fn internal_error(error: &impl std::error::Error) -> ApiError {
    tracing::error!(%error, "internal error");
    ApiError::new(ErrorCode::Unknown, "internal server error; see the server log")
}

/// Returns the error for a request that the shutdown interrupts.
pub(crate) fn stopping() -> ApiError {
    let mut error = ApiError::new(
        ErrorCode::Unavailable,
        "the server is shutting down and dropped this request; send it again in a moment",
    );
    error.retry_after_s = Some(limits::STOP_RETRY_AFTER_S);
    error
}
