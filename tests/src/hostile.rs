//! A hostile web site: raw, often invalid bytes on the socket, and pages that are hard to parse.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// Paths whose response can never become a page.
pub const BROKEN: &[&str] = &[
    "/bomb-gzip", "/bomb-stacked", "/ten-gigabytes", "/endless", "/endless-chunks", "/bad-chunks",
    "/short-file", "/both-lengths", "/two-lengths", "/many-headers", "/endless-headers", "/endless-interim",
    "/no-http", "/reset", "/closed", "/circle", "/endless-redirects", "/inward",
];

/// Paths of pages that end early.
pub const PARTIAL: &[&str] = &["/short", "/short-chunks", "/cut-gzip", "/damaged-gzip"];

/// Paths whose response never ends; only the deadline ends the request.
pub const SLOW: &[&str] = &["/silent", "/slow-head", "/drip"];

/// Paths of pages that are hard to parse but valid.
pub const HARD_TO_PARSE: &[&str] = &[
    "/deep", "/unclosed", "/attributes", "/wide-table", "/no-utf8", "/unknown-charset", "/wrong-charset",
    "/half-characters", "/brackets", "/entities", "/bad-headers", "/unknown-coding", "/no-gzip",
];

/// A running hostile site.
pub struct HostileSite {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl HostileSite {
    /// Serves the site on a free port of 127.0.0.1. `/` links to all paths in [`BROKEN`], [`PARTIAL`] and
    /// [`HARD_TO_PARSE`].
    pub async fn serve() -> HostileSite {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    continue;
                };
                // Errors are expected: clients abort most of these connections.
                tokio::spawn(async move { drop(respond(stream).await) });
            }
        });
        HostileSite {
            address,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Returns the absolute URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n";

/// Returns the response of a path that always sends the same few bytes, then closes the connection.
fn fixed_response(path: &str) -> Option<&'static [u8]> {
    Some(match path {
        "/robots.txt" => NOT_FOUND,
        "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<p>half a page",
        "/short-chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>ha\r\n",
        "/short-file" => b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 1000\r\n\r\n%PDF-1.7\n1 0 obj",
        "/bad-chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n<p>\r\n0\r\n\r\n",
        "/both-lengths" => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n\r\n",
        "/two-lengths" => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n<p>x",
        "/no-http" => b"220 mail.site.test ESMTP ready\r\n\r\n",
        "/bad-headers" => b"HTTP/1.1 200\nSet-Cookie: a=\x01\nno colon\nX: a\rb\nContent-Type : text/html\nContent-Length: +9\n\n<p>read</p>",
        "/circle" => b"HTTP/1.1 302 X\r\nLocation: /circle\r\nContent-Length: 0\r\n\r\n",
        "/inward" => b"HTTP/1.1 302 X\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n",
        _ => return None,
    })
}

async fn respond(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    if let Some(response) = fixed_response(&path) {
        stream.write_all(response).await?;
        return stream.shutdown().await;
    }
    match path.as_str() {
        "/" => stream.write_all(&html(index_page())).await?,
        "/bomb-gzip" => {
            stream
                .write_all(&with_coding("gzip", &gzip(&vec![b' '; 80 << 20])))
                .await?
        }
        "/bomb-stacked" => {
            stream
                .write_all(&with_coding("gzip, gzip", &gzip(&gzip(&vec![b' '; 80 << 20]))))
                .await?
        }
        "/ten-gigabytes" | "/ten-gigabytes.bin" => {
            let content_type = match path.ends_with(".bin") {
                true => "application/octet-stream",
                false => "text/html",
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
                10_u64 << 30
            );
            repeat_forever(&mut stream, head.as_bytes(), &[b'x'; 65536]).await?
        }
        "/endless" => {
            repeat_forever(
                &mut stream,
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
                &[b'x'; 65536],
            )
            .await?
        }
        "/endless-chunks" => {
            let chunk = [b"10000\r\n", &[b'x'; 65536][..], b"\r\n"].concat();
            repeat_forever(
                &mut stream,
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                &chunk,
            )
            .await?;
        }
        "/many-headers" => {
            let lines: String = (0..3000).map(|n| format!("X-{n}: v\r\n")).collect();
            stream
                .write_all(format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n").as_bytes())
                .await?;
        }
        "/endless-headers" => {
            repeat_forever(
                &mut stream,
                b"HTTP/1.1 200 OK\r\n",
                &b"X-More: yes\r\n".repeat(1000),
            )
            .await?
        }
        "/endless-interim" => {
            repeat_forever(&mut stream, b"", &b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)).await?
        }
        "/reset" => return stream.set_zero_linger(),
        "/closed" => {}
        "/cut-gzip" => {
            let bytes = gzip(index_page().as_bytes());
            stream
                .write_all(&with_coding("gzip", &bytes[..bytes.len() * 3 / 4]))
                .await?;
        }
        "/damaged-gzip" => {
            // A stored block, and a block of an invalid type.
            let text = index_page().into_bytes();
            let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
            let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\0".to_vec();
            bytes.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
            bytes.extend(&text[..usize::from(length)]);
            bytes.extend([0xff; 100]);
            stream.write_all(&with_coding("gzip", &bytes)).await?;
        }
        "/no-gzip" => {
            stream
                .write_all(&with_coding("gzip", b"<p>never compressed</p>"))
                .await?
        }
        "/unknown-coding" => stream.write_all(&with_coding("exotic", b"whatever")).await?,
        long if long.starts_with("/endless-redirects") => {
            let response = format!("HTTP/1.1 302 X\r\nLocation: {long}x\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(response.as_bytes()).await?;
        }
        "/silent" => wait_for_the_end(&mut stream).await,
        "/slow-head" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").await?;
            wait_for_the_end(&mut stream).await;
        }
        "/drip" => {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                .await?;
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        path => match hard_to_parse(path).or_else(|| trap(path)) {
            Some(page) => stream.write_all(&page).await?,
            None => stream.write_all(NOT_FOUND).await?,
        },
    }
    stream.shutdown().await
}

async fn repeat_forever(stream: &mut TcpStream, first: &[u8], again: &[u8]) -> std::io::Result<()> {
    stream.write_all(first).await?;
    loop {
        stream.write_all(again).await?;
    }
}

async fn wait_for_the_end(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 1]).await;
}

