//! Content codings: gzip, deflate, br and zstd, at most two per body.
//!
//! Decoding is always streaming, with limited windows. The reader limits the decoded bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio_util::io::StreamReader;

use crate::limits;

const BUFFER_BYTES: usize = 32 * 1024;
/// Bytes of a stream that are inspected to find out whether it is coded at all.
const START_BYTES: usize = 1024;
/// Reads of 1 KiB after which the start of a stream counts as decodable.
const START_READS: usize = 16;

/// The value of `Accept-Encoding`.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// One content coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A body, possibly with some codings removed.
pub(crate) type Reader = Pin<Box<dyn AsyncBufRead + Send>>;

/// Returns the codings of a response in the order in which they were applied. Returns none if one is unknown, because
/// browsers show such a body undecoded.
///
/// # Errors
/// A message if there are too many codings.
pub(crate) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, String> {
    let mut found = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.as_bytes().split(|byte| *byte == b',') {
            found.push(match name.trim_ascii().to_ascii_lowercase().as_slice() {
                b"" | b"identity" => continue,
                b"gzip" | b"x-gzip" => Coding::Gzip,
                b"deflate" => Coding::Deflate,
                b"br" => Coding::Brotli,
                b"zstd" => Coding::Zstd,
                _ => return Ok(Vec::new()),
            });
            if found.len() > limits::MAX_CODINGS {
                return Err(format!("more than {} content codings", limits::MAX_CODINGS));
            }
        }
    }
    Ok(found)
}

/// Removes one coding. A stream that does not have this coding is returned unchanged, because many servers announce a
/// coding and send plain text.
///
/// # Errors
/// Any error of reading the first bytes, or [`io::ErrorKind::InvalidData`] for a window above the limit.
pub(crate) async fn decode(reader: Reader, coding: Coding) -> io::Result<Reader> {
    let mut start = Vec::with_capacity(START_BYTES);
    let mut head = reader.take(START_BYTES as u64);
    head.read_to_end(&mut start).await?;
    let rest = head.into_inner();
    let is_coded = coding.may_start(&start);
    let reader: Reader = Box::pin(io::Cursor::new(start.clone()).chain(rest));
    if is_coded {
        coding.decoder(reader, &start)
    } else {
        Ok(reader)
    }
}

impl Coding {
    /// Returns whether a stream of this coding can start like this: by its signature or, for codings without one,
    /// unless it is text that cannot be decoded.
    fn may_start(self, start: &[u8]) -> bool {
        let signed = |signature: &[u8]| {
            !start.is_empty()
                && start
                    .iter()
                    .zip(signature)
                    .all(|(byte, expected)| byte == expected)
        };
        match self {
            Coding::Gzip => signed(&[0x1f, 0x8b]),
            // A data frame or a skippable frame (RFC 8878, 3.1).
            Coding::Zstd => {
                signed(&[0x28, 0xb5, 0x2f, 0xfd])
                    || start.len() >= 4 && start[0] >> 4 == 5 && start[1..4] == [0x2a, 0x4d, 0x18]
            }
            Coding::Deflate | Coding::Brotli => !start.is_empty() && (!is_text(start) || self.decodes(start)),
        }
    }

    /// Returns whether `start` decodes without an error. A body that fits into it must also end there.
    fn decodes(self, start: &[u8]) -> bool {
        let unending =
            stream::iter([Ok::<_, io::Error>(Bytes::copy_from_slice(start))]).chain(stream::pending());
        let Ok(mut reader) = self.decoder(Box::pin(StreamReader::new(unending)), start) else {
            return false;
        };
        let mut out = [0; 1024];
        for _ in 0..START_READS {
            match reader.read(&mut out).now_or_never() {
                None => return start.len() == START_BYTES,
                Some(Ok(0)) => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
            }
        }
        true
    }

