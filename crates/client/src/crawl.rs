//! `/v2/crawl` and its subpaths, and the calls that crawls and batch scrapes share.

use harvestman_core::api::CrawlRequest;
use harvestman_core::api::crawl::{ActiveCrawls, JobStarted};
use harvestman_core::api::job::{JobCancelled, JobErrors, JobProgress, StatusPath, StatusQuery};
use harvestman_core::api::params_preview::{ParamsPreview, ParamsPreviewRequest};
use harvestman_core::ids::JobId;
use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Starts a crawl. The server responds as soon as the job is stored.
    pub async fn start_crawl(&self, request: &CrawlRequest) -> Result<JobStarted, ClientError> {
        self.post("/v2/crawl", request).await
    }

    /// Proposes crawl options for a prompt, without starting a crawl.
    pub async fn crawl_params_preview(
        &self,
        request: &ParamsPreviewRequest,
    ) -> Result<ParamsPreview, ClientError> {
        self.post("/v2/crawl/params-preview", request).await
    }

    /// Returns progress and documents of the job at `path`. With `skip` at the end of a running job, the server waits up
    /// to a second for a new document. `D` may be a part of a document.
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

    /// Cancels a job; its documents stay readable.
    pub async fn cancel_job(&self, path: StatusPath, id: JobId) -> Result<JobCancelled, ClientError> {
        self.delete(&path.url("", id)).await
    }

    /// Returns the failed pages and blocked URLs of the job at `path`.
    pub async fn job_errors(&self, path: StatusPath, id: JobId) -> Result<JobErrors, ClientError> {
        self.get(&format!("{}/errors", path.url("", id))).await
    }

    /// Lists the running crawls of the team, newest first.
    pub async fn active_crawls(&self) -> Result<ActiveCrawls, ClientError> {
        self.get("/v2/crawl/active").await
    }
}
