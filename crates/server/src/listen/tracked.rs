//! Wrappers around the stream of a connection and the bodies of its requests and responses that report to
//! [`Activity`].

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use super::activity::Activity;
use super::error_response;
use crate::app::App;

/// Stream of one connection. Holds the permit of the connection for its lifetime, also as a live socket.
pub(super) struct TrackedStream {
    stream: Arc<TcpStream>,
    activity: Arc<Activity>,
    /// Rest of the response that replaces hyper's own one.
    replacement: Option<Bytes>,
    _permit: OwnedSemaphorePermit,
    app: App,
}

impl TrackedStream {
    pub(super) fn new(
        stream: Arc<TcpStream>,
        activity: Arc<Activity>,
        permit: OwnedSemaphorePermit,
        app: App,
    ) -> Self {
        app.metrics().change_connections(1);
        Self {
            stream,
            activity,
            replacement: None,
            _permit: permit,
            app,
        }
    }

    /// Writes the replacement of hyper's own response, if `theirs` is one, and reports `theirs` as written.
    fn write_replacement(
        &mut self,
        context: &mut Context<'_>,
        theirs: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        let mut ours = match self.replacement.take() {
            Some(rest) => rest,
            None => error_response::replacement_for(theirs)?.into(),
        };
        while !ours.is_empty() {
            match self.write(context, |stream| stream.try_write(&ours)) {
                Poll::Ready(Ok(count)) => drop(ours.split_to(count)),
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => {
                    self.replacement = Some(ours);
                    return Some(Poll::Pending);
                }
            }
        }
        Some(Poll::Ready(Ok(theirs.len())))
    }

    fn write(
        &self,
        context: &mut Context<'_>,
        attempt: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.stream.poll_write_ready(context) {
                Poll::Pending => {
                    self.activity.blocked(true);
                    return Poll::Pending;
                }
                Poll::Ready(ready) => ready?,
            }
            match attempt(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    self.activity.blocked(false);
                    return Poll::Ready(result);
                }
            }
        }
    }
}

impl Drop for TrackedStream {
    fn drop(&mut self) {
        self.app.metrics().change_connections(-1);
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    if count > 0 {
                        self.activity.received();
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(written) = self.write_replacement(context, bytes) {
            return written;
        }
        self.write(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && let Some(written) = self.write_replacement(context, only)
        {
            return written;
        }
        self.write(context, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&*self.stream).shutdown(std::net::Shutdown::Write))
    }
}

/// Body of a request.
pub(super) struct RequestBody {
    body: Incoming,
    has_ended: bool,
    activity: Arc<Activity>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, activity: Arc<Activity>) -> Self {
        Self {
            body,
            has_ended: false,
            activity,
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.has_ended && !self.body.is_end_stream() {
            self.activity.body_dropped_early();
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.has_ended |= frame.is_none();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Body of a response; dropped when all of it is handed to the connection, or when it is given up.
pub(super) struct TrackedBody {
    body: Body,
    activity: Arc<Activity>,
}

impl TrackedBody {
    pub(super) fn new(body: Body, activity: Arc<Activity>) -> Self {
        Self { body, activity }
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.activity.response_finished();
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
