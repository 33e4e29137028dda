//! Content codings: gzip, deflate, br, zstd, at most two on one body, always streaming.
//!
//! Nothing here buffers a body. Windows are capped; how much comes out is the reader's business.

use std::io;
use std::pin::Pin;

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

use crate::limits;

const BUFFER_BYTES: usize = 32 * 1024;

/// What `Accept-Encoding` offers.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// One content coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A body, or what is left of it after some codings are taken off.
pub(crate) type Reader = Pin<Box<dyn AsyncBufRead + Send>>;

/// The codings of an answer in the order in which they were applied.
///
/// # Errors
/// A sentence about an unknown coding, or too many.
pub(crate) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, String> {
    let mut found = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value
            .to_str()
            .map_err(|_| "its Content-Encoding is no text".to_owned())?;
        for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            found.push(match name.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return Err("its Content-Encoding is not gzip, deflate, br or zstd".to_owned()),
            });
            if found.len() > limits::MAX_CODINGS {
                return Err(format!("more than {} content codings", limits::MAX_CODINGS));
            }
        }
    }
    Ok(found)
}

/// Takes one coding off. An empty stream stays empty, as servers that have nothing to say often send it.
///
/// # Errors
/// What reading the first bytes gave, or [`io::ErrorKind::InvalidData`] for a window above the cap.
pub(crate) async fn decoded(mut reader: Reader, coding: Coding) -> io::Result<Reader> {
    let Some(first) = reader.fill_buf().await?.first().copied() else {
        return Ok(reader);
    };
    Ok(match coding {
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(reader);
            decoder.multiple_members(true);
            buffered(decoder)
        }
        // Servers send the zlib format that the standard asks for, or a bare deflate stream.
        Coding::Deflate if is_zlib(first) => buffered(ZlibDecoder::new(reader)),
        Coding::Deflate => buffered(DeflateDecoder::new(reader)),
        Coding::Brotli => {
            if brotli_window_log(first).is_none_or(|log| log > limits::MAX_WINDOW_LOG) {
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

fn buffered(decoder: impl tokio::io::AsyncRead + Send + 'static) -> Reader {
    Box::pin(BufReader::with_capacity(BUFFER_BYTES, decoder))
}

/// Compression method 8 and a window of at most 32 KiB (RFC 1950); a deflate stream that starts so would be a
/// stored block with bits set in its padding.
fn is_zlib(first: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7
}

/// The WBITS field of a br stream (RFC 7932, 9.1); `None` for the large-window extension.
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
    fn the_header_is_read_in_all_its_forms() {
        assert_eq!(read(&[]), Ok(vec![]));
        assert_eq!(read(&["identity"]), Ok(vec![]));
        assert_eq!(read(&["GZIP"]), Ok(vec![Coding::Gzip]));
        assert_eq!(read(&["deflate, br"]), Ok(vec![Coding::Deflate, Coding::Brotli]));
        assert_eq!(read(&["x-gzip", "zstd"]), Ok(vec![Coding::Gzip, Coding::Zstd]));
        assert!(read(&["gzip, gzip, gzip"]).is_err());
        assert!(read(&["compress"]).is_err());
    }

    #[test]
    fn br_windows_are_read() {
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
