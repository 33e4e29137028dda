//! Accepts HTTP/1.1 connections and limits their number, idle time, and how slowly clients may send and read. A
//! connection above the limit gets a 503, not just a reset.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures_util::FutureExt;
use harvestman_core::api::error::{ApiError, ErrorCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::app::App;
use crate::limits;

mod activity;
mod error_response;
mod tracked;

use activity::{Activity, TimeoutReason};
use error_response::raw_response;
use tracked::{RequestBody, TrackedBody, TrackedStream};

/// Network address of the client; in the request's extensions.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections at once.
    pub connections: usize,
    /// Time limit for the head of a request.
    pub head: Duration,
    /// Longest time between two requests.
    pub idle: Duration,
    /// Longest time in which the client reads nothing of a response.
    pub write: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: limits::MAX_CONNECTIONS,
            head: limits::HEAD_TIME,
            idle: limits::IDLE_TIME,
            write: limits::WRITE_SILENCE,
        }
    }
}

/// Serves until `stop` is cancelled, then finishes the responses in progress. Dropping the future ends all
/// connections at once.
pub async fn serve(
    listener: TcpListener,
    app: App,
    router: Router,
    limits: ConnectionLimits,
    stop: CancellationToken,
) {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let refusals = Arc::new(Semaphore::new(limits::MAX_REFUSALS));
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                continue;
            }
        };
        match permits.clone().try_acquire_owned() {
            Ok(permit) => {
                let connection = Connection {
                    app: app.clone(),
                    router: router.clone(),
                    peer,
                    limits,
                    stop: stop.clone(),
                };
                tasks.spawn(connection.serve(stream, permit));
            }
            Err(_) => {
                app.metrics().count_refused_connection();
                if let Ok(permit) = refusals.clone().try_acquire_owned() {
                    tasks.spawn(refuse(stream, permit));
                }
            }
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

struct Connection {
    app: App,
    router: Router,
    peer: SocketAddr,
    limits: ConnectionLimits,
    stop: CancellationToken,
}

impl Connection {
    async fn serve(self, stream: TcpStream, permit: OwnedSemaphorePermit) {
        let Connection {
            app,
            router,
            peer,
            limits,
            stop,
        } = self;
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        let activity = Arc::new(Activity::new());
        let tracked = TrackedStream::new(stream.clone(), activity.clone(), permit, app);
        let service = service_fn({
            let activity = activity.clone();
            move |request: Request<Incoming>| {
                activity.request_started();
                let mut request = request.map(|body| Body::new(RequestBody::new(body, activity.clone())));
                request.extensions_mut().insert(Peer(peer));
                let activity = activity.clone();
                router.clone().oneshot(request).map(move |response| {
                    let Ok(response) = response;
                    Ok::<_, Infallible>(response.map(|body| TrackedBody::new(body, activity)))
                })
            }
        });
        let mut protocol = http1::Builder::new();
        protocol
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size(limits::HEAD_BYTES);
        let mut connection = Box::pin(
            protocol
                .serve_connection(TokioIo::new(tracked), service)
                .with_upgrades(),
        );
        let mut timeout = pin!(activity.timeout(&limits));
        let mut stopping = false;
        let reason = loop {
            tokio::select! {
                result = connection.as_mut() => {
                    let is_malformed = result.as_ref().is_err_and(hyper::Error::is_parse);
                    if let Err(error) = result {
                        tracing::debug!(%error, "connection ended early");
                    }
                    if is_malformed || activity.has_unread_body() {
                        let _ = tokio::time::timeout(limits::DRAIN_TIME, drain(&stream)).await;
                    }
                    return;
                }
                reason = &mut timeout => break reason,
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        };
        drop(connection);
        if reason == TimeoutReason::Head {
            let seconds = limits.head.as_secs_f32();
            let message = format!("the head of the request did not arrive within {seconds} s");
            let _ =
                stream.try_write(raw_response(&ApiError::new(ErrorCode::RequestTimeout, message)).as_bytes());
        }
    }
}

/// Reads and discards the rest of the request, so that the client sees the response instead of a connection reset.
async fn drain(stream: &TcpStream) {
    let mut bytes = [0; 4096];
    let mut drained = 0;
    while drained < limits::DRAIN_BYTES && stream.readable().await.is_ok() {
        match stream.try_read(&mut bytes) {
            Ok(0) => return,
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return,
            Ok(count) => drained += count,
            Err(_) => {}
        }
    }
}

/// Sends a 503 to a client above the connection limit.
async fn refuse(mut stream: TcpStream, _permit: OwnedSemaphorePermit) {
    let exchange = async {
        let mut error = ApiError::new(
            ErrorCode::Unavailable,
            "too many connections; try again in a moment",
        );
        error.retry_after_s = Some(1);
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await?;
        stream.write_all(raw_response(&error).as_bytes()).await?;
        stream.shutdown().await?;
        while stream.read(&mut request).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(limits::REFUSAL_TIME, exchange).await;
}
