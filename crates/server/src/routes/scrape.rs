//! Single pages: `POST /v2/scrape`, `GET /v2/scrape/{id}` (docs/API.md sections 7.1 and 7.2).

use axum::http::StatusCode;
use harvestman_core::api::scrape::{ScrapeRequest, ScrapeResponse};
use harvestman_store::StoredScrape;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json, json_response};
use crate::links::Base;
use crate::routes::PathId;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = ScrapeRequest::from_json(&body)?;
    let document = app.engine().scrape(&principal, request, &base).await?;
    json(&ScrapeResponse::done(document))
}

pub(crate) async fn result(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    let stored = app
        .store()
        .scrape(principal.team, id.into(), harvestman_engine::now())
        .await?;
    match stored.ok_or_else(Failure::no_job)? {
        StoredScrape::Running => json(&ScrapeResponse::running()),
        StoredScrape::Document(document) => Ok(json_response(
            StatusCode::OK,
            format!("{{\"success\":true,\"data\":{document}}}"),
        )),
        StoredScrape::Failed { status, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Ok(json_response(status, body))
        }
    }
}
