//! Opens TCP connections to addresses that were checked before.

use std::io;
use std::net::SocketAddr;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::error::FetchError;
use crate::limits;

/// A bidirectional byte stream.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

/// Opens connections. Receives only checked addresses, never names.
pub trait Dial: Send + Sync + 'static {
    /// Connects to exactly this address.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Stream>>>;
}

/// Dials over TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dial for TcpDialer {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }
}

/// Connects to the first address that accepts. Addresses are tried in turn, each with a head start before the next
/// one is tried in parallel. Returns the stream and its address.
pub(crate) async fn connect(
    dialer: &dyn Dial,
    host: &str,
    addresses: &[SocketAddr],
) -> Result<(Box<dyn Stream>, SocketAddr), FetchError> {
    let failed = |reason: &str| FetchError::Connect {
        host: host.to_owned(),
        reason: reason.to_owned(),
    };
    match timeout(
        limits::CONNECT_TIMEOUT,
        race(dialer, &interleave_families(addresses)),
    )
    .await
    {
        Ok(Ok(connected)) => Ok(connected),
        Ok(Err(error)) => Err(failed(describe(&error))),
        Err(_) => Err(failed("the server did not respond")),
    }
}

/// Alternates between address families, starting with that of the first address.
fn interleave_families(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (preferred, other): (Vec<SocketAddr>, Vec<SocketAddr>) = addresses
        .iter()
        .partition(|address| address.is_ipv6() == first_is_v6);
    let mut other = other.into_iter();
    let mut order = Vec::with_capacity(addresses.len());
    for address in preferred {
        order.push(address);
        order.extend(other.next());
    }
    order.extend(other);
    order.truncate(limits::MAX_ADDRESSES_TRIED);
    order
}

async fn race(dialer: &dyn Dial, addresses: &[SocketAddr]) -> io::Result<(Box<dyn Stream>, SocketAddr)> {
    let mut remaining = addresses.iter().copied();
    let mut attempts = FuturesUnordered::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = remaining.next() {
            attempts.push(async move { dialer.dial(address).await.map(|stream| (stream, address)) });
        }
        let more = remaining.len() > 0;
        tokio::select! {
            Some(result) = attempts.next() => match result {
                Ok(connected) => return Ok(connected),
                Err(error) => last_error = error,
            },
            () = sleep(limits::ADDRESS_HEAD_START), if more && !attempts.is_empty() => {}
            else => return Err(last_error),
        }
    }
}

fn describe(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "the server refused the connection",
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => {
            "the server closed the connection"
        }
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::AddrNotAvailable => "no route to the server",
        io::ErrorKind::TimedOut => "the server did not respond",
        _ => "the operating system reported an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_families_alternate() {
        let list =
            |text: &str| -> Vec<SocketAddr> { text.split(' ').map(|one| one.parse().unwrap()).collect() };
        assert_eq!(
            interleave_families(&list("1.0.0.1:1 1.0.0.2:1 [2::1]:1 [2::2]:1 [2::3]:1")),
            list("1.0.0.1:1 [2::1]:1 1.0.0.2:1 [2::2]:1 [2::3]:1")
        );
        assert_eq!(
            interleave_families(&list("[2::1]:1 1.0.0.1:1")),
            list("[2::1]:1 1.0.0.1:1")
        );
        assert_eq!(
            interleave_families(&vec![list("1.0.0.1:1")[0]; 30]).len(),
            limits::MAX_ADDRESSES_TRIED
        );
    }
}