fn index_page() -> String {
    let mut page =
        "<!doctype html><title>Hostile</title><h1>Hostile</h1><p>Every link leads to trouble.</p>".to_owned();
    for path in BROKEN.iter().chain(PARTIAL).chain(HARD_TO_PARSE) {
        let _ = write!(page, "<a href=\"{path}\">{path}</a> ");
    }
    page
}

/// Returns pages of crawler traps: an endless calendar, a new session id on each page, paths that grow.
fn trap(path: &str) -> Option<Vec<u8>> {
    let links = if let Some(day) = path.strip_prefix("/calendar/") {
        let day: i64 = day.parse().ok()?;
        vec![format!("/calendar/{}", day - 1), format!("/calendar/{}", day + 1)]
    } else if let Some(sid) = path.strip_prefix("/session?sid=") {
        let sid: u64 = sid.parse().ok()?;
        (1..4).map(|n| format!("/session?sid={}", 3 * sid + n)).collect()
    } else if path.starts_with("/deeper/") {
        vec![format!("{path}a/"), format!("{path}b/")]
    } else if path.starts_with("/longer/") {
        vec![format!("{path}{}/", "x".repeat(1000))]
    } else {
        return None;
    };
    let links: String = links
        .iter()
        .map(|link| format!("<a href=\"{link}\">on</a> "))
        .collect();
    Some(html(format!(
        "<title>{}</title><p>There is always more to see here.</p>{links}",
        path.len()
    )))
}

fn hard_to_parse(path: &str) -> Option<Vec<u8>> {
    let body: Vec<u8> = match path {
        "/deep" => ("<div>".repeat(100_000) + "the bottom").into(),
        "/unclosed" => ("<p><b><i><u><a href=#x>".repeat(10_000) + "the end").into(),
        "/attributes" => {
            let attributes: String = (0..50_000).map(|n| format!(" a{n}=1")).collect();
            format!("<p{attributes}>text</p>").into()
        }
        "/wide-table" => "<table><tr><td colspan=99999999 rowspan=99999999>x</table>"
            .repeat(200)
            .into(),
        "/no-utf8" => [
            &b"<meta charset=utf-8><p>"[..],
            &[0xff, 0xfe, 0x00, 0xc3].repeat(1000),
            b"</p>",
        ]
        .concat(),
        "/unknown-charset" => return Some(with_charset("x-nonsense", "<p>caf\u{e9} au lait</p>".as_bytes())),
        "/wrong-charset" => return Some(with_charset("utf-16", b"<p>caf\xe9 au lait</p>")),
        "/half-characters" => {
            return Some(with_charset(
                "shift_jis",
                &[&b"<p>"[..], &[0x81, 0xff].repeat(5000)].concat(),
            ));
        }
        "/brackets" => ("<p>".to_owned() + &"[(*_`".repeat(40_000)).into(),
        "/entities" => ("<p>".to_owned() + &"&#x110000;&bogus;&amp".repeat(20_000)).into(),
        _ => return None,
    };
    Some(html(body))
}

fn html(body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn with_charset(charset: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={charset}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn with_coding(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail")
}
