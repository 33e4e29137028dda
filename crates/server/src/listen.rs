//! Accepts connections and keeps their callers in bounds: how many, how slow, how long idle. Speaks
//! HTTP/1.1; above the limit a caller is told 503 and never just reset.

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
mod own_answer;
mod watched;

use activity::{Activity, Overdue};
use own_answer::raw;
use watched::{Watched, WatchedBody};

/// The address a request came from; in the request's extensions.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// How much and how slow callers may be.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Connections at once.
    pub connections: usize,
    /// Time for a request's head.
    pub head: Duration,
    /// Time between two requests.
    pub idle: Duration,
    /// Time without a byte taken of an answer.
    pub write: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connections: limits::MAX_CONNECTIONS,
            head: limits::HEAD_TIME,
            idle: limits::IDLE_TIME,
            write: limits::WRITE_SILENCE,
        }
    }
}

/// Serves until `stop`, then lets the answers in progress finish. Dropping the future ends
/// everything at once.
pub async fn serve(
    listener: TcpListener,
    app: App,
    router: Router,
    patience: Patience,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(patience.connections));
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
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                continue;
            }
        };
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                let connection = Connection {
                    app: app.clone(),
                    router: router.clone(),
                    peer,
                    patience,
                    stop: stop.clone(),
                };
                tasks.spawn(connection.serve(stream, place));
            }
            Err(_) => {
                app.metrics().refused();
                if let Ok(place) = refusals.clone().try_acquire_owned() {
                    tasks.spawn(refuse(stream, place));
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
    patience: Patience,
    stop: CancellationToken,
}

impl Connection {
    async fn serve(self, stream: TcpStream, place: OwnedSemaphorePermit) {
        let Connection {
            app,
            router,
            peer,
            patience,
            stop,
        } = self;
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        let activity = Arc::new(Activity::new());
        let watched = Watched::new(stream.clone(), activity.clone(), place, app);
        let service = service_fn({
            let activity = activity.clone();
            move |request: Request<Incoming>| {
                activity.request_began();
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(Peer(peer));
                let activity = activity.clone();
                router.clone().oneshot(request).map(move |response| {
                    let Ok(response) = response;
                    Ok::<_, Infallible>(response.map(|body| WatchedBody::new(body, activity)))
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
                .serve_connection(TokioIo::new(watched), service)
                .with_upgrades(),
        );
        let mut overdue = pin!(activity.overdue(&patience));
        let mut stopping = false;
        let why = loop {
            tokio::select! {
                result = connection.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(%error, "a connection ended early");
                        if error.is_parse() {
                            let _ = tokio::time::timeout(limits::REFUSAL_TIME, read_out(&stream)).await;
                        }
                    }
                    return;
                }
                why = &mut overdue => break why,
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        };
        drop(connection);
        if why == Overdue::Head {
            let seconds = patience.head.as_secs_f32();
            let sentence = format!("the head of the request did not come within {seconds} s");
            let _ = stream.try_write(raw(&ApiError::new(ErrorCode::RequestTimeout, sentence)).as_bytes());
        }
    }
}

/// Reads and drops what still comes, so that the caller sees the answer instead of a reset.
async fn read_out(stream: &TcpStream) {
    let mut bytes = [0; 4096];
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut bytes) {
            Ok(0) => return,
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return,
            Ok(_) | Err(_) => {}
        }
    }
}

/// Tells a caller above the limit that the server is full.
async fn refuse(mut stream: TcpStream, _place: OwnedSemaphorePermit) {
    let talk = async {
        let mut error = ApiError::new(
            ErrorCode::Unavailable,
            "too many connections; try again in a moment",
        );
        error.retry_after_s = Some(1);
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await?;
        stream.write_all(raw(&error).as_bytes()).await?;
        stream.shutdown().await?;
        while stream.read(&mut request).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(limits::REFUSAL_TIME, talk).await;
}
