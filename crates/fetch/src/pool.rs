//! HTTP connections and the pool of idle ones.
//!
//! An idle connection is only reused if the address it was dialed to is among the freshly checked addresses of its
//! origin, so it never leads where a new connection would not. Dropping a connection closes its socket.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response, Uri, Version, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::connect::Stream;
use crate::head::{HeadRepair, ResponseSignal};
use crate::limits;
use crate::proxy::Proxy;

/// Where a connection leads, without its address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Origin {
    /// Host as in the URL.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// `None` without TLS, otherwise whether the certificate was verified.
    pub(crate) tls: Option<bool>,
    /// The proxy in between.
    pub(crate) proxy: Option<Arc<Proxy>>,
}

/// A connection. For HTTP/2, the handle of one request or of the pool.
pub(crate) struct Connection {
    sender: Sender,
    /// `None` if a proxy resolved the name.
    address: Option<SocketAddr>,
    driver: Arc<Driver>,
    /// The concurrency permit of this handle's stream.
    _stream: Option<OwnedSemaphorePermit>,
}

enum Sender {
    H1(http1::SendRequest<Full<Bytes>>, ResponseSignal),
    H2(http2::SendRequest<Full<Bytes>>),
}

/// The task that transfers the bytes; stops with the last handle.
struct Driver {
    _task: AbortOnDropHandle<()>,
    /// Permits for further streams. All streams together fit into the window of the connection, so that a reader
    /// that waits for the memory budget never blocks the others.
    streams: Arc<Semaphore>,
}

/// A request without a response.
pub(crate) enum SendError {
    /// The connection or the response failed.
    Failed {
        /// The error of hyper.
        error: hyper::Error,
        /// What the peer may have done with the request.
        delivery: Delivery,
    },
    /// Too many interim responses.
    TooManyInterim,
}

/// What the peer may have done with a request that got no response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delivery {
    /// It was not sent.
    NotSent,
    /// The peer refused its stream and did not process it (RFC 9113, 8.7).
    Refused,
    /// The peer shut the connection down gracefully, most likely before processing it.
    GoneAway,
    /// It may have been processed.
    Unknown,
}

impl SendError {
    /// Classifies a failed request; `not_sent` means that it was not sent.
    fn of(error: hyper::Error, not_sent: bool) -> SendError {
        let h2_error =
            std::error::Error::source(&error).and_then(|source| source.downcast_ref::<h2::Error>());
        let delivery = match h2_error {
            _ if not_sent => Delivery::NotSent,
            Some(h2_error) if h2_error.is_remote() => match h2_error.reason() {
                Some(h2::Reason::REFUSED_STREAM) => Delivery::Refused,
                Some(h2::Reason::NO_ERROR) if h2_error.is_go_away() => Delivery::GoneAway,
                _ => Delivery::Unknown,
            },
            _ => Delivery::Unknown,
        };
        SendError::Failed { error, delivery }
    }
}

impl Connection {
    /// Starts HTTP on an open stream.
    pub(crate) async fn start(
        stream: Box<dyn Stream>,
        h2: bool,
        address: Option<SocketAddr>,
    ) -> hyper::Result<Connection> {
        let (sender, task) = if h2 {
            let (sender, driver) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_max_send_streams(limits::H2_INITIAL_STREAMS)
                .initial_stream_window_size(limits::H2_STREAM_WINDOW_BYTES)
                .initial_connection_window_size(limits::H2_CONNECTION_WINDOW_BYTES)
                .max_frame_size(limits::H2_MAX_FRAME_BYTES)
                .max_header_list_size(limits::MAX_RESPONSE_HEADER_BYTES as u32)
                .header_table_size(limits::H2_HEADER_TABLE_BYTES)
                .max_concurrent_reset_streams(limits::H2_MAX_RESET_STREAMS)
                .max_pending_accept_reset_streams(limits::H2_MAX_RESET_STREAMS)
                .max_local_error_reset_streams(limits::H2_MAX_FAULT_RESETS)
                .handshake(TokioIo::new(stream))
                .await?;
            (Sender::H2(sender), tokio::spawn(drive(driver)))
        } else {
            let (stream, signal) = HeadRepair::new(stream);
            let (sender, driver) = http1_settings().handshake(TokioIo::new(stream)).await?;
            (Sender::H1(sender, signal), tokio::spawn(drive(driver)))
        };
        let streams = Arc::new(Semaphore::new(limits::H2_MAX_STREAMS));
        let _stream = streams.clone().try_acquire_owned().ok();
        let driver = Arc::new(Driver {
            _task: AbortOnDropHandle::new(task),
            streams,
        });
        Ok(Connection {
            sender,
            address,
            driver,
            _stream,
        })
    }

