//! `/console/api/...`: what the console needs in addition to the public API.

use harvestman_core::api::console::{
    ConsoleInfo, ConsoleJob, ConsoleJobResponse, ConsoleJobs, ConsoleSessions, JobComparison, JobLinks,
    PageDifference, PageSummaries, ResendRequest, SignInRequest, SignInResponse, SuccessResponse, UsageDays,
    WebhookLog,
};
use harvestman_core::api::crawl::JobStarted;
use harvestman_core::api::job::JobStatus;
use harvestman_core::api::team::{Calls, Endpoint};
use harvestman_core::ids::{JobId, WebhookId};
use harvestman_core::webhook::DeliveryState;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Exchanges the one-time code in the console's URL for an API key.
    pub async fn console_start(&self, code: &str) -> Result<SignInResponse, ClientError> {
        let code = code.to_owned();
        self.post("/console/api/start", &SignInRequest { code }).await
    }

    /// Returns facts about the server.
    pub async fn console_info(&self) -> Result<ConsoleInfo, ClientError> {
        self.get("/console/api/info").await
    }

    /// Lists the `limit` newest jobs of the team whose URL contains `search`, at most 100.
    pub async fn console_jobs(&self, search: &str, limit: u64) -> Result<ConsoleJobs, ClientError> {
        let search = js_sys::encode_uri_component(search);
        self.get(&format!("/console/api/jobs?search={search}&limit={limit}"))
            .await
    }

    /// Returns one job of the team with its request.
    pub async fn console_job(&self, id: JobId) -> Result<ConsoleJob, ClientError> {
        let response: ConsoleJobResponse = self.get(&format!("/console/api/jobs/{id}")).await?;
        Ok(response.job)
    }

    /// Starts a crawl that continues an ended one and skips its pages. Returns the id of the new job.
    pub async fn continue_crawl(&self, id: JobId) -> Result<JobId, ClientError> {
        let path = format!("/console/api/jobs/{id}/continue");
        let started: JobStarted = self.post(&path, &serde_json::json!({})).await?;
        Ok(started.id)
    }

    /// Lists the pages of a job without their content, starting at `skip`.
    pub async fn job_pages(&self, id: JobId, skip: u64) -> Result<PageSummaries, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/pages?skip={skip}"))
            .await
    }

    /// Compares the pages of a job with the pages of the `other` job.
    pub async fn job_comparison(&self, id: JobId, other: JobId) -> Result<JobComparison, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/comparison?with={other}"))
            .await
    }

    /// Returns the diff between a page of another job and a page of this one, each given by job and index.
    pub async fn page_difference(
        &self,
        (id, page): (JobId, u64),
        (other, other_page): (JobId, u64),
    ) -> Result<PageDifference, ClientError> {
        let query = format!("page={page}&with={other}&withPage={other_page}");
        self.get(&format!("/console/api/jobs/{id}/difference?{query}"))
            .await
    }

    /// Returns the link graph of the first pages of a job.
    pub async fn job_links(&self, id: JobId) -> Result<JobLinks, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/links")).await
    }

    /// Lists the calls of the last 24 hours, newest first; `key` is the id of an API key.
    pub async fn calls(
        &self,
        endpoint: Option<Endpoint>,
        key: Option<&str>,
        outcome: Option<JobStatus>,
        cursor: Option<&str>,
    ) -> Result<Calls, ClientError> {
        let parts = [
            ("endpoint", endpoint.map(Endpoint::as_str)),
            ("key", key),
            ("outcome", outcome.map(JobStatus::as_str)),
            ("cursor", cursor),
        ];
        let parts = parts
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", js_sys::encode_uri_component(value?))));
        let query = parts.collect::<Vec<_>>().join("&");
        self.get(&format!("/console/api/activity?{query}")).await
    }

    /// Returns the usage of the last `days` days, at most 366, by day and key.
    pub async fn usage_by_day(&self, days: u32) -> Result<UsageDays, ClientError> {
        self.get(&format!("/console/api/usage?days={days}")).await
    }

    /// Lists the browser sessions of the last 24 hours with cost and end.
    pub async fn console_sessions(&self) -> Result<ConsoleSessions, ClientError> {
        self.get("/console/api/sessions").await
    }

    /// Returns the delivery log of a job after the event with this number, optionally for one state only.
    pub async fn webhook_log(
        &self,
        id: JobId,
        after: u64,
        state: Option<DeliveryState>,
    ) -> Result<WebhookLog, ClientError> {
        let state = state.map_or_else(String::new, |state| format!("&state={state}"));
        self.get(&format!("/console/api/jobs/{id}/webhooks?after={after}{state}"))
            .await
    }

    /// Sends an event of a job again.
    pub async fn resend_webhook(&self, id: JobId, webhook_id: WebhookId) -> Result<(), ClientError> {
        let path = format!("/console/api/jobs/{id}/webhooks");
        self.post::<SuccessResponse>(&path, &ResendRequest { webhook_id })
            .await
            .map(drop)
    }
}
