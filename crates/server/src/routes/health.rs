//! Unversioned paths: liveness, readiness, metrics; and the responses for unknown paths and methods.

use std::fmt::Display;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use serde_json::json;
use tokio::time::timeout;

use crate::app::App;
use crate::error::{Failure, HandlerResult, json_response};
use crate::limits;
use crate::listen::Peer;

pub(crate) async fn live() -> Response {
    json_response(StatusCode::OK, json!({ "status": "ok" }).to_string())
}

/// Returns 200 if all required components are ready, else 503; with the state of each component.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let database = match timeout(limits::READY_TIME, app.store().ping()).await {
        Ok(Ok(())) => Ok("ok"),
        Ok(Err(error)) => Err(log_unavailable(&error)),
        Err(_) => Err(log_unavailable(&"no response in time")),
    };
    let queue = if app.stopping().is_cancelled() {
        Err("stopping")
    } else {
        database
    };
    let is_ready = database.is_ok() && queue.is_ok();
    let state = |part: Result<&'static str, &'static str>| part.unwrap_or_else(|problem| problem);
    let body = json!({
        "status": if is_ready { "ok" } else { "unavailable" },
        "database": state(database),
        "queue": state(queue),
        "browser": optional(app.engine().browser_is_healthy()),
        "llm": optional(app.engine().model_is_healthy()),
        "search": optional(app.engine().search_is_healthy()),
        "open": app.open_mode().is_some(),
    });
    json_response(
        if is_ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        },
        body.to_string(),
    )
}

/// Returns the state of an optional component; `works` is none if it is not configured.
fn optional(works: Option<bool>) -> &'static str {
    match works {
        None => "not configured",
        Some(true) => "ok",
        Some(false) => "unavailable",
    }
}

fn log_unavailable(error: &dyn Display) -> &'static str {
    tracing::warn!(%error, "database not ready");
    "unavailable"
}

/// Returns the metrics, by default only to requests from this machine. A forwarded request does not count as one.
pub(crate) async fn metrics(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> HandlerResult {
    let forwarded = headers.contains_key("x-forwarded-for") || headers.contains_key(header::FORWARDED);
    let local = peer.is_some_and(|Extension(Peer(address))| address.ip().to_canonical().is_loopback());
    if !app.config().metrics_public && (forwarded || !local) {
        let message = "metrics are available only on the server's machine; \
                       the operator can open them with metrics_public";
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, app.metrics().text(&app.engine().page_metrics())).into_response())
}

pub(crate) async fn old_version(uri: Uri) -> Failure {
    let rest = uri.path().splitn(3, '/').nth(2).unwrap_or_default();
    Failure::new(
        ErrorCode::NotFound,
        format!("this server supports only version 2 of the API; try /v2/{rest}"),
    )
}

pub(crate) async fn unknown_path(uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::NotFound,
        format!("unknown path {}; the API is below /v2", uri.path()),
    )
}

pub(crate) async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::MethodNotAllowed,
        format!("{} does not support {method}; see the Allow header", uri.path()),
    )
}
