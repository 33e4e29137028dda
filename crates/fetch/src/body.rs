//! Reading a body: decoded while it streams, counted after decoding, within the budget of all bodies.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::Stream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
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
    /// Keep what came of a body that breaks off or cannot be decoded to its end.
    pub(crate) keep_partial: bool,
}

/// A body that was read.
pub(crate) struct WholeBody {
    /// Its decompressed bytes.
    pub(crate) bytes: Bytes,
    /// It was cut at the cap.
    pub(crate) truncated: bool,
    /// Why it is not the whole body, with `keep_partial`.
    pub(crate) incomplete: Option<FetchError>,
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
    let codings = codings(headers).map_err(|reason| FetchError::Protocol {
        host: limits.host.to_owned(),
        reason,
    })?;
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
    let rest = Rest::default();
    let wire = Wire {
        body: Some(body),
        left_bytes: limits.max_bytes.saturating_add(limits::WIRE_SLACK_BYTES),
        rest: rest.clone(),
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
    let (within, mut fault) = match result {
        Ok(within) => (within, None),
        Err(error) => (true, Some(explain(&error, limits.host))),
    };
    let ending = rest.take();
    let within = within && !ending.over;
    if !within && !limits.truncate {
        return Err(too_large);
    }
    // What went wrong on the wire is the reason for whatever a decoder says.
    if let Some(error) = &ending.fault {
        fault = Some(explain_http(error, limits.host));
    }
    let mut drained = false;
    if within && fault.is_none() {
        match drain(ending.body).await {
            Ok(free) => drained = free,
            Err(error) => fault = Some(explain_http(&error, limits.host)),
        }
    }
    let incomplete = fault.filter(|_| within);
    if let Some(fault) = &incomplete
        && (bytes.is_empty() || !limits.keep_partial)
    {
        return Err(fault.clone());
    }
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
        incomplete,
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

/// Throws away what a decoder left unread, which is seldom more than the end mark of the last chunk. True when the
/// connection is free.
async fn drain(body: Option<Incoming>) -> hyper::Result<bool> {
    let Some(mut body) = body else {
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
    drain(Some(body)).await.unwrap_or(false)
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

/// Where a [`Wire`] leaves what it ended with.
#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Ending>>);

/// How the reading of a body ended.
#[derive(Default)]
struct Ending {
    /// What is left of it on the wire; `None` when nothing is.
    body: Option<Incoming>,
    /// The connection failed before its end.
    fault: Option<hyper::Error>,
    /// It has more bytes on the wire than it may have.
    over: bool,
}

impl Rest {
    fn set(&self, ending: Ending) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ending;
    }

    fn take(&self) -> Ending {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The bytes as they come over the network, counted. It ends where the body ends, for whatever reason, so that
/// decoders hand out all that came.
struct Wire {
    body: Option<Incoming>,
    left_bytes: u64,
    rest: Rest,
}

impl Wire {
    fn end(&mut self, ending: Ending) -> Poll<Option<io::Result<Bytes>>> {
        self.body = None;
        self.rest.set(ending);
        Poll::Ready(None)
    }
}

impl Stream for Wire {
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
                        fault: Some(error),
                        ..Ending::default()
                    });
                }
            };
            // Trailers carry nothing we use.
            let Ok(data) = frame.into_data() else { continue };
            let Some(left) = self.left_bytes.checked_sub(data.len() as u64) else {
                return self.end(Ending {
                    over: true,
                    ..Ending::default()
                });
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
        if let Some(body) = self.body.take() {
            self.rest.set(Ending {
                body: Some(body),
                ..Ending::default()
            });
        }
    }
}

fn explain(error: &io::Error, host: &str) -> FetchError {
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
        let reason = match error.to_string().as_str() {
            // Heads with an odd version were repaired before: this is no HTTP, or HTTP/0.9.
            "invalid HTTP version parsed" => "it does not begin with a status line of HTTP".to_owned(),
            other => other.to_owned(),
        };
        return FetchError::Protocol { host, reason };
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
