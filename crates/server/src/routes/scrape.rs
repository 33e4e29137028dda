//! Single pages: `POST /v2/scrape`, `GET /v2/scrape/{id}` (docs/API.md sections 7.1 and 7.2).

use axum::extract::State;
use axum::http::StatusCode;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::scrape::{ScrapeAnswer, ScrapeRequest, is_alexandria};
use harvestman_store::StoredScrape;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Answer, Failure, json, json_answer};
use crate::links::Base;
use crate::routes::PathId;

pub(crate) async fn start(
    State(app): State<App>,
    Caller(who): Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> Answer {
    let request = ScrapeRequest::from_json(&body).map_err(|error| {
        let asked_otherwise = serde_json::from_slice(&body).is_ok_and(|body| is_alexandria(&body));
        if asked_otherwise {
            Failure::new(
                ErrorCode::NotSupported,
                "this server does not support scrapes by `alexandria`; send a `url`",
            )
        } else {
            Failure(error)
        }
    })?;
    let document = app.engine().scrape(&who, request, &base).await?;
    json(&ScrapeAnswer::done(document))
}

pub(crate) async fn result(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    let found = app
        .store()
        .scrape(who.team, id.into(), harvestman_engine::now())
        .await?;
    match found.ok_or_else(Failure::no_job)? {
        StoredScrape::Running => json(&ScrapeAnswer::running()),
        StoredScrape::Document(document) => Ok(json_answer(
            StatusCode::OK,
            format!("{{\"success\":true,\"data\":{document}}}"),
        )),
        StoredScrape::Failed { status, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Ok(json_answer(status, body))
        }
    }
}
