//! Synchronous scrapes: run on the node that received the request, and store their result or error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, ScrapeId};
use harvestman_core::scrape::{Capabilities, Upload, check_supported};
use harvestman_fetch::CookieJar;
use harvestman_store::{JobKind, NewJob, Principal, ScrapeResult};
use tokio::time::Instant;

use crate::context::{Context, Engine};
use crate::error::{stopping, unavailable};
use crate::files::FileTarget;
use crate::jobs::new_job;
use crate::page_cache::PageCache;
use crate::scraper::{Scraped, Target};
use crate::site_response::SiteResponse;
use crate::slots::SlotOwner;
use crate::turn::Turn;
use crate::{clock, files, limits, tracking};

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
        request.check_enabled(self.context.config.enabled)?;
        check_supported(&request.options, &self.context.capabilities())?;
        // With `lockdown` the host name is not even resolved.
        if !request.options.lockdown {
            self.check_target(&request.url.url).await?;
        }
        let reservation = self
            .context
            .budget
            .reserve(&self.context.store, principal.team)
            .await?;
        let scrape = SingleScrape::begin(self.context.clone(), principal.clone(), request, base).await?;
        let document = scrape.run().await?;
        reservation.spend(document.metadata.credits_used.unwrap_or(0));
        Ok(document)
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
            ..self.context.capabilities()
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
            .context
            .budget
            .reserve(&self.context.store, principal.team)
            .await?;
        // An upload has no screenshots, so no link needs a base URL.
        let scrape = SingleScrape::begin(self.context.clone(), principal.clone(), request, "").await?;
        let document = scrape.with_upload(file, content_type).run().await?;
        reservation.spend(document.metadata.credits_used.unwrap_or(0));
        Ok(document)
    }
}

/// A scrape that is stored as running. It is always stored as completed or failed at the end, even if the
/// client disconnects.
pub(crate) struct SingleScrape {
    context: Arc<Context>,
    principal: Principal,
    request: ScrapeRequest,
    /// The uploaded file, if there is one instead of a URL, and its content type.
    upload: Option<(UploadedFile, &'static str)>,
    options: Arc<ScrapeOptions>,
    job: JobId,
    base: String,
    started: Instant,
    stored_end: bool,
}

impl SingleScrape {
    pub(crate) async fn begin(
        context: Arc<Context>,
        principal: Principal,
        request: ScrapeRequest,
        base: &str,
    ) -> Result<Self, ApiError> {
        let job = NewJob {
            base: base.to_owned(),
            zero_data_retention: request.zero_data_retention,
            ..new_job(
                &principal,
                JobKind::Scrape,
                &request.url.url,
                &request,
                &request.caller,
            )?
        };
        context.store.begin_scrape(&job).await.map_err(unavailable)?;
        let mut options = request.options.clone();
        options.store_in_cache &= !request.zero_data_retention;
        let options = Arc::new(options);
        Ok(Self {
            context,
            principal,
            request,
            upload: None,
            options,
            job: job.id,
            base: job.base,
            started: Instant::now(),
            stored_end: false,
        })
    }

    /// Makes this scrape convert an uploaded file.
    pub(crate) fn with_upload(mut self, file: UploadedFile, content_type: &'static str) -> Self {
        self.upload = Some((file, content_type));
        self
    }

    /// Runs the scrape. Returns the document, or the error that is also stored.
    pub(crate) async fn run(mut self) -> Result<Document, ApiError> {
        let result = tokio::select! {
            result = self.attempt() => result,
            () = self.context.stop.cancelled() => Err(stopping()),
        };
        let stored = match &result {
            Ok(document) => {
                let credits = document.metadata.credits_used.unwrap_or(0);
                ScrapeResult::Document { document, credits }
            }
            Err(error) => ScrapeResult::Failed(error),
        };
        self.context
            .store
            .finish_scrape(self.job, stored, clock::now())
            .await
            .map_err(unavailable)?;
        self.stored_end = true;
        result
    }

