//! Operations of extracts and agents.

use super::examples::{self, JOB_ERRORS};
use super::operation::{Operation, Tag, delete, get, post, tagged};
use crate::api::agent::{AgentCancelled, AgentMode, AgentRequest, AgentResponse, AgentStarted, AgentStatus};
use crate::api::agent_thread::{
    AgentThread, AgentThreadResponse, AgentThreadRun, ThreadRunStatus, ThreadStatus,
};
use crate::api::agent_trace::{AgentSnapshot, AgentTrace, TraceAgent, TraceDetail, TraceEvent, event_id};
use crate::api::error::ErrorCode;
use crate::api::extract::{ExtractRequest, ExtractResponse, ExtractStarted, ExtractStatus};
use crate::api::fields::{FieldType, Schema, Slot};

pub(super) fn operations() -> Vec<Operation> {
    tagged([
        (Tag::Extraction, extracts()),
        (Tag::Extraction, agents()),
        (Tag::Extraction, threads_and_traces()),
    ])
}

fn extracts() -> Vec<Operation> {
    vec![
        post("/v2/extract", "startExtract")
            .summary("Extract data from pages")
            .body::<ExtractRequest>(&["urls", "schema"])
            .idempotent()
            .response(
                "The extract is stored and will run.",
                ExtractStarted {
                    success: true,
                    id: examples::id(),
                    url_trace: None,
                    invalid_urls: Some(Vec::new()),
                },
            )
            .errors(JOB_ERRORS)
            .errors(&[ErrorCode::NotSupported]),
        get("/v2/extract/{id}", "getExtract")
            .summary("Get status and result of an extract")
            .response(
                "Status and result.",
                ExtractResponse {
                    success: true,
                    status: ExtractStatus::Completed,
                    data: Some(examples::extracted()),
                    error: None,
                    expires_at: Some(examples::later()),
                    tokens_used: Some(15),
                    credits_used: Some(1),
                    sources: None,
                    partial: None,
                    warning: None,
                },
            ),
        delete("/v2/extract/{id}", "cancelExtract")
            .summary("Cancel an extract")
            .response("The extract is cancelled.", AgentCancelled { success: true })
            .errors(&[ErrorCode::Conflict]),
    ]
}

fn agents() -> Vec<Operation> {
    vec![
        post("/v2/agent", "startAgent")
            .summary("Start an agent")
            .description(
                "With `threadId`, the agent knows the tasks and answers of the runs before it. 404 if the \
                 team has no such thread; 409 while a run of it is in progress.",
            )
            .body::<AgentRequest>(&["urls", "maxCredits"])
            .idempotent()
            .response(
                "The agent is stored and will run.",
                AgentStarted {
                    success: true,
                    id: examples::id(),
                    thread_id: Some(examples::id().0),
                    thread_turn: Some(1),
                },
            )
            .errors(JOB_ERRORS)
            .errors(&[ErrorCode::NotFound, ErrorCode::Conflict]),
        get("/v2/agent", "listAgents")
            .summary("List agents")
            .query(
                "before",
                "Only agents that were started before this Unix time in ms.",
                &Schema::Integer(0..=Slot::UNBOUNDED),
                None,
            )
            .response(
                "The team's agents, newest first, 20 per page.",
                examples::agents(),
            ),
        get("/v2/agent/{id}", "getAgent")
            .summary("Get status and result of an agent")
            .response(
                "Status and result; `partial` until the agent has a result.",
                AgentResponse {
                    success: true,
                    status: AgentStatus::Completed,
                    data: Some(examples::extracted()),
                    error: None,
                    model: None,
                    expires_at: Some(examples::later()),
                    credits_used: Some(9),
                    message: None,
                    partial: None,
                    partial_schema_valid: None,
                    stop_reason: None,
                    warning: None,
                    effort: None,
                    mode: None,
                    thread_id: Some(examples::id().0),
                    thread_turn: Some(1),
                },
            ),
        delete("/v2/agent/{id}", "cancelAgent")
            .summary("Cancel an agent")
            .response("The agent is cancelled.", AgentCancelled { success: true })
            .errors(&[ErrorCode::Conflict]),
    ]
}

fn threads_and_traces() -> Vec<Operation> {
    vec![
        get("/v2/agent/threads/{id}", "getAgentThread")
            .summary("Get a conversation with its runs")
            .query(
                "includeData",
                "Whether to return the result of each run, up to 10 MiB in total.",
                &bool::schema(()),
                Some(false.into()),
            )
            .response(
                "The thread with its runs, oldest first.",
                AgentThreadResponse {
                    success: true,
                    thread: thread(),
                },
            ),
        get("/v2/agent/{id}/trace", "getAgentTrace")
            .summary("Get the steps of an agent")
            .query(
                "liveView",
                "Whether to return `activeBrowserSessions`, which is always empty.",
                &bool::schema(()),
                Some(false.into()),
            )
            .response(
                "The steps so far, in order.",
                AgentTrace {
                    success: true,
                    id: examples::id(),
                    events: vec![event()],
                    credits_used: Some(9),
                    active_browser_sessions: None,
                    zero_data_retention: false,
                },
            ),
        get("/v2/agent/{id}/snapshots/{snapshot}", "getAgentSnapshot")
            .summary("Get a page as the agent read it, or the agent's result")
            .response(
                "The content that an event of the trace refers to.",
                AgentSnapshot {
                    success: true,
                    id: examples::id(),
                    snapshot_id: event_id(examples::id(), 4),
                    snapshot: "URL: https://example.com/".to_owned(),
                },
            ),
    ]
}

fn thread() -> AgentThread {
    let run = AgentThreadRun {
        id: examples::id(),
        turn: 1,
        mode: AgentMode::Extract,
        prompt: "Find the founders of Example Inc.".to_owned(),
        urls: None,
        schema: None,
        effort: None,
        status: ThreadRunStatus::Succeeded,
        error: None,
        created_at: examples::TIME,
        finished_at: Some(examples::TIME),
        credits_used: Some(9),
        message: None,
        data: None,
        partial: None,
        partial_schema_valid: None,
        stop_reason: None,
    };
    AgentThread {
        id: examples::id().0,
        created_at: examples::TIME,
        updated_at: examples::TIME,
        status: ThreadStatus::Idle,
        runs: vec![run],
    }
}

fn event() -> TraceEvent {
    TraceEvent {
        schema_version: 1,
        event_id: event_id(examples::id(), 1),
        run_id: examples::id(),
        occurred_at: examples::TIME,
        producer_sequence: 1,
        agent: TraceAgent {
            id: examples::id().to_string(),
            role: "orchestrator".to_owned(),
            name: "agent".to_owned(),
        },
        detail: TraceDetail::RunStarted,
    }
}
