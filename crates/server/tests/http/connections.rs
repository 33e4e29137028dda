//! Limits of connections, over real sockets: slow clients, idle connections, too many connections.

use std::time::{Duration, Instant};

use harvestman_server::listen::ConnectionLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::TestApp;
use crate::assertions::assert_fields;

fn limits() -> ConnectionLimits {
    ConnectionLimits {
        connections: 2,
        head: Duration::from_millis(300),
        idle: Duration::from_millis(900),
        write: Duration::from_millis(300),
    }
}

/// Reads until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut text)).await;
    read.expect("the server closes the connection")
        .expect("the connection is not reset");
    String::from_utf8(text).unwrap()
}

/// Reads one response of a keep-alive connection.
async fn one_answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    while !text.ends_with("{\"status\":\"ok\"}") {
        let mut part = [0; 1024];
        let count = stream.read(&mut part).await.unwrap();
        assert_ne!(count, 0, "closed early: {text}");
        text += std::str::from_utf8(&part[..count]).unwrap();
    }
    text
}

const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n";

#[tokio::test]
async fn a_slow_head_gets_408_and_the_connection_is_closed() {
    let app = TestApp::start().await;
    let (address, _stop) = app.listen(limits()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nho").await.unwrap();
    let response = rest(&mut stream).await;
    assert!(
        response.starts_with("HTTP/1.1 408 Request Timeout\r\n"),
        "{response}"
    );
    assert!(response.contains("\"code\":\"REQUEST_TIMEOUT\""), "{response}");
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_without_a_response() {
    let app = TestApp::start().await;
    let (address, _stop) = app.listen(limits()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_keep_alive_connection_is_closed_after_the_idle_timeout() {
    let app = TestApp::start().await;
    let (address, _stop) = app.listen(limits()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..2 {
        stream.write_all(HEALTH).await.unwrap();
        let response = one_answer(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        // Longer than the head timeout, shorter than the idle timeout.
        tokio::time::sleep(Duration::from_millis(450)).await;
    }
    let since = Instant::now();
    assert_eq!(rest(&mut stream).await, "");
    assert!(since.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_connection_above_the_limit_gets_503_and_others_continue() {
    let app = TestApp::start().await;
    let (address, _stop) = app
        .listen(ConnectionLimits {
            idle: Duration::from_secs(60),
            ..limits()
        })
        .await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(HEALTH).await.unwrap();
        one_answer(&mut stream).await;
        kept.push(stream);
    }
    let mut third = TcpStream::connect(address).await.unwrap();
    third.write_all(HEALTH).await.unwrap();
    let response = rest(&mut third).await;
    assert!(
        response.starts_with("HTTP/1.1 503 Service Unavailable\r\n"),
        "{response}"
    );
    assert!(
        response.contains("retry-after: 1\r\n") && response.contains("SERVICE_UNAVAILABLE"),
        "{response}"
    );

    kept[0].write_all(HEALTH).await.unwrap();
    one_answer(&mut kept[0]).await;
    kept.clear();
    let mut later = TcpStream::connect(address).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            later.write_all(HEALTH).await.unwrap();
            let mut first = [0; 12];
            later.read_exact(&mut first).await.unwrap();
            if &first == b"HTTP/1.1 200" {
                break;
            }
            later = TcpStream::connect(address).await.unwrap();
        }
    })
    .await
    .expect("a freed connection slot is available again");
}

#[tokio::test]
async fn a_shutdown_closes_idle_connections() {
    let app = TestApp::start().await;
    let (address, stop) = app.listen(ConnectionLimits::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(HEALTH).await.unwrap();
    one_answer(&mut stream).await;
    stop.cancel();
    assert_eq!(rest(&mut stream).await, "");
    assert!(
        TcpStream::connect(address).await.is_err(),
        "the listener is closed"
    );
}

#[tokio::test]
async fn a_malformed_head_gets_a_json_error() {
    let app = TestApp::start().await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let long = "x".repeat(200_000);
    let many = "a: b\r\n".repeat(200);
    for (head, status) in [
        ("NONSENSE\r\n\r\n".to_owned(), 400),
        ("GET /health HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), 400),
        ("GET /health HTTP/9.9\r\n\r\n".to_owned(), 400),
        (format!("GET /health HTTP/1.1\r\nx: {long}\r\n\r\n"), 431),
        (format!("GET /health HTTP/1.1\r\n{many}\r\n"), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", &long[..70_000]), 414),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = rest(&mut stream).await;
        let (response_head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(
            response_head.starts_with(&format!("HTTP/1.1 {status} ")),
            "{response_head}"
        );
        assert!(
            response_head.contains("content-type: application/json")
                && response_head.contains("connection: close")
        );
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_fields(&body, json!({ "success": false, "code": "BAD_REQUEST" }));
        assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()));
    }
    // The same holds after a valid request on the connection.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(HEALTH).await.unwrap();
    one_answer(&mut stream).await;
    stream.write_all(b"NONSENSE\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.contains("\"code\":\"BAD_REQUEST\""));
}

#[tokio::test]
async fn a_client_that_sends_a_body_above_the_limit_reads_the_413() {
    let app = TestApp::start().await;
    let (address, _stop) = app.listen(ConnectionLimits::default()).await;
    let size = 20 * 1024 * 1024;
    let key = &app.key;
    let head = format!(
        "POST /v2/crawl HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: {size}\r\n\r\n"
    );
    for sent in [0, size] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; sent]).await.unwrap();
        let response = rest(&mut stream).await;
        assert!(
            response.starts_with("HTTP/1.1 413 Payload Too Large\r\n"),
            "{response}"
        );
        assert!(response.contains("connection: close"), "{response}");
        assert!(response.contains("\"code\":\"PAYLOAD_TOO_LARGE\""), "{response}");
        let _ = stream.write_all(&vec![b' '; size - sent]).await;
    }
}
