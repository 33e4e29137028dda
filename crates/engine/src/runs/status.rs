//! Status, result, list and cancellation of extracts and agents.

use std::time::Duration;

use harvestman_core::api::agent::{
    AgentEntry, AgentEntryOptions, AgentRequest, AgentResponse, AgentSettings, AgentStatus, Agents,
    AgentsQuery,
};
use harvestman_core::api::error::ApiError;
use harvestman_core::api::extract::{ExtractResponse, ExtractStatus};
use harvestman_core::billing;
use harvestman_core::ids::JobId;
use harvestman_core::limits::AGENTS_PER_PAGE;
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, JobStatus, Principal, RunRow};
use serde_json::Value;

use crate::context::Engine;
use crate::error::job_not_found;
use crate::{clock, limits};

/// Error text of a cancelled agent.
const CANCELLED: &str = "cancelled";

impl Engine {
    /// Returns status and result of an extract or agent of the team.
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
        let answer = ExtractResponse {
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
            warning: into_text(take_field(&mut result, "warning")),
        };
        self.delete_if_returned(&run).await?;
        Ok(answer)
    }

    /// Returns status and result of an agent of the team.
    ///
    /// # Errors
    /// As for [`Engine::extract_status`].
    pub async fn agent_status(&self, principal: &Principal, id: JobId) -> Result<AgentResponse, ApiError> {
        let run = self.read_run(principal, id).await?;
        if run.kind != JobKind::Agent {
            return Err(job_not_found());
        }
        let mut result = result_fields(&run);
        let answer = AgentResponse {
            success: true,
            status: agent_status(run.status),
            data: take_field(&mut result, "data"),
            error: match run.status {
                JobStatus::Cancelled => Some(CANCELLED.to_owned()),
                _ => run.error.clone(),
            },
            model: AgentRequest::from_json(run.request.as_bytes())?.model,
            expires_at: Some(expires_at(&run, self.context.config.retention)),
            credits_used: has_ended(&run).then_some(run.credits),
            message: into_text(take_field(&mut result, "message"))
                .or_else(|| into_text(take_field(&mut result, "warning"))),
            partial: None,
        };
        self.delete_if_returned(&run).await?;
        Ok(answer)
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
        let limit = u32::try_from(AGENTS_PER_PAGE).unwrap_or(u32::MAX);
        let runs = self
            .context
            .store
            .agents(principal.team, query.before, limit + 1, clock::now())
            .await?;
        let more = runs.len() > AGENTS_PER_PAGE;
        let agents: Vec<AgentEntry> = runs
            .iter()
            .take(AGENTS_PER_PAGE)
            .map(entry)
            .collect::<Result<_, _>>()?;
        let next = agents.last().filter(|_| more);
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
        if self.read_run(principal, id).await?.kind != JobKind::Agent {
            return Err(job_not_found());
        }
        self.cancel(principal, id).await?;
        self.context.outbox.notify_one();
        Ok(())
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

fn has_ended(run: &RunRow) -> bool {
    run.status != JobStatus::Scraping
}

/// Returns when a run expires; for a running one, when it would expire if it ended now.
fn expires_at(run: &RunRow, retention: Duration) -> Timestamp {
    let soonest = clock::now() + retention;
    run.expires_at.unwrap_or(soonest)
}

fn result_fields(run: &RunRow) -> Value {
    let result = run.result.as_deref().map(serde_json::from_str);
    result.and_then(Result::ok).unwrap_or_default()
}

fn take_field(result: &mut Value, name: &str) -> Option<Value> {
    result
        .get_mut(name)
        .map(Value::take)
        .filter(|value| !value.is_null())
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

fn entry(run: &RunRow) -> Result<AgentEntry, ApiError> {
    let request = AgentRequest::from_json(run.request.as_bytes())?;
    let urls: Vec<String> = request.urls.iter().map(|url| url.url.to_string()).collect();
    let hint = urls.first().cloned();
    Ok(AgentEntry {
        id: run.id,
        created_at: run.created_at,
        target_hint: hint.unwrap_or_else(|| request.prompt.chars().take(limits::AGENT_HINT_CHARS).collect()),
        origin: run.origin.clone(),
        integration: run.integration.clone(),
        settings: AgentSettings::default(),
        status: agent_status(run.status),
        options: AgentEntryOptions {
            prompt: request.prompt,
            urls: (!urls.is_empty()).then_some(urls),
            schema: request.schema.map(Value::Object),
            model: request.model,
        },
    })
}
