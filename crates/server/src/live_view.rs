//! Page and socket of live views: frames and tabs go to the viewer, inputs come from viewers with control. The page
//! can be embedded anywhere, loads nothing from other origins, and never sends its URL as a referrer.

use axum::extract::ws::{Message, WebSocket};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use harvestman_browser::{Input, LiveView, Tabs, ViewUpdate};
use harvestman_engine::{SessionHandle, TokenAccess};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::app::App;
use crate::duplex::{self, StopSignals};
use crate::limits;

const PAGE: &str = include_str!("live_view/view.html");
const SCRIPT: &str = include_str!("live_view/view.js");
const INPUT_SCRIPT: &str = include_str!("live_view/input.js");
const RECORD_SCRIPT: &str = include_str!("live_view/record.js");
const STYLE: &str = include_str!("live_view/view.css");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors *";

/// Returns the page of a live session.
pub(crate) fn page() -> Response {
    html(StatusCode::OK, PAGE.to_owned())
}

/// Returns the page for an unknown or ended session.
pub(crate) fn ended_page() -> Response {
    let page = PAGE
        .replace("data-state=\"connecting\"", "data-state=\"ended\"")
        .replace(" id=\"over\" hidden", " id=\"over\"")
        .replace(" Showing the last frame; a", " A")
        .replace(">Connecting<", ">Ended<")
        .replace("<script type=\"module\" src=\"assets/view.js\"></script>", "");
    html(StatusCode::NOT_FOUND, page)
}

/// Returns a file of the page; none for an unknown name.
pub(crate) fn asset(name: &str) -> Option<Response> {
    let (kind, text) = match name {
        "view.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "input.js" => ("text/javascript; charset=utf-8", INPUT_SCRIPT),
        "record.js" => ("text/javascript; charset=utf-8", RECORD_SCRIPT),
        "view.css" => ("text/css; charset=utf-8", STYLE),
        _ => return None,
    };
    Some(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn html(status: StatusCode, page: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, page).into_response()
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ServerMessage<'a> {
    Hello { control: bool },
    Tabs(&'a Tabs),
}

/// Serves one viewer until it disconnects or the session ends.
pub(crate) async fn serve(app: App, session: SessionHandle, socket: WebSocket) {
    let view = session.browser.live_view();
    let control = session.access == TokenAccess::Control;
    let Some(viewer) = view.watch(control) else {
        return duplex::refuse(socket, "too many viewers of this session; try again later").await;
    };
    let (reply, replies) = mpsc::channel(limits::VIEW_REPLIES);
    let hello = stream::iter([text(&ServerMessage::Hello { control })]);
    let updates = stream::unfold((viewer, replies), |(mut viewer, mut replies)| async {
        let message = tokio::select! {
            Some(reply) = replies.recv() => reply,
            update = viewer.next() => message_for(update?),
        };
        Some((message, (viewer, replies)))
    });
    let signals = StopSignals {
        session: session.ended,
        server: app.stopping().clone(),
    };
    let _counted = app.metrics().count_viewer();
    duplex::relay(socket, &signals, hello.chain(updates), |message| {
        let (app, view, reply) = (app.clone(), view.clone(), reply.clone());
        async move {
            if !control {
                app.metrics().count_refused_input();
                return true;
            }
            handle_input(&view, &reply, message).await
        }
    })
    .await;
}

fn message_for(update: ViewUpdate) -> Message {
    match update {
        ViewUpdate::Frame(frame) => Message::Binary(frame.jpeg.clone()),
        ViewUpdate::Tabs(tabs) => text(&ServerMessage::Tabs(&tabs)),
    }
}

/// Performs an input and returns false when the browser is gone. Other messages are ignored.
async fn handle_input(view: &LiveView, reply: &mpsc::Sender<Message>, message: Message) -> bool {
    let Message::Text(input) = message else {
        return true;
    };
    let Ok(input) = serde_json::from_str::<Input>(&input) else {
        return true;
    };
    match view.input(input).await {
        Ok(Some(result)) => reply.send(text(&result)).await.is_ok(),
        Ok(None) => true,
        Err(error) if error.is_transient() => {
            // The page may recover.
            tracing::debug!(%error, "input lost");
            !view.has_ended()
        }
        Err(error) => {
            let notice = json!({"type": "notice", "text": error.to_string()});
            reply.send(text(&notice)).await.is_ok()
        }
    }
}

fn text(message: &impl Serialize) -> Message {
    let text = serde_json::to_string(message).expect("the keys of messages are strings");
    Message::Text(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_nothing_inline_and_no_script_without_a_session() {
        assert!(!PAGE.contains("style=") && !PAGE.contains("onclick") && !PAGE.contains("<script>"));
        let ended_page = ended_page();
        assert_eq!(ended_page.status(), StatusCode::NOT_FOUND);
        for part in ["data-state=\"ended\"", "Ended", " A new session"] {
            assert!(!PAGE.contains(part), "{part}");
        }
    }
}
