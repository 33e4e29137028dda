//! Paths without a version: is the server up, can it work, what did it do; and the answers for paths
//! and methods that do not exist.

use std::fmt::Display;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use serde_json::json;
use tokio::time::timeout;

use crate::app::App;
use crate::error::{Answer, Failure, json_answer};
use crate::limits;
use crate::listen::Peer;

pub(crate) async fn live() -> Response {
    json_answer(StatusCode::OK, json!({ "status": "ok" }).to_string())
}

/// 200 when every part that all requests need can work, else 503; each part with its state.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let database = match timeout(limits::READY_TIME, app.store().ping()).await {
        Ok(Ok(())) => Ok("ok"),
        Ok(Err(error)) => Err(fault(&error)),
        Err(_) => Err(fault(&"no answer in time")),
    };
    let queue = if app.stopping().is_cancelled() {
        Err("stopping")
    } else {
        database
    };
    let good = database.is_ok() && queue.is_ok();
    let word = |part: Result<&'static str, &'static str>| part.unwrap_or_else(|problem| problem);
    let body = json!({
        "status": if good { "ok" } else { "unavailable" },
        "database": word(database),
        "queue": word(queue),
        "browser": optional(app.engine().browser_works()),
        "llm": optional(app.engine().model_works()),
        "search": optional(app.engine().search_works()),
        "open": app.open_mode().is_some(),
    });
    json_answer(
        if good {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        },
        body.to_string(),
    )
}

/// The word for a part that a server may do without: whether it works, if it is there.
fn optional(works: Option<bool>) -> &'static str {
    match works {
        None => "not configured",
        Some(true) => "ok",
        Some(false) => "unavailable",
    }
}

fn fault(error: &dyn Display) -> &'static str {
    tracing::warn!(%error, "the database is not ready");
    "unavailable"
}

/// Only for this machine unless the operator opened it. A request that a proxy passed on is not from
/// this machine.
pub(crate) async fn metrics(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Answer {
    let passed_on = headers.contains_key("x-forwarded-for") || headers.contains_key(header::FORWARDED);
    let local = peer.is_some_and(|Extension(Peer(address))| address.ip().to_canonical().is_loopback());
    if !app.config().metrics_public && (passed_on || !local) {
        let sentence = "metrics are for this machine only; the operator opens them with metrics_public";
        return Err(Failure::new(ErrorCode::Forbidden, sentence));
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, app.metrics().text(&app.engine().page_metrics())).into_response())
}

pub(crate) async fn old_version(uri: Uri) -> Failure {
    let rest = uri.path().splitn(3, '/').nth(2).unwrap_or_default();
    Failure::new(
        ErrorCode::NotFound,
        format!("this server speaks version 2 of the API; try /v2/{rest}"),
    )
}

pub(crate) async fn unknown_path(uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::NotFound,
        format!("there is nothing at {}; the API is below /v2", uri.path()),
    )
}

pub(crate) async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::MethodNotAllowed,
        format!(
            "{} does not take {method}; the header Allow says what it takes",
            uri.path()
        ),
    )
}
