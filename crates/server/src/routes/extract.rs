//! Extracts and agents: start, status, list, cancel, threads, traces (docs/API.md section 10).

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery};
use axum::http::HeaderMap;
use harvestman_core::api::agent::{AgentCancelled, AgentRequest, AgentsQuery};
use harvestman_core::api::agent_thread::ThreadQuery;
use harvestman_core::api::agent_trace::TraceQuery;
use harvestman_core::api::extract::{ExtractRequest, ExtractStarted, TracedUrl};

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::{PathId, job, job_id};

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let idempotency = job::idempotency(&headers, &body)?;
    let mut request = ExtractRequest::from_json(&body)?;
    let invalid_urls = std::mem::take(&mut request.invalid_urls);
    let url_trace = request.url_trace.then(|| {
        let urls = request.urls.iter().map(|target| TracedUrl {
            url: target.url.as_sent().to_owned(),
        });
        urls.collect()
    });
    let id = app
        .engine()
        .start_extract(&principal, request, idempotency, &base)
        .await?;
    json(&ExtractStarted {
        success: true,
        id,
        url_trace,
        invalid_urls: Some(invalid_urls),
    })
}

pub(crate) async fn status(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().extract_status(&principal, id).await?)
}

pub(crate) async fn cancel(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    app.engine().cancel_extract(&principal, id).await?;
    json(&AgentCancelled { success: true })
}

pub(crate) async fn start_agent(
    Caller { app, principal }: Caller,
    Base(base): Base,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let idempotency = job::idempotency(&headers, &body)?;
    let request = AgentRequest::from_json(&body)?;
    let id = app
        .engine()
        .start_agent(&principal, request, idempotency, &base)
        .await?;
    json(&app.engine().agent_started(&principal, id).await?)
}

pub(crate) async fn agent_status(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().agent_status(&principal, id).await?)
}

pub(crate) async fn agents(
    Caller { app, principal }: Caller,
    Base(base): Base,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    let query = AgentsQuery::parse(query.as_deref().unwrap_or_default())?;
    json(&app.engine().agents(&principal, query, &base).await?)
}

pub(crate) async fn cancel_agent(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    app.engine().cancel_agent(&principal, id).await?;
    json(&AgentCancelled { success: true })
}

pub(crate) async fn agent_thread(
    Caller { app, principal }: Caller,
    PathId(thread): PathId,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    let query = ThreadQuery::parse(query.as_deref().unwrap_or_default())?;
    let thread = app
        .engine()
        .agent_thread(&principal, thread.0, query.include_data)
        .await?;
    json(&thread)
}

pub(crate) async fn agent_trace(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    let query = TraceQuery::parse(query.as_deref().unwrap_or_default())?;
    json(&app.engine().agent_trace(&principal, id, query.live_view).await?)
}

pub(crate) async fn agent_snapshot(
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
