//! Reads bodies: decodes them while streaming, and limits decoded bytes and the memory of all bodies.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout};
use tokio_util::io::StreamReader;

use crate::budget::{Budget, Reservation};
use crate::decode::{Coding, Reader, codings, decode};
use crate::error::FetchError;
use crate::limits;

const READ_BYTES: usize = 32 * 1024;

/// How to read a body.
pub(crate) struct BodyLimits<'a> {
    /// Host, for error messages.
    pub(crate) host: &'a str,
    /// Maximum size of the decompressed body.
    pub(crate) max_bytes: u64,
    /// Truncate at the maximum instead of failing.
    pub(crate) truncate: bool,
    /// If a body breaks off or is corrupt, keep the part that was read.
    pub(crate) keep_partial: bool,
    /// Deadline of the request.
    pub(crate) deadline: Instant,
}

/// A body that was read.
pub(crate) struct WholeBody {
    /// The decompressed bytes.
    pub(crate) bytes: Bytes,
    /// Whether it was truncated at the maximum.
    pub(crate) truncated: bool,
    /// Why it is incomplete, with `keep_partial`.
    pub(crate) incomplete: Option<FetchError>,
    /// Whether the body was read to its end on the wire, so that the connection can be reused.
    pub(crate) drained: bool,
}

impl WholeBody {
    pub(crate) fn left_out(error: FetchError) -> Self {
        Self {
            bytes: Bytes::new(),
            truncated: false,
            incomplete: Some(error),
            drained: false,
        }
    }
}

/// Reads a body to its end, and removes its codings and the header fields that describe them.
pub(crate) async fn read(
    body: Incoming,
    headers: &mut HeaderMap,
    budget: &Budget,
    limits: BodyLimits<'_>,
) -> Result<WholeBody, FetchError> {
    let codings = codings(headers).map_err(|reason| FetchError::Protocol {
        host: limits.host.to_owned(),
        reason,
    })?;
    let too_large = FetchError::TooLarge {
        limit_bytes: limits.max_bytes,
    };
    let size = body.size_hint();
    if codings.is_empty() && !limits.truncate && size.lower() > limits.max_bytes {
        return Err(too_large);
    }
    let known_bytes = size.exact().filter(|_| codings.is_empty());
    let mut sink = Sink::new(known_bytes, budget, &limits).await;
    let ending = SharedEnding::default();
    let wire = WireStream {
        body: Some(body),
        remaining_bytes: limits.max_bytes.saturating_add(limits::WIRE_SLACK_BYTES),
        ending: ending.clone(),
    };
    let result = sink.read(wire, &codings).await;
    let ending = ending.take();
    let truncated = ending.is_over_limit || matches!(result, Ok(false));
    if truncated && !limits.truncate {
        return Err(too_large);
    }
    let drained = match (result, ending.error) {
        _ if truncated => Ok(false),
        // A failure on the wire is the cause of any decoder error.
        (_, Some(error)) => Err(http_error(&error, limits.host)),
        (Err(error), None) => Err(decoding_error(&error, limits.host)),
        (Ok(_), None) => drain(ending.body)
            .await
            .map_err(|error| http_error(&error, limits.host)),
    };
    let (drained, incomplete) = match drained {
        Ok(drained) => (drained, None),
        Err(FetchError::TooSlow { host }) => return Err(FetchError::TooSlow { host }),
        Err(error) if limits.keep_partial && !sink.bytes.is_empty() => (false, Some(error)),
        Err(error) => return Err(error),
    };
    if !codings.is_empty() {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    Ok(WholeBody {
        bytes: sink.into_bytes(),
        truncated,
        incomplete,
        drained,
    })
}

/// Collects a body, within the memory budget.
struct Sink<'a> {
    bytes: Vec<u8>,
    max_bytes: u64,
    /// Length of the body if it is known, otherwise the maximum.
    cap_bytes: u64,
    budget: &'a Budget,
    reservation: Reservation,
}

impl<'a> Sink<'a> {
    /// Reserves memory for a body; `known_bytes` is its length, if it is known.
    async fn new(known_bytes: Option<u64>, budget: &'a Budget, limits: &BodyLimits<'_>) -> Self {
        let length_bytes = known_bytes.map(|length| length.min(limits.max_bytes));
        let expected_bytes = known_bytes.map_or(0, |length| length.min(READ_BYTES as u64));
        Self {
            bytes: Vec::with_capacity(usize::try_from(expected_bytes).unwrap_or(0)),
            max_bytes: limits.max_bytes,
            cap_bytes: length_bytes.unwrap_or(limits.max_bytes),
            budget,
            reservation: budget.reserve(length_bytes).await.with_deadline(limits.deadline),
        }
    }

