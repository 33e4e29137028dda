//! Bodies: codings, decompression bombs, limits, truncated and endless ones.

use std::io::Cursor;
use std::time::Duration;

use async_compression::tokio::bufread::{
    BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
};
use harvestman_fetch::{FetchError, FetchResponse, limits};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::server::{Server, ServerAction, config, deadline_in, fetch_one, fetcher, get, ok, response};

const MIB: usize = 1024 * 1024;

async fn encode(coding: &str, bytes: Vec<u8>) -> Vec<u8> {
    let from = Cursor::new(bytes);
    let mut encoder: Box<dyn AsyncRead + Unpin> = match coding {
        "gzip" => Box::new(GzipEncoder::new(from)),
        "zlib" => Box::new(ZlibEncoder::new(from)),
        "raw" => Box::new(DeflateEncoder::new(from)),
        "br" => Box::new(BrotliEncoder::with_quality(
            from,
            async_compression::Level::Fastest,
        )),
        "zstd" => Box::new(ZstdEncoder::new(from)),
        other => panic!("{other}"),
    };
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).await.unwrap();
    out
}

async fn fetch_coded(header: &str, body: Vec<u8>, max_body_bytes: u64) -> Result<FetchResponse, FetchError> {
    let bytes = response(200, &format!("Content-Encoding: {header}\r\n"), body);
    let server = Server::with(move || ServerAction::Keep(bytes.clone())).await;
    let mut request = get(server.url("/"));
    request.max_body_bytes = max_body_bytes;
    fetcher().fetch(request).await
}

#[tokio::test]
async fn every_coding_is_decoded() {
    let text = b"hello spider ".repeat(5000);
    for (header, coding) in [
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("deflate", "zlib"),
        ("deflate", "raw"),
        ("br", "br"),
        ("zstd", "zstd"),
    ] {
        let response = fetch_coded(header, encode(coding, text.clone()).await, MIB as u64)
            .await
            .unwrap();
        assert_eq!(response.body, text, "{header} {coding}");
        assert!(!response.headers.contains_key("content-encoding"), "{header}");
    }
}

#[tokio::test]
async fn two_stacked_codings_are_decoded_and_three_rejected() {
    let text = b"hello spider ".repeat(500);
    let inner = encode("gzip", text.clone()).await;
    let outer = encode("br", inner).await;
    assert_eq!(
        fetch_coded("gzip, br", outer.clone(), MIB as u64)
            .await
            .unwrap()
            .body,
        text
    );
    let three = encode("zstd", outer).await;
    let error = fetch_coded("gzip, br, zstd", three, MIB as u64)
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn bombs_of_every_coding_stop_at_the_limit() {
    for (header, coding) in [
        ("gzip", "gzip"),
        ("deflate", "zlib"),
        ("deflate", "raw"),
        ("br", "br"),
        ("zstd", "zstd"),
    ] {
        let bomb = encode(coding, vec![0; 24 * MIB]).await;
        assert!(bomb.len() < MIB, "{coding} makes a bomb of {} bytes", bomb.len());
        let error = fetch_coded(header, bomb, MIB as u64).await.unwrap_err();
        assert_eq!(
            error,
            FetchError::TooLarge {
                limit_bytes: MIB as u64
            },
            "{coding}"
        );
    }
}

#[tokio::test]
async fn a_stacked_bomb_stops_at_the_limit() {
    let bomb = encode("gzip", encode("gzip", vec![0; 48 * MIB]).await).await;
    let error = fetch_coded("gzip, gzip", bomb, MIB as u64).await.unwrap_err();
    assert_eq!(
        error,
        FetchError::TooLarge {
            limit_bytes: MIB as u64
        }
    );
}

#[tokio::test]
async fn a_compressed_stream_without_content_is_limited() {
    let empty = encode("gzip", Vec::new()).await.repeat(1000);
    let server = Server::with(move || {
        ServerAction::Endless(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
            empty.clone(),
        )
    })
    .await;
    let mut request = get(server.url("/"));
    request.max_body_bytes = 1000;
    assert_eq!(
        fetcher().fetch(request).await.unwrap_err(),
        FetchError::TooLarge { limit_bytes: 1000 }
    );
}

#[tokio::test]
async fn a_window_above_the_limit_is_rejected() {
    // A zstd frame with a window of 128 MiB and one raw block.
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x09, 0x00, 0x00][..], b"x"].concat();
    // A br stream with a window of 16 MiB, and one with the large-window extension.
    for (header, body) in [
        ("zstd", zstd),
        ("br", vec![0x0f, 0x00, 0x80]),
        ("br", vec![0x11, 0x00, 0x80]),
    ] {
        let error = fetch_coded(header, body, MIB as u64).await.unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{header}: {error}");
    }
    let small = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x08, 0x09, 0x00, 0x00][..], b"x"].concat();
    assert_eq!(fetch_coded("zstd", small, MIB as u64).await.unwrap().body, "x");
}

