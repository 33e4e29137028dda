//! `/v2/agent`: agent runs, their traces and their conversations.

use harvestman_core::api::agent::{AgentRequest, AgentResponse, AgentStarted, Agents, AgentsQuery};
use harvestman_core::api::agent_thread::AgentThreadResponse;
use harvestman_core::api::agent_trace::{AgentSnapshot, AgentTrace};
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Starts an agent.
    pub async fn start_agent(&self, request: &AgentRequest) -> Result<AgentStarted, ClientError> {
        self.post("/v2/agent", request).await
    }

    /// Returns state and result of an agent run.
    pub async fn agent_status(&self, id: JobId) -> Result<AgentResponse, ClientError> {
        self.get(&format!("/v2/agent/{id}")).await
    }

    /// Returns what an agent did, step by step.
    pub async fn agent_trace(&self, id: JobId) -> Result<AgentTrace, ClientError> {
        self.get(&format!("/v2/agent/{id}/trace")).await
    }

    /// Returns a page as the agent read it, or the agent's result.
    pub async fn agent_snapshot(
        &self,
        id: JobId,
        snapshot: impl std::fmt::Display,
    ) -> Result<AgentSnapshot, ClientError> {
        self.get(&format!("/v2/agent/{id}/snapshots/{snapshot}")).await
    }

    /// Returns a conversation with its runs.
    pub async fn agent_thread(&self, id: impl std::fmt::Display) -> Result<AgentThreadResponse, ClientError> {
        self.get(&format!("/v2/agent/threads/{id}")).await
    }

    /// Lists agent runs, newest first.
    pub async fn agents(&self, query: AgentsQuery) -> Result<Agents, ClientError> {
        match query.before {
            Some(before) => self.get(&format!("/v2/agent?before={}", before.0)).await,
            None => self.get("/v2/agent").await,
        }
    }

    /// Cancels an agent run.
    pub async fn cancel_agent(&self, id: JobId) -> Result<(), ClientError> {
        self.delete::<Value>(&format!("/v2/agent/{id}")).await.map(drop)
    }
}
