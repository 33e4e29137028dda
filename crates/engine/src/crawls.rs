//! Starts crawls.

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::problem;
use harvestman_core::ids::JobId;
use harvestman_core::scope::Scope;
use harvestman_core::webhook::Family;
use harvestman_store::{Idempotency, JobKind, NewJob, Principal};

use crate::context::Engine;
use crate::jobs::{new_job, subscribed};

impl Engine {
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
            url: request.url.url.to_string(),
            base: base.to_owned(),
            page_limit: request.limit,
            webhook: subscribed(request.webhook.as_ref(), Family::Crawl),
            zero_data_retention: request.zero_data_retention,
            ..new_job(
                &self.context,
                principal,
                JobKind::Crawl,
                &request,
                &request.caller,
            )?
        };
        let created = self.context.store.create_crawl(&job, idempotency.as_ref()).await;
        self.job_created(&job, created)
    }

    async fn check_crawl(&self, request: &CrawlRequest) -> Result<(), ApiError> {
        Scope::compile(request)?;
        request.check_enabled(self.context.config.enabled)?;
        self.check_options(&request.scrape_options)
            .map_err(|error| problem::under("scrapeOptions", error))?;
        if !request.scrape_options.lockdown {
            self.check_target(&request.url.url, &request.scrape_options)
                .await?;
        }
        self.check_receiver(request.webhook.as_ref()).await
    }
}
