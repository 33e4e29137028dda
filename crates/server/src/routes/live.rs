//! Endpoints that a session token opens: the live view, and the Chrome DevTools Protocol (CDP) of the session's
//! browser. The token in the path authenticates the request; unknown and expired tokens get the same response.

use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::stream;
use harvestman_browser::{CdpPath, limits as browser_limits};
use harvestman_core::api::error::ApiError;
use harvestman_engine::{SessionHandle, TokenAccess};

use crate::app::App;
use crate::duplex::{self, StopSignals};
use crate::error::{Failure, HandlerResult, json_response};
use crate::limits;
use crate::links::Base;
use crate::live_view;

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

async fn find_session(app: &App, token: &str, good: &[TokenAccess]) -> Option<SessionHandle> {
    if token.len() > limits::TOKEN_CHARS {
        return None;
    }
    let session = app.engine().session_by_token(token).await;
    session.filter(|session| good.contains(&session.access) && !session.ended.is_cancelled())
}

const WATCH: [TokenAccess; 2] = [TokenAccess::View, TokenAccess::Control];

pub(crate) async fn page(State(app): State<App>, Path(token): Path<String>) -> Response {
    match find_session(&app, &token, &WATCH).await {
        Some(_) => live_view::page(),
        None => live_view::ended_page(),
    }
}

pub(crate) async fn asset(Path(name): Path<String>) -> HandlerResult {
    live_view::asset(&name).ok_or_else(|| Failure::not_found("no such file in the live view"))
}

pub(crate) async fn watch(
    State(app): State<App>,
    Path(token): Path<String>,
    upgrade: Upgrade,
) -> HandlerResult {
    let session = find_session(&app, &token, &WATCH).await.ok_or_else(no_session)?;
    let upgrade = upgrade.map_err(no_upgrade)?;
    Ok(upgrade
        .max_message_size(browser_limits::MAX_INPUT_BYTES)
        .max_frame_size(browser_limits::MAX_INPUT_BYTES)
        .on_upgrade(move |socket| live_view::serve(app, session, socket)))
}

pub(crate) async fn cdp(
    State(app): State<App>,
    base: Base,
    Path(token): Path<String>,
    upgrade: Upgrade,
) -> HandlerResult {
    serve_cdp(app, &base, &token, "", upgrade).await
}

pub(crate) async fn cdp_below(
    State(app): State<App>,
    base: Base,
    Path((token, rest)): Path<(String, String)>,
    upgrade: Upgrade,
) -> HandlerResult {
    serve_cdp(app, &base, &token, &rest, upgrade).await
}

async fn serve_cdp(app: App, Base(base): &Base, token: &str, rest: &str, upgrade: Upgrade) -> HandlerResult {
    let session = find_session(&app, token, &[TokenAccess::Cdp])
        .await
        .ok_or_else(no_session)?;
    let path = CdpPath::of(rest).ok_or_else(|| Failure::not_found("no such CDP endpoint"))?;
    let websocket_base = base.replacen("http", "ws", 1);
    let url = format!("{websocket_base}/cdp/{token}");
    let browser_error = |error| Failure::from(ApiError::from(error));
    let target = match path {
        CdpPath::Version => {
            let version = session.browser.cdp_version(&url).await.map_err(browser_error)?;
            return Ok(json_response(StatusCode::OK, version.to_string()));
        }
        CdpPath::Targets => {
            let targets = session.browser.cdp_targets(&url).await.map_err(browser_error)?;
            return Ok(json_response(StatusCode::OK, targets.to_string()));
        }
        CdpPath::Browser => None,
        CdpPath::Page(target) => Some(target),
    };
    let upgrade = upgrade.map_err(no_upgrade)?;
    let client = Arc::new(session.browser.client(target).await.map_err(browser_error)?);
    let signals = StopSignals {
        session: session.ended,
        server: app.stopping().clone(),
    };
    Ok(upgrade
        .max_message_size(browser_limits::MAX_CLIENT_MESSAGE_BYTES)
        .max_frame_size(browser_limits::MAX_CLIENT_MESSAGE_BYTES)
        .on_upgrade(async move |socket| {
            let messages = stream::unfold(client.clone(), |client| async {
                let message = client.recv().await?;
                Some((Message::Text(message.into()), client))
            });
            duplex::relay(socket, &signals, messages, |message| {
                let client = client.clone();
                async move {
                    match message {
                        Message::Text(command) => client.send(&command).await.is_ok(),
                        _ => true,
                    }
                }
            })
            .await;
        }))
}

fn no_session() -> Failure {
    Failure::not_found("no such session; it may have ended")
}

fn no_upgrade(_: WebSocketUpgradeRejection) -> Failure {
    Failure::bad_request("this endpoint requires a WebSocket connection")
}
