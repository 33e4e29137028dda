//! Unversioned paths: liveness, readiness, metrics; and the responses for unknown paths and methods.

use std::fmt::Display;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::health::{Health, PartState, Readiness};
use serde::Serialize;
use tokio::time::timeout;

use crate::app::App;
use crate::error::{Failure, HandlerResult, json_response};
use crate::listen::Peer;
use crate::{disk, limits};

pub(crate) async fn live() -> Response {
    json(StatusCode::OK, &Health::up())
}

/// Returns 200 if all required components are ready, else 503; with the state of each component.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let database = match timeout(limits::READY_TIME, app.store().ping()).await {
        Ok(Ok(())) => disk_state(&app),
        Ok(Err(error)) => log_unavailable(&error),
        Err(_) => log_unavailable(&"no response in time"),
    };
    let queue = match app.stopping().is_cancelled() {
        true => PartState::Stopping,
        false => database,
    };
    let good = database == PartState::Ok && queue == PartState::Ok;
    let readiness = Readiness {
        status: if good {
            PartState::Ok
        } else {
            PartState::Unavailable
        },
        database,
        queue,
        browser: optional(app.engine().browser_is_healthy()),
        llm: optional(app.engine().model_is_healthy()),
        search: optional(app.engine().search_is_healthy()),
        open: app.open_mode().is_some(),
    };
    let status = match readiness.is_ready() {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    json(status, &readiness)
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_string(body).expect("the fields are strings and booleans");
    json_response(status, text)
}

/// Returns the state of an optional component; `works` is none if it is not configured.
fn optional(works: Option<bool>) -> PartState {
    match works {
        None => PartState::NotConfigured,
        Some(true) => PartState::Ok,
        Some(false) => PartState::Unavailable,
    }
}

/// Returns whether there is space for writes. Even on a full disk, the database may have free space of its own.
fn disk_state(app: &App) -> PartState {
    let config = app.config();
    match disk::free_bytes(&config.data_dir) {
        Some(free) if free < config.min_free_bytes => {
            log_unavailable(&format_args!("{} MiB of disk space are free", free >> 20))
        }
        Some(_) | None => PartState::Ok,
    }
}

fn log_unavailable(error: &dyn Display) -> PartState {
    tracing::warn!(%error, "database not ready");
    PartState::Unavailable
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
    app.engine().refresh_metrics().await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics().text()).into_response())
}

pub(crate) async fn old_version(uri: Uri) -> Failure {
    let rest = uri.path().splitn(3, '/').nth(2).unwrap_or_default();
    Failure::not_found(format!(
        "this server supports only version 2 of the API; try /v2/{rest}"
    ))
}

pub(crate) async fn unknown_path(uri: Uri) -> Failure {
    Failure::not_found(format!("unknown path {}; the API is below /v2", uri.path()))
}

pub(crate) async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(
        ErrorCode::MethodNotAllowed,
        format!("{} does not support {method}; see the Allow header", uri.path()),
    )
}
