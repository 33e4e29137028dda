//! The browser proxy: tunnels and plain requests reach permitted addresses, and nothing else.

#![allow(clippy::unwrap_used)]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use harvestman_fetch::{AllowList, Egress, FetchConfig, FetchError, Fetcher};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts a site that answers every request with the request itself, then closes.
async fn site() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0);
                }
                let length = head.len();
                let start =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                stream.write_all(start.as_bytes()).await.unwrap();
                stream.write_all(&head).await.unwrap();
            });
        }
    });
    address
}

async fn proxy(allowed: &str) -> Egress {
    let config = FetchConfig {
        allow_private_hosts: AllowList::parse(allowed).unwrap(),
        ..FetchConfig::default()
    };
    Egress::start(Fetcher::new(config).unwrap(), Arc::new(|| None))
        .await
        .unwrap()
}

/// Sends the texts in turn, each after a response to the previous one; returns everything received.
async fn talk(proxy: &Egress, texts: &[String]) -> String {
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let mut response = Vec::new();
    for text in texts {
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.read_buf(&mut response).await.unwrap();
    }
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8(response).unwrap()
}

#[tokio::test]
async fn plain_requests_are_forwarded_without_hop_by_hop_headers() {
    let site = site().await;
    let proxy = proxy(&site.to_string()).await;
    let request = format!(
        "GET http://{site}/a?b=c HTTP/1.1\r\nHost: wrong.example\r\nProxy-Connection: keep-alive\r\n\
         X-Hop: 1\r\nX-Own: 2\r\nConnection: close, X-Hop\r\n\r\n"
    );
    let response = talk(&proxy, &[request]).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("GET /a?b=c HTTP/1.1\r\n"), "{response}");
    let lower = response.to_ascii_lowercase();
    assert!(lower.contains(&format!("host: {site}\r\n")), "{response}");
    assert!(lower.contains("x-own: 2") && !lower.contains("x-hop") && !lower.contains("proxy-connection"));
}

#[tokio::test]
async fn faulty_responses_are_repaired_for_the_browser() {
    for (sent, body) in [
        (
            "HTTP/1.1  200\nSet-Cookie: a=\u{1}\nno colon\nX-Own : 2\nContent-Length: x\n\nread",
            "4\r\nread\r\n0\r\n\r\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nX-Own: 2\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nread\r\n0\r\n\r\n",
            "4\r\nread\r\n0\r\n\r\n",
        ),
    ] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let site = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_buf(&mut Vec::new()).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
        });
        let proxy = proxy(&site.to_string()).await;
        let request = format!("GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\n\r\n");
        let response = talk(&proxy, &[request]).await;
        let (head, rest) = response.split_once("\r\n\r\n").unwrap();
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200 "), "{response}");
        assert!(head.contains("x-own: 2"), "{response}");
        assert!(head.contains("transfer-encoding: chunked"), "{response}");
        assert!(
            !head.contains("content-length") && !head.contains("cookie"),
            "{response}"
        );
        assert_eq!(rest, body, "{response}");
    }
}

#[tokio::test]
async fn a_tunnel_forwards_bytes_both_ways() {
    let site = site().await;
    let proxy = proxy(&site.to_string()).await;
    let open = format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\n\r\n");
    let through = "GET /inside HTTP/1.1\r\n\r\n".to_owned();
    let response = talk(&proxy, &[open, through]).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("GET /inside HTTP/1.1"), "{response}");
}

#[tokio::test]
async fn forbidden_targets_are_rejected_without_a_connection() {
    let site = site().await;
    let proxy = proxy("").await;
    for request in [
        format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\n\r\n"),
        format!("GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\n\r\n"),
        format!(
            "GET http://2130706433:{}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            site.port()
        ),
    ] {
        let response = talk(&proxy, &[request]).await;
        assert!(response.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{response}");
    }
    let why = proxy.failure("127.0.0.1", site.port());
    assert!(matches!(why, Some(FetchError::Unsafe { .. })), "{why:?}");
    assert_eq!(proxy.failure("127.0.0.1", 1), None);
}

#[tokio::test]
async fn an_invalid_target_is_a_bad_request() {
    let proxy = proxy("*").await;
    for start in ["GET /path", "CONNECT host.example", "GET ftp://h.example/"] {
        let request = format!("{start} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let response = talk(&proxy, &[request]).await;
        assert!(
            response.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{start}: {response}"
        );
    }
}
