//! Status, result, list and cancellation of extracts and agents.

use std::time::Duration;

use harvestman_core::api::agent::{
    AgentEntry, AgentEntryOptions, AgentRequest, AgentResponse, AgentSettings, AgentStarted, AgentStatus,
    Agents, AgentsQuery, CANCELLED,
};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::extract::{ExtractResponse, ExtractStatus};
use harvestman_core::billing;
use harvestman_core::extract::Schema;
use harvestman_core::ids::JobId;
use harvestman_core::limits::AGENTS_PER_PAGE;
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, JobStatus, Principal, RunRow};
use serde_json::Value;

use crate::context::Engine;
use crate::error::{internal_error, job_not_found};
use crate::llm::Llm;
use crate::{clock, limits};

/// `origin` in the list of agents if the request has none.
const DEFAULT_ORIGIN: &str = "api";
/// Model in the list of agents if neither the request nor the operator names one.
const NO_MODEL: &str = "none";
/// What the store leaves of a request whose data is erased.
const ERASED_REQUEST: &str = "{}";

impl Engine {
    /// Returns the status and result of an extract or agent of the team.
    ///
    /// # Errors
    /// 404; 503 if the store fails.
    pub async fn extract_status(
        &self,
        principal: &Principal,
        id: JobId,
    ) -> Result<ExtractResponse, ApiError> {
        let run = self.read_run(principal, id).await?;
        let mut result = result_fields(&run);
        let response = ExtractResponse {
            success: true,
            status: match run.status {
                JobStatus::Scraping => ExtractStatus::Processing,
                JobStatus::Completed => ExtractStatus::Completed,
                JobStatus::Failed => ExtractStatus::Failed,
                JobStatus::Cancelled => ExtractStatus::Cancelled,
            },
            data: take_field(&mut result, "data").or_else(|| take_field(&mut result, "message")),
            error: run.error.clone(),
            expires_at: Some(expires_at(&run, self.context.config.retention)),
            tokens_used: has_ended(&run).then(|| billing::tokens(run.credits)),
            credits_used: has_ended(&run).then_some(run.credits),
            sources: take_field(&mut result, "sources"),
            partial: take_field(&mut result, "partial").filter(|_| run.status != JobStatus::Completed),
            warning: into_text(take_field(&mut result, "warning")),
        };
        self.delete_if_returned(&run).await?;
        Ok(response)
    }

    /// Returns the status and result of an agent of the team.
    ///
    /// # Errors
    /// As for [`Engine::extract_status`].
    pub async fn agent_status(&self, principal: &Principal, id: JobId) -> Result<AgentResponse, ApiError> {
        let run = self.read_agent(principal, id).await?;
        let request = agent_request(&run)?;
        let mut result = result_fields(&run);
        let (partial, partial_schema_valid) = partial_of(&run, &request, &mut result).unzip();
        let stop_reason = take_field(&mut result, "stopReason").map(serde_json::from_value);
        let warning = into_text(take_field(&mut result, "warning"));
        let response = AgentResponse {
            success: true,
            status: agent_status(run.status),
            data: take_field(&mut result, "data"),
            error: run_error(&run),
            model: request.model,
            expires_at: Some(expires_at(&run, self.context.config.retention)),
            credits_used: has_ended(&run).then_some(run.credits),
            // Clients without `warning` show the message.
            message: into_text(take_field(&mut result, "message"))
                .or_else(|| warning.clone().filter(|_| run.status == JobStatus::Completed)),
            partial,
            partial_schema_valid: partial_schema_valid.flatten(),
            stop_reason: stop_reason.transpose().map_err(internal_error)?,
            warning,
            effort: request.effort,
            mode: request.mode,
            thread_id: run.thread.map(|place| place.thread),
            thread_turn: run.thread.map(|place| place.turn),
        };
        self.delete_if_returned(&run).await?;
        Ok(response)
    }

    /// Returns the response to the start of an agent.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn agent_started(&self, principal: &Principal, id: JobId) -> Result<AgentStarted, ApiError> {
        let run = self.read_agent(principal, id).await?;
        Ok(AgentStarted {
            success: true,
            id,
            thread_id: run.thread.map(|place| place.thread),
            thread_turn: run.thread.map(|place| place.turn),
        })
    }

    /// Lists the agents of the team, newest first. For `base` see [`Engine::start_crawl`].
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn agents(
        &self,
        principal: &Principal,
        query: AgentsQuery,
        base: &str,
    ) -> Result<Agents, ApiError> {
        let mut limit = AGENTS_PER_PAGE;
        let (runs, length) = loop {
            let rows = u32::try_from(limit + 1).unwrap_or(u32::MAX);
            let store = &self.context.store;
            let runs = store
                .agents(principal.team, query.before, rows, clock::now())
                .await?;
            let times: Vec<Timestamp> = runs.iter().map(|run| run.created_at).collect();
            match page_length(&times, limit) {
                Some(length) => break (runs, length),
                None => limit *= 2,
            }
        };
        let model = self.context.config.llm.as_ref().map_or(NO_MODEL, Llm::model);
        let agents = runs[..length].iter().map(|run| entry(run, model));
        let agents: Vec<AgentEntry> = agents.collect::<Result<_, _>>()?;
        let next = agents.last().filter(|_| length < runs.len());
        let next = next.map(|last| format!("{base}/v2/agent?before={}", last.created_at.0));
        Ok(Agents {
            success: true,
            agents,
            next,
        })
    }

    /// Cancels an agent of the team.
    ///
    /// # Errors
    /// 404; 409 if it has ended.
    pub async fn cancel_agent(&self, principal: &Principal, id: JobId) -> Result<(), ApiError> {
        self.read_agent(principal, id).await?;
        self.cancel_extract(principal, id).await
    }

    /// Cancels an extract or agent of the team.
    ///
    /// # Errors
    /// 404; 409 if it has ended.
    pub async fn cancel_extract(&self, principal: &Principal, id: JobId) -> Result<(), ApiError> {
        self.read_run(principal, id).await?;
        self.cancel(principal, id).await?;
        self.context.outbox.notify_one();
        Ok(())
    }

    /// Returns an agent of the team.
    pub(super) async fn read_agent(&self, principal: &Principal, id: JobId) -> Result<RunRow, ApiError> {
        let run = self.read_run(principal, id).await?;
        match run.kind {
            JobKind::Agent => Ok(run),
            _ => Err(job_not_found()),
        }
    }

    async fn read_run(&self, principal: &Principal, id: JobId) -> Result<RunRow, ApiError> {
        let run = self.context.store.run(principal.team, id, clock::now()).await;
        run?.ok_or_else(job_not_found)
    }

    /// Deletes the result of a run without data retention once it was returned.
    async fn delete_if_returned(&self, run: &RunRow) -> Result<(), ApiError> {
        if run.zero_data_retention && run.result.is_some() {
            self.context.store.delete_delivered(run.id, 0, 1).await?;
        }
        Ok(())
    }
}

