//! Synchronous scrapes: run on the node that received the request, and store their result or error.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::page::Document;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{Capabilities, Upload, check_supported};
use harvestman_store::{JobKind, JobStatus, NewJob, Principal, ScrapeResult, StoreError};
use tokio::time::{Instant, timeout, timeout_at};

use crate::budget::CreditReservation;
use crate::context::{Context, Engine};
use crate::error::stopping;
use crate::files::FileTarget;
use crate::jobs::new_job;
use crate::page_visit::{Page, PageVisits};
use crate::scraper::Conversion;
use crate::site_response::SiteResponse;
use crate::slots::SlotOwner;
use crate::turn::Turn;
use crate::{clock, limits, outage};

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

impl Engine {
    /// Scrapes one page and stores the result under its scrape id. For `base` see [`Self::start_crawl`].
    pub async fn scrape(
        &self,
        principal: &Principal,
        request: ScrapeRequest,
        base: &str,
    ) -> Result<Document, ApiError> {
        let started = Instant::now();
        request.check_enabled(self.context.config.enabled)?;
        self.check_options(&request.options)?;
        let deadline = started + Duration::from_millis(request.options.timeout);
        // With `lockdown` the host name is not even resolved.
        if !request.options.lockdown {
            let check = self.check_target(&request.url.url, &request.options);
            // A name that does not resolve in time is reported by the scrape.
            timeout_at(deadline, check).await.unwrap_or(Ok(()))?;
        }
        let budget = &self.context.budget;
        let reservation = budget.reserve_until(deadline, principal.team).await?;
        let mut scrape = SingleScrape::begin(&self.context, principal, JobKind::Scrape, request, base)?;
        scrape.started = started;
        scrape.run(reservation).await
    }

    /// Checks the options of a file before the file is used.
    ///
    /// # Errors
    /// 400 for options that uploads do not allow, 403 for options that are not enabled.
    pub fn check_parse(&self, request: &ParseOptions) -> Result<(), ApiError> {
        request.check_allowed()?;
        request.check_enabled(self.context.config.enabled)
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
        let started = Instant::now();
        self.check_parse(&request)?;
        let capabilities = Capabilities {
            browser: false,
            ..self.context.capabilities()
        };
        check_supported(&request.options, &capabilities)?;
        let upload = file.upload();
        let content_type = upload.kind()?;
        let request = ScrapeRequest {
            options: request.options,
            zero_data_retention: request.zero_data_retention,
            caller: request.caller,
            ..ScrapeRequest::new(upload.url())
        };
        let deadline = started + Duration::from_millis(request.options.timeout);
        let budget = &self.context.budget;
        let reservation = budget.reserve_until(deadline, principal.team).await?;
        // An upload has no screenshots, so no link needs a base URL.
        let mut scrape = SingleScrape::begin(&self.context, principal, JobKind::Parse, request, "")?;
        scrape.upload = Some((file, content_type));
        scrape.started = started;
        scrape.run(reservation).await
    }
}

/// A scrape. It is always stored as completed or failed at the end, even if the client disconnects.
struct SingleScrape {
    context: Arc<Context>,
    record: Arc<ScrapeRecord>,
    url: TargetUrl,
    /// The uploaded file, if there is one instead of a URL, and its content type.
    upload: Option<(UploadedFile, &'static str)>,
    visits: PageVisits,
    /// Warning about the request itself.
    warning: Option<String>,
    started: Instant,
    stored_end: bool,
    /// The error that was returned, if the end could not be stored.
    unstored: Option<ApiError>,
}

/// Stores the state of a scrape: that it is running, if it takes longer than [`limits::STORED_AS_RUNNING_AFTER`], and
/// its end.
struct ScrapeRecord {
    context: Arc<Context>,
    job: NewJob,
    /// Completes once the scrape is stored as running.
    running: OnceLock<Shared<BoxFuture<'static, Result<(), StoreError>>>>,
}

impl ScrapeRecord {
    /// Stores that the scrape is running, in a task that finishes even if the client disconnects.
    async fn begin(&self) -> Result<(), StoreError> {
        let running = self.running.get_or_init(|| {
            let (store, job) = (self.context.store.clone(), self.job.clone());
            let stored = tokio::spawn(async move { store.begin_scrape(&job, clock::now()).await });
            let stored = stored.map(|stored| stored.unwrap_or(Err(StoreError::Closed)));
            stored.boxed().shared()
        });
        running.clone().await
    }

    async fn end(&self, result: ScrapeResult<'_>) -> Result<(), StoreError> {
        let store = &self.context.store;
        match self.running.get() {
            None => store.record_scrape(&self.job, result, clock::now()).await,
            Some(running) => {
                // If this failed, the scrape may be stored nevertheless: the response to a commit can be lost.
                let _ = running.clone().await;
                store.finish_scrape(self.job.id, result, clock::now()).await
            }
        }
    }
}

impl SingleScrape {
    fn begin(
        context: &Arc<Context>,
        principal: &Principal,
        kind: JobKind,
        request: ScrapeRequest,
        base: &str,
    ) -> Result<Self, ApiError> {
        let keep = !request.zero_data_retention;
        let job = NewJob {
            url: request.url.url.to_string(),
            base: base.to_owned(),
            zero_data_retention: !keep,
            ..new_job(context, principal, kind, &request, &request.caller)?
        };
        let owner = SlotOwner {
            team: job.team,
            key: job.key,
            job: job.id,
        };
        let warning = request.caller.warning();
        let mut options = request.options;
        options.store_in_cache &= keep;
        let files = FileTarget {
            base: job.base.clone(),
            keep,
            retention: context.config.retention,
        };
        Ok(Self {
            context: context.clone(),
            record: Arc::new(ScrapeRecord {
                context: context.clone(),
                job,
                running: OnceLock::new(),
            }),
            url: request.url,
            upload: None,
            visits: PageVisits::new(context.clone(), owner, Arc::new(options), Some(files)),
            warning,
            started: Instant::now(),
            stored_end: false,
            unstored: None,
        })
    }

