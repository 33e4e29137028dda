//! Synchronous scrapes: run on the node that received the request, and store their result or error.

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, ScrapeId};
use harvestman_fetch::CookieJar;
use harvestman_store::{JobKind, NewJob, Principal, ScrapeResult};
use tokio::time::Instant;

use crate::engine::{Inner, UploadedFile, stopping, unavailable};
use crate::files::FileTarget;
use crate::new_job::new_job;
use crate::page_cache::PageCache;
use crate::scraper::{Scraped, Target};
use crate::site_response::SiteResponse;
use crate::slots::SlotOwner;
use crate::turn::Turn;
use crate::{clock, files, limits, profiles, tracking};

/// A scrape that is stored as running. It is always stored as completed or failed at the end, even if the
/// client disconnects.
pub(crate) struct SingleScrape {
    inner: Arc<Inner>,
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
        inner: Arc<Inner>,
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
        inner
            .store
            .begin_scrape(&job)
            .await
            .map_err(|error| unavailable(&error))?;
        let mut options = request.options.clone();
        options.store_in_cache &= !request.zero_data_retention;
        let options = Arc::new(options);
        Ok(Self {
            inner,
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
            () = self.inner.stop.cancelled() => Err(stopping()),
        };
        let stored = match &result {
            Ok(document) => {
                let credits = document.metadata.credits_used.unwrap_or(0);
                ScrapeResult::Document { document, credits }
            }
            Err(error) => ScrapeResult::Failed(error),
        };
        self.inner
            .store
            .finish_scrape(self.job, stored, clock::now())
            .await
            .map_err(|error| unavailable(&error))?;
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
        let cache = PageCache::new(self.inner.store.clone(), self.principal.team);
        let inner = &self.inner;
        let profile = inner
            .open_profile(self.principal.team, &self.options, self.job)
            .await?;
        let target = Target {
            url: &self.request.url.url,
            fallback: self.request.url.http_fallback(),
            profile: profile.as_ref(),
            turn: &turn,
        };
        let result = inner
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
        profiles::save(inner, profile, &mut captures).await?;
        let file_target = FileTarget {
            store: &self.inner.store,
            base: &self.base,
            keep: !self.request.zero_data_retention,
        };
        files::attach(file_target, &mut document, captures).await?;
        let url = &self.request.url.url;
        tracking::track(
            &self.inner.store,
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
        let scraper = &self.inner.scraper;
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
        let slots = &self.inner.slots;
        let owner = SlotOwner {
            team: self.principal.team,
            key: self.principal.key,
            job: self.job,
        };
        let kind = match self.upload {
            Some(_) => SlotKind::Plain,
            None => self.inner.scraper.first_slot(&self.options),
        };
        let slot = tokio::time::timeout(timeout * 2 / 3, slots.acquire(owner, kind))
            .await
            .map_err(|_| {
                let message = match kind {
                    SlotKind::Plain => format!(
                        "all {} concurrent pages of the team, or those of this key, are in use; try again when one has finished",
                        self.inner.config.plans.of(self.principal.team).max_concurrency
                    ),
                    SlotKind::Browser => format!(
                        "all {} concurrent pages of the browser are in use; try again when one has finished",
                        self.inner.config.browser_pages
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
        let (inner, job) = (self.inner.clone(), self.job);
        tokio::spawn(async move {
            let error = ApiError::new(
                ErrorCode::SiteError,
                "the client disconnected before the scrape finished",
            );
            let stored = ScrapeResult::Failed(&error);
            if let Err(error) = inner.store.finish_scrape(job, stored, clock::now()).await {
                tracing::warn!(%error, scrape.id = %job, "cannot store the failure of an abandoned scrape");
            }
        });
    }
}