    /// Sends one request and waits for the head of its response.
    pub(crate) async fn send(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, SendError> {
        match &mut self.sender {
            Sender::H1(sender, signal) => {
                *request.uri_mut() = origin_form(request.uri());
                let (interim_responses, too_many) = (AtomicUsize::new(0), Arc::new(Notify::new()));
                let notify = too_many.clone();
                hyper::ext::on_informational(&mut request, move |_| {
                    if interim_responses.fetch_add(1, Ordering::Relaxed) >= limits::MAX_INTERIM_RESPONSES {
                        notify.notify_one();
                    }
                });
                sender.ready().await.map_err(|error| SendError::of(error, true))?;
                signal.expect();
                tokio::select! {
                    answer = sender.try_send_request(request) => answer.map_err(|mut failure| {
                        let not_sent = failure.take_message().is_some();
                        SendError::of(failure.into_error(), not_sent)
                    }),
                    () = too_many.notified() => Err(SendError::TooManyInterim),
                }
            }
            Sender::H2(sender) => {
                *request.version_mut() = Version::HTTP_2;
                request.headers_mut().remove(header::HOST);
                sender.ready().await.map_err(|error| SendError::of(error, true))?;
                sender.try_send_request(request).await.map_err(|mut failure| {
                    let not_sent = failure.take_message().is_some();
                    SendError::of(failure.into_error(), not_sent)
                })
            }
        }
    }

    /// Returns another handle of an HTTP/2 connection with the given stream; `None` for HTTP/1.
    fn handle(&self, stream: Option<OwnedSemaphorePermit>) -> Option<Connection> {
        match &self.sender {
            Sender::H1(..) => None,
            Sender::H2(sender) => Some(Connection {
                sender: Sender::H2(sender.clone()),
                address: self.address,
                driver: self.driver.clone(),
                _stream: stream,
            }),
        }
    }

    /// Returns a permit for one more stream if one is free.
    fn free_stream(&self) -> Option<OwnedSemaphorePermit> {
        self.driver.streams.clone().try_acquire_owned().ok()
    }

    fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::H1(sender, _) => sender.is_closed(),
            Sender::H2(sender) => sender.is_closed(),
        }
    }
}

/// Returns the HTTP/1.1 settings: limits, and tolerance for non-standard response heads that browsers accept. Invalid
/// header lines are skipped and folded ones joined; body framing stays strict.
pub(crate) fn http1_settings() -> http1::Builder {
    let mut settings = http1::Builder::new();
    settings
        .max_headers(limits::MAX_RESPONSE_HEADERS)
        .max_header_size(limits::MAX_RESPONSE_HEADER_BYTES)
        .max_buf_size(limits::MAX_RESPONSE_HEADER_BYTES * 2)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    settings
}

/// Returns path and query, the target form of requests to the origin server (RFC 9112, 3.2.1).
fn origin_form(uri: &Uri) -> Uri {
    uri.path_and_query()
        .cloned()
        .map_or_else(|| Uri::from_static("/"), Uri::from)
}

async fn drive(connection: impl Future<Output = hyper::Result<()>>) {
    if let Err(error) = connection.await {
        tracing::trace!(%error, "connection ended");
    }
}

