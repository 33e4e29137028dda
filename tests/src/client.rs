//! A minimal HTTP client that can send any request, including invalid ones.

use std::fmt::Display;
use std::net::SocketAddr;

use anyhow::Context;
use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Response of the server.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// HTTP status.
    pub status: u16,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body as JSON; `null` if it is not JSON.
    pub json: Value,
    /// Raw body.
    pub body: Bytes,
}

impl HttpResponse {
    /// Returns the code of an error response, or an empty string.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    /// Returns the message of an error response, or an empty string.
    pub fn error(&self) -> &str {
        self.json["error"].as_str().unwrap_or_default()
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Asserts that this is an error response with a status and a code.
    #[track_caller]
    pub fn is_error(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.text());
    }

    /// Asserts like [`HttpResponse::is_error`] for one of several cases; a failure names `case`.
    #[track_caller]
    pub fn is_error_for(&self, case: impl Display, status: u16, code: &str) {
        let text = self.text();
        assert_eq!((self.status, self.code()), (status, code), "{case}: {text}");
    }

    /// Returns the JSON of a 200 response.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json
    }
}

/// Sends a request over a new connection.
///
/// # Errors
/// No connection, or no complete response.
pub async fn send_request(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> anyhow::Result<HttpResponse> {
    let stream = TcpStream::connect(address)
        .await
        .context("the server does not accept connections")?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", address.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = sender.send_request(request.body(Full::new(body))?).await?;
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    driver.abort();
    let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(HttpResponse {
        status: parts.status.as_u16(),
        headers: parts.headers,
        json,
        body,
    })
}
