//! When connections are reused, and when not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harvestman_fetch::{FetchError, FetchRequest, Fetcher};
use url::Url;

use crate::server::{
    RecordingDialer, ScriptedResolver, Server, ServerAction, config, deadline_in, fetcher, get, ok,
};

#[tokio::test]
async fn a_connection_is_reused() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let server = Server::start(move |seen| match seen.path() {
        "/chunked" => ServerAction::Keep(chunked.into()),
        _ => ServerAction::Keep(ok("ok")),
    })
    .await;
    let fetcher = fetcher();
    for path in ["/1", "/chunked", "/2", "/chunked", "/3"] {
        assert_eq!(fetcher.fetch(get(server.url(path))).await.unwrap().body, "ok");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_connection_with_an_unread_response_is_not_reused() {
    let server = Server::with(|| ServerAction::Keep(ok(vec![b'x'; 300_000]))).await;
    let fetcher = fetcher();
    for _ in 0..3 {
        let mut request = get(server.url("/"));
        (request.max_body_bytes, request.truncate) = (1000, true);
        assert_eq!(fetcher.fetch(request).await.unwrap().body.len(), 1000);
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_connection_is_not_reused_for_another_address() {
    let server = Server::with(|| ServerAction::Keep(ok("ok"))).await;
    let dialer = RecordingDialer::new(Some(server.address));
    let (one, other): (&[&str], &[&str]) = (&["93.184.215.14"], &["93.184.215.15"]);
    let names = ScriptedResolver::new(&[("a.example", &[one, one, other])]);
    let fetcher = Fetcher::with_parts(config(""), names, dialer.clone()).unwrap();
    for dials in [1, 1, 2] {
        fetcher
            .fetch(get(Url::parse("http://a.example/").unwrap()))
            .await
            .unwrap();
        assert_eq!(dialer.dialed().len(), dials);
    }
}

#[tokio::test]
async fn a_dead_connection_is_replaced() {
    // The server closes after each response without announcing it.
    let server = Server::with(|| ServerAction::Close(ok("ok"))).await;
    let fetcher = fetcher();
    for _ in 0..10 {
        assert_eq!(fetcher.fetch(get(server.url("/"))).await.unwrap().body, "ok");
    }
}

/// Starts a server that answers the first request of each connection and breaks it at the second.
async fn breaks_at_second() -> (Server, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let server = Server::with(move || match counted.fetch_add(1, Ordering::SeqCst) {
        1 => ServerAction::Close(Vec::new()),
        _ => ServerAction::Keep(ok("ok")),
    })
    .await;
    (server, count)
}

#[tokio::test]
async fn a_get_is_retried_if_a_reused_connection_breaks() {
    let (server, count) = breaks_at_second().await;
    let fetcher = fetcher();
    for _ in 0..2 {
        assert_eq!(fetcher.fetch(get(server.url("/"))).await.unwrap().body, "ok");
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_post_is_never_sent_twice() {
    let (server, count) = breaks_at_second().await;
    let fetcher = fetcher();
    let post = || FetchRequest::post_json(server.url("/"), "{}".into(), deadline_in(60_000));
    assert!(fetcher.fetch(post()).await.is_ok());
    assert!(matches!(
        fetcher.fetch(post()).await,
        Err(FetchError::Reset { .. })
    ));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn bytes_left_on_an_idle_connection_are_not_taken_for_a_response() {
    let poison = [ok("first"), ok("poison")].concat();
    let server = Server::start(move |seen| match seen.path() {
        "/1" => ServerAction::Keep(poison.clone()),
        _ => ServerAction::Keep(ok("second")),
    })
    .await;
    let fetcher = fetcher();
    assert_eq!(fetcher.fetch(get(server.url("/1"))).await.unwrap().body, "first");
    assert_eq!(fetcher.fetch(get(server.url("/2"))).await.unwrap().body, "second");
    assert_eq!(server.connections(), 2);
}
