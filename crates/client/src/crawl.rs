//! `/v2/crawl` and what hangs on it.

use harvestman_core::api::crawl::{ActiveCrawls, JobStarted};
use harvestman_core::api::job::{JobCancelled, JobErrors, JobProgress, StatusPath, StatusQuery};
use harvestman_core::api::params_preview::{ParamsPreview, ParamsPreviewRequest};
use harvestman_core::api::{CrawlRequest, Document};
use harvestman_core::ids::JobId;
use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::pages::Pages;
use crate::transport::Client;

impl Client {
    /// Starts a crawl. The answer comes as soon as the job is stored.
    pub async fn start_crawl(&self, request: &CrawlRequest) -> Result<JobStarted, ClientError> {
        self.post("/v2/crawl", request).await
    }

    /// Proposes options for a prompt; nothing is crawled.
    pub async fn crawl_params_preview(
        &self,
        request: &ParamsPreviewRequest,
    ) -> Result<ParamsPreview, ClientError> {
        self.post("/v2/crawl/params-preview", request).await
    }

    /// Numbers and documents of a crawl. With `skip` at the end of a running crawl the server waits
    /// up to a second for a new document.
    pub async fn crawl_status(&self, id: JobId, query: StatusQuery) -> Result<JobProgress, ClientError> {
        self.crawl_status_as::<Document>(id, query).await
    }

    /// The same with documents read as `D`, for callers that need only a part of each.
    pub async fn crawl_status_as<D: DeserializeOwned>(
        &self,
        id: JobId,
        query: StatusQuery,
    ) -> Result<JobProgress<D>, ClientError> {
        self.job_status(StatusPath::Crawl, id, query).await
    }

    /// Numbers and documents of a job, read at its path.
    pub async fn job_status<D: DeserializeOwned>(
        &self,
        path: StatusPath,
        id: JobId,
        query: StatusQuery,
    ) -> Result<JobProgress<D>, ClientError> {
        let mut path = format!("{}?skip={}", path.url("", id), query.skip);
        if let Some(limit) = query.limit {
            path.push_str(&format!("&limit={limit}"));
        }
        self.get(&path).await
    }

    /// Every document of a crawl, as it becomes ready; see [`Pages`].
    pub fn crawl_pages(&self, id: JobId) -> Pages {
        Pages::new(self.clone(), StatusPath::Crawl, id)
    }

    /// Stops a crawl; documents so far stay readable.
    pub async fn cancel_crawl(&self, id: JobId) -> Result<JobCancelled, ClientError> {
        self.cancel_job(StatusPath::Crawl, id).await
    }

    /// Stops a job; documents so far stay readable.
    pub async fn cancel_job(&self, path: StatusPath, id: JobId) -> Result<JobCancelled, ClientError> {
        self.delete(&path.url("", id)).await
    }

    /// Pages that failed and addresses that robots.txt kept out.
    pub async fn crawl_errors(&self, id: JobId) -> Result<JobErrors, ClientError> {
        self.job_errors(StatusPath::Crawl, id).await
    }

    /// The same of any job.
    pub async fn job_errors(&self, path: StatusPath, id: JobId) -> Result<JobErrors, ClientError> {
        self.get(&format!("{}/errors", path.url("", id))).await
    }

    /// Running crawls of the team, newest first.
    pub async fn active_crawls(&self) -> Result<ActiveCrawls, ClientError> {
        self.get("/v2/crawl/active").await
    }
}
