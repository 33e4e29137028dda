//! What a run has done so far, stored while it works: the trace of an agent, and the result so far. A run with zero
//! data retention stores neither.

use harvestman_core::api::agent_trace::{
    SnapshotKind, TraceAgent, TraceArtifact, TraceDetail, TraceEvent, event_id,
};
use harvestman_core::api::error::ApiError;
use harvestman_core::extract::merge;
use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, Lease, RunEvent, RunStep, StoreError};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::context::Context;
use crate::error::internal_error;
use crate::{clock, limits, outage};

/// Number of the event that starts a trace, which is not stored.
pub(super) const FIRST_EVENT: u64 = 1;

/// A call of a tool and its result.
pub(super) struct TracedCall<'a> {
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) parameters: Value,
    pub(super) started_at: Timestamp,
    /// The text that the model got.
    pub(super) result: &'a str,
    /// URL of the page that was read; the result is its snapshot.
    pub(super) page: Option<&'a str>,
}

/// The stored progress of a run.
pub(super) struct Progress<'a> {
    context: &'a Context,
    lease: &'a Lease,
    keeps_content: bool,
    /// Number of the last event.
    last_event: u64,
    step: RunStep,
    partial: Value,
    stored_at: Option<Instant>,
}

impl<'a> Progress<'a> {
    /// Continues the progress of earlier owners of the run.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn of(
        context: &'a Context,
        lease: &'a Lease,
        keeps_content: bool,
    ) -> Result<Self, ApiError> {
        let read = || context.store.run_events(lease.job);
        let earlier = outage::retry(StoreError::is_transient, read).await?.len() as u64;
        let mut progress = Self {
            context,
            lease,
            keeps_content,
            last_event: FIRST_EVENT + earlier,
            step: RunStep::default(),
            partial: Value::Null,
            stored_at: None,
        };
        if earlier > 0 {
            let text = "The server stopped while it worked on this run; the run started over.";
            progress.add_event(clock::now(), None, |_| message(text));
        }
        Ok(progress)
    }

    /// Adds the data of a page to the result so far.
    pub(super) fn add_data(&mut self, url: &str, data: Value) {
        let so_far = (String::new(), self.partial.take());
        self.partial = merge::merge([so_far, (url.to_owned(), data)]).value;
    }

    /// Returns the result so far; null if there is none.
    pub(super) fn take_partial(&mut self) -> Value {
        self.partial.take()
    }

    /// Adds a tool call to the trace.
    pub(super) fn add_call(&mut self, call: TracedCall<'_>) {
        self.add_event(call.started_at, None, |_| TraceDetail::ToolCallStarted {
            tool_call_id: call.id.to_owned(),
            tool_name: call.tool.to_owned(),
            parameters: call.parameters,
        });
        let job = self.lease.job;
        let shown = &call.result[..call.result.floor_char_boundary(limits::TRACE_RESULT_BYTES)];
        self.add_event(clock::now(), None, |_| TraceDetail::ToolCallFinished {
            tool_call_id: call.id.to_owned(),
            tool_name: call.tool.to_owned(),
            result: shown.into(),
        });
        if let Some(page) = call.page {
            let snapshot = call.result.to_owned();
            self.add_event(clock::now(), Some(snapshot), |number| {
                let artifact = TraceArtifact {
                    kind: SnapshotKind::Markdown,
                    artifact_id: page.to_owned(),
                    path: Some(page.to_owned()),
                    snapshot_id: event_id(job, number),
                    change: "init".to_owned(),
                    source_tool_call_id: Some(call.id.to_owned()),
                };
                TraceDetail::ArtifactUpdated { artifact }
            });
        }
    }

    fn add_event(
        &mut self,
        at: Timestamp,
        snapshot: Option<String>,
        detail: impl FnOnce(u64) -> TraceDetail,
    ) {
        if !self.keeps_content || self.lease.kind != JobKind::Agent || self.last_event > limits::TRACE_EVENTS
        {
            return;
        }
        self.last_event += 1;
        let (detail, snapshot) = match self.last_event > limits::TRACE_EVENTS {
            true => (
                message("The trace is full; further steps are not recorded."),
                None,
            ),
            false => (detail(self.last_event), snapshot),
        };
        let event = trace_event(self.lease.job, self.last_event, at, detail);
        self.step.events.push(RunEvent {
            number: self.last_event,
            event: json!(event).to_string(),
            snapshot,
        });
    }

    /// Stores the progress with the warnings so far, and a webhook event for `action`.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn store(&mut self, warnings: &[String], action: Option<Value>) -> Result<(), ApiError> {
        let mut step = std::mem::take(&mut self.step);
        step.action = action.map(|action| action.to_string());
        if self.keeps_content {
            let warning = (!warnings.is_empty()).then(|| warnings.join(" "));
            let result = json!({ "partial": self.partial, "warning": warning }).to_string();
            step.result = (result.len() <= limits::PARTIAL_BYTES).then_some(result);
        }
        self.stored_at = Some(Instant::now());
        if step == RunStep::default() {
            return Ok(());
        }
        let store = &self.context.store;
        let write = || store.add_run_step(self.lease, step.clone(), clock::now());
        outage::retry(StoreError::is_transient, write)
            .await
            .map_err(internal_error)?;
        self.context.outbox.notify_one();
        Ok(())
    }

    /// Stores the progress unless it was stored a moment ago.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn store_sometimes(&mut self, warnings: &[String]) -> Result<(), ApiError> {
        let is_due = |at: Instant| at.elapsed() >= limits::PARTIAL_INTERVAL;
        match self.stored_at.is_none_or(is_due) {
            true => self.store(warnings, None).await,
            false => Ok(()),
        }
    }
}

fn message(text: &str) -> TraceDetail {
    TraceDetail::ProgressReported {
        phase: "working".to_owned(),
        message: text.to_owned(),
    }
}

/// Returns an event of a run.
pub(super) fn trace_event(run: JobId, number: u64, at: Timestamp, detail: TraceDetail) -> TraceEvent {
    TraceEvent {
        schema_version: 1,
        event_id: event_id(run, number),
        run_id: run,
        occurred_at: at,
        producer_sequence: number,
        agent: TraceAgent {
            id: run.to_string(),
            role: "orchestrator".to_owned(),
            name: "agent".to_owned(),
        },
        detail,
    }
}
