//! Models of the console's own endpoints, `/console/api/...`: what the console needs in addition to the public
//! API. The server and the console of one build use the same models.

use harvestman_derive::response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::api::browser::BrowserSession;
use crate::api::change_report::MarkdownDiff;
use crate::api::job::{JobKind, JobStatus};
use crate::api::wire_enum::wire_enum;
use crate::crawl::batch::ProcessingCounts;
use crate::day::Day;
use crate::ids::{JobId, ScrapeId, TeamId, WebhookId};
use crate::link_graph::LinkGraph;
use crate::time::Timestamp;
use crate::webhook::DeliveryState;

wire_enum! {
    /// The reason why no further page of a job starts now.
    Limiter {
        /// The next page waits for `delay`, `Crawl-delay`, `Retry-After` or a retry back-off.
        HostDelay = "hostDelay",
        /// Every site with queued pages has reached its concurrency limit.
        HostConcurrency = "hostConcurrency",
        /// The job has reached `maxConcurrency`, or the team its slot limit.
        Concurrency = "concurrency",
        /// Pages wait for the browser.
        Browser = "browser",
        /// Pages wait to be converted because every core is busy.
        Conversion = "conversion",
        /// Pages wait to be stored.
        Storage = "storage",
    }
}

/// Exchange of the one-time code in the console's URL for an API key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInRequest {
    /// The one-time code.
    pub code: String,
}

/// Response to a [`SignInRequest`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInResponse {
    /// Always true.
    pub success: bool,
    /// The API key to use from now on.
    pub api_key: String,
    /// Name of the key.
    pub key_name: String,
    /// Name of the team.
    pub team: String,
}

/// Facts about the server and the key of the request.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleInfo {
    /// Always true.
    pub success: bool,
    /// Version of the server.
    pub version: String,
    /// Name of the team.
    pub team: String,
    /// Id of the team.
    pub team_id: Option<TeamId>,
    /// Name of the key.
    pub key_name: String,
    /// Whether requests need no key.
    pub open: bool,
    /// URL at which clients reach the server, if the operator has set it.
    pub public_url: Option<String>,
    /// Pages of the team in flight.
    pub concurrency: u64,
    /// Limits of the team.
    pub limits: ConsoleLimits,
    /// What the operator has enabled.
    pub features: ConsoleFeatures,
}

/// Limits of a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleLimits {
    /// Maximum pages in flight.
    pub max_concurrency: u64,
    /// Maximum bytes of a request body.
    pub body_bytes: u64,
    /// Bytes of documents after which a status response ends.
    pub status_bytes: u64,
}

/// Features that the operator enables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleFeatures {
    /// Whether requests may ignore robots.txt.
    pub ignore_robots_txt: bool,
    /// Whether requests may ask for zero data retention.
    pub zero_data_retention: bool,
    /// Whether deliveries of webhooks are signed.
    pub webhook_signature: bool,
}

/// Recent jobs of the team, newest first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ConsoleJobs {
    /// Always true.
    pub success: bool,
    /// The jobs.
    pub jobs: Vec<ConsoleJob>,
}

/// One job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConsoleJobResponse {
    /// Always true.
    pub success: bool,
    /// The job.
    pub job: ConsoleJob,
}

/// A row in the list of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleJob {
    /// Id of the job.
    pub id: JobId,
    /// Kind of the job.
    pub kind: JobKind,
    /// URL that it started from.
    pub url: String,
    /// State of the job.
    pub status: JobStatus,
    /// Pages attempted.
    pub total: u64,
    /// Pages completed.
    pub completed: u64,
    /// Credits used so far.
    pub credits_used: u64,
    /// Start time.
    pub created_at: Timestamp,
    /// End time.
    pub completed_at: Option<Timestamp>,
    /// Time until which its results can be read.
    pub expires_at: Option<Timestamp>,
    /// The request body that started it.
    pub request: Option<Value>,
    /// How its pages are processed; only for a single job with many pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<JobProcessing>,
    /// Number of known URLs that it did not fetch; another crawl can continue with them. Only for a single crawl
    /// that has ended and whose URLs are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urls_left: Option<u64>,
}

/// How the pages of a job are processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobProcessing {
    /// Processing counters.
    pub pages: ProcessingCounts,
    /// Why no further page starts now; `None` if nothing limits it.
    pub limited_by: Option<Limiter>,
}

/// A page of a job without its content.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// The URL as requested, if the page redirected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<String>,
    /// Hash of its content; `None` without content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<u64>,
    /// Number of links from the start page to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Time from the start of its fetch to the finished document, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// When it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<Timestamp>,
}