pub(super) fn has_ended(run: &RunRow) -> bool {
    run.status != JobStatus::Scraping
}

/// Returns when a run expires; for a running one, when it would expire if it ended now.
fn expires_at(run: &RunRow, retention: Duration) -> Timestamp {
    let soonest = clock::now() + retention;
    run.expires_at.unwrap_or(soonest)
}

pub(super) fn result_fields(run: &RunRow) -> Value {
    let result = run.result.as_deref().map(serde_json::from_str);
    result.and_then(Result::ok).unwrap_or_default()
}

pub(super) fn take_field(result: &mut Value, name: &str) -> Option<Value> {
    result
        .get_mut(name)
        .map(Value::take)
        .filter(|value| !value.is_null())
}

/// Returns what a run without a result has found, and whether it matches the schema, if there is one.
pub(super) fn partial_of(
    run: &RunRow,
    request: &AgentRequest,
    result: &mut Value,
) -> Option<(Value, Option<bool>)> {
    let partial = take_field(result, "partial").filter(|_| run.status != JobStatus::Completed)?;
    let schema = request.schema.clone().map(Schema::new);
    let is_valid = schema.map(|schema| schema.violations(&partial).is_empty());
    Some((partial, is_valid))
}

fn into_text(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn agent_status(status: JobStatus) -> AgentStatus {
    match status {
        JobStatus::Scraping => AgentStatus::Processing,
        JobStatus::Completed => AgentStatus::Completed,
        JobStatus::Failed | JobStatus::Cancelled => AgentStatus::Failed,
    }
}

/// Returns the reason of a failure; `cancelled` for a cancelled run.
pub(super) fn run_error(run: &RunRow) -> Option<String> {
    match run.status {
        JobStatus::Cancelled => Some(CANCELLED.to_owned()),
        _ => run.error.clone(),
    }
}

/// Returns the request of an agent; one without a prompt if zero data retention has erased it.
fn agent_request(run: &RunRow) -> Result<AgentRequest, ApiError> {
    match run.zero_data_retention && run.request == ERASED_REQUEST {
        true => Ok(AgentRequest::new(String::new())),
        false => AgentRequest::from_json(run.request.as_bytes()),
    }
}

/// Returns how many of these runs, newest first, the first page of a list has. A page ends between two times, since the
/// next one begins before the last time of this one. `None` if more than `limit` runs have the same time.
fn page_length(times: &[Timestamp], limit: usize) -> Option<usize> {
    let Some(next) = times.get(limit) else {
        return Some(times.len());
    };
    times[..limit]
        .iter()
        .rposition(|time| time != next)
        .map(|last| last + 1)
}

/// Returns the entry of a run in the list; `model` is the one that runs without a requested model use.
fn entry(run: &RunRow, model: &str) -> Result<AgentEntry, ApiError> {
    let request = agent_request(run)?;
    let urls: Vec<String> = request.urls.iter().map(|url| url.url.to_string()).collect();
    let hint = urls.first().cloned();
    Ok(AgentEntry {
        id: run.id,
        created_at: run.created_at,
        target_hint: hint.unwrap_or_else(|| request.prompt.chars().take(limits::AGENT_HINT_CHARS).collect()),
        // The clients' models require a string.
        origin: Some(run.origin.clone().unwrap_or_else(|| DEFAULT_ORIGIN.to_owned())),
        integration: run.integration.clone(),
        settings: AgentSettings::default(),
        status: agent_status(run.status),
        error: run_error(run),
        options: AgentEntryOptions {
            prompt: request.prompt,
            urls: (!urls.is_empty()).then_some(urls),
            schema: request.schema.map(Value::Object),
            // The clients' types require a string.
            model: request.model.or_else(|| Some(model.to_owned())),
            effort: request.effort,
        },
        thread_id: run.thread.map(|place| place.thread),
        thread_turn: run.thread.map(|place| place.turn),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_between_two_times() {
        let length = |times: &[u64], limit| {
            let times: Vec<Timestamp> = times.iter().copied().map(Timestamp).collect();
            page_length(&times, limit)
        };
        assert_eq!(length(&[], 2), Some(0));
        assert_eq!(length(&[9, 9], 2), Some(2));
        assert_eq!(length(&[9, 8, 7], 2), Some(2));
        assert_eq!(length(&[9, 8, 8], 2), Some(1));
        assert_eq!(length(&[9, 9, 9], 2), None);
    }
}
