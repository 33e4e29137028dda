//! Repairs heads of HTTP/1.1 responses that browsers accept and the parser does not.
//!
//! Changes only the status line, lines with a lone CR, and a `Content-Length` that is not a number. A head that
//! frames its body in two ways is passed on unchanged, so that the parser rejects it. Bodies are never touched.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Stream;
use crate::limits;

const READ_BYTES: usize = 8 * 1024;
/// Most bytes of a body read at once. The HTTP library doubles its buffer, up to its maximum, when a read fills it, and
/// keeps it for as long as the connection lives.
const BODY_READ_BYTES: usize = 32 * 1024;

/// Signals to [`HeadRepair`] that a response is expected.
#[derive(Clone, Default)]
pub(crate) struct ResponseSignal(Arc<AtomicBool>);

impl ResponseSignal {
    /// Announces that a request is being sent, so that the next bytes are the head of its response.
    pub(crate) fn expect(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A stream that repairs the heads of expected responses.
pub(crate) struct HeadRepair {
    inner: Box<dyn Stream>,
    signal: ResponseSignal,
    /// The incomplete head.
    head: Vec<u8>,
    /// Number of line ends that it begins with.
    blank: usize,
    /// Repaired bytes that have not been read yet.
    ready: Bytes,
}

impl HeadRepair {
    pub(crate) fn new(inner: Box<dyn Stream>) -> (HeadRepair, ResponseSignal) {
        let signal = ResponseSignal::default();
        let repair = HeadRepair {
            inner,
            signal: signal.clone(),
            head: Vec::new(),
            blank: 0,
            ready: Bytes::new(),
        };
        (repair, signal)
    }

    /// Processes received bytes; `end` means that no more follow.
    fn push(&mut self, bytes: &[u8], end: bool) {
        let mut from = self.head.len().saturating_sub(3);
        self.head.extend_from_slice(bytes);
        let mut out = Vec::new();
        while let Some(length) = self.head_length(from) {
            let rest = self.head.split_off(length);
            let head = std::mem::replace(&mut self.head, rest);
            let (repaired, is_interim) = repair(head);
            out.extend_from_slice(&repaired);
            (from, self.blank) = (0, 0);
            if !is_interim {
                self.signal.0.store(false, Ordering::Release);
                break;
            }
        }
        if end || self.head.len() > limits::MAX_RESPONSE_HEADER_BYTES {
            self.signal.0.store(false, Ordering::Release);
        }
        if !self.signal.0.load(Ordering::Acquire) {
            out.append(&mut self.head);
            self.blank = 0;
        }
        self.ready = out.into();
    }

    /// Returns the length of a complete head, including leading empty lines. Looks for the final empty line from `from`.
    fn head_length(&mut self, from: usize) -> Option<usize> {
        let is_line_end = |byte: &u8| {
            #[cfg(test)]
            tests::count_step();
            matches!(byte, b'\r' | b'\n')
        };
        self.blank += self.head[self.blank..]
            .iter()
            .take_while(|byte| is_line_end(byte))
            .count();
        (from.max(self.blank)..self.head.len()).find_map(|at| match &self.head[at..] {
            [b'\n', b'\n', ..] => Some(at + 2),
            [b'\n', b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        })
    }
}

impl AsyncRead for HeadRepair {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if !this.ready.is_empty() {
                let length = this.ready.len().min(buffer.remaining());
                buffer.put_slice(&this.ready[..length]);
                this.ready.advance(length);
                return Poll::Ready(Ok(()));
            }
            if !this.signal.0.load(Ordering::Acquire) {
                return poll_read_some(Pin::new(&mut this.inner), context, buffer);
            }
            let mut chunk = [MaybeUninit::uninit(); READ_BYTES];
            let mut read = ReadBuf::uninit(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut read))?;
            let at_end = read.filled().is_empty();
            this.push(read.filled(), at_end);
            if at_end && this.ready.is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// Reads at most [`BODY_READ_BYTES`].
fn poll_read_some(
    inner: Pin<&mut Box<dyn Stream>>,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if buffer.remaining() <= BODY_READ_BYTES {
        return inner.poll_read(context, buffer);
    }
    let mut chunk = [MaybeUninit::uninit(); BODY_READ_BYTES];
    let mut read = ReadBuf::uninit(&mut chunk);
    ready!(inner.poll_read(context, &mut read))?;
    buffer.put_slice(read.filled());
    Poll::Ready(Ok(()))
}

impl AsyncWrite for HeadRepair {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Returns the head in a form that the parser accepts, and whether another one follows it (1xx). A head that neither
/// browsers nor the parser accept is returned unchanged.
fn repair(head: Vec<u8>) -> (Vec<u8>, bool) {
    let lines: Vec<&[u8]> = head
        .split_inclusive(|byte| *byte == b'\n')
        .skip_while(|line| without_end(line).is_empty())
        .collect();
    let status_line = lines
        .first()
        .and_then(|line| standard_status_line(without_end(line)));
    let Some((status_line, status)) = status_line else {
        return (head, false);
    };
    // Both browsers and the parser reject NUL anywhere.
    if head.contains(&0) {
        return (head, false);
    }
    let drops_length = has_only_bad_length(&lines[1..]);
    let mut out = status_line;
    let mut is_dropped = false;
    for line in &lines[1..] {
        // Continuation lines of a folded field follow its first line.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            is_dropped = has_lone_cr(line) || drops_length && is_named(line, b"content-length");
        }
        if !is_dropped {
            out.extend_from_slice(line);
        }
    }
    let is_interim = (100..200).contains(&status) && status != 101;
    (out, is_interim)
}

/// Returns a standard status line and the status. Accepts what browsers accept: any case and number of spaces,
/// versions above 1.1, control characters in the reason.
fn standard_status_line(line: &[u8]) -> Option<(Vec<u8>, u16)> {
    let words = line
        .get(5..)
        .filter(|_| line[..5].eq_ignore_ascii_case(b"http/"))?;
    let version_end = words.iter().position(|byte| *byte == b' ')?;
    let version = match &words[..version_end] {
        [b'1'] | [b'1', b'.', b'0'] | [b'0', b'.', _] => "1.0",
        [major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => "1.1",
        _ => return None,
    };
    let rest = words[version_end..].trim_ascii_start();
    let (code, reason) = rest.split_at_checked(3)?;
    if !code.iter().all(u8::is_ascii_digit) || !matches!(reason.first(), None | Some(b' ')) {
        return None;
    }
    let status = std::str::from_utf8(code).ok()?.parse().ok()?;
    let mut clean = format!("HTTP/{version} {status:03} ").into_bytes();
    clean.extend(reason.trim_ascii().iter().filter(|byte| !byte.is_ascii_control()));
    clean.extend_from_slice(b"\r\n");
    Some((clean, status))
}

/// Returns whether all `Content-Length` lines have the same value, which is not a number, and nothing else frames the
/// body. Browsers then read until the connection closes.
fn has_only_bad_length(lines: &[&[u8]]) -> bool {
    if lines
        .iter()
        .any(|line| line.starts_with(b" ") || line.starts_with(b"\t") || is_named(line, b"transfer-encoding"))
    {
        return false;
    }
    let mut lengths = lines
        .iter()
        .filter(|line| is_named(line, b"content-length"))
        .map(|line| {
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
            line[colon + 1..].trim_ascii()
        });
    let Some(first) = lengths.next() else {
        return false;
    };
    let is_number = first.iter().all(u8::is_ascii_digit)
        && std::str::from_utf8(first).is_ok_and(|text| text.parse::<u64>().is_ok());
    !is_number
        && !first.iter().any(|byte| matches!(byte, b',' | b'\r'))
        && lengths.all(|other| other == first)
}

/// Returns whether a line has a CR before its end and cannot affect the framing of the body.
fn has_lone_cr(line: &[u8]) -> bool {
    let line = without_end(line).to_ascii_lowercase();
    let contains = |what: &[u8]| line.windows(what.len()).any(|part| part == what);
    line.contains(&b'\r') && !contains(b"content-length") && !contains(b"transfer-encoding")
}

/// Returns whether a header line has this name, in any case, possibly with whitespace before the colon.
fn is_named(line: &[u8], name: &[u8]) -> bool {
    line.iter()
        .position(|byte| *byte == b':')
        .is_some_and(|colon| line[..colon].trim_ascii_end().eq_ignore_ascii_case(name))
}

/// Strips the line ending.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts a byte that is looked at to find the first line.
    pub(super) fn count_step() {
        STEPS.set(STEPS.get() + 1);
    }

    #[test]
    fn empty_lines_before_a_head_are_read_once() {
        let (client, _server) = tokio::io::duplex(1);
        let (mut repair, signal) = HeadRepair::new(Box::new(client));
        signal.expect();
        for _ in 0..10_000 {
            repair.push(b"\r\n", false);
        }
        repair.push(b"HTTP/1.1  200  OK\r\n\r\n", false);
        assert!(repair.ready.ends_with(b"HTTP/1.1 200 OK\r\n\r\n"));
        assert!(STEPS.get() < 2 * 20_000, "{} steps", STEPS.get());
    }

    fn check(head: &str, expected: &str) {
        let (found, _) = repair(head.as_bytes().to_vec());
        assert_eq!(String::from_utf8_lossy(&found), expected, "{head:?}");
    }

    #[test]
    fn status_lines_are_repaired() {
        for (line, expected) in [
            ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"),
            ("HTTP/1.1 200", "HTTP/1.1 200 "),
            ("http/1.0   404   not  here ", "HTTP/1.0 404 not  here"),
            ("HTTP/2.0 200 a\u{1}b", "HTTP/1.1 200 ab"),
            ("HTTP/1 200 OK", "HTTP/1.0 200 OK"),
        ] {
            check(&format!("\r\n{line}\r\n\r\n"), &format!("{expected}\r\n\r\n"));
        }
        for line in [
            "HTTP/1.1 2000 OK", "HTTP/1.1 20", "HTTP/1.1", "ICY 200 OK", "HTTP/x.1 200 OK", "HTTP/1.1 abc",
        ] {
            check(&format!("{line}\r\n\r\n"), &format!("{line}\r\n\r\n"));
        }
    }

    #[test]
    fn only_lines_that_do_not_affect_framing_are_dropped() {
        let dropped = ["X: a\rb\r\n", "X: a\rb\r\n folded\r\n"];
        let kept = [
            "A: b\r\n folded\r\n",
            "Content-Length: 5\r6\r\n",
            "X: a\rTransfer-Encoding: chunked\r\n",
            "X: a\rb\0\r\n",
            "Content-Length: 1\r\nContent-Length: x\r\n",
            "Content-Length: 1, x\r\n",
            "Content-Length: x\r\nTransfer-Encoding : chunked\r\n",
            "Content-Length: x\r\n 1\r\n",
            "Content-Length: 5\r\n",
        ];
        for line in dropped
            .into_iter()
            .chain(["Content-Length: x\r\n", "content-length :\nContent-Length:\r\n"])
        {
            check(
                &format!("HTTP/1.1 200 OK\r\n{line}\r\n"),
                "HTTP/1.1 200 OK\r\n\r\n",
            );
        }
        for line in kept {
            let head = format!("HTTP/1.1 200 OK\r\n{line}\r\n");
            check(&head, &head);
        }
    }

    #[tokio::test]
    async fn heads_are_found_however_the_bytes_are_split() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let bytes = b"\r\nHTTP/1.1  103 X\n\nHTTP/1.1  200  OK\r\nA: b\n\r\nHTTP/1.1  200  body";
        for step in 1..bytes.len() {
            // A pipe of this size delivers the bytes in parts of at most that many.
            let (mut server, client) = tokio::io::duplex(step);
            tokio::spawn(async move { server.write_all(bytes).await });
            let (mut repair, signal) = HeadRepair::new(Box::new(client));
            signal.expect();
            let mut found = Vec::new();
            repair.read_to_end(&mut found).await.unwrap();
            assert_eq!(
                String::from_utf8_lossy(&found),
                "HTTP/1.1 103 X\r\n\nHTTP/1.1 200 OK\r\nA: b\n\r\nHTTP/1.1  200  body",
                "{step}"
            );
        }
    }

    #[tokio::test]
    async fn a_read_of_a_body_is_limited_and_loses_nothing() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let body: Vec<u8> = (0..3 * BODY_READ_BYTES + 1).map(|at| at as u8).collect();
        let (client, mut server) = tokio::io::duplex(body.len());
        server.write_all(&body).await.unwrap();
        drop(server);
        let (mut repair, _signal) = HeadRepair::new(Box::new(client));
        let mut buffer = vec![0; body.len()];
        let first = repair.read(&mut buffer).await.unwrap();
        assert_eq!(first, BODY_READ_BYTES);
        let mut read = buffer[..first].to_vec();
        repair.read_to_end(&mut read).await.unwrap();
        assert!(read == body);
    }
}
