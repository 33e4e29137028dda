//! Batch scrapes: starts one, or adds pages to one.

use harvestman_core::api::batch::{BatchOptions, BatchScrapeRequest};
use harvestman_core::api::error::ApiError;
use harvestman_core::crawl::{Offer, batch_scrape};
use harvestman_core::ids::JobId;
use harvestman_core::webhook::Family;
use harvestman_store::{AddPagesOutcome, Idempotency, JobKind, NewJob, Principal};

use crate::clock;
use crate::context::Engine;
use crate::error::{job_not_found, key_reused};
use crate::jobs::{new_job, stored_request, subscribed};

impl Engine {
    /// Stores a batch scrape and starts it, or adds its pages to the batch named by `appendToId`. Returns the
    /// job id once the pages are stored. Whether a URL may be fetched is checked page by page and reported in
    /// the job's errors.
    pub async fn start_batch(
        &self,
        principal: &Principal,
        mut request: BatchScrapeRequest,
        idempotency: Option<Idempotency>,
        base: &str,
    ) -> Result<JobId, ApiError> {
        request.batch.check_enabled(self.context.config.enabled)?;
        self.check_options(&request.batch.options)?;
        self.check_receiver(request.batch.webhook.as_ref()).await?;
        if let Some(first) = self.afford(principal, idempotency.as_ref()).await? {
            return Ok(first);
        }
        let pages = batch_scrape::offers(std::mem::take(&mut request.urls));
        match request.append_to_id {
            Some(batch) => {
                self.add_to_batch(principal, batch, request.batch, pages, idempotency)
                    .await
            }
            None => {
                self.new_batch(principal, request.batch, pages, idempotency, base)
                    .await
            }
        }
    }

    async fn new_batch(
        &self,
        principal: &Principal,
        options: BatchOptions,
        pages: Vec<Offer>,
        idempotency: Option<Idempotency>,
        base: &str,
    ) -> Result<JobId, ApiError> {
        let Some(first) = pages.first().map(|page| &page.url) else {
            return Err(ApiError::bad_request("`urls` contains no valid URL"));
        };
        let job = NewJob {
            url: first.to_string(),
            base: base.to_owned(),
            page_limit: pages.len() as u64,
            webhook: subscribed(options.webhook.as_ref(), Family::BatchScrape),
            zero_data_retention: options.zero_data_retention,
            ..new_job(
                &self.context,
                principal,
                JobKind::BatchScrape,
                &options,
                &options.caller,
            )?
        };
        let store = &self.context.store;
        let created = store.create_batch(&job, pages, idempotency.as_ref()).await;
        self.job_created(&job, created)
    }

    async fn add_to_batch(
        &self,
        principal: &Principal,
        batch: JobId,
        options: BatchOptions,
        pages: Vec<Offer>,
        idempotency: Option<Idempotency>,
    ) -> Result<JobId, ApiError> {
        let store = &self.context.store;
        let row = store.job(principal.team, batch, clock::now()).await;
        let row = row?
            .filter(|row| row.kind == JobKind::BatchScrape)
            .ok_or_else(job_not_found)?;
        options.check_append(&stored_request(&row.request, BatchOptions::from_json)?)?;
        let added = store
            .add_pages(principal.team, batch, pages, idempotency.as_ref(), clock::now())
            .await;
        match added? {
            AddPagesOutcome::Added(pages) => {
                tracing::info!(batch.id = %batch, team.id = %principal.team, pages, "pages added to a batch scrape");
                self.context.driver_signals.pages_added(batch);
                self.context.new_work.notify_one();
                self.context.outbox.notify_one();
                self.context.changes.announce(batch);
                Ok(batch)
            }
            AddPagesOutcome::Repeated(id) => Ok(id),
            AddPagesOutcome::KeyReused => Err(key_reused()),
            AddPagesOutcome::Cancelled => Err(ApiError::conflict(
                "the batch was cancelled and accepts no more pages; start a new batch",
            )),
            AddPagesOutcome::Full => Err(ApiError::conflict(
                "the batch has reached the maximum number of pages; start a new batch",
            )),
            AddPagesOutcome::NotFound => Err(job_not_found()),
        }
    }
}
