//! Runs of extract and agent: data from several pages. A run is a stored job under a lease like a crawl; what it found
//! lies in memory until its end, which stores result, price and event at once. A run whose server stops begins anew on
//! the next, mostly from the page cache, and fails when that has happened too often.

mod agent;
mod agent_tools;
mod choose;
mod extract;
mod pages;
mod start;
mod status;

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::extract::Schema;
use harvestman_store::{JobKind, Lease, RunEnd, StoreError};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::driver::Stopped;
use crate::engine::Inner;
use crate::{clock, limits};

/// What came of a run.
#[derive(Clone, PartialEq, Debug, Default)]
struct Found {
    /// The result; none: it failed.
    data: Option<Value>,
    /// What the agent says beside it.
    message: Option<String>,
    /// Why it failed.
    error: Option<String>,
    /// For each property at the top the addresses it comes from.
    sources: Option<Map<String, Value>>,
    warnings: Vec<String>,
    credits: u32,
    /// Pages that were read.
    pages: u64,
}

impl Found {
    fn failed(error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::default()
        }
    }

    fn warn(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.warnings.contains(&sentence) && self.warnings.len() < limits::RUN_WARNINGS {
            self.warnings.push(sentence);
        }
    }

    /// Says what is wrong with the result by the schema.
    fn check(&mut self, schema: Option<&Schema>) {
        let (Some(schema), Some(data)) = (schema, &self.data) else {
            return;
        };
        let violations = schema.violations(data);
        // Of one page it was told already.
        let told = self.pages == 1
            && self
                .warnings
                .iter()
                .any(|one| one.contains("does not match the schema"));
        if !violations.is_empty() && !told {
            self.warn(format!(
                "The result does not match the schema: {}",
                violations.join(" ")
            ));
        }
    }

    /// As it is stored and told.
    fn end(self, lease: &Lease) -> RunEnd {
        // Nobody pays for nothing.
        let credits = if self.error.is_none() { self.credits } else { 0 };
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join(" "));
        let told = match (lease.kind, &self.error) {
            (JobKind::Agent, None) => Some(json!({ "creditsUsed": credits, "data": self.data })),
            (JobKind::Agent, Some(_)) => Some(json!({ "creditsUsed": credits })),
            (_, None) => {
                let mut told = json!({ "success": true, "data": self.data, "extractId": lease.job,
                    "totalUrlsScraped": self.pages });
                if let Some(sources) = &self.sources {
                    told["sources"] = Value::Object(sources.clone());
                }
                Some(told)
            }
            (_, Some(_)) => None,
        };
        let result = self.error.is_none().then(|| {
            json!({ "data": self.data, "message": self.message, "sources": self.sources, "warning": warning })
        });
        RunEnd {
            error: self.error,
            result: result.map(|result| result.to_string()),
            credits,
            told: told.map(|told| told.to_string()),
        }
    }
}

/// Runs a leased extract or agent until it has ended, the lease is lost, or `stop` is called.
pub(crate) async fn drive(
    inner: Arc<Inner>,
    lease: Lease,
    stop: CancellationToken,
) -> Result<Stopped, StoreError> {
    let work = async {
        if lease.epoch > limits::RUN_ATTEMPTS {
            return Found::failed(
                "the server stopped again and again while it worked on this; start it anew",
            );
        }
        let found = match lease.kind {
            JobKind::Agent => agent::run(&inner, &lease).await,
            _ => extract::run(&inner, &lease).await,
        };
        found.unwrap_or_else(|error| Found::failed(error.message))
    };
    let heartbeat = async {
        loop {
            tokio::time::sleep(limits::HEARTBEAT).await;
            if !inner.store.renew(&lease, clock::now(), limits::LEASE_MS).await? {
                return Ok::<_, StoreError>(());
            }
        }
    };
    let found = tokio::select! {
        biased;
        () = stop.cancelled() => {
            inner.store.release(&lease).await?;
            return Ok(Stopped::GivenBack);
        }
        lost = heartbeat => return lost.map(|()| Stopped::LeaseLost),
        found = work => found,
    };
    let end = found.end(&lease);
    let mut pause = limits::COMMIT_RETRY;
    loop {
        match inner.store.finish_run(&lease, end.clone(), clock::now()).await {
            Err(error) if error.passing() => {
                tracing::warn!(%error, "the end of a run has to wait");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(limits::COMMIT_RETRY_MAX);
            }
            Err(error) => return Err(error),
            Ok(ended) => {
                inner.outbox.notify_one();
                return Ok(if ended { Stopped::Ended } else { Stopped::LeaseLost });
            }
        }
    }
}

/// When a run has to come to its end.
fn deadline(timeout_ms: Option<u64>) -> tokio::time::Instant {
    let time = timeout_ms
        .map_or(limits::RUN_TIME, Duration::from_millis)
        .min(limits::RUN_TIME);
    tokio::time::Instant::now() + time
}
