//! Payload of a WARC record: an HTTP response as it was sent, or a bare body. Some writers store decoded bodies but
//! keep the `Content-Encoding` field; the bytes show which codings still apply.

use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::{Fields, head, line};
use crate::limits;

/// Block of a record.
pub(in crate::offline) enum Payload {
    /// Status line, fields, body.
    Http(Vec<u8>),
    /// A body with the type that the record names.
    Bare {
        content_type: Option<String>,
        body: Vec<u8>,
    },
}

/// Response with a decoded body.
pub(in crate::offline) struct Response {
    pub(in crate::offline) status: u16,
    pub(in crate::offline) content_type: Option<String>,
    pub(in crate::offline) body: Vec<u8>,
}

impl Payload {
    /// Parses the response and decodes its body.
    ///
    /// # Errors
    /// A message for the output line of the record.
    pub(in crate::offline) fn response(self) -> Result<Response, String> {
        match self {
            Payload::Bare { content_type, body } => Ok(Response {
                status: 200,
                content_type,
                body,
            }),
            Payload::Http(block) => http(&block),
        }
    }
}

fn http(block: &[u8]) -> Result<Response, String> {
    let mut rest = block;
    let read_error = |error: io::Error| format!("cannot read the response: {error}");
    let first = line(&mut rest).map_err(read_error)?.unwrap_or_default();
    let first = String::from_utf8_lossy(&first);
    let mut words = first.split_ascii_whitespace();
    let status = words
        .next()
        .filter(|version| version.starts_with("HTTP/"))
        .and_then(|_| words.next()?.parse().ok())
        .ok_or("the record contains no HTTP response")?;
    let fields = Fields::of(&head(&mut rest).map_err(read_error)?);
    let chunked = fields
        .first("transfer-encoding")
        .is_some_and(|coding| coding.contains("chunked"));
    let unchunked = chunked.then(|| unchunk(rest)).flatten();
    let mut body = unchunked.unwrap_or_else(|| rest.to_vec());
    let codings = fields
        .first("content-encoding")
        .unwrap_or_default()
        .to_ascii_lowercase();
    for coding in codings.split(',').rev().take(limits::RECORD_CODINGS) {
        body = decode(coding.trim(), body)?;
    }
    Ok(Response {
        status,
        content_type: fields.first("content-type").map(str::to_owned),
        body,
    })
}

/// Returns the body without its chunk sizes; none if it is not chunked.
fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(rest.len());
    loop {
        let size = line(&mut rest).ok()??;
        let size = std::str::from_utf8(&size).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        // The archive may contain less than the chunk size says.
        let (chunk, after) = rest.split_at(size.min(rest.len()));
        body.extend_from_slice(chunk);
        rest = after
            .strip_prefix(b"\r\n")
            .or_else(|| after.strip_prefix(b"\n"))
            .unwrap_or(after);
        if rest.is_empty() {
            return Some(body);
        }
    }
}

/// Decodes one content coding. A body that does not start with the magic bytes of the coding is returned unchanged.
fn decode(coding: &str, body: Vec<u8>) -> Result<Vec<u8>, String> {
    let starts_with = |magic: &[u8]| body.starts_with(magic);
    let result = match coding {
        "gzip" | "x-gzip" if starts_with(&[0x1f, 0x8b]) => read(MultiGzDecoder::new(body.as_slice())),
        "zstd" if starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            zstd::stream::read::Decoder::new(body.as_slice()).and_then(read)
        }
        "deflate" => {
            read(ZlibDecoder::new(body.as_slice())).or_else(|_| read(DeflateDecoder::new(body.as_slice())))
        }
        "br" => read(brotli::Decompressor::new(
            body.as_slice(),
            limits::BROTLI_BUFFER_BYTES,
        )),
        _ => return Ok(body),
    };
    match result {
        Ok(Some(body)) => Ok(body),
        Ok(None) => Err(format!(
            "the response is larger than {} bytes",
            limits::FILE_BYTES
        )),
        // These two have no magic bytes.
        Err(_) if matches!(coding, "deflate" | "br") => Ok(body),
        Err(error) => Err(format!("the response is not valid {coding}: {error}")),
    }
}

/// Reads all of the input; none if it is larger than [`limits::FILE_BYTES`].
fn read(input: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let read = input.take(limits::FILE_BYTES + 1).read_to_end(&mut out)?;
    Ok((read as u64 <= limits::FILE_BYTES).then_some(out))
}
