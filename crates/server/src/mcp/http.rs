//! The protocol over HTTP: one message per request, without sessions. The response to a tool call that wants progress is
//! an event stream, any other response JSON.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::{Step, ToolCall, read};
use crate::error::json_response;
use crate::limits;
use crate::request::api_client::ApiClient;

const EVENT_STREAM: &str = "text/event-stream";

/// The routes that tools call.
#[derive(Clone)]
pub(crate) struct McpRoutes(pub(crate) Router);

/// Handles a message. Tools send their requests with the key in `headers`.
pub(crate) async fn handle(routes: &McpRoutes, headers: &HeaderMap, body: &[u8]) -> Response {
    let call = match read(body, false) {
        // Closing the connection cancels its request. Requests of other connections are not known here.
        Step::Nothing | Step::Cancel(_) => return StatusCode::ACCEPTED.into_response(),
        Step::Respond(response) => return json_response(StatusCode::OK, response.to_string()),
        Step::Call(call) => call,
    };
    let client = ApiClient::of_caller(routes.0.clone(), headers);
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let takes_events = accept.is_some_and(|kinds| kinds.contains(EVENT_STREAM));
    if call.progress_token.is_some() && takes_events {
        return events(call, client);
    }
    let (notifications, _) = mpsc::channel(1);
    let response = call.run(&client, false, notifications).await;
    json_response(StatusCode::OK, response.to_string())
}

/// A running call, which ends with the connection.
struct Running {
    messages: mpsc::Receiver<Value>,
    _task: AbortOnDropHandle<()>,
}

/// Returns the notifications and the response of a call as server-sent events, with comments while nothing happens.
fn events(call: ToolCall, client: ApiClient) -> Response {
    let (sender, messages) = mpsc::channel(limits::MCP_CALLS);
    let task = tokio::spawn(async move {
        let response = call.run(&client, false, sender.clone()).await;
        // The client may be gone.
        let _ = sender.send(response).await;
    });
    let running = Running {
        messages,
        _task: AbortOnDropHandle::new(task),
    };
    let body = stream::unfold(running, |mut running| async move {
        let event = match timeout(limits::SOCKET_PING, running.messages.recv()).await {
            Ok(Some(message)) => format!("event: message\ndata: {message}\n\n"),
            Ok(None) => return None,
            Err(_) => ": waiting\n\n".to_owned(),
        };
        Some((Ok::<_, Infallible>(Bytes::from(event)), running))
    });
    ([(header::CONTENT_TYPE, EVENT_STREAM)], Body::from_stream(body)).into_response()
}