/// Returns text with little redundancy, so that half of the compressed bytes hold about half of the text.
fn dense_text() -> Vec<u8> {
    (0..40_000u32)
        .flat_map(|n| format!("{:08x} ", n.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

#[tokio::test]
async fn the_received_part_of_a_truncated_compressed_body_can_be_kept() {
    let text = dense_text();
    for (header, coding) in [
        ("gzip", "gzip"),
        ("deflate", "zlib"),
        ("deflate", "raw"),
        ("br", "br"),
        ("zstd", "zstd"),
    ] {
        let whole = encode(coding, text.clone()).await;
        let half = &whole[..whole.len() / 2];
        let cut = response(200, &format!("Content-Encoding: {header}\r\n"), half);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {header}\r\nContent-Length: {}\r\n\r\n",
            whole.len()
        );
        let short = [head.as_bytes(), half].concat();
        for (bytes, is_short) in [(cut, false), (short, true)] {
            let server = Server::with(move || ServerAction::Close(bytes.clone())).await;
            let error = fetcher().fetch(get(server.url("/"))).await.unwrap_err();
            assert_eq!(
                matches!(error, FetchError::Reset { .. }),
                is_short,
                "{coding}: {error}"
            );
            assert_eq!(error.code().as_str(), "SCRAPE_SITE_ERROR");
            let mut request = get(server.url("/"));
            request.keep_partial = true;
            let response = fetcher().fetch(request).await.unwrap();
            assert_eq!(response.incomplete, Some(error), "{coding}");
            assert!(text.starts_with(&response.body), "{coding}");
            let kept = response.body.len();
            assert!(
                kept > text.len() / 4 && kept < text.len(),
                "{coding}: {kept} bytes"
            );
        }
    }
}

#[tokio::test]
async fn the_part_before_a_corruption_can_be_kept() {
    let text = dense_text();
    let mut damaged = encode("gzip", text.clone()).await;
    let half = damaged.len() / 2;
    damaged[half..half + 1000].fill(0xff);
    let bytes = response(200, "Content-Encoding: gzip\r\n", damaged);
    let server = Server::with(move || ServerAction::Keep(bytes.clone())).await;
    let error = fetcher().fetch(get(server.url("/"))).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
    let mut request = get(server.url("/"));
    request.keep_partial = true;
    let response = fetcher().fetch(request).await.unwrap();
    assert_eq!(response.incomplete, Some(error));
    let quarter = text.len() / 4;
    assert!(response.body.len() > quarter, "{} bytes", response.body.len());
    assert!(response.body[..quarter] == text[..quarter]);
}

#[tokio::test]
async fn plain_text_announced_with_any_coding_is_read_as_is() {
    let text = String::from_utf8(dense_text()).unwrap();
    for start in ["<!DOCTYPE html><p>", "{\"a\": \"", "xyz ", "\u{fc} ", "k", "\n\n"] {
        let page = format!("{start}{text}");
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, br", "br, gzip"] {
            for length in [page.len(), start.len()] {
                let page = &page.as_bytes()[..length];
                let response = fetch_coded(coding, page.to_vec(), MIB as u64).await.unwrap();
                assert_eq!(response.body, page, "{coding}: {start:?}");
            }
        }
    }
}

#[tokio::test]
async fn plain_text_in_another_charset_is_read_as_is() {
    let page = [&b"<title>caf\xe9</title>"[..], &dense_text()].concat();
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let response = fetch_coded(coding, page.clone(), MIB as u64).await.unwrap();
        assert_eq!(response.body, page, "{coding}");
    }
}

