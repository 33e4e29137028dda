//! Reading a body: decoded while it streams, counted after decoding, within the budget of all bodies.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::Stream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::io::AsyncReadExt;
use tokio_util::io::StreamReader;

use crate::budget::{Budget, Reservation};
use crate::decode::{Reader, codings, decoded};
use crate::error::FetchError;
use crate::limits;

const READ_BYTES: usize = 32 * 1024;

/// What to read and how much of it.
pub(crate) struct BodyLimits<'a> {
    /// Host for error texts.
    pub(crate) host: &'a str,
    /// Cap of the decompressed body.
    pub(crate) max_bytes: u64,
    /// Cut at the cap instead of failing.
    pub(crate) truncate: bool,
}

/// A body that was read.
pub(crate) struct WholeBody {
    /// Its decompressed bytes.
    pub(crate) bytes: Bytes,
    /// It was cut at the cap.
    pub(crate) truncated: bool,
    /// The connection carries nothing of it any more and can be used again.
    pub(crate) drained: bool,
}

/// Reads a body to its end, takes its codings off and removes the fields that described them.
pub(crate) async fn read(
    body: Incoming,
    headers: &mut HeaderMap,
    budget: &Budget,
    limits: BodyLimits<'_>,
) -> Result<WholeBody, FetchError> {
    let protocol = |reason: String| FetchError::Protocol {
        host: limits.host.to_owned(),
        reason,
    };
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Err(protocol(
            "it has both Content-Length and Transfer-Encoding".to_owned(),
        ));
    }
    let codings = codings(headers).map_err(protocol)?;
    let too_large = FetchError::TooLarge {
        limit_bytes: limits.max_bytes,
    };
    if codings.is_empty() && !limits.truncate && body.size_hint().lower() > limits.max_bytes {
        return Err(too_large);
    }
    let known = body.size_hint().exact().filter(|_| codings.is_empty());
    let mut reservation = budget
        .reserve(known.map_or(limits.max_bytes, |length| length.min(limits.max_bytes)))
        .await;
    let slot = Slot::default();
    let wire = Wire {
        body: Some(body),
        left_bytes: limits.max_bytes.saturating_add(limits::WIRE_SLACK_BYTES),
        slot: slot.clone(),
    };
    let mut bytes = Vec::new();
    let result = async {
        let mut reader: Reader = Box::pin(StreamReader::new(wire));
        for coding in codings.iter().rev() {
            reader = decoded(reader, *coding).await?;
        }
        collect(reader, &mut bytes, limits.max_bytes, budget, &mut reservation).await
    }
    .await;
    let within = match result {
        Ok(within) => within,
        Err(error) if is_wire_limit(&error) => false,
        Err(error) => return Err(explain(&error, limits.host)),
    };
    if !within && !limits.truncate {
        return Err(too_large);
    }
    let drained = within
        && drain(&slot)
            .await
            .map_err(|error| explain(&io::Error::other(error), limits.host))?;
    if !codings.is_empty() {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    bytes.shrink_to_fit();
    reservation.shrink(bytes.len() as u64);
    let bytes = Bytes::from_owner(Held {
        bytes,
        _reservation: reservation,
    });
    Ok(WholeBody {
        bytes,
        truncated: !within,
        drained,
    })
}

/// Reads into `bytes`; false when there is more than the cap.
async fn collect(
    mut reader: Reader,
    bytes: &mut Vec<u8>,
    max_bytes: u64,
    budget: &Budget,
    reservation: &mut Reservation,
) -> io::Result<bool> {
    let mut chunk = vec![0; READ_BYTES];
    loop {
        let read = reader.read(&mut chunk).await?;
        if read == 0 {
            return Ok(true);
        }
        let room = max_bytes - bytes.len() as u64;
        let kept = usize::try_from(room).map_or(read, |room| room.min(read));
        budget.cover(reservation, (bytes.len() + kept) as u64).await;
        bytes.extend_from_slice(&chunk[..kept]);
        if kept < read {
            return Ok(false);
        }
    }
}

/// Throws away what a decoder left unread, which is seldom more than the end mark of the last chunk.
async fn drain(slot: &Slot) -> hyper::Result<bool> {
    let Some(mut body) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Ok(true);
    };
    let mut left = limits::MAX_DRAIN_BYTES;
    while let Some(frame) = body.frame().await {
        let length = frame?.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else {
            return Ok(false);
        };
        left = rest;
    }
    Ok(true)
}

/// Throws away the body of an answer that only redirects, if it is short. True when the connection is free.
pub(crate) async fn discard(body: Incoming) -> bool {
    if body
        .size_hint()
        .upper()
        .is_none_or(|upper| upper > limits::MAX_DRAIN_BYTES as u64)
    {
        return body.is_end_stream();
    }
    drain(&Arc::new(Mutex::new(Some(body)))).await.unwrap_or(false)
}

/// Bytes that hold their part of the budget.
struct Held {
    bytes: Vec<u8>,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

type Slot = Arc<Mutex<Option<Incoming>>>;

/// The bytes as they come over the network, counted. Puts the body into its slot when the reader is done.
struct Wire {
    body: Option<Incoming>,
    left_bytes: u64,
    slot: Slot,
}

impl Stream for Wire {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            let frame = match std::task::ready!(Pin::new(body).poll_frame(context)) {
                None => {
                    self.body = None;
                    return Poll::Ready(None);
                }
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    self.body = None;
                    return Poll::Ready(Some(Err(io::Error::other(error))));
                }
            };
            // Trailers carry nothing we use.
            let Ok(data) = frame.into_data() else { continue };
            let Some(left) = self.left_bytes.checked_sub(data.len() as u64) else {
                self.body = None;
                return Poll::Ready(Some(Err(io::Error::other(WireLimit))));
            };
            self.left_bytes = left;
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("more bytes on the wire than the body may have")]
struct WireLimit;

fn is_wire_limit(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<WireLimit>())
}

fn explain(error: &io::Error, host: &str) -> FetchError {
    if let Some(error) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<hyper::Error>())
    {
        return explain_http(error, host);
    }
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "its compressed body ends too early",
        _ => "its compressed body is damaged",
    };
    FetchError::Protocol {
        host: host.to_owned(),
        reason: reason.to_owned(),
    }
}

/// What a failure of the HTTP layer means for the caller.
pub(crate) fn explain_http(error: &hyper::Error, host: &str) -> FetchError {
    let host = host.to_owned();
    if error.is_parse() {
        return FetchError::Protocol {
            host,
            reason: error.to_string(),
        };
    }
    let source = std::error::Error::source(error);
    if let Some(fault) = source.and_then(|source| source.downcast_ref::<h2::Error>())
        && fault.is_library()
    {
        return FetchError::Protocol {
            host,
            reason: fault.to_string(),
        };
    }
    let source = source.and_then(|source| source.downcast_ref::<io::Error>());
    if source.is_some_and(|source| {
        matches!(
            source.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
        )
    }) {
        return FetchError::Protocol {
            host,
            reason: "its framing is broken".to_owned(),
        };
    }
    FetchError::Reset { host }
}