    /// Runs the scrape. Returns the document, or the error that is also stored.
    async fn run(mut self, reservation: CreditReservation) -> Result<Document, ApiError> {
        let mut result = {
            let mut attempt = pin!(self.attempt(reservation));
            match timeout(limits::STORED_AS_RUNNING_AFTER, &mut attempt).await {
                Ok(result) => result,
                Err(_) => tokio::try_join!(attempt.map(Ok), self.record.begin())
                    .map_or_else(|error| Err(error.into()), |(result, ())| result),
            }
        };
        if let (Ok(document), Some(warning)) = (&mut result, &self.warning) {
            document.warn(warning);
        }
        let document = result.as_ref().ok();
        let credits = document
            .and_then(|document| document.metadata.credits_used)
            .unwrap_or(0);
        let stored = match &result {
            Ok(document) => ScrapeResult::Document { document, credits },
            Err(error) => ScrapeResult::Failed(error),
        };
        if let Err(error) = self.record.end(stored).await {
            let error = ApiError::from(error);
            self.unstored = Some(result.err().unwrap_or_else(|| error.clone()));
            return Err(error);
        }
        self.stored_end = true;
        let job = &self.record.job;
        self.context.budget.committed(job.team, job.id, credits.into());
        let status = match &result {
            Ok(_) => JobStatus::Completed,
            Err(_) => JobStatus::Failed,
        };
        self.context
            .slots
            .metrics()
            .count_job_end(self.record.job.kind, status);
        result
    }

    async fn attempt(&self, reservation: CreditReservation) -> Result<Document, ApiError> {
        tokio::select! {
            result = self.visit(reservation) => result,
            () = self.context.stop.cancelled() => Err(stopping()),
        }
    }

    async fn visit(&self, reservation: CreditReservation) -> Result<Document, ApiError> {
        let deadline = self.started + self.visits.timeout();
        let turn = self.turn().await?;
        if let Some((file, content_type)) = &self.upload {
            let mut document = self.parse(file, content_type, turn.owner(), deadline).await?;
            turn.complete();
            turn.record_in(&mut document.metadata);
            reservation.spend(self.record.job.id, document.metadata.credits_used.unwrap_or(0));
            return Ok(document);
        }
        let page = Page {
            url: &self.url.url,
            fallback: self.url.http_fallback(),
            is_own_origin: true,
            id: ScrapeId::from(self.record.job.id),
            reservation: Some(reservation),
        };
        let visited = self.visits.visit(page, &turn, deadline).await;
        visited
            .map(|page| *page.document)
            .map_err(|failure| failure.error)
    }

    async fn parse(
        &self,
        file: &UploadedFile,
        content_type: &str,
        owner: SlotOwner,
        deadline: Instant,
    ) -> Result<Document, ApiError> {
        let url = &self.url.url;
        let body = file.body.clone();
        let response = SiteResponse::new(url.clone(), 200, Some(content_type.to_owned()), body);
        let conversion = Conversion {
            requested: url,
            options: self.visits.options(),
            id: ScrapeId::from(self.record.job.id),
            owner,
        };
        let scraper = &self.context.scraper;
        let converted = scraper.convert(conversion, response, deadline).await;
        let mut document = *converted.map_err(|failure| failure.error)?.rendered.document;
        file.upload().describe(&mut document.metadata);
        Ok(document)
    }

    /// Waits for a slot of the team. If there is none after two thirds of the timeout: 429 (docs/API.md
    /// section 7.1).
    async fn turn(&self) -> Result<Turn, ApiError> {
        let kind = match self.upload {
            Some(_) => SlotKind::Plain,
            None => self.context.scraper.first_slot(self.visits.options()),
        };
        let deadline = self.started + self.visits.timeout() * 2 / 3;
        self.visits.turn(kind, deadline).await.map_err(|_| {
            let config = &self.context.config;
            let message = match kind {
                SlotKind::Plain => format!(
                    "all {} page slots of the team, or those of this key, are in use; try again when a page has finished",
                    config.plans.of(self.record.job.team).max_concurrency
                ),
                SlotKind::Browser => format!(
                    "all {} browser page slots are in use; try again when a page has finished",
                    config.browser_pages
                ),
            };
            let mut error = ApiError::new(ErrorCode::ConcurrencyLimited, message);
            error.retry_after_s = Some(limits::RETRY_AFTER_S);
            error
        })
    }
}

impl Drop for SingleScrape {
    fn drop(&mut self) {
        self.context
            .budget
            .close(self.record.job.team, self.record.job.id);
        if self.stored_end {
            return;
        }
        let record = self.record.clone();
        let error = self.unstored.take().unwrap_or_else(|| {
            ApiError::new(
                ErrorCode::SiteError,
                "the client disconnected before the scrape finished",
            )
        });
        tokio::spawn(async move {
            let stop = &record.context.stop;
            let may_retry = |error: &StoreError| error.is_transient() && !stop.is_cancelled();
            let write = || record.end(ScrapeResult::Failed(&error));
            if let Err(error) = outage::retry(may_retry, write).await {
                let id = record.job.id;
                tracing::warn!(%error, scrape.id = %id, "cannot store that a scrape failed");
            }
        });
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
