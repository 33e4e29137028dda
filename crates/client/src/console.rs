//! `/console/api/...`: the few things that the console needs beside the public API.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
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
    /// The body that started it.
    #[serde(default)]
    pub request: Option<Value>,
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
}
