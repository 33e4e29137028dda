//! Browser sessions: `/v2/browser`, also under `/v2/interact` (docs/API.md section 11).

use axum::extract::State;
use axum::http::Uri;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest, SessionsQuery};
use harvestman_core::ids::SessionId;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Answer, json};
use crate::links::Base;
use crate::routes::PathId;

pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> Answer {
    let request = BrowserRequest::from_json(&body)?;
    json(&app.engine().open_browser(&who, request, &base).await?)
}

pub(crate) async fn list(State(app): State<App>, Caller(who): Caller, Base(base): Base, uri: Uri) -> Answer {
    let query = SessionsQuery::parse(uri.query().unwrap_or_default())?;
    json(&app.engine().browser_sessions(&who, query, &base).await?)
}

pub(crate) async fn execute(
    State(app): State<App>,
    Caller(who): Caller,
    PathId(id): PathId,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> Answer {
    let request = ExecuteRequest::from_json(&body)?;
    json(
        &app.engine()
            .execute(&who, SessionId::from(id), request, &base)
            .await?,
    )
}

pub(crate) async fn delete(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    json(&app.engine().end_browser(&who, id.into()).await?)
}
