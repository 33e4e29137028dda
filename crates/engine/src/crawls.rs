//! Starts crawls.

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::problem;
use harvestman_core::ids::JobId;
use harvestman_core::scope::Scope;
use harvestman_core::webhook::Family;
use harvestman_store::{ContinueOutcome, CreateOutcome, Idempotency, JobKind, JobStatus, NewJob, Principal};

use crate::clock;
use crate::context::Engine;
use crate::error::job_not_found;
use crate::jobs::{new_job, stored_request, subscribed};

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
        let job = self.crawl_job(principal, &request, base)?;
        self.start_job(principal, &job, idempotency).await
    }

    /// Stores a crawl that continues an ended one of the team, and starts it. It has the same request, starts with the
    /// URLs that failed, were not fetched or exceeded the limit, and skips all other URLs that the earlier one knew.
    ///
    /// # Errors
    /// 404 if there is no such crawl; 409 if it is still running, left no URL to fetch, knows too many URLs, did not
    /// store them (zero data retention), or cannot read its request ([`stored_request`]).
    pub async fn continue_crawl(
        &self,
        principal: &Principal,
        earlier: JobId,
        base: &str,
    ) -> Result<JobId, ApiError> {
        let refuse = |message: String| Err(ApiError::conflict(message));
        let store = &self.context.store;
        let row = store.job(principal.team, earlier, clock::now()).await?;
        let row = row
            .filter(|row| row.kind == JobKind::Crawl)
            .ok_or_else(job_not_found)?;
        if row.status == JobStatus::Scraping {
            return refuse("the crawl is still running; continue it once it has ended".to_owned());
        }
        if row.zero_data_retention {
            return refuse(
                "a crawl with zero data retention stores no URLs, so it cannot be continued; start a new crawl"
                    .to_owned(),
            );
        }
        let request = stored_request(&row.request, CrawlRequest::from_json)?;
        self.check_crawl(&request).await?;
        self.afford(principal, None).await?;
        let job = self.crawl_job(principal, &request, base)?;
        match store.continue_crawl(&job, earlier).await? {
            ContinueOutcome::Created(urls) => {
                tracing::info!(job.id = %job.id, earlier.id = %earlier, urls, "crawl continued");
                self.job_created(&job, Ok(CreateOutcome::Created))
            }
            ContinueOutcome::NothingLeft => {
                refuse("the crawl fetched every page that it found; there is nothing to continue".to_owned())
            }
            ContinueOutcome::TooManyUrls(urls) => refuse(format!(
                "the crawl knows {urls} URLs, too many to continue it; start a new crawl with `includePaths`"
            )),
        }
    }

    fn crawl_job(
        &self,
        principal: &Principal,
        request: &CrawlRequest,
        base: &str,
    ) -> Result<NewJob, ApiError> {
        Ok(NewJob {
            url: request.url.url.to_string(),
            base: base.to_owned(),
            page_limit: request.limit,
            webhook: subscribed(request.webhook.as_ref(), Family::Crawl),
            zero_data_retention: request.zero_data_retention,
            ..new_job(&self.context, principal, JobKind::Crawl, request, &request.caller)?
        })
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