    /// Reads a body and removes its codings. Returns false if it exceeds the maximum.
    async fn read(&mut self, wire: WireStream, codings: &[Coding]) -> io::Result<bool> {
        if codings.is_empty() {
            return self.copy(wire).await;
        }
        let mut reader: Reader = Box::pin(StreamReader::new(wire));
        for coding in codings.iter().rev() {
            reader = decode(reader, *coding).await?;
        }
        self.collect(reader).await
    }

    /// Reads a body without codings. Returns false if it exceeds the maximum.
    async fn copy(&mut self, mut wire: WireStream) -> io::Result<bool> {
        while let Some(chunk) = self.unless_reclaimed(wire.next()).await? {
            if !self.append(&chunk?).await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a decoded body. Returns false if it exceeds the maximum.
    async fn collect(&mut self, mut reader: Reader) -> io::Result<bool> {
        let mut chunk = vec![0; READ_BYTES];
        loop {
            let read = self.unless_reclaimed(reader.read(&mut chunk)).await??;
            if read == 0 {
                return Ok(true);
            }
            if !self.append(&chunk[..read]).await {
                return Ok(false);
            }
            // A small body may decode to a large one without waiting for the network.
            consume_budget().await;
        }
    }

    /// Appends a chunk. Returns false if not all of it fits.
    async fn append(&mut self, chunk: &[u8]) -> bool {
        let length = self.bytes.len();
        let room = self.max_bytes - length as u64;
        let accepted = usize::try_from(room).map_or(chunk.len(), |room| room.min(chunk.len()));
        if length + accepted > self.bytes.capacity() {
            let doubled = self.cap_bytes.min(self.bytes.capacity() as u64 * 2);
            let capacity = usize::try_from(doubled).unwrap_or(0).max(length + accepted);
            self.budget.cover(&mut self.reservation, capacity as u64).await;
            self.bytes.reserve_exact(capacity - length);
        }
        self.bytes.extend_from_slice(&chunk[..accepted]);
        accepted == chunk.len()
    }

    /// Returns the bytes, which keep the part of the budget that they use.
    fn into_bytes(mut self) -> Bytes {
        self.bytes.shrink_to_fit();
        self.reservation.shrink(self.bytes.len() as u64);
        Bytes::from_owner(BudgetedBytes {
            bytes: self.bytes,
            _reservation: self.reservation,
        })
    }

    /// Waits for the body, unless its memory is needed for others.
    async fn unless_reclaimed<T>(&self, reading: impl Future<Output = T>) -> io::Result<T> {
        tokio::select! {
            biased;
            read = reading => Ok(read),
            () = self.budget.reclaimed(&self.reservation) => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }
}

/// Discards what a decoder left unread, usually only the end mark of the last chunk. Returns whether the connection
/// can be reused.
async fn drain(body: Option<Incoming>) -> hyper::Result<bool> {
    let Some(mut body) = body else {
        return Ok(true);
    };
    let reading = async {
        let mut remaining = limits::MAX_DRAIN_BYTES;
        while let Some(frame) = body.frame().await {
            let length = frame?.data_ref().map_or(0, Bytes::len);
            let Some(rest) = remaining.checked_sub(length) else {
                return Ok(false);
            };
            remaining = rest;
        }
        Ok(true)
    };
    timeout(limits::DRAIN_TIMEOUT, reading).await.unwrap_or(Ok(false))
}

/// Discards the body of a redirect if it is short. Returns whether the connection can be reused.
pub(crate) async fn discard(body: Incoming) -> bool {
    if body
        .size_hint()
        .upper()
        .is_none_or(|upper| upper > limits::MAX_DRAIN_BYTES as u64)
    {
        return body.is_end_stream();
    }
    drain(Some(body)).await.unwrap_or(false)
}

/// Bytes with their budget reservation.
struct BudgetedBytes {
    bytes: Vec<u8>,
    _reservation: Reservation,
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Shared slot in which a [`WireStream`] leaves how it ended.
#[derive(Clone, Default)]
struct SharedEnding(Arc<Mutex<Ending>>);

/// How reading a body ended.
#[derive(Default)]
struct Ending {
    /// The unread rest on the wire, if any.
    body: Option<Incoming>,
    /// The error of a connection that failed before the end.
    error: Option<hyper::Error>,
    /// Whether it exceeds the limit of bytes on the wire.
    is_over_limit: bool,
}

impl SharedEnding {
    fn set(&self, ending: Ending) {
        *self.0.lock() = ending;
    }

    fn take(&self) -> Ending {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Counts the bytes from the network. The stream ends where the body ends, for whatever reason, so that decoders
/// flush everything they received.
struct WireStream {
    body: Option<Incoming>,
    remaining_bytes: u64,
    ending: SharedEnding,
}

impl WireStream {
    fn end(&mut self, ending: Ending) -> Poll<Option<io::Result<Bytes>>> {
        self.body = None;
        self.ending.set(ending);
        Poll::Ready(None)
    }
}

impl Stream for WireStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            let frame = match std::task::ready!(Pin::new(body).poll_frame(context)) {
                None => return self.end(Ending::default()),
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    return self.end(Ending {
                        error: Some(error),
                        ..Ending::default()
                    });
                }
            };
            // Trailers are not used.
            let Ok(data) = frame.into_data() else { continue };
            let Some(remaining) = self.remaining_bytes.checked_sub(data.len() as u64) else {
                return self.end(Ending {
                    is_over_limit: true,
                    ..Ending::default()
                });
            };
            self.remaining_bytes = remaining;
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }
}

impl Drop for WireStream {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            self.ending.set(Ending {
                body: Some(body),
                ..Ending::default()
            });
        }
    }
}

fn decoding_error(error: &io::Error, host: &str) -> FetchError {
    let reason = match error.kind() {
        io::ErrorKind::OutOfMemory => {
            return FetchError::TooSlow {
                host: host.to_owned(),
            };
        }
        io::ErrorKind::UnexpectedEof => "the compressed body ends early",
        _ => "the compressed body is corrupt",
    };
    FetchError::Protocol {
        host: host.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Converts an error of the HTTP layer.
pub(crate) fn http_error(error: &hyper::Error, host: &str) -> FetchError {
    let host = host.to_owned();
    if error.is_parse() {
        let reason = match error.to_string().as_str() {
            // Non-standard versions were repaired before, so this is not HTTP, or HTTP/0.9.
            "invalid HTTP version parsed" => "it does not start with an HTTP status line".to_owned(),
            other => other.to_owned(),
        };
        return FetchError::Protocol { host, reason };
    }
    let source = std::error::Error::source(error);
    if let Some(failure) = source.and_then(|source| source.downcast_ref::<h2::Error>())
        && failure.is_library()
    {
        return FetchError::Protocol {
            host,
            reason: failure.to_string(),
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
            reason: "its framing is invalid".to_owned(),
        };
    }
    FetchError::Reset { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sink(budget: &Budget) -> Sink<'_> {
        let cap_bytes = limits::MAX_BODY_BYTES;
        Sink {
            bytes: Vec::new(),
            max_bytes: cap_bytes,
            cap_bytes,
            budget,
            reservation: budget.reserve(None).await,
        }
    }

    #[tokio::test]
    async fn decoding_a_large_body_yields_to_other_tasks() {
        let budget = Budget::new(limits::BODY_BUDGET_BYTES);
        let mut sink = sink(&budget).await;
        let decoded: Reader = Box::pin(io::Cursor::new(vec![0; 20 << 20]));
        {
            let mut collecting = Box::pin(sink.collect(decoded));
            assert!(futures_util::poll!(&mut collecting).is_pending());
            assert!(collecting.await.unwrap());
        }
        assert_eq!(sink.bytes.len(), 20 << 20);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_must_release_its_memory_fails() {
        let budget = Budget::new(4 << 20);
        let (mut slow, mut other) = (sink(&budget).await, sink(&budget).await);
        // From the pool for growth, then from the last one.
        budget.cover(&mut slow.reservation, 2 << 20).await;
        budget.cover(&mut slow.reservation, 4 << 20).await;
        let reading = slow.unless_reclaimed(std::future::pending::<()>());
        let error = tokio::select! {
            read = reading => read.unwrap_err(),
            () = budget.cover(&mut other.reservation, 4 << 20) => panic!("the memory was not released"),
        };
        let error = decoding_error(&error, "slow.test");
        assert!(
            error.is_transient() && matches!(error, FetchError::TooSlow { .. }),
            "{error}"
        );
    }
}
