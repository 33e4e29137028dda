//! Opens a tunnel through a proxy, over a connection to it: HTTP `CONNECT` (RFC 9110, 9.3.6) or SOCKS 5 (RFC 1928,
//! RFC 1929). No part of a request to the target is sent before the tunnel is open.

use std::net::SocketAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use tokio_socks::tcp::Socks5Stream;

use super::{Protocol, Proxy};
use crate::connect::Stream;
use crate::pool::http1_settings;

/// Where a tunnel ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination<'a> {
    /// An address that was resolved and checked here.
    Address(SocketAddr),
    /// A host and port that the proxy resolves.
    Name(&'a str, u16),
}

/// Why a tunnel could not be opened.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum TunnelError {
    /// The proxy is at fault; no target is reachable through it.
    Proxy(String),
    /// The proxy reports that it cannot reach the target.
    Target(String),
}

/// Opens a tunnel over a connection to the proxy.
pub(crate) async fn open(
    proxy: &Proxy,
    stream: Box<dyn Stream>,
    destination: Destination<'_>,
) -> Result<Box<dyn Stream>, TunnelError> {
    match proxy.protocol() {
        Protocol::Http | Protocol::Https => http_connect(proxy, stream, destination).await,
        Protocol::Socks5 => socks_connect(proxy, stream, destination).await,
    }
}

async fn http_connect(
    proxy: &Proxy,
    stream: Box<dyn Stream>,
    destination: Destination<'_>,
) -> Result<Box<dyn Stream>, TunnelError> {
    let fault = |reason: &str| TunnelError::Proxy(reason.to_owned());
    let invalid = |error: hyper::Error| match error.is_parse() {
        true => fault("the proxy sent an invalid response"),
        false => fault("the proxy closed the connection"),
    };
    let authority = match destination {
        Destination::Address(address) => address.to_string(),
        Destination::Name(host, port) => format!("{host}:{port}"),
    };
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| fault("the target has an invalid name"));
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = Uri::try_from(&authority).map_err(|_| fault("the target has an invalid name"))?;
    request.headers_mut().insert(header::HOST, value(&authority)?);
    if let Some((user, password)) = proxy.credentials() {
        let mut basic = value(&format!(
            "Basic {}",
            BASE64_STANDARD.encode(format!("{user}:{password}"))
        ))?;
        basic.set_sensitive(true);
        request.headers_mut().insert(header::PROXY_AUTHORIZATION, basic);
    }
    let (mut sender, connection) = http1_settings()
        .handshake(TokioIo::new(stream))
        .await
        .map_err(invalid)?;
    // Ends when the tunnel is handed over, or with the sender.
    tokio::spawn(connection.with_upgrades());
    let response = sender.send_request(request).await.map_err(invalid)?;
    let status = response.status();
    match status {
        _ if status.is_success() => {
            let tunnel = hyper::upgrade::on(response).await.map_err(invalid)?;
            Ok(Box::new(TokioIo::new(tunnel)))
        }
        // Some proxies respond to wrong credentials with 401, as a site would.
        StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::UNAUTHORIZED => {
            Err(fault(match proxy.credentials() {
                Some(_) => "the proxy rejected the configured credentials",
                None => "the proxy requires credentials, and none are configured",
            }))
        }
        _ if status.is_server_error() => Err(TunnelError::Target(format!(
            "the proxy cannot reach the server (HTTP status {})",
            status.as_u16()
        ))),
        _ => Err(TunnelError::Proxy(format!(
            "the proxy refused the connection to port {} (HTTP status {})",
            authority.rsplit(':').next().unwrap_or_default(),
            status.as_u16()
        ))),
    }
}

async fn socks_connect(
    proxy: &Proxy,
    stream: Box<dyn Stream>,
    destination: Destination<'_>,
) -> Result<Box<dyn Stream>, TunnelError> {
    let tunnel = match (proxy.credentials(), destination) {
        (None, Destination::Address(address)) => Socks5Stream::connect_with_socket(stream, address).await,
        (None, Destination::Name(host, port)) => {
            Socks5Stream::connect_with_socket(stream, (host, port)).await
        }
        (Some((user, password)), Destination::Address(address)) => {
            Socks5Stream::connect_with_password_and_socket(stream, address, user, password).await
        }
        (Some((user, password)), Destination::Name(host, port)) => {
            Socks5Stream::connect_with_password_and_socket(stream, (host, port), user, password).await
        }
    };
    tunnel
        .map(|tunnel| Box::new(tunnel) as Box<dyn Stream>)
        .map_err(|error| socks_error(&error, proxy.credentials().is_some()))
}

fn socks_error(error: &tokio_socks::Error, has_credentials: bool) -> TunnelError {
    use tokio_socks::Error;
    let fault = |reason: &str| TunnelError::Proxy(reason.to_owned());
    match error {
        Error::NetworkUnreachable
        | Error::HostUnreachable
        | Error::ConnectionRefused
        | Error::TtlExpired
        | Error::GeneralSocksServerFailure
        | Error::AddressTypeNotSupported
        | Error::InvalidTargetAddress(_) => {
            TunnelError::Target(format!("the proxy cannot reach the server ({error})"))
        }
        Error::ConnectionNotAllowedByRuleset => fault("the proxy refused the connection to the server"),
        Error::PasswordAuthFailure(_) => fault("the proxy rejected the configured credentials"),
        Error::NoAcceptableAuthMethods | Error::UnknownAuthMethod | Error::AuthorizationRequired => {
            fault(match has_credentials {
                true => "the proxy does not accept a user name and password",
                false => "the proxy requires credentials, and none are configured",
            })
        }
        Error::Io(_) => fault("the proxy closed the connection"),
        _ => fault("the proxy sent an invalid response"),
    }
}
