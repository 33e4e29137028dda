//! Batch scrapes: start or add pages, status (also as a live socket), cancel, errors (docs/API.md sections 6.6 and
//! 8).

use axum::extract::{Request, State};
use axum::response::Response;
use harvestman_core::api::batch::{BatchScrapeRequest, BatchStarted};
use harvestman_core::api::job::StatusPath;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;
use crate::routes::job::{self, JobBody};

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    JobBody { body, idempotency }: JobBody,
) -> HandlerResult {
    // Parsing a hundred thousand URLs takes long enough to block other requests.
    let mut request = tokio::task::spawn_blocking(move || BatchScrapeRequest::from_json(&body))
        .await
        .map_err(|error| Failure::internal(error.to_string()))??;
    let left_out = request.take_invalid_urls();
    let id = app
        .engine()
        .start_batch(&principal, request, idempotency, &base)
        .await?;
    let url = StatusPath::BatchScrape.url(&base, id);
    json(&BatchStarted::new(id, url, left_out))
}

pub(crate) async fn status(app: State<App>, request: Request) -> Response {
    job::status(app, request, StatusPath::BatchScrape).await
}

pub(crate) async fn cancel(caller: Caller, id: PathId) -> HandlerResult {
    job::cancel(caller, id, StatusPath::BatchScrape).await
}

pub(crate) async fn errors(caller: Caller, id: PathId) -> HandlerResult {
    job::errors(caller, id, StatusPath::BatchScrape).await
}
