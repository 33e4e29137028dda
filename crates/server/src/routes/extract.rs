//! Extracts and agents: start, status, list, cancel (docs/API.md section 10).

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use harvestman_core::api::agent::{AgentRequest, AgentStarted, AgentsQuery};
use harvestman_core::api::extract::{ExtractRequest, ExtractStarted};
use serde_json::json;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Answer, json};
use crate::links::Base;
use crate::routes::{PathId, job};

pub(crate) async fn start(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> Answer {
    let idempotency = job::idempotency(&headers, &body)?;
    let mut request = ExtractRequest::from_json(&body)?;
    let invalid_urls = std::mem::take(&mut request.invalid_urls);
    let url_trace = request.url_trace.then(|| {
        let urls = request
            .urls
            .iter()
            .map(|target| json!({ "url": target.url.given() }));
        urls.collect()
    });
    let id = app
        .engine()
        .start_extract(&who, request, idempotency, &base)
        .await?;
    json(&ExtractStarted {
        success: true,
        id,
        url_trace,
        invalid_urls: Some(invalid_urls),
    })
}

pub(crate) async fn status(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    json(&app.engine().extract_status(&who, id).await?)
}

pub(crate) async fn start_agent(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    headers: HeaderMap,
    WholeBody(body): WholeBody,
) -> Answer {
    let idempotency = job::idempotency(&headers, &body)?;
    let request = AgentRequest::from_json(&body)?;
    let id = app
        .engine()
        .start_agent(&who, request, idempotency, &base)
        .await?;
    json(&AgentStarted {
        success: true,
        id,
        thread_id: None,
        thread_turn: None,
    })
}

pub(crate) async fn agent_status(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    json(&app.engine().agent_status(&who, id).await?)
}

pub(crate) async fn agents(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    RawQuery(query): RawQuery,
) -> Answer {
    let query = AgentsQuery::parse(query.as_deref().unwrap_or_default())?;
    json(&app.engine().agents(&who, query, &base).await?)
}

pub(crate) async fn cancel_agent(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    app.engine().cancel_agent(&who, id).await?;
    json(&json!({ "success": true }))
}