impl PageSummary {
    /// Returns the requested URL if the page was found at a different one. Fragments and spelling do not count.
    pub fn redirect_source(requested: Option<&str>, found_at: Option<&str>) -> Option<String> {
        let (requested, found_at) = (requested?, found_at?);
        let parse = |url| {
            let mut url = Url::parse(url).ok()?;
            url.set_fragment(None);
            Some(url)
        };
        (requested != found_at && parse(requested)? != parse(found_at)?).then(|| requested.to_owned())
    }
}

/// A part of the list of a job's pages, in order of completion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageSummaries {
    /// Always true.
    pub success: bool,
    /// The pages.
    pub pages: Vec<PageSummary>,
    /// `skip` of the next part; `None` if there are no more pages at the moment.
    pub next: Option<u64>,
}

wire_enum! {
    /// How a page of a job differs from the same page of another job.
    PageChange {
        /// Its content or its HTTP status differs.
        Changed = "changed",
        /// Only this job has it.
        Added = "added",
        /// Only the other job has it.
        Removed = "removed",
    }
}

/// Number of pages for each kind of change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ComparisonCounts {
    /// Pages that only this job has.
    pub added: u64,
    /// Pages that only the other job has.
    pub removed: u64,
    /// Pages that differ.
    pub changed: u64,
    /// Pages that are the same in both.
    pub unchanged: u64,
}

/// A page that differs between two jobs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ComparedPage {
    /// How it differs.
    pub change: PageChange,
    /// URL after redirects.
    pub url: String,
    /// Title; may be empty.
    pub title: String,
    /// Index in the documents of the other job.
    pub before: Option<u64>,
    /// Index in the documents of this job.
    pub after: Option<u64>,
}

/// The pages of a job compared with those of an earlier one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobComparison {
    /// Always true.
    pub success: bool,
    /// Counts of all compared pages.
    pub counts: ComparisonCounts,
    /// The first pages that differ between the jobs.
    pub pages: Vec<ComparedPage>,
    /// Whether a job has more pages than are compared.
    pub cut: bool,
}

/// The line diff of a page in two jobs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageDifference {
    /// Always true.
    pub success: bool,
    /// The diff; `None` if the page is too large for one.
    pub diff: Option<MarkdownDiff>,
}

/// The links among the first pages of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobLinks {
    /// Always true.
    pub success: bool,
    /// Number of pages.
    pub pages: usize,
    /// The link graph.
    #[serde(flatten)]
    pub graph: LinkGraph,
    /// Whether every page was stored with its list of links. Otherwise the edges from parents are complete, and the
    /// other links are those in the Markdown.
    pub listed: bool,
}

/// Browser sessions of the team, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ConsoleSessions {
    /// Always true.
    pub success: bool,
    /// The sessions.
    pub sessions: Vec<ConsoleSession>,
}

/// A browser session with its cost and its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleSession {
    /// The session as in the public API.
    pub session: BrowserSession,
    /// The scrape that it continues.
    pub scrape_id: Option<ScrapeId>,
    /// URL of that scrape.
    pub url: Option<String>,
    /// When it ended; `None` while it is live.
    pub ended_at: Option<Timestamp>,
    /// When it ends without further activity; `None` once it has ended.
    pub ends_at: Option<Timestamp>,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// Credits so far.
    pub credits: u64,
}

/// Usage of the team by day and key; days without usage are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UsageDays {
    /// Always true.
    pub success: bool,
    /// Days in UTC, oldest first.
    pub days: Vec<DayUse>,
}

/// Usage of one key on one day.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayUse {
    /// The day in UTC.
    pub date: Day,
    /// Name of the key.
    pub api_key: String,
    /// Credits used.
    pub credits: u64,
    /// Pages returned, including those that were free.
    pub pages: u64,
}

/// A part of a job's webhook delivery log, with the number of events in each state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookLog {
    /// Always true.
    pub success: bool,
    /// The receiver; `None` for a job without a webhook.
    pub url: Option<String>,
    /// Events that wait for an attempt.
    pub pending: u64,
    /// Events that were acknowledged.
    pub delivered: u64,
    /// Events whose delivery was given up.
    pub given_up: u64,
    /// Events in order.
    pub events: Vec<WebhookEvent>,
    /// `after` of the next part; `None` at the end.
    pub next: Option<u64>,
}

/// An event of a job with its delivery attempts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    pub next_attempt_at: Option<Timestamp>,
    /// Attempts in order.
    pub attempts: Vec<DeliveryAttempt>,
}

/// One delivery attempt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAttempt {
    /// Start time.
    pub at: Timestamp,
    /// Duration in ms.
    pub duration_ms: u64,
    /// HTTP status of the receiver.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Request to deliver an event of a job again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResendRequest {
    /// Id of the event.
    pub webhook_id: WebhookId,
}

/// Response of an endpoint that returns nothing else.
#[response(Copy, Eq)]
pub struct SuccessResponse {
    /// Always true.
    pub success: bool,
}
