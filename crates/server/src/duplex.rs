//! A WebSocket that carries messages both ways for as long as a session lives. Neither direction waits for the other.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{SinkExt, Stream, StreamExt};
use tokio::time::{Instant, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::socket::{GOING_AWAY, NORMAL};

const TRY_LATER: u16 = 1013;

/// Why nothing more is carried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The caller left, or does not read.
    Gone,
    /// Nothing more comes from behind.
    Over,
    Session,
    Server,
}

/// What ends a socket from outside.
pub(crate) struct Ends {
    /// The session is over.
    pub(crate) session: CancellationToken,
    /// The server stops.
    pub(crate) server: CancellationToken,
}

/// Sends what `outgoing` gives, and hands what comes to `incoming`, until one of them ends (`incoming` by `false`), the
/// session or the server does, or the caller leaves. Pings meanwhile; a caller who does not answer has left.
pub(crate) async fn carry<F>(
    socket: WebSocket,
    ends: &Ends,
    outgoing: impl Stream<Item = Message> + Send,
    mut incoming: impl FnMut(Message) -> F + Send,
) where
    F: Future<Output = bool> + Send,
{
    let (mut sink, mut stream) = socket.split();
    let heard = AtomicBool::new(true);
    let write = async {
        let mut outgoing = pin!(outgoing);
        let mut pings = interval_at(Instant::now() + limits::SOCKET_PING, limits::SOCKET_PING);
        let mut unheard = 0;
        loop {
            let message = tokio::select! {
                message = outgoing.next() => match message {
                    Some(message) => message,
                    None => return End::Over,
                },
                _ = pings.tick() => {
                    unheard = if heard.swap(false, Ordering::Relaxed) { 0 } else { unheard + 1 };
                    if unheard > limits::SOCKET_UNHEARD {
                        return End::Gone;
                    }
                    Message::Ping(Default::default())
                }
            };
            if !matches!(timeout(limits::SOCKET_SEND, sink.send(message)).await, Ok(Ok(()))) {
                return End::Gone;
            }
        }
    };
    let read = async {
        while let Some(Ok(message)) = stream.next().await {
            heard.store(true, Ordering::Relaxed);
            match message {
                Message::Close(_) => return End::Gone,
                Message::Ping(_) | Message::Pong(_) => {}
                message => {
                    if !incoming(message).await {
                        return End::Over;
                    }
                }
            }
        }
        End::Gone
    };
    let end = tokio::select! {
        biased;
        () = ends.session.cancelled() => End::Session,
        () = ends.server.cancelled() => End::Server,
        end = read => end,
        end = write => end,
    };
    let (code, reason) = match end {
        End::Gone => return,
        End::Over => (NORMAL, "the browser has nothing more to say"),
        End::Session => (NORMAL, "the session has ended"),
        End::Server => (GOING_AWAY, "the server stops; try again in a moment"),
    };
    if let Ok(socket) = sink.reunite(stream) {
        close(socket, code, reason).await;
    }
}

/// Ends a socket with a word on why it is of no use now.
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
            // The caller's own close frame ends the connection in order.
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // The caller may be gone.
    let _closed = timeout(limits::REFUSAL_TIME, closed).await;
}