/// The idle connections of a fetcher, and the HTTP/2 connections in use.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<HashMap<Origin, Vec<Idle>>>,
    /// Origins to which a connection is being opened; the channel closes when that is done.
    openings: Mutex<HashMap<Origin, watch::Receiver<()>>>,
}

/// A connection being opened. Other requests to the same origin wait for it because they may be able to share it.
pub(crate) struct Opening {
    pool: Arc<Pool>,
    origin: Origin,
    _waiting: watch::Sender<()>,
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut openings = self.pool.openings.lock();
        openings.remove(&self.origin);
    }
}

struct Idle {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// Takes a connection to the origin that was dialed to one of `addresses`, or whose name the proxy resolved.
    pub(crate) fn take(&self, origin: &Origin, addresses: &[SocketAddr]) -> Option<Connection> {
        let mut idle = self.idle.lock();
        let list = idle.get_mut(origin)?;
        list.retain(Idle::is_usable);
        for at in (0..list.len()).rev() {
            let connection = &list[at].connection;
            if connection
                .address
                .is_some_and(|address| !addresses.contains(&address))
            {
                continue;
            }
            match &connection.sender {
                Sender::H1(..) => return Some(list.swap_remove(at).connection),
                Sender::H2(_) => {
                    let Some(stream) = connection.free_stream() else {
                        continue;
                    };
                    let shared = connection.handle(Some(stream));
                    list[at].since = Instant::now();
                    return shared;
                }
            }
        }
        None
    }

    /// Announces that a connection to the origin is being opened. If another request is already opening one, waits
    /// until that is done, at most for the connect timeout, and returns `None`.
    pub(crate) async fn opening(self: &Arc<Self>, origin: &Origin) -> Option<Opening> {
        let mut other = {
            let mut openings = self.openings.lock();
            match openings.get(origin) {
                Some(other) => other.clone(),
                None => {
                    let (waiting, ended) = watch::channel(());
                    openings.insert(origin.clone(), ended);
                    return Some(Opening {
                        pool: self.clone(),
                        origin: origin.clone(),
                        _waiting: waiting,
                    });
                }
            }
        };
        // The channel never carries a value; it closes. The opener may have a later deadline than this waiter.
        let _ended = timeout(limits::CONNECT_TIMEOUT, other.changed()).await;
        None
    }

    /// Returns an HTTP/1 connection to the pool after its response was read. HTTP/2 connections never left it.
    pub(crate) fn put_back(self: &Arc<Self>, origin: Origin, connection: Connection) {
        if matches!(connection.sender, Sender::H1(..)) {
            self.store(origin, connection);
        }
    }

    fn store(self: &Arc<Self>, origin: Origin, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let mut idle = self.idle.lock();
        let was_empty = idle.is_empty();
        if idle.values().map(Vec::len).sum::<usize>() >= limits::MAX_IDLE {
            return;
        }
        let list = idle.entry(origin).or_default();
        list.retain(Idle::is_usable);
        if list.len() < limits::MAX_IDLE_PER_ORIGIN {
            list.push(Idle {
                connection,
                since: Instant::now(),
            });
        }
        if was_empty {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Adds a handle of a new HTTP/2 connection, so that concurrent requests can share it.
    pub(crate) fn share(self: &Arc<Self>, origin: &Origin, connection: &Connection) {
        if let Some(handle) = connection.handle(None) {
            self.store(origin.clone(), handle);
        }
    }
}

impl Idle {
    fn is_usable(&self) -> bool {
        !self.connection.is_closed() && self.since.elapsed() < limits::IDLE_TIMEOUT
    }
}

/// Closes expired idle connections. Ends when none are left or the pool is gone.
async fn sweep(pool: std::sync::Weak<Pool>) {
    loop {
        tokio::time::sleep(limits::IDLE_TIMEOUT / 2).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle.lock();
        idle.retain(|_, list| {
            list.retain(Idle::is_usable);
            !list.is_empty()
        });
        if idle.is_empty() {
            return;
        }
    }
}
