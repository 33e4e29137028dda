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
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_engine::{DoorAccess, SessionDoor};

use crate::app::App;
use crate::duplex::{self, Ends};
use crate::error::{Answer, Failure, json_answer};
use crate::limits;
use crate::links::Base;
use crate::live_view;

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

fn door(app: &App, token: &str, good: &[DoorAccess]) -> Option<SessionDoor> {
    let known = (token.len() <= limits::TOKEN_CHARS).then(|| app.engine().session_by_token(token))?;
    known.filter(|door| good.contains(&door.access) && !door.ended.is_cancelled())
}

const WATCH: [DoorAccess; 2] = [DoorAccess::View, DoorAccess::Control];

pub(crate) async fn page(State(app): State<App>, Path(token): Path<String>) -> Response {
    match door(&app, &token, &WATCH) {
        Some(_) => live_view::page(),
        None => live_view::over(),
    }
}

pub(crate) async fn asset(Path(name): Path<String>) -> Answer {
    live_view::asset(&name).ok_or_else(|| Failure::new(ErrorCode::NotFound, "no such file in the live view"))
}

pub(crate) async fn watch(State(app): State<App>, Path(token): Path<String>, upgrade: Upgrade) -> Answer {
    let door = door(&app, &token, &WATCH).ok_or_else(no_session)?;
    let upgrade = upgrade.map_err(no_upgrade)?;
    Ok(upgrade
        .max_message_size(browser_limits::MAX_INPUT_BYTES)
        .max_frame_size(browser_limits::MAX_INPUT_BYTES)
        .on_upgrade(move |socket| live_view::serve(app, door, socket)))
}

pub(crate) async fn cdp(
    State(app): State<App>,
    base: Base,
    Path(token): Path<String>,
    upgrade: Upgrade,
) -> Answer {
    speak(app, &base, &token, "", upgrade).await
}

pub(crate) async fn cdp_below(
    State(app): State<App>,
    base: Base,
    Path((token, rest)): Path<(String, String)>,
    upgrade: Upgrade,
) -> Answer {
    speak(app, &base, &token, &rest, upgrade).await
}

async fn speak(app: App, Base(base): &Base, token: &str, rest: &str, upgrade: Upgrade) -> Answer {
    let door = door(&app, token, &[DoorAccess::Cdp]).ok_or_else(no_session)?;
    let path = CdpPath::of(rest).ok_or_else(|| Failure::new(ErrorCode::NotFound, "no such CDP endpoint"))?;
    let sockets = base.replacen("http", "ws", 1);
    let address = format!("{sockets}/cdp/{token}");
    let gone = |error| Failure::from(ApiError::from(error));
    let target = match path {
        CdpPath::Version => {
            let version = door.browser.cdp_version(&address).await.map_err(gone)?;
            return Ok(json_answer(StatusCode::OK, version.to_string()));
        }
        CdpPath::Targets => {
            let targets = door.browser.cdp_targets(&address).await.map_err(gone)?;
            return Ok(json_answer(StatusCode::OK, targets.to_string()));
        }
        CdpPath::Browser => None,
        CdpPath::Page(target) => Some(target),
    };
    let upgrade = upgrade.map_err(no_upgrade)?;
    let client = Arc::new(door.browser.client(target).await.map_err(gone)?);
    let ends = Ends {
        session: door.ended,
        server: app.stopping().clone(),
    };
    Ok(upgrade
        .max_message_size(browser_limits::MAX_CLIENT_MESSAGE_BYTES)
        .max_frame_size(browser_limits::MAX_CLIENT_MESSAGE_BYTES)
        .on_upgrade(async move |socket| {
            let answers = stream::unfold(client.clone(), |client| async {
                let message = client.recv().await?;
                Some((Message::Text(message.into()), client))
            });
            duplex::carry(socket, &ends, answers, |message| {
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
    Failure::new(ErrorCode::NotFound, "no such session; it may have ended")
}

fn no_upgrade(_: WebSocketUpgradeRejection) -> Failure {
    Failure::new(
        ErrorCode::BadRequest,
        "this endpoint requires a WebSocket connection",
    )
}
