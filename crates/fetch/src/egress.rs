//! The browser proxy: an HTTP proxy on loopback that is the browser's only network. It uses the same guard,
//! resolver and dialer as the fetcher, and passes connections on to one of the operator's proxies if there is one.
//!
//! It supports `CONNECT host:port` for encrypted traffic and WebSockets, and requests with an absolute URL for plain
//! HTTP. Every target is resolved once and checked before it is dialed. A rejected target gets 403 without a
//! connection, an unreachable one 502. The proxy never inspects a tunnel, never caches, and never follows redirects:
//! the browser sends a new request for those.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::client::Fetcher;
use crate::connect::Stream;
use crate::error::FetchError;
use crate::head::HeadRepair;
use crate::limits;
use crate::pool::http1_settings;
use crate::proxy::Proxy;

type ProxyResponse = Response<BoxBody<Bytes, hyper::Error>>;

/// Chooses the operator's proxy for each connection; `None` connects directly.
pub type Upstream = dyn Fn() -> Option<Arc<Proxy>> + Send + Sync;

/// What the connections of one proxy share.
struct Service {
    fetcher: Fetcher,
    upstream: Arc<Upstream>,
    failures: Arc<Failures>,
}

/// A running proxy; stops on drop.
pub struct Egress {
    address: SocketAddr,
    failures: Arc<Failures>,
    _accepting: AbortOnDropHandle<()>,
}

/// Recent failures by host, newest last. A browser reports a failed tunnel without its reason.
#[derive(Default)]
struct Failures(Mutex<VecDeque<(String, FetchError)>>);

impl Egress {
    /// Starts a proxy on a free loopback port, in front of `upstream`.
    ///
    /// # Errors
    /// If no port can be opened.
    pub async fn start(fetcher: Fetcher, upstream: Arc<Upstream>) -> std::io::Result<Egress> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Egress::serve(listener, fetcher, upstream)
    }

    fn serve(listener: TcpListener, fetcher: Fetcher, upstream: Arc<Upstream>) -> std::io::Result<Egress> {
        let address = listener.local_addr()?;
        let failures = Arc::new(Failures::default());
        let service = Arc::new(Service {
            fetcher,
            upstream,
            failures: failures.clone(),
        });
        let accepting = tokio::spawn(accept(listener, service));
        Ok(Egress {
            address,
            failures,
            _accepting: AbortOnDropHandle::new(accepting),
        })
    }

    /// Serves on an existing listener.
    ///
    /// # Errors
    /// If the listener cannot be used.
    pub fn from_listener(
        listener: std::net::TcpListener,
        fetcher: Fetcher,
        upstream: Arc<Upstream>,
    ) -> std::io::Result<Egress> {
        listener.set_nonblocking(true)?;
        Egress::serve(TcpListener::from_std(listener)?, fetcher, upstream)
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns why the last attempt to reach `host:port` failed, if it failed recently.
    pub fn failure(&self, host: &str, port: u16) -> Option<FetchError> {
        self.failures.get(&authority(host, port))
    }
}

impl Failures {
    fn get(&self, authority: &str) -> Option<FetchError> {
        let known = self.0.lock();
        known
            .iter()
            .rev()
            .find(|(name, _)| name == authority)
            .map(|(_, error)| error.clone())
    }

    /// Records the outcome of an attempt; a success clears earlier failures.
    fn record(&self, authority: &str, failure: Option<&FetchError>) {
        let mut known = self.0.lock();
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

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let permits = Arc::new(Semaphore::new(limits::EGRESS_CONNECTIONS));
    loop {
        let permit = permits
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(limits::EGRESS_ACCEPT_PAUSE).await;
            continue;
        };
        let service = service.clone();
        tokio::spawn(async move {
            serve(stream, service).await;
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, service: Arc<Service>) {
    let service = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.handle(request).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::IDLE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "browser connection failed");
    }
}

impl Service {
    async fn handle(&self, request: Request<Incoming>) -> ProxyResponse {
        let Some(url) = target_of(&request) else {
            return empty_response(StatusCode::BAD_REQUEST);
        };
        let name = authority(
            url.host_str().unwrap_or_default(),
            url.port_or_known_default().unwrap_or_default(),
        );
        let proxy = (self.upstream)();
        let connected = self.fetcher.open(&url, proxy.as_deref()).await;
        self.failures.record(&name, connected.as_ref().err());
        match connected {
            Ok(stream) if request.method() == Method::CONNECT => tunnel(request, stream),
            Ok(stream) => forward(request, stream, &url)
                .await
                .unwrap_or_else(|_| empty_response(StatusCode::BAD_GATEWAY)),
            Err(FetchError::Unsafe { .. } | FetchError::InvalidRequest(_)) => {
                empty_response(StatusCode::FORBIDDEN)
            }
            Err(_) => empty_response(StatusCode::BAD_GATEWAY),
        }
    }
}

/// Returns the target: the URL of a plain request, or one with the authority of a tunnel.
fn target_of(request: &Request<Incoming>) -> Option<Url> {
    if request.method() != Method::CONNECT {
        let url = Url::parse(&request.uri().to_string()).ok()?;
        return (url.scheme() == "http").then_some(url);
    }
    let authority = request.uri().authority()?;
    authority.port()?;
    Url::parse(&format!("https://{authority}/")).ok()
}

fn tunnel(request: Request<Incoming>, mut target: Box<dyn Stream>) -> ProxyResponse {
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else {
            return;
        };
        let mut browser = TokioIo::new(upgraded);
        // Either side may close the tunnel at any time; there is no one to report an error to.
        let _ended = tokio::io::copy_bidirectional(&mut browser, &mut target).await;
    });
    empty_response(StatusCode::OK)
}

async fn forward(
    mut request: Request<Incoming>,
    target: Box<dyn Stream>,
    url: &Url,
) -> Result<ProxyResponse, hyper::Error> {
    let (target, signal) = HeadRepair::new(target);
    signal.expect();
    let (mut sender, connection) = http1_settings().handshake(TokioIo::new(target)).await?;
    tokio::spawn(connection);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let Ok(uri) = path.parse() else {
        return Ok(empty_response(StatusCode::BAD_REQUEST));
    };
    *request.uri_mut() = uri;
    drop_hop_headers(request.headers_mut());
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    if let Ok(host) = HeaderValue::from_str(host) {
        request.headers_mut().insert(header::HOST, host);
    }
    let head = timeout(limits::EGRESS_RESPONSE_TIMEOUT, sender.send_request(request)).await;
    let mut response = match head {
        Ok(response) => response?,
        Err(_) => return Ok(empty_response(StatusCode::GATEWAY_TIMEOUT)),
    };
    // A chunked body is forwarded as chunked, whatever length was also announced.
    if response.headers().contains_key(header::TRANSFER_ENCODING) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    drop_hop_headers(response.headers_mut());
    Ok(response.map(BodyExt::boxed))
}

/// Removes hop-by-hop header fields: the standard ones and those named in `Connection`.
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

fn empty_response(status: StatusCode) -> ProxyResponse {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response
}
