//! The local DevTools endpoint for the code of one session: the WebSocket and the JSON resources that client
//! libraries expect, on a given listener. Every path starts with a token. Serves no pages, and rejects
//! requests made by scripts of pages.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::limits;
use crate::multiplexer::{CdpClient, Multiplexer};

/// A resource below the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CdpPath<'a> {
    /// The WebSocket of the browser.
    Browser,
    /// The WebSocket of one page, by target id.
    Page(&'a str),
    /// Version information with the browser's WebSocket URL.
    Version,
    /// The list of pages.
    Targets,
}

impl<'a> CdpPath<'a> {
    /// Parses the path after the token; `None` if there is no such resource.
    pub fn of(rest: &'a str) -> Option<CdpPath<'a>> {
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        match rest.strip_suffix('/').unwrap_or(rest) {
            "" => Some(CdpPath::Browser),
            "json/version" => Some(CdpPath::Version),
            "json" | "json/list" => Some(CdpPath::Targets),
            other => match other.strip_prefix("devtools/")?.split_once('/')? {
                ("browser", _) => Some(CdpPath::Browser),
                ("page", id) => Some(CdpPath::Page(id)),
                _ => None,
            },
        }
    }
}

/// Serves until it is dropped.
pub(crate) struct CdpServer {
    url: String,
    task: AbortHandle,
}

impl CdpServer {
    /// Serves clients of `multiplexer` on `listener`, below `/{token}`.
    pub(crate) fn start(
        listener: TcpListener,
        multiplexer: Multiplexer,
        token: &str,
    ) -> std::io::Result<CdpServer> {
        let url = format!("ws://{}/{token}", listener.local_addr()?);
        let endpoint = Arc::new(Endpoint {
            multiplexer,
            token: token.to_owned(),
            url: url.clone(),
        });
        let task = tokio::spawn(accept(listener, endpoint)).abort_handle();
        Ok(CdpServer { url, task })
    }

    /// Returns the browser's WebSocket URL. The JSON resources are below the same URL with `http:` instead of
    /// `ws:`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for CdpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Endpoint {
    multiplexer: Multiplexer,
    token: String,
    url: String,
}

/// Accepts connections; they end with this task.
async fn accept(listener: TcpListener, endpoint: Arc<Endpoint>) {
    let permits = Arc::new(Semaphore::new(limits::MAX_CDP_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let permit = permits
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        while connections.try_join_next().is_some() {}
        // Each message is waited for, so Nagle's algorithm only adds delay.
        let _ignored = stream.set_nodelay(true);
        let endpoint = endpoint.clone();
        connections.spawn(async move {
            serve_connection(stream, &endpoint).await;
            drop(permit);
        });
    }
}

/// Serves the requests of one connection, and the WebSocket that it may become.
async fn serve_connection(stream: TcpStream, endpoint: &Endpoint) {
    let (sockets, mut socket) = tokio::sync::mpsc::channel(1);
    let service = service_fn(|request: Request<Incoming>| {
        let sockets = sockets.clone();
        async move {
            let response = match endpoint.respond(request).await {
                Ok((response, upgraded)) => {
                    if let Some(upgraded) = upgraded {
                        // A connection is upgraded at most once, so the channel has room.
                        let _first = sockets.try_send(upgraded);
                    }
                    response
                }
                Err(status) => plain(status),
            };
            Ok::<_, Infallible>(response)
        }
    });
    let result = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::CDP_HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = result {
        return tracing::debug!(%error, "a DevTools connection of a session's code failed");
    }
    if let Ok((upgrade, client)) = socket.try_recv()
        && let Ok(upgraded) = upgrade.await
    {
        let io = TokioIo::new(upgraded);
        let config = WebSocketConfig::default()
            .max_message_size(Some(limits::MAX_CLIENT_MESSAGE_BYTES))
            .max_frame_size(Some(limits::MAX_CLIENT_MESSAGE_BYTES));
        let socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        forward_messages(socket, client).await;
    }
}

type HttpResult = (
    Response<Full<Bytes>>,
    Option<(hyper::upgrade::OnUpgrade, CdpClient)>,
);

impl Endpoint {
    async fn respond(&self, request: Request<Incoming>) -> Result<HttpResult, StatusCode> {
        let path = request.uri().path();
        let rest = path
            .strip_prefix('/')
            .and_then(|path| path.strip_prefix(self.token.as_str()));
        let path = rest
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .and_then(CdpPath::of)
            .ok_or(StatusCode::NOT_FOUND)?;
        if request.method() != Method::GET {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        // Browsers send `Origin` with requests of pages; client libraries do not.
        if request.headers().contains_key(header::ORIGIN) {
            return Err(StatusCode::FORBIDDEN);
        }
        let gone = |_| StatusCode::BAD_GATEWAY;
        let target = match path {
            CdpPath::Version => {
                let version = self.multiplexer.version(&self.url).await;
                return Ok((json(&version.map_err(gone)?), None));
            }
            CdpPath::Targets => {
                let targets = self.multiplexer.targets(&self.url).await;
                return Ok((json(&targets.map_err(gone)?), None));
            }
            CdpPath::Browser => None,
            CdpPath::Page(target) => Some(target.to_owned()),
        };
        let response = upgrade_response(&request).ok_or(StatusCode::UPGRADE_REQUIRED)?;
        let client = self.multiplexer.client(target.as_deref()).await.map_err(gone)?;
        Ok((response, Some((hyper::upgrade::on(request), client))))
    }
}

/// Returns the response to a WebSocket upgrade (RFC 6455 section 4.2); `None` if the request is not a valid
/// one.
fn upgrade_response(request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
    let has_token = |name: header::HeaderName, word: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| {
            value
                .split(',')
                .any(|part| part.trim().eq_ignore_ascii_case(word))
        })
    };
    let upgrade = has_token(header::CONNECTION, "upgrade") && has_token(header::UPGRADE, "websocket");
    if !upgrade || !has_token(header::SEC_WEBSOCKET_VERSION, "13") {
        return None;
    }
    let accept = derive_accept_key(request.headers().get(header::SEC_WEBSOCKET_KEY)?.as_bytes());
    let mut response = plain(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).ok()?);
    Some(response)
}

/// Forwards messages both ways until one side ends.
async fn forward_messages<S>(mut socket: WebSocketStream<S>, client: CdpClient)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Text(command))) => {
                    if client.send(&command).await.is_err() {
                        break;
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
            message = client.recv() => {
                let Some(message) = message else { break };
                let sent = socket.send(Message::text(message));
                if !matches!(timeout(limits::CLIENT_SEND_TIMEOUT, sent).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
    // The client may be gone.
    let _closed = timeout(limits::CLOSE_TIMEOUT, socket.close(None)).await;
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn json(body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests;
