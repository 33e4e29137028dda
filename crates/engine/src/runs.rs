//! Extract and agent jobs ("runs"): data from several pages. A run is a stored job under a lease, like a crawl. Its
//! progress is stored for status requests ([`progress`]); one transaction at its end stores the result, credits and
//! event. If its server stops, a run starts over on another server, mostly from the page cache; it fails after
//! [`limits::RUN_ATTEMPTS`] attempts.

mod agent;
mod agent_options;
mod agent_tools;
mod extract;
mod page_selection;
mod progress;
mod start;
mod status;
mod thread;
mod trace;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use harvestman_core::api::agent::StopReason;
use harvestman_core::api::error::ApiError;
use harvestman_core::extract::Schema;
use harvestman_store::{JobKind, JobStatus, Lease, RunEnd, StoreError};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::lease::LeaseEnd;
use crate::{clock, limits, outage};

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug, Default)]
struct RunOutcome {
    /// The result; `None` if the run failed.
    data: Option<Value>,
    /// What a failed run has found.
    partial: Option<Value>,
    /// Why an agent failed.
    stop_reason: Option<StopReason>,
    /// The agent's answer in chat mode.
    message: Option<String>,
    /// Why the run failed.
    error: Option<String>,
    /// Class of the error, for the trace.
    error_type: Option<&'static str>,
    /// The source URLs of each top-level property.
    sources: Option<Map<String, Value>>,
    warnings: Vec<String>,
    credits: u32,
    /// Number of pages read.
    pages: u64,
}

impl RunOutcome {
    /// Adds credits that the run spends beyond those of its pages.
    fn spend(&mut self, context: &Context, lease: &Lease, credits: u32) {
        self.credits = self.credits.saturating_add(credits);
        context.budget.spend(lease.team, lease.job, credits);
    }

    fn fail(&mut self, error: String, error_type: &'static str) {
        self.error = Some(error);
        self.error_type = Some(error_type);
    }

    fn failed(error: ApiError) -> Self {
        let mut outcome = Self::default();
        outcome.fail(error.message, error.code.as_str());
        outcome
    }

    fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) && self.warnings.len() < limits::RUN_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Adds a warning if the result does not match the schema.
    fn check(&mut self, schema: Option<&Schema>) {
        let (Some(schema), Some(data)) = (schema, &self.data) else {
            return;
        };
        let violations = schema.violations(data);
        // A run of one page already has the warning of that page.
        let is_reported = self.pages == 1
            && self
                .warnings
                .iter()
                .any(|one| one.contains("does not match the schema"));
        if !violations.is_empty() && !is_reported {
            self.warn(format!(
                "The result does not match the schema: {}",
                violations.join(" ")
            ));
        }
    }

    /// Returns the outcome as it is stored and sent to webhooks.
    fn into_end(self, lease: &Lease) -> RunEnd {
        // A failed run costs nothing.
        let credits = if self.error.is_none() { self.credits } else { 0 };
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join(" "));
        let payload = match (lease.kind, &self.error) {
            (JobKind::Agent, None) => Some(json!({ "creditsUsed": credits, "data": self.data })),
            (JobKind::Agent, Some(_)) => Some(json!({ "creditsUsed": credits })),
            (_, None) => {
                let mut payload = json!({ "success": true, "data": self.data, "extractId": lease.job,
                    "totalUrlsScraped": self.pages });
                if let Some(sources) = &self.sources {
                    payload["sources"] = Value::Object(sources.clone());
                }
                Some(payload)
            }
            (_, Some(_)) => None,
        };
        let has_content =
            self.error.is_none() || self.partial.is_some() || self.stop_reason.is_some() || warning.is_some();
        let result = has_content.then(|| {
            json!({ "data": self.data, "message": self.message, "sources": self.sources, "warning": warning,
                "partial": self.partial, "stopReason": self.stop_reason })
        });
        RunEnd {
            error: self.error,
            result: result.map(|result| result.to_string()),
            credits,
            event_data: payload.map(|payload| payload.to_string()),
        }
    }
}

/// Runs a leased extract or agent until it has ended or `stop` is cancelled.
pub(crate) async fn drive(
    context: &Arc<Context>,
    lease: &Lease,
    stop: CancellationToken,
) -> Result<LeaseEnd, StoreError> {
    let work = async {
        if lease.epoch > limits::RUN_ATTEMPTS {
            return RunOutcome::failed(ApiError::internal(
                "the server stopped too often while it worked on this job; start the job again",
            ));
        }
        let outcome = match lease.kind {
            // Boxed, as are the maps and pages of a run: together these futures are too large for the stack of a thread.
            JobKind::Agent => agent::run(context, lease).boxed().await,
            _ => extract::run(context, lease).boxed().await,
        };
        outcome.unwrap_or_else(RunOutcome::failed)
    };
    let outcome = tokio::select! {
        biased;
        () = stop.cancelled() => {
            context.store.release(lease).await?;
            return Ok(LeaseEnd::Released);
        }
        outcome = work => outcome,
    };
    if let Some(error_type) = outcome.error_type {
        tracing::Span::current().record("error.type", error_type);
    }
    let end = outcome.into_end(lease);
    let write = || context.store.finish_run(lease, end.clone(), clock::now());
    let ended = outage::retry(StoreError::is_transient, write).await?;
    context
        .budget
        .committed(lease.team, lease.job, end.credits.into());
    context.outbox.notify_one();
    if ended {
        let status = match end.error {
            None => JobStatus::Completed,
            Some(_) => JobStatus::Failed,
        };
        context.slots.metrics().count_job_end(lease.kind, status);
        tracing::info!(status = status.as_str(), "job ended");
    }
    Ok(if ended { LeaseEnd::JobEnded } else { LeaseEnd::Lost })
}

/// Returns the deadline of a run: its own timeout, at most [`limits::RUN_TIMEOUT`].
fn deadline(timeout_ms: Option<u64>) -> tokio::time::Instant {
    let time = timeout_ms
        .map_or(limits::RUN_TIMEOUT, Duration::from_millis)
        .min(limits::RUN_TIMEOUT);
    tokio::time::Instant::now() + time
}
