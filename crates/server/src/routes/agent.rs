//! Agents: start, status, list, cancel, threads, traces (docs/API.md section 10).

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use harvestman_core::api::agent::{AgentCancelled, AgentRequest, AgentsQuery};
use harvestman_core::api::agent_thread::ThreadQuery;
use harvestman_core::api::agent_trace::TraceQuery;

use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::job::JobBody;
use crate::routes::{PathId, QueryText, job_id};

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    JobBody { body, idempotency }: JobBody,
) -> HandlerResult {
    let request = AgentRequest::from_json(&body)?;
    let id = app
        .engine()
        .start_agent(&principal, request, idempotency, &base)
        .await?;
    json(&app.engine().agent_started(&principal, id).await?)
}

pub(crate) async fn status(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().agent_status(&principal, id).await?)
}

pub(crate) async fn list(
    Caller { app, principal }: Caller,
    Base(base): Base,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = AgentsQuery::parse(&query)?;
    json(&app.engine().agents(&principal, query, &base).await?)
}

pub(crate) async fn cancel(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    app.engine().cancel_agent(&principal, id).await?;
    json(&AgentCancelled { success: true })
}

pub(crate) async fn thread(
    Caller { app, principal }: Caller,
    PathId(thread): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = ThreadQuery::parse(&query)?;
    let thread = app
        .engine()
        .agent_thread(&principal, thread.0, query.include_data)
        .await?;
    json(&thread)
}

pub(crate) async fn trace(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = TraceQuery::parse(&query)?;
    json(&app.engine().agent_trace(&principal, id, query.live_view).await?)
}

pub(crate) async fn snapshot(
    Caller { app, principal }: Caller,
    ids: Result<Path<(String, String)>, PathRejection>,
) -> HandlerResult {
    // An id that is not UTF-8 is not a UUID.
    let (id, snapshot) = ids.map(|Path(ids)| ids).unwrap_or_default();
    let id = job_id(&id)?;
    let snapshot = snapshot
        .parse()
        .map_err(|_| Failure::parameter("snapshot", "must be a UUID, as in the trace of the run"))?;
    json(&app.engine().agent_snapshot(&principal, id, snapshot).await?)
}
