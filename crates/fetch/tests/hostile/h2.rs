//! HTTP/2 servers that limit, refuse, go away, break off or flood.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{BufMut, Bytes};
use futures_util::future::join_all;
use h2::Reason;
use h2::server::{Connection, SendResponse};
use harvestman_fetch::{FetchError, FetchRequest, FetchResponse, Fetcher, limits};
use http::{Method, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::secure::acceptor;
use crate::server::{deadline_in, fetcher, get, ok};

type Stream = TlsStream<TcpStream>;

/// An HTTP/2-only server. Passes each connection to the script with its index.
struct H2Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl H2Server {
    async fn start<F: Future<Output = ()> + Send + 'static>(
        script: impl Fn(usize, Stream) -> F + Send + Sync + 'static,
    ) -> H2Server {
        let (acceptor, _) = acceptor("127.0.0.1", &[b"h2"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let stream = acceptor.accept(stream).await.unwrap();
                tokio::spawn(script(counted.fetch_add(1, Ordering::SeqCst), stream));
            }
        });
        H2Server {
            address,
            connections,
            _task: AbortOnDropHandle::new(task),
        }
    }

    fn get(&self) -> FetchRequest {
        request(self.address)
    }

    fn post(&self) -> FetchRequest {
        FetchRequest {
            method: Method::POST,
            body: Bytes::from_static(b"once"),
            ..self.get()
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn request(address: SocketAddr) -> FetchRequest {
    let mut request = get(Url::parse(&format!("https://{address}/")).unwrap());
    request.verify_tls = false;
    request
}

async fn handshake(stream: Stream) -> Connection<Stream, Bytes> {
    h2::server::handshake(stream).await.unwrap()
}

fn answer(mut respond: SendResponse<Bytes>) {
    let mut body = respond.send_response(Response::new(()), false).unwrap();
    body.send_data(Bytes::from_static(b"ok"), true).unwrap();
}

/// Answers everything on a connection until the peer closes it.
async fn serve(mut connection: Connection<Stream, Bytes>) {
    while let Some(Ok((_, respond))) = connection.accept().await {
        answer(respond);
    }
}

async fn fetch_all(fetcher: &Fetcher, server: &H2Server, count: usize) -> Vec<FetchResponse> {
    join_all((0..count).map(|_| fetcher.fetch(server.get())))
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

#[tokio::test]
async fn concurrent_requests_open_one_connection() {
    let server = H2Server::start(async |_, stream| serve(handshake(stream).await).await).await;
    let fetcher = fetcher();
    let all = fetch_all(&fetcher, &server, 12).await;
    assert!(all.iter().all(|response| response.body == "ok"));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn requests_of_the_same_time_do_without_h2() {
    let (acceptor, _) = acceptor("127.0.0.1", &[b"http/1.1"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                stream.read_buf(&mut Vec::new()).await.unwrap();
                stream.write_all(&ok("ok")).await.unwrap();
                stream.shutdown().await
            });
        }
    });
    let fetcher = fetcher();
    let all = join_all((0..12).map(|_| fetcher.fetch(request(address)))).await;
    assert!(all.into_iter().all(|response| response.unwrap().body == "ok"));
}

#[tokio::test]
async fn a_waiting_request_continues_if_the_one_before_gives_up() {
    let (acceptor, _) = acceptor("127.0.0.1", &[b"h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, first) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (_silent, _) = listener.accept().await.unwrap();
        tell.send(()).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        serve(handshake(acceptor.accept(stream).await.unwrap()).await).await;
    });
    let fetcher = fetcher();
    let fetch = || {
        let fetcher = fetcher.clone();
        tokio::spawn(async move { fetcher.fetch(request(address)).await })
    };
    let gives_up = fetch();
    first.await.unwrap();
    let waits = fetch();
    tokio::task::yield_now().await;
    gives_up.abort();
    assert_eq!(waits.await.unwrap().unwrap().body, "ok");
}

#[tokio::test]
async fn no_more_streams_are_opened_than_the_server_takes() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let server = H2Server::start(move |_, stream| {
        let seen = seen.clone();
        async move {
            let mut connection: Connection<_, Bytes> = h2::server::Builder::new()
                .max_concurrent_streams(2)
                .handshake(stream)
                .await
                .unwrap();
            let mut waiting = Vec::new();
            while let Some(Ok((_, respond))) = connection.accept().await {
                waiting.push(respond);
                seen.fetch_max(waiting.len(), Ordering::SeqCst);
                if waiting.len() == 2 {
                    waiting.drain(..).for_each(answer);
                }
            }
        }
    })
    .await;
    let fetcher = fetcher();
    assert_eq!(fetch_all(&fetcher, &server, 10).await.len(), 10);
    assert_eq!(most.load(Ordering::SeqCst), 2);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_refused_stream_is_retried_elsewhere_for_any_method() {
    for first_requests in [0, 1] {
        let server = H2Server::start(move |number, stream| async move {
            let mut connection = handshake(stream).await;
            let mut answered = 0;
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                if number == 0 && answered == first_requests {
                    respond.send_reset(Reason::REFUSED_STREAM);
                } else {
                    answered += 1;
                    answer(respond);
                }
            }
        })
        .await;
        let fetcher = fetcher();
        for _ in 0..first_requests {
            assert_eq!(fetcher.fetch(server.get()).await.unwrap().body, "ok");
        }
        // The refusing connection is still open; the next attempt must not choose it forever.
        assert_eq!(fetcher.fetch(server.post()).await.unwrap().body, "ok");
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn a_server_that_refuses_everything_gets_a_few_attempts() {
    let server = H2Server::start(async |_, stream| {
        let mut connection = handshake(stream).await;
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            respond.send_reset(Reason::REFUSED_STREAM);
        }
    })
    .await;
    let error = fetcher().fetch(server.get()).await.unwrap_err();
    assert!(matches!(error, FetchError::Reset { .. }), "{error:?}");
    assert!(error.is_transient());
    assert_eq!(server.connections(), limits::MAX_SENDS);
}

#[tokio::test]
async fn a_connection_that_goes_away_is_replaced() {
    // GOAWAY with last stream 0: the request was not processed.
    let server = H2Server::start(async |number, mut stream| {
        if number > 0 {
            return serve(handshake(stream).await).await;
        }
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(&frame(GOAWAY, 0, 0, &[0; 8])).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let fetcher = fetcher();
    assert_eq!(fetcher.fetch(server.get()).await.unwrap().body, "ok");
    assert_eq!(fetcher.fetch(server.get()).await.unwrap().body, "ok");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_connection_that_went_away_after_a_response_is_not_reused() {
    let server = H2Server::start(async |_, stream| {
        let mut connection = handshake(stream).await;
        let Some(Ok((_, respond))) = connection.accept().await else {
            return;
        };
        answer(respond);
        connection.graceful_shutdown();
        while let Some(Ok(_)) = connection.accept().await {}
    })
    .await;
    let fetcher = fetcher();
    for _ in 0..3 {
        assert_eq!(fetcher.fetch(server.get()).await.unwrap().body, "ok");
        assert_eq!(fetcher.fetch(server.post()).await.unwrap().body, "ok");
    }
}

#[tokio::test]
async fn a_post_that_may_have_been_processed_is_not_retried() {
    let server = H2Server::start(async |_, stream| {
        let mut connection = handshake(stream).await;
        if let Some(Ok(_request)) = connection.accept().await {
            connection.abrupt_shutdown(Reason::INTERNAL_ERROR);
            while let Some(Ok(_)) = connection.accept().await {}
        }
    })
    .await;
    let error = fetcher().fetch(server.post()).await.unwrap_err();
    assert!(matches!(error, FetchError::Reset { .. }), "{error:?}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_body_that_is_reset_is_an_error_or_partial() {
    let server = H2Server::start(async |_, mut stream| {
        read_request(&mut stream).await;
        let frames = [
            frame(SETTINGS, 0, 0, &[]),
            frame(HEADERS, END_HEADERS, 1, STATUS_200),
            frame(DATA, 0, 1, b"half"),
            frame(RST_STREAM, 0, 1, &u32::from(Reason::INTERNAL_ERROR).to_be_bytes()),
        ];
        stream.write_all(&frames.concat()).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let error = fetcher().fetch(server.get()).await.unwrap_err();
    assert!(matches!(error, FetchError::Reset { .. }), "{error:?}");
    let request = FetchRequest {
        keep_partial: true,
        ..server.get()
    };
    let response = fetcher().fetch(request).await.unwrap();
    assert_eq!(
        (&response.body[..], response.incomplete),
        (&b"half"[..], Some(error))
    );
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put_uint(payload.len() as u64, 3);
    bytes.put_slice(&[kind, flags]);
    bytes.put_u32(stream);
    bytes.put_slice(payload);
    bytes
}

/// Reads frames up to the head of the first request.
async fn read_request(stream: &mut Stream) {
    stream.read_exact(&mut [0; 24]).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await.unwrap();
        if head[3] == HEADERS {
            return;
        }
    }
}

/// Fetches from a server that responds with `first`, then with `again` until the peer closes.
async fn flooded(first: Vec<u8>, again: Vec<u8>) -> FetchError {
    let server = H2Server::start(move |_, mut stream| {
        let (first, again) = (first.clone(), again.repeat(64));
        async move {
            read_request(&mut stream).await;
            let (mut read, mut write) = tokio::io::split(stream);
            write.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
            // Frames of the client are read so that it is never blocked.
            tokio::spawn(async move { tokio::io::copy(&mut read, &mut tokio::io::sink()).await });
            if write.write_all(&first).await.is_ok() {
                while write.write_all(&again).await.is_ok() {}
            }
        }
    })
    .await;
    let request = FetchRequest {
        deadline: deadline_in(1500),
        ..server.get()
    };
    fetcher().fetch(request).await.unwrap_err()
}

/// `:status: 200` (RFC 7541, appendix A).
const STATUS_200: &[u8] = &[0x88];
/// Returns an unindexed header field of 100 bytes.
fn field() -> Vec<u8> {
    [&[0x00, 1, b'x', 100][..], &[b'v'; 100]].concat()
}

#[tokio::test]
async fn floods_that_exceed_a_limit_end_the_connection() {
    let head = frame(HEADERS, END_HEADERS, 1, STATUS_200);
    for (what, first, again) in [
        (
            "fields without end",
            frame(HEADERS, 0, 1, STATUS_200),
            frame(CONTINUATION, 0, 1, &field().repeat(100)),
        ),
        (
            "continuations without fields",
            frame(HEADERS, 0, 1, STATUS_200),
            frame(CONTINUATION, 0, 1, &[]),
        ),
        (
            "frames that are too long",
            head.clone(),
            frame(DATA, 0, 1, &[b'x'; limits::H2_MAX_FRAME_BYTES as usize + 1]),
        ),
        ("data on an unknown stream", Vec::new(), frame(DATA, 0, 7, b"x")),
        (
            "a reset of an unknown stream",
            Vec::new(),
            frame(RST_STREAM, 0, 7, &[0; 4]),
        ),
        (
            "pushed streams",
            Vec::new(),
            frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82]),
        ),
        (
            "a window that overflows",
            Vec::new(),
            frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes()),
        ),
        (
            "a window of nothing",
            Vec::new(),
            frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        ),
        ("data without content", head, frame(DATA, 0, 1, &[])),
    ] {
        let error = flooded(first, again).await;
        assert!(
            matches!(error, FetchError::Protocol { .. } | FetchError::Reset { .. }),
            "{what}: {error:?}"
        );
        assert_eq!(error.code().as_str(), "SCRAPE_SITE_ERROR", "{what}");
    }
}

#[tokio::test]
async fn floods_within_the_limits_end_with_the_deadline() {
    let interim = frame(HEADERS, END_HEADERS, 1, &[&[0x08, 3][..], b"103"].concat());
    for (what, again) in [
        ("pings", frame(PING, 0, 0, &[0; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[])),
        ("interim responses", interim),
    ] {
        assert_eq!(flooded(Vec::new(), again).await, FetchError::Timeout, "{what}");
    }
}
