//! Relays messages of a WebSocket for the lifetime of a session. Neither direction blocks the other.

use std::pin::pin;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{SinkExt, Stream, StreamExt};
use harvestman_core::api::live::{CLOSE_DONE, CLOSE_GOING_AWAY};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::pings::Pings;

const TRY_LATER: u16 = 1013;

/// Reason for closing the socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseReason {
    /// The client disconnected, or does not read.
    Disconnected,
    /// The outgoing stream or the incoming handler ended.
    Finished,
    SessionEnded,
    ServerStopping,
}

/// Tokens that end a socket.
pub(crate) struct StopSignals {
    /// Cancelled when the session ends.
    pub(crate) session: CancellationToken,
    /// Cancelled when the server shuts down.
    pub(crate) server: CancellationToken,
}

/// Sends the messages of `outgoing` and passes received ones to `incoming`. Ends when `outgoing` ends, `incoming`
/// returns `false`, the session or the server ends, or the client disconnects. Pings the client; one that does not
/// reply counts as disconnected.
pub(crate) async fn relay<F>(
    socket: WebSocket,
    signals: &StopSignals,
    outgoing: impl Stream<Item = Message> + Send,
    mut incoming: impl FnMut(Message) -> F + Send,
) where
    F: Future<Output = bool> + Send,
{
    let (mut sink, mut stream) = socket.split();
    let pings = Pings::default();
    let write = async {
        let mut outgoing = pin!(outgoing);
        loop {
            let message = tokio::select! {
                message = outgoing.next() => match message {
                    Some(message) => message,
                    None => return CloseReason::Finished,
                },
                () = pings.due() => match pings.send() {
                    true => Message::Ping(Default::default()),
                    false => return CloseReason::Disconnected,
                },
            };
            if !matches!(timeout(limits::SOCKET_SEND, sink.send(message)).await, Ok(Ok(()))) {
                return CloseReason::Disconnected;
            }
        }
    };
    let read = async {
        while let Some(Ok(message)) = stream.next().await {
            pings.answered();
            match message {
                Message::Close(_) => return CloseReason::Disconnected,
                Message::Ping(_) | Message::Pong(_) => {}
                message => {
                    if !incoming(message).await {
                        return CloseReason::Finished;
                    }
                }
            }
        }
        CloseReason::Disconnected
    };
    let end = tokio::select! {
        biased;
        () = signals.session.cancelled() => CloseReason::SessionEnded,
        () = signals.server.cancelled() => CloseReason::ServerStopping,
        end = read => end,
        end = write => end,
    };
    let (code, reason) = match end {
        CloseReason::Disconnected => return,
        CloseReason::Finished => (CLOSE_DONE, "the browser has closed the connection"),
        CloseReason::SessionEnded => (CLOSE_DONE, "the session has ended"),
        CloseReason::ServerStopping => (
            CLOSE_GOING_AWAY,
            "the server is shutting down; try again in a moment",
        ),
    };
    if let Ok(socket) = sink.reunite(stream) {
        close(socket, code, reason).await;
    }
}

/// Closes a socket with close code 1013 (try again later) and a reason.
pub(crate) async fn refuse(socket: WebSocket, reason: &'static str) {
    close(socket, TRY_LATER, reason).await;
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let closed = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            // The client's own close frame ends the connection cleanly.
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // The client may have disconnected.
    let _closed = timeout(limits::REFUSAL_TIME, closed).await;
}