    /// Returns a decoder for a stream that starts with `start`, which is not empty.
    fn decoder(self, reader: Reader, start: &[u8]) -> io::Result<Reader> {
        Ok(match self {
            Coding::Gzip => buffered(GzipMembers(GzipDecoder::new(reader))),
            // Servers send either zlib, as the standard requires, or raw deflate.
            Coding::Deflate if is_zlib(start) => buffered(ZlibDecoder::new(reader)),
            Coding::Deflate => buffered(DeflateDecoder::new(reader)),
            Coding::Brotli => {
                if brotli_window_log(start[0]).is_none_or(|log| log > limits::MAX_WINDOW_LOG) {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the window of the br stream is too large",
                    ));
                }
                buffered(BrotliDecoder::new(reader))
            }
            Coding::Zstd => {
                let mut decoder =
                    ZstdDecoder::with_params(reader, &[DParameter::window_log_max(limits::MAX_WINDOW_LOG)]);
                decoder.multiple_members(true);
                buffered(decoder)
            }
        })
    }
}

/// Decodes the members of a gzip stream in turn. Like browsers, ignores what follows the last one.
struct GzipMembers(GzipDecoder<Reader>);

impl AsyncRead for GzipMembers {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.0).poll_read(context, buffer))?;
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            let reader = self.0.get_mut();
            if ready!(reader.as_mut().poll_fill_buf(context))?.first() != Some(&0x1f) {
                return Poll::Ready(Ok(()));
            }
            let reader = std::mem::replace(reader, Box::pin(tokio::io::empty()));
            self.0 = GzipDecoder::new(reader);
        }
    }
}

fn buffered(decoder: impl AsyncRead + Send + 'static) -> Reader {
    Box::pin(BufReader::with_capacity(BUFFER_BYTES, decoder))
}

/// Checks for a zlib header: method 8, a window of at most 32 KiB and the checksum (RFC 1950, 2.2). A raw
/// deflate stream with these bytes would be a stored block with padding bits set.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [method, flags, ..] => {
            method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([*method, *flags]) % 31 == 0
        }
        [method] => method & 0x0f == 8 && method >> 4 <= 7,
        [] => false,
    }
}

/// Returns whether bytes without control characters are UTF-8 or, as text in older charsets mostly is, ASCII to three
/// quarters: a short compressed stream may have no control characters either.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    // A character may be cut at the end.
    let is_utf8 = std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    let ascii = bytes.iter().filter(|byte| byte.is_ascii()).count();
    !bytes.iter().any(is_control) && (is_utf8 || ascii * 4 >= bytes.len() * 3)
}

/// Returns the WBITS field of a br stream (RFC 7932, 9.1), or `None` for the large-window extension.
fn brotli_window_log(first: u8) -> Option<u32> {
    if first & 1 == 0 {
        return Some(16);
    }
    let high = u32::from(first >> 1 & 7);
    let low = u32::from(first >> 4 & 7);
    match (high, low) {
        (0, 0) => Some(17),
        (0, 1) => None,
        (0, low) => Some(8 + low),
        (high, _) => Some(17 + high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Vec<Coding>, String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CONTENT_ENCODING, line.parse().unwrap());
        }
        codings(&headers)
    }

    #[test]
    fn every_form_of_the_header_is_parsed() {
        assert_eq!(read(&[]), Ok(vec![]));
        assert_eq!(read(&["identity"]), Ok(vec![]));
        assert_eq!(read(&["GZIP"]), Ok(vec![Coding::Gzip]));
        assert_eq!(read(&["deflate, br"]), Ok(vec![Coding::Deflate, Coding::Brotli]));
        assert_eq!(read(&["x-gzip", "zstd"]), Ok(vec![Coding::Gzip, Coding::Zstd]));
        assert!(read(&["gzip, gzip, gzip"]).is_err());
        assert_eq!(read(&["gzip", "GZIP "]), Ok(vec![Coding::Gzip, Coding::Gzip]));
        assert_eq!(read(&["compress"]), Ok(vec![]));
        assert_eq!(read(&["gzip, none", "utf-8"]), Ok(vec![]));
    }

    #[test]
    fn br_window_sizes_are_parsed() {
        let cases = [
            (0x00, Some(16)),
            (0x01, Some(17)),
            (0x03, Some(18)),
            (0x0b, Some(22)),
            (0x0f, Some(24)),
            (0x21, Some(10)),
            (0x11, None),
        ];
        for (byte, log) in cases {
            assert_eq!(brotli_window_log(byte), log, "{byte:#x}");
        }
    }
}