#[tokio::test]
async fn a_damaged_body_without_control_characters_is_an_error() {
    for (coding, length) in [("br", 3), ("br", 50), ("deflate", 3), ("deflate", 50)] {
        let error = fetch_coded(coding, vec![0xff; length], MIB as u64)
            .await
            .unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{coding}: {error}");
    }
}

#[tokio::test]
async fn an_empty_body_with_a_coding_is_empty() {
    for header in ["gzip", "br", "zstd", "deflate", "gzip, br"] {
        assert!(
            fetch_coded(header, Vec::new(), 10).await.unwrap().body.is_empty(),
            "{header}"
        );
    }
}

#[tokio::test]
async fn the_limit_is_exact() {
    for (length, fits) in [(999, true), (1000, true), (1001, false)] {
        for framed in [true, false] {
            let body = vec![b'x'; length];
            let server = Server::with(move || match framed {
                true => ServerAction::Keep(ok(&body)),
                false => ServerAction::Close([b"HTTP/1.1 200 OK\r\n\r\n", &body[..]].concat()),
            })
            .await;
            let mut request = get(server.url("/"));
            request.max_body_bytes = 1000;
            let result = fetcher().fetch(request.clone()).await;
            assert_eq!(result.is_ok(), fits, "{length} {framed}");
            request.truncate = true;
            let response = fetcher().fetch(request).await.unwrap();
            assert_eq!(
                (response.body.len(), response.truncated),
                (length.min(1000), !fits),
                "{length} {framed}"
            );
        }
    }
}

