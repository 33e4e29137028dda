//! The real resolver against a small name server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::{self, BoxFuture};
use harvestman_fetch::{DnsResolver, FetchError, Fetcher, Resolve, ResolveError, TcpDialer};
use tokio::net::UdpSocket;

use crate::server::{config, deadline_in, get};

/// Answers A queries by the first label: `none` does not exist, `fail` fails, `silent` gets no response,
/// everything else is 192.168.7.7. AAAA queries have no records.
async fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        loop {
            let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
            if let Some(answer) = answer(&buffer[..length]) {
                socket.send_to(&answer, from).await.unwrap();
            }
        }
    });
    address
}

fn answer(question: &[u8]) -> Option<Vec<u8>> {
    let name_end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 1;
    let label = &question[13..13 + usize::from(question[12])];
    let is_a = question[name_end + 1] == 1;
    let (code, found) = match label {
        b"none" => (3, false),
        b"fail" => (2, false),
        b"silent" => return None,
        _ => (0, is_a),
    };
    let mut bytes = question[..2].to_vec();
    bytes.extend([0x81, 0x80 | code, 0, 1, 0, u8::from(found), 0, 0, 0, 0]);
    bytes.extend(&question[12..name_end + 4]);
    if found {
        bytes.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        bytes.extend(Ipv4Addr::new(192, 168, 7, 7).octets());
    }
    Some(bytes)
}

#[tokio::test]
async fn the_configured_name_server_is_queried() {
    let resolver = DnsResolver::new(&[name_server().await]).unwrap();
    assert_eq!(
        resolver.resolve("a.example").await,
        Ok(vec![Ipv4Addr::new(192, 168, 7, 7).into()])
    );
    assert_eq!(
        resolver.resolve("none.example").await,
        Err(ResolveError::NotFound)
    );
    assert_eq!(resolver.resolve("fail.example").await, Err(ResolveError::Failed));
    assert_eq!(resolver.resolve("x.invalid").await, Err(ResolveError::NotFound));
}

#[tokio::test]
async fn resolved_addresses_are_checked() {
    let mut config = config("");
    config.dns_servers = vec![name_server().await];
    let fetcher = Fetcher::new(config).unwrap();
    let fetch = async |text: &str| fetcher.fetch(get(text.parse().unwrap())).await.unwrap_err();
    let error = fetch("http://a.example/").await;
    assert_eq!(
        error,
        FetchError::Unsafe {
            host: "a.example".into()
        }
    );
    let error = fetch("http://none.example/").await;
    assert_eq!(
        error,
        FetchError::Dns {
            host: "none.example".into(),
            transient: false
        }
    );
    assert_eq!(error.code().as_str(), "SCRAPE_DNS_RESOLUTION_ERROR");
    assert_eq!(
        fetch("http://fail.example/").await,
        FetchError::Dns {
            host: "fail.example".into(),
            transient: true
        }
    );
}

#[tokio::test]
async fn a_query_to_a_silent_name_server_ends_with_the_deadline() {
    let mut config = config("");
    config.dns_servers = vec![name_server().await];
    let mut request = get("http://silent.example/".parse().unwrap());
    request.deadline = deadline_in(300);
    assert_eq!(
        Fetcher::new(config).unwrap().fetch(request).await.unwrap_err(),
        FetchError::Timeout
    );
}

/// Starts a name server that accepts every query and never responds.
async fn hanging_name_server() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

#[tokio::test]
async fn another_name_server_is_queried_if_some_hang() {
    let (_one, one) = hanging_name_server().await;
    let (_other, other) = hanging_name_server().await;
    let good = name_server().await;
    for servers in [&[one, good][..], &[one, other, good]] {
        let resolver = DnsResolver::new(servers).unwrap();
        assert_eq!(
            resolver.resolve("a.example").await,
            Ok(vec![Ipv4Addr::new(192, 168, 7, 7).into()]),
            "{} servers",
            servers.len()
        );
    }
}

/// A resolver that never finishes.
struct Hanging;

impl Resolve for Hanging {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn resolving_has_its_own_timeout() {
    let fetcher = Fetcher::with_parts(config(""), Arc::new(Hanging), Arc::new(TcpDialer)).unwrap();
    let url: url::Url = "http://silent.example/".parse().unwrap();
    let error = fetcher.fetch(get(url.clone())).await.unwrap_err();
    assert_eq!(
        error,
        FetchError::Dns {
            host: "silent.example".into(),
            transient: true
        }
    );
    assert_eq!(error.code().as_str(), "SCRAPE_DNS_RESOLUTION_ERROR");
    assert!(error.is_transient());
    assert_eq!(fetcher.check_target(&url, None).await.unwrap_err(), error);
}
