//! Heads: not HTTP, too large, or unusual but valid.

use harvestman_fetch::{FetchError, limits};
use http::Method;

use crate::server::{Server, ServerAction, fetch_one, fetcher, get, ok, response};

async fn protocol_error(bytes: Vec<u8>) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
    let error = fetch_one(move || ServerAction::Close(bytes.clone()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Protocol { .. }),
        "{shown:?}: {error:?}"
    );
    assert_eq!(error.code().as_str(), "SCRAPE_SITE_ERROR");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_response_that_is_not_http_is_an_error() {
    for text in [
        "hello\r\n\r\n",
        "<html>an answer of HTTP/0.9</html>\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    ] {
        protocol_error(text.into()).await;
    }
}

#[tokio::test]
async fn the_error_names_a_missing_status_line() {
    for bytes in [
        &b"<html>an answer of HTTP/0.9</html>"[..],
        b"220 ready\r\n\r\n",
        b"\x15\x03\x01\0\x02\x02\x0a",
    ] {
        let error = fetch_one(|| ServerAction::Close(bytes.into())).await.unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it does not start with an HTTP status line"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_flood_of_headers_is_an_error() {
    let fields = |count: usize| "Set-Cookie: a=b\r\n".repeat(count);
    protocol_error(response(200, &fields(limits::MAX_RESPONSE_HEADERS + 1), "")).await;
    protocol_error(response(200, &format!("X: {}\r\n", "v".repeat(300 * 1024)), "")).await;
    let error =
        fetch_one(|| ServerAction::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-More: yes\r\n".repeat(100)))
            .await
            .unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
    // Including Content-Length.
    let most = response(200, &fields(limits::MAX_RESPONSE_HEADERS - 1), "x");
    let cookies = fetch_one(move || ServerAction::Keep(most.clone())).await.unwrap();
    assert_eq!(cookies.body, "x");
    let few: String = (0..200)
        .map(|n| format!("X-{n}: {}\r\n", "v".repeat(1000)))
        .collect();
    let response = fetch_one(move || ServerAction::Keep(response(200, &few, "x")))
        .await
        .unwrap();
    assert_eq!(response.headers["x-199"].len(), 1000);
}

#[tokio::test]
async fn the_number_of_interim_responses_is_limited() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let few = [interim.repeat(5).into_bytes(), ok("done")].concat();
    assert_eq!(
        fetch_one(move || ServerAction::Keep(few.clone()))
            .await
            .unwrap()
            .body,
        "done"
    );
    let error = fetch_one(move || ServerAction::Endless(Vec::new(), interim.repeat(10).into_bytes()))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_response_is_a_transient_error() {
    for close in [true, false] {
        let error = fetch_one(move || {
            if close {
                ServerAction::Close(Vec::new())
            } else {
                ServerAction::Reset
            }
        })
        .await
        .unwrap_err();
        assert!(matches!(error, FetchError::Reset { .. }), "{error:?}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn a_refused_connection_is_a_transient_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = fetcher()
        .fetch(get(format!("http://{free}/").parse().unwrap()))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn error_statuses_are_responses() {
    for status in [204, 304, 400, 404, 500, 503, 599] {
        let response = fetch_one(move || ServerAction::Keep(response(status, "", "")))
            .await
            .unwrap();
        assert_eq!(response.status, status);
    }
}

#[tokio::test]
async fn default_headers_are_sent_unless_the_caller_replaces_them() {
    let server = Server::with(|| ServerAction::Keep(ok(""))).await;
    let fetcher = fetcher();
    fetcher
        .fetch(get(server.url("/one?q=a|b&c={d}#top")))
        .await
        .unwrap();
    let mut request = get(server.url("/two"));
    request.headers = vec![
        ("user-agent".into(), "me".into()),
        ("Accept-Language".into(), "de".into()),
        ("X".into(), "y".into()),
    ];
    fetcher.fetch(request).await.unwrap();
    let seen = server.requests();
    assert_eq!(seen[0].path(), "/one?q=a|b&c={d}");
    assert_eq!(seen[0].header("host").unwrap(), server.address.to_string());
    assert!(seen[0].header("user-agent").unwrap().contains("Harvestman/"));
    assert!(seen[0].header("accept").unwrap().contains("text/html"));
    assert_eq!(
        seen[0].header("accept-encoding").unwrap(),
        "gzip, deflate, br, zstd"
    );
    assert_eq!(seen[1].header("user-agent").unwrap(), "me");
    assert_eq!(seen[1].header("accept-language").unwrap(), "de");
    assert_eq!(seen[1].header("x").unwrap(), "y");
    assert_eq!(seen[1].head.to_lowercase().matches("user-agent").count(), 1);
}

#[tokio::test]
async fn a_post_sends_its_body_and_a_head_reads_no_body() {
    let server = Server::start(|seen| match seen.method() {
        "HEAD" => ServerAction::Keep(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".to_vec()),
        _ => ServerAction::Keep(response(302, "Location: /elsewhere\r\n", "moved")),
    })
    .await;
    let fetcher = fetcher();
    let post = harvestman_fetch::FetchRequest::post_json(
        server.url("/hook"),
        "{\"a\":1}".into(),
        get(server.url("/")).deadline,
    );
    let response = fetcher.fetch(post).await.unwrap();
    assert_eq!((response.status, &response.body[..]), (302, &b"moved"[..]));
    let mut head = get(server.url("/head"));
    head.method = Method::HEAD;
    assert!(fetcher.fetch(head).await.unwrap().body.is_empty());
    let seen = server.requests();
    assert_eq!(
        (seen.len(), seen[0].method(), &seen[0].body[..]),
        (2, "POST", &b"{\"a\":1}"[..])
    );
    assert_eq!(seen[0].header("content-type").unwrap(), "application/json");
}
