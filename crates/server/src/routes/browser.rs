//! Browser sessions: `/v2/browser`, also under `/v2/interact` (docs/API.md section 11).

use axum::extract::Request;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest, ExtendRequest, SessionsQuery};
use harvestman_core::api::session_file::SessionFileRequest;
use harvestman_core::ids::SessionId;
use harvestman_engine::SessionFileSource;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};
use crate::links::Base;
use crate::routes::parse::{UploadBody, read_upload};
use crate::routes::{PathId, QueryText};

pub(crate) async fn create(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = BrowserRequest::from_json(&body)?;
    json(&app.engine().open_browser(&principal, request, &base).await?)
}

pub(crate) async fn list(
    Caller { app, principal }: Caller,
    Base(base): Base,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = SessionsQuery::parse(&query)?;
    json(&app.engine().browser_sessions(&principal, query, &base).await?)
}

pub(crate) async fn execute(
    Caller { app, principal }: Caller,
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

pub(crate) async fn delete(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().end_browser(&principal, id.into()).await?)
}

pub(crate) async fn extend(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = ExtendRequest::from_json(&body)?;
    json(
        &app.engine()
            .extend_session(&principal, id.into(), request)
            .await?,
    )
}

pub(crate) async fn files(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    Base(base): Base,
) -> HandlerResult {
    json(&app.engine().session_files(&principal, id.into(), &base).await?)
}

pub(crate) async fn add_file(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    Base(base): Base,
    request: Request,
) -> HandlerResult {
    let (_permit, body) = read_upload(&app, principal.team, request).await?;
    let source = match body {
        UploadBody::Form(file, _) => SessionFileSource::File(file),
        UploadBody::Reference(body) => {
            SessionFileSource::Reference(SessionFileRequest::from_json(&body)?.upload.upload_ref)
        }
    };
    let added = app
        .engine()
        .add_session_file(&principal, id.into(), source, &base);
    json(&added.await?)
}
