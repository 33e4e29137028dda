//! `/console/api/...`: what the console needs in addition to the public API.

use harvestman_core::api::browser::BrowserSession;
use harvestman_core::api::job::JobStatus;
use harvestman_core::api::team::{Calls, Endpoint};
use harvestman_core::crawl::ProcessingCounts;
use harvestman_core::ids::{JobId, ScrapeId, WebhookId};
use harvestman_core::link_graph::LinkGraph;
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::transport::Client;

/// Response to the exchange of a one-time sign-in code.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInResponse {
    /// The API key to use from now on.
    pub api_key: String,
}

/// Facts about the server for the console.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleInfo {
    /// Version of the server.
    pub version: String,
    /// Whether requests need no key.
    pub open: bool,
    /// Pages of the team in flight.
    pub concurrency: u64,
    /// Limits of the team.
    pub limits: ConsoleLimits,
}

/// Limits of a team.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleLimits {
    /// Maximum pages in flight.
    pub max_concurrency: u64,
}

/// Recent jobs of the team, newest first.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ConsoleJobs {
    /// The jobs.
    pub jobs: Vec<ConsoleJob>,
}

/// A row in the list of jobs.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleJob {
    /// The job.
    pub id: JobId,
    /// `crawl`, `scrape`, ...
    #[serde(default)]
    pub kind: String,
    /// URL that it started from.
    #[serde(default)]
    pub url: String,
    /// `scraping`, `completed`, `failed`, `cancelled`.
    #[serde(default)]
    pub status: String,
    /// Pages attempted.
    #[serde(default)]
    pub total: u64,
    /// Pages completed.
    #[serde(default)]
    pub completed: u64,
    /// Credits used so far.
    #[serde(default)]
    pub credits_used: u64,
    /// Start time.
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    /// End time.
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
    /// Until when its results can be read.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The request body that started it.
    #[serde(default)]
    pub request: Option<Value>,
    /// How its pages are processed; only for a single job with many pages.
    #[serde(default)]
    pub pace: Option<JobProcessing>,
}

/// How the pages of a job are processed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobProcessing {
    /// Processing counters.
    pub pages: ProcessingCounts,
    /// Why no further page starts now: `hostDelay`, `hostConcurrency`, `concurrency`, `browser`, `conversion` or
    /// `storage`; `None` if nothing limits it.
    pub limited_by: Option<String>,
}

#[derive(Deserialize)]
struct OneJob {
    job: ConsoleJob,
}

/// A page of a job without its content.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageSummary {
    /// URL after redirects.
    pub url: String,
    /// Title; may be empty.
    pub title: String,
    /// HTTP status of the page.
    pub status: Option<u16>,
    /// The error, if the page failed.
    pub error: Option<String>,
    /// Size of its content in bytes.
    pub size: usize,
}

/// A part of the list of a job's pages, in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageSummaries {
    /// The pages.
    pub pages: Vec<PageSummary>,
    /// `skip` of the next part; `None` if there are no more pages at the moment.
    pub next: Option<u64>,
}

/// The links among the first pages of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct JobLinks {
    /// The link graph.
    #[serde(flatten)]
    pub graph: LinkGraph,
    /// Whether every page was stored with its list of links. Otherwise the edges from parents are complete, and the
    /// other links are those in the Markdown.
    pub listed: bool,
}

/// Browser sessions of the team, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ConsoleSessions {
    /// The sessions.
    pub sessions: Vec<ConsoleSession>,
}

/// A browser session with its cost and its end.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleSession {
    /// The session as in the public API.
    pub session: BrowserSession,
    /// The scrape that it continues.
    #[serde(default)]
    pub scrape_id: Option<ScrapeId>,
    /// URL of that scrape.
    #[serde(default)]
    pub url: Option<String>,
    /// When it ended; `None` while it is live.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// When it ends without further activity; `None` once it has ended.
    #[serde(default)]
    pub ends_at: Option<Timestamp>,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// Credits so far.
    #[serde(default)]
    pub credits: u64,
}

/// A part of a job's webhook delivery log, with the number of events in each state.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookLog {
    /// The receiver; `None` for a job without a webhook.
    pub url: Option<String>,
    /// Events that wait for an attempt.
    pub pending: u64,
    /// Events that were acknowledged.
    pub delivered: u64,
    /// Events that were given up.
    pub given_up: u64,
    /// Events in order.
    pub events: Vec<WebhookEvent>,
    /// `after` of the next part; `None` at the end.
    pub next: Option<u64>,
}

/// An event of a job with its delivery attempts.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEvent {
    /// Number within the job, from 1.
    pub number: u64,
    /// `crawl.page`, ...
    pub event: String,
    /// The same on every attempt.
    pub webhook_id: WebhookId,
    /// State of the delivery.
    pub state: DeliveryState,
    /// When it happened.
    pub created_at: Timestamp,
    /// When the next attempt may start.
    #[serde(default)]
    pub next_attempt_at: Option<Timestamp>,
    /// Attempts in order.
    pub attempts: Vec<WebhookAttempt>,
}

/// One delivery attempt.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// Start time.
    pub at: Timestamp,
    /// Duration in ms.
    pub duration_ms: u64,
    /// HTTP status of the receiver.
    #[serde(default)]
    pub status: Option<u16>,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<String>,
}

impl Client {
    /// Exchanges the one-time code in the console's URL for an API key.
    pub async fn console_start(&self, code: &str) -> Result<SignInResponse, ClientError> {
        self.post("/console/api/start", &json!({ "code": code })).await
    }

    /// Returns facts about the server.
    pub async fn console_info(&self) -> Result<ConsoleInfo, ClientError> {
        self.get("/console/api/info").await
    }

    /// Lists the recent jobs of the team.
    pub async fn console_jobs(&self) -> Result<ConsoleJobs, ClientError> {
        self.get("/console/api/jobs").await
    }

    /// Returns one job of the team with its request.
    pub async fn console_job(&self, id: JobId) -> Result<ConsoleJob, ClientError> {
        let response: OneJob = self.get(&format!("/console/api/jobs/{id}")).await?;
        Ok(response.job)
    }

    /// Lists the pages of a job without their content, starting at `skip`.
    pub async fn job_pages(&self, id: JobId, skip: u64) -> Result<PageSummaries, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/pages?skip={skip}"))
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
    pub async fn resend_webhook(&self, id: JobId, event: WebhookId) -> Result<(), ClientError> {
        let path = format!("/console/api/jobs/{id}/webhooks");
        self.post::<Value>(&path, &json!({ "webhookId": event }))
            .await
            .map(drop)
    }
}
