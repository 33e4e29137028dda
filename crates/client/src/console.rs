//! `/console/api/...`: the few things that the console needs beside the public API.

use harvestman_core::api::browser::BrowserSession;
use harvestman_core::api::job::JobStatus;
use harvestman_core::api::team::{Calls, Endpoint};
use harvestman_core::crawl::PaceCounts;
use harvestman_core::ids::{JobId, ScrapeId, WebhookId};
use harvestman_core::link_graph::LinkGraph;
use harvestman_core::time::Timestamp;
use harvestman_core::webhook::DeliveryState;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::transport::Client;

/// Answer of the exchange of a one-time sign-in code.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedIn {
    /// The key to use from now on.
    pub api_key: String,
}

/// What the console should know about its server.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleInfo {
    /// Version of the server.
    pub version: String,
    /// Whether requests need no key.
    pub open: bool,
    /// Pages of the team in work.
    pub concurrency: u64,
    /// Bounds of the team.
    pub limits: ConsoleLimits,
}

/// Bounds of a team.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleLimits {
    /// Pages in work at once, at most.
    pub max_concurrency: u64,
}

/// Recent jobs of the team, newest first.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ConsoleJobs {
    /// The jobs.
    pub jobs: Vec<ConsoleJob>,
}

/// One row of the list of jobs.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleJob {
    /// The job.
    pub id: JobId,
    /// `crawl`, `scrape`, ...
    #[serde(default)]
    pub kind: String,
    /// Address that it began with.
    #[serde(default)]
    pub url: String,
    /// `scraping`, `completed`, `failed`, `cancelled`.
    #[serde(default)]
    pub status: String,
    /// Pages attempted.
    #[serde(default)]
    pub total: u64,
    /// Pages done.
    #[serde(default)]
    pub completed: u64,
    /// Credits so far.
    #[serde(default)]
    pub credits_used: u64,
    /// Start.
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    /// End.
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
    /// Until when its results can be read.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The body that started it.
    #[serde(default)]
    pub request: Option<Value>,
    /// How its pages come along; only of one job of many pages.
    #[serde(default)]
    pub pace: Option<JobPace>,
}

/// How the pages of a job come along.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobPace {
    /// What its pages took so far.
    pub pages: PaceCounts,
    /// Why no further page starts now: `hostDelay`, `hostConcurrency`, `concurrency`, `browser`, `conversion` or
    /// `storage`; none when nothing keeps it.
    pub limited_by: Option<String>,
}

#[derive(Deserialize)]
struct OneJob {
    job: ConsoleJob,
}

/// A page of a job without its bodies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageLine {
    /// Address after redirects.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// HTTP status of the page.
    pub status: Option<u16>,
    /// What went wrong, if anything did.
    pub error: Option<String>,
    /// Size of its content, bytes.
    pub size: usize,
}

/// A part of the list of a job's pages, in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageLines {
    /// The pages.
    pub pages: Vec<PageLine>,
    /// `skip` of the next part; none when there is no more at the moment.
    pub next: Option<u64>,
}

/// The links among the first pages of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct JobLinks {
    /// Who links to whom.
    #[serde(flatten)]
    pub graph: LinkGraph,
    /// Every page was kept with its list of links; otherwise the ways are whole, and the other links are those in its
    /// Markdown.
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
    /// What every caller is told of it.
    pub session: BrowserSession,
    /// The scrape that it continues.
    #[serde(default)]
    pub scrape_id: Option<ScrapeId>,
    /// Address of that scrape.
    #[serde(default)]
    pub url: Option<String>,
    /// When it ended; none while it lives.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// When it ends unless something happens in it before; none when it is over.
    #[serde(default)]
    pub ends_at: Option<Timestamp>,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// What it cost, so far.
    #[serde(default)]
    pub credits: u64,
}

/// A part of a job's delivery log, and how many of its events stand where.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookLog {
    /// The receiver; none for a job without a webhook.
    pub url: Option<String>,
    /// Events that wait for an attempt.
    pub pending: u64,
    /// Events that were acknowledged.
    pub delivered: u64,
    /// Events without a further attempt.
    pub given_up: u64,
    /// In order of events.
    pub events: Vec<WebhookEvent>,
    /// `after` of the next part; none at the end.
    pub next: Option<u64>,
}

/// An event of a job and its deliveries.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEvent {
    /// Number within the job, from 1.
    pub number: u64,
    /// `crawl.page`, ...
    pub event: String,
    /// The same on every attempt.
    pub webhook_id: WebhookId,
    /// Where it stands.
    pub state: DeliveryState,
    /// When it happened.
    pub created_at: Timestamp,
    /// When the next attempt may begin.
    #[serde(default)]
    pub next_attempt_at: Option<Timestamp>,
    /// In order.
    pub attempts: Vec<WebhookAttempt>,
}

/// One delivery attempt.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took, ms.
    pub duration_ms: u64,
    /// HTTP status of the receiver.
    #[serde(default)]
    pub status: Option<u16>,
    /// Why it does not count.
    #[serde(default)]
    pub error: Option<String>,
}

impl Client {
    /// Exchanges the one-time code of the console's address for a key.
    pub async fn console_start(&self, code: &str) -> Result<SignedIn, ClientError> {
        self.post("/console/api/start", &json!({ "code": code })).await
    }

    /// Facts about the server.
    pub async fn console_info(&self) -> Result<ConsoleInfo, ClientError> {
        self.get("/console/api/info").await
    }

    /// Recent jobs of the team.
    pub async fn console_jobs(&self) -> Result<ConsoleJobs, ClientError> {
        self.get("/console/api/jobs").await
    }

    /// One job of the team, with its request.
    pub async fn console_job(&self, id: JobId) -> Result<ConsoleJob, ClientError> {
        let answer: OneJob = self.get(&format!("/console/api/jobs/{id}")).await?;
        Ok(answer.job)
    }

    /// Pages of a job without their bodies, from `skip` on.
    pub async fn job_pages(&self, id: JobId, skip: u64) -> Result<PageLines, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/pages?skip={skip}"))
            .await
    }

    /// Who links to whom among the first pages of a job.
    pub async fn job_links(&self, id: JobId) -> Result<JobLinks, ClientError> {
        self.get(&format!("/console/api/jobs/{id}/links")).await
    }

    /// Calls of the last 24 hours, newest first; `key` is the id of one.
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

    /// Browser sessions of the last 24 hours, with what they cost and when they end.
    pub async fn console_sessions(&self) -> Result<ConsoleSessions, ClientError> {
        self.get("/console/api/sessions").await
    }

    /// The delivery log of a job from the event after this number on, also only what is in a state.
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

    /// Sends an event of a job once more.
    pub async fn resend_webhook(&self, id: JobId, event: WebhookId) -> Result<(), ClientError> {
        let path = format!("/console/api/jobs/{id}/webhooks");
        self.post::<Value>(&path, &json!({ "webhookId": event }))
            .await
            .map(drop)
    }
}