    async fn attempt(&self) -> Result<Document, ApiError> {
        let timeout = Duration::from_millis(self.options.timeout);
        let deadline = self.started + timeout;
        let turn = self.turn(timeout).await?;
        if let Some((file, content_type)) = &self.upload {
            let mut document = self.parse(file, content_type, deadline).await?;
            turn.record_in(&mut document.metadata);
            return Ok(document);
        }
        let jar = CookieJar::default();
        let cache = PageCache::new(self.context.store.clone(), self.principal.team);
        let context = &self.context;
        let named = self.options.profile.as_ref();
        let profile = context
            .profiles
            .open(&context.store, self.principal.team, named, self.job)
            .await?;
        let target = Target {
            url: &self.request.url.url,
            fallback: self.request.url.http_fallback(),
            profile: profile.as_ref(),
            turn: &turn,
        };
        let result = context
            .scraper
            .scrape(
                target,
                &cache,
                &self.options,
                ScrapeId::from(self.job),
                &jar,
                deadline,
            )
            .await;
        let Scraped {
            rendered,
            mut captures,
            ..
        } = result.map_err(|failure| failure.error)?;
        let mut document = rendered.document;
        turn.record_in(&mut document.metadata);
        if let (Some(profile), Some(storage)) = (&profile, captures.storage.take()) {
            profile.save(&context.store, storage).await?;
        }
        let file_target = FileTarget {
            store: &self.context.store,
            base: &self.base,
            keep: !self.request.zero_data_retention,
        };
        files::attach(file_target, &mut document, captures).await?;
        let url = &self.request.url.url;
        tracking::track(
            &self.context.store,
            self.principal.team,
            url,
            &self.options,
            &mut document,
        )
        .await?;
        Ok(document)
    }

    async fn parse(
        &self,
        file: &UploadedFile,
        content_type: &str,
        deadline: Instant,
    ) -> Result<Document, ApiError> {
        let url = &self.request.url.url;
        let response = SiteResponse {
            url: url.clone(),
            status: 200,
            content_type: Some(content_type.to_owned()),
            body: file.body.clone(),
            retry_after_ms: None,
            cached_at: None,
            incomplete: None,
        };
        let scraper = &self.context.scraper;
        let converting = scraper.convert(url, response, &self.options, ScrapeId::from(self.job), deadline);
        let mut document = converting
            .await
            .map_err(|failure| failure.error)?
            .rendered
            .document;
        file.upload().describe(&mut document.metadata);
        Ok(document)
    }

    /// Waits for a slot of the team. If there is none after two thirds of the timeout: 429 (docs/API.md
    /// section 7.1).
    async fn turn(&self, timeout: Duration) -> Result<Turn, ApiError> {
        let slots = &self.context.slots;
        let owner = SlotOwner {
            team: self.principal.team,
            key: self.principal.key,
            job: self.job,
        };
        let kind = match self.upload {
            Some(_) => SlotKind::Plain,
            None => self.context.scraper.first_slot(&self.options),
        };
        let slot = tokio::time::timeout(timeout * 2 / 3, slots.acquire(owner, kind))
            .await
            .map_err(|_| {
                let message = match kind {
                    SlotKind::Plain => format!(
                        "all {} concurrent pages of the team, or those of this key, are in use; try again when one has finished",
                        self.context.config.plans.of(self.principal.team).max_concurrency
                    ),
                    SlotKind::Browser => format!(
                        "all {} concurrent pages of the browser are in use; try again when one has finished",
                        self.context.config.browser_pages
                    ),
                };
                let mut error = ApiError::new(ErrorCode::ConcurrencyLimited, message);
                error.retry_after_s = Some(limits::RETRY_AFTER_S);
                error
            })?;
        Ok(Turn::of_call(slots.clone(), owner, Some(slot)))
    }
}

impl Drop for SingleScrape {
    fn drop(&mut self) {
        if self.stored_end {
            return;
        }
        let (context, job) = (self.context.clone(), self.job);
        tokio::spawn(async move {
            let error = ApiError::new(
                ErrorCode::SiteError,
                "the client disconnected before the scrape finished",
            );
            let stored = ScrapeResult::Failed(&error);
            if let Err(error) = context.store.finish_scrape(job, stored, clock::now()).await {
                tracing::warn!(%error, scrape.id = %job, "cannot store the failure of an abandoned scrape");
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