#[tokio::test]
async fn an_endless_body_stops_at_the_limit_and_closes_the_connection() {
    let heads = [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    ];
    for head in heads {
        let mut server =
            Server::with(move || ServerAction::Endless(head.as_bytes().to_vec(), vec![b'x'; 4096])).await;
        let mut request = get(server.url("/"));
        request.max_body_bytes = 100_000;
        let fetcher = fetcher();
        assert_eq!(
            fetcher.fetch(request).await.unwrap_err(),
            FetchError::TooLarge { limit_bytes: 100_000 }
        );
        server.closed.recv().await.unwrap();
    }
    let error = fetch_one(|| {
        let chunk = [b"1000\r\n", &[b'x'; 4096][..], b"\r\n"].concat();
        ServerAction::Endless(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
            chunk,
        )
    })
    .await
    .unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_truncated_body_is_an_error() {
    for bytes in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n12345",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let error = fetch_one(move || ServerAction::Close(bytes.into()))
            .await
            .unwrap_err();
        assert!(matches!(error, FetchError::Reset { .. }), "{bytes:?}: {error:?}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn a_complete_compressed_stream_in_a_truncated_body_is_an_error() {
    let coded = encode("br", b"hello".to_vec()).await;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: {}\r\n\r\n",
        coded.len() + 1
    );
    let bytes = [head.as_bytes(), &coded].concat();
    let error = fetch_one(move || ServerAction::Close(bytes.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Reset { .. }), "{error:?}");
}

#[tokio::test]
async fn broken_chunks_are_errors() {
    for body in [
        "xyz\r\n12345\r\n", "5\r\n1234567\r\n0\r\n\r\n", "ffffffffffffffffff\r\n1\r\n", "-1\r\n1\r\n",
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        let error = fetch_one(move || ServerAction::Close(bytes.clone().into()))
            .await
            .unwrap_err();
        assert!(
            matches!(error, FetchError::Protocol { .. }),
            "{body:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn slow_and_silent_servers_end_with_the_deadline_and_a_closed_socket() {
    let responses = [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
    ];
    for bytes in responses {
        let mut server = Server::with(move || ServerAction::Hang(bytes.into())).await;
        let mut request = get(server.url("/"));
        request.deadline = deadline_in(300);
        let fetcher = fetcher();
        assert_eq!(
            fetcher.fetch(request).await.unwrap_err(),
            FetchError::Timeout,
            "{bytes:?}"
        );
        server.closed.recv().await.unwrap();
    }
}

#[tokio::test]
async fn dropping_the_fetch_closes_the_socket() {
    let mut server =
        Server::with(|| ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".to_vec()))
            .await;
    let fetcher = fetcher();
    let (url, seen) = (server.url("/"), server.requests.clone());
    let mut fetch = Box::pin(fetcher.fetch(get(url)));
    while seen.lock().unwrap().is_empty() {
        assert!(futures_util::poll!(&mut fetch).is_pending());
        tokio::task::yield_now().await;
    }
    drop(fetch);
    server.closed.recv().await.unwrap();
}

#[tokio::test]
async fn the_budget_is_released_after_each_body() {
    let body = vec![b'x'; 3 * MIB];
    let server = Server::with(move || ServerAction::Keep(ok(&body))).await;
    let mut config = config("127.0.0.1");
    config.body_budget_bytes = 4 * MIB as u64;
    let fetcher = harvestman_fetch::Fetcher::new(config).unwrap();
    let fetches = (0..24).map(|_| {
        let (fetcher, request) = (fetcher.clone(), get(server.url("/")));
        tokio::spawn(async move { fetcher.fetch(request).await.unwrap().body.len() })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        assert_eq!(fetch.await.unwrap(), 3 * MIB);
    }
}

/// Returns the start of a response of unknown length.
fn unending(bytes: usize) -> Vec<u8> {
    let mut start =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{bytes:x}\r\n").into_bytes();
    start.resize(start.len() + bytes, b'x');
    start
}

#[tokio::test]
async fn slow_bodies_of_unknown_length_leave_memory_to_others() {
    let slow = Server::with(|| ServerAction::Hang(unending(2 * MIB))).await;
    let quick =
        Server::with(|| ServerAction::Close([unending(3 * MIB), b"\r\n0\r\n\r\n".to_vec()].concat())).await;
    let fetcher = fetcher();
    let mut stalled = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (fetcher, request) = (fetcher.clone(), get(slow.url("/")));
        stalled.spawn(async move { fetcher.fetch(request).await });
    }
    while slow.requests().len() < 12 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let response = fetcher.fetch(get(quick.url("/"))).await.unwrap();
    assert_eq!(response.body.len(), 3 * MIB);
    stalled.shutdown().await;
}

#[tokio::test]
async fn a_stalled_body_releases_memory_that_another_one_needs() {
    let slow = Server::with(|| ServerAction::Hang(unending(3 * MIB))).await;
    let quick = Server::with(|| ServerAction::Keep(ok(vec![b'x'; 3 * MIB]))).await;
    let mut config = config("127.0.0.1");
    config.body_budget_bytes = 4 * MIB as u64;
    let fetcher = harvestman_fetch::Fetcher::new(config).unwrap();
    let start = |server: &Server, milliseconds: u64| {
        let (fetcher, mut request) = (fetcher.clone(), get(server.url("/")));
        request.deadline = deadline_in(milliseconds);
        tokio::spawn(async move { fetcher.fetch(request).await.map(|response| response.body.len()) })
    };
    let _stalled = start(&slow, 120_000);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let other = start(&quick, 40_000);
    tokio::time::sleep(Duration::from_millis(200)).await;
    tokio::time::pause();
    tokio::time::advance(limits::SLOW_BODY_TIME).await;
    tokio::time::resume();
    assert_eq!(other.await.unwrap(), Ok(3 * MIB));
}

#[tokio::test]
async fn a_large_body_waits_for_others_in_a_part_of_its_time_only() {
    let server = Server::with(|| ServerAction::Keep(ok(vec![b'x'; 16 * MIB]))).await;
    let fetcher = fetcher();
    let converted = fetcher.fetch(get(server.url("/"))).await.unwrap();
    let mut request = get(server.url("/"));
    request.deadline = deadline_in(4_000);
    let response = fetcher.fetch(request).await.unwrap();
    assert_eq!(response.body.len(), converted.body.len());
}
