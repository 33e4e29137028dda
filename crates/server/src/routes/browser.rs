//! Browser sessions: `/v2/browser`, also under `/v2/interact` (docs/API.md section 11).

use axum::extract::State;
use axum::http::Uri;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest, SessionsQuery};
use harvestman_core::ids::SessionId;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;

pub(crate) async fn create(
    State(app): State<App>,
    Caller(principal): Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = BrowserRequest::from_json(&body)?;
    json(&app.engine().open_browser(&principal, request, &base).await?)
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Base(base): Base,
    uri: Uri,
) -> HandlerResult {
    let query = SessionsQuery::parse(uri.query().unwrap_or_default())?;
    json(&app.engine().browser_sessions(&principal, query, &base).await?)
}

pub(crate) async fn execute(
    State(app): State<App>,
    Caller(principal): Caller,
    PathId(id): PathId,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = ExecuteRequest::from_json(&body)?;
    json(
        &app.engine()
            .execute(&principal, SessionId::from(id), request, &base)
            .await?,
    )
}

pub(crate) async fn delete(
    State(app): State<App>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> HandlerResult {
    json(&app.engine().end_browser(&principal, id.into()).await?)
}
