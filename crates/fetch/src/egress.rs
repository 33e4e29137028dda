//! The browser's only network: an HTTP proxy on loopback in front of the same guard, resolver and dialer.
//!
//! It speaks what browsers send to a proxy: `CONNECT host:port` for everything encrypted and for WebSockets, and
//! requests with a whole URL for plain HTTP. Every target is resolved once and judged before it is dialled; what
//! is refused gets 403 without a connect, what cannot be reached 502. It never looks into a tunnel, never caches,
//! and never follows a redirect: the browser comes back with a request of its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::Url;

use crate::client::Fetcher;
use crate::connect::Stream;
use crate::error::FetchError;
use crate::head::Heads;
use crate::limits;
use crate::pool::http1_settings;

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// A running proxy; it ends with this value.
pub struct Egress {
    address: SocketAddr,
    failures: Arc<Failures>,
    accepting: AbortHandle,
}

/// What could not be reached lately, the newest last: a browser tells of a failed tunnel without its reason.
#[derive(Default)]
struct Failures(Mutex<VecDeque<(String, FetchError)>>);

impl Egress {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(fetcher: Fetcher) -> std::io::Result<Egress> {
        Egress::serve(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, fetcher)
    }

    fn serve(listener: TcpListener, fetcher: Fetcher) -> std::io::Result<Egress> {
        let address = listener.local_addr()?;
        let failures = Arc::new(Failures::default());
        let accepting = tokio::spawn(accept(listener, fetcher, failures.clone())).abort_handle();
        Ok(Egress {
            address,
            failures,
            accepting,
        })
    }

    /// Serves on a listener that another made, wherever that is.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn on(listener: std::net::TcpListener, fetcher: Fetcher) -> std::io::Result<Egress> {
        listener.set_nonblocking(true)?;
        Egress::serve(TcpListener::from_std(listener)?, fetcher)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Why the last attempt to reach `host:port` failed, if it failed lately.
    pub fn failure(&self, host: &str, port: u16) -> Option<FetchError> {
        self.failures.of(&authority(host, port))
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Failures {
    fn of(&self, authority: &str) -> Option<FetchError> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .rev()
            .find(|(name, _)| name == authority)
            .map(|(_, error)| error.clone())
    }

    /// The outcome of an attempt; a success makes earlier failures void.
    fn note(&self, authority: &str, failure: Option<&FetchError>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(name, _)| name != authority);
        if let Some(error) = failure {
            known.push_back((authority.to_owned(), error.clone()));
            if known.len() > limits::EGRESS_FAILURES {
                known.pop_front();
            }
        }
    }
}

fn authority(host: &str, port: u16) -> String {
    format!("{}:{port}", host.to_ascii_lowercase())
}

async fn accept(listener: TcpListener, fetcher: Fetcher, failures: Arc<Failures>) {
    let places = Arc::new(Semaphore::new(limits::EGRESS_CONNECTIONS));
    loop {
        let place = places
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(limits::EGRESS_ACCEPT_PAUSE).await;
            continue;
        };
        let (fetcher, failures) = (fetcher.clone(), failures.clone());
        tokio::spawn(async move {
            serve(stream, fetcher, failures).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, fetcher: Fetcher, failures: Arc<Failures>) {
    let service = service_fn(move |request| {
        let (fetcher, failures) = (fetcher.clone(), failures.clone());
        async move { Ok::<_, Infallible>(answer(request, &fetcher, &failures).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::IDLE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of the browser ended");
    }
}

async fn answer(request: Request<Incoming>, fetcher: &Fetcher, failures: &Failures) -> Answer {
    let Some(url) = target_of(&request) else {
        return plain(StatusCode::BAD_REQUEST);
    };
    let name = authority(
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or_default(),
    );
    let opened = fetcher.open(&url).await;
    failures.note(&name, opened.as_ref().err());
    match opened {
        Ok(stream) if request.method() == Method::CONNECT => tunnel(request, stream),
        Ok(stream) => forward(request, stream, &url)
            .await
            .unwrap_or_else(|_| plain(StatusCode::BAD_GATEWAY)),
        Err(FetchError::Unsafe { .. } | FetchError::InvalidRequest(_)) => plain(StatusCode::FORBIDDEN),
        Err(_) => plain(StatusCode::BAD_GATEWAY),
    }
}

/// The target as a URL: the whole URL of a plain request, or the authority of a tunnel.
fn target_of(request: &Request<Incoming>) -> Option<Url> {
    if request.method() != Method::CONNECT {
        let url = Url::parse(&request.uri().to_string()).ok()?;
        return (url.scheme() == "http").then_some(url);
    }
    let authority = request.uri().authority()?;
    authority.port()?;
    Url::parse(&format!("https://{authority}/")).ok()
}

fn tunnel(request: Request<Incoming>, mut target: Box<dyn Stream>) -> Answer {
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else {
            return;
        };
        let mut browser = TokioIo::new(upgraded);
        // Either side may end it at any time; there is nobody to tell.
        let _ended = tokio::io::copy_bidirectional(&mut browser, &mut target).await;
    });
    plain(StatusCode::OK)
}

async fn forward(
    mut request: Request<Incoming>,
    target: Box<dyn Stream>,
    url: &Url,
) -> Result<Answer, hyper::Error> {
    let (target, signal) = Heads::new(target);
    signal.expect();
    let (mut sender, connection) = http1_settings().handshake(TokioIo::new(target)).await?;
    tokio::spawn(connection);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let Ok(uri) = path.parse() else {
        return Ok(plain(StatusCode::BAD_REQUEST));
    };
    *request.uri_mut() = uri;
    drop_hop_headers(request.headers_mut());
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    if let Ok(host) = HeaderValue::from_str(host) {
        request.headers_mut().insert(header::HOST, host);
    }
    let head = timeout(limits::EGRESS_ANSWER_TIMEOUT, sender.send_request(request)).await;
    let mut response = match head {
        Ok(response) => response?,
        Err(_) => return Ok(plain(StatusCode::GATEWAY_TIMEOUT)),
    };
    // A body that came in chunks goes on in chunks, whatever length was said as well.
    if response.headers().contains_key(header::TRANSFER_ENCODING) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    drop_hop_headers(response.headers_mut());
    Ok(response.map(BodyExt::boxed))
}

/// Removes what belongs to one connection, by the fixed list and by what `Connection` names.
fn drop_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let fixed = [
        header::CONNECTION,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
    ];
    for name in named.into_iter().chain(fixed) {
        headers.remove(name);
    }
}

fn plain(status: StatusCode) -> Answer {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response
}
