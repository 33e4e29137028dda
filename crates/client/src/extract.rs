//! `/v2/extract` and `/v2/agent`: data extraction with a model.

use harvestman_core::api::agent::{AgentRequest, AgentResponse, AgentStarted, Agents, AgentsQuery};
use harvestman_core::api::extract::{ExtractRequest, ExtractResponse, ExtractStarted};
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Starts an extraction.
    pub async fn start_extract(&self, request: &ExtractRequest) -> Result<ExtractStarted, ClientError> {
        self.post("/v2/extract", request).await
    }

    /// Returns state and result of an extraction or agent run.
    pub async fn extract_status(&self, id: JobId) -> Result<ExtractResponse, ClientError> {
        self.get(&format!("/v2/extract/{id}")).await
    }

    /// Starts an agent.
    pub async fn start_agent(&self, request: &AgentRequest) -> Result<AgentStarted, ClientError> {
        self.post("/v2/agent", request).await
    }

    /// Returns state and result of an agent run.
    pub async fn agent_status(&self, id: JobId) -> Result<AgentResponse, ClientError> {
        self.get(&format!("/v2/agent/{id}")).await
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
