//! State of a connection from which its timeouts follow.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::ConnectionLimits;

/// Reason for a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeoutReason {
    /// The head of a request is incomplete.
    Head,
    /// No request arrived.
    Idle,
    /// The client does not read the response.
    Write,
}

/// State of one connection, updated by its stream and its service.
#[derive(Debug)]
pub(super) struct Activity(Mutex<State>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// Whether no request has arrived yet.
    fresh: bool,
    /// Whether a request is in progress: its head is complete, its response is not yet handed to the connection.
    in_progress: bool,
    /// Start of the time without a request in progress.
    idle_since: Instant,
    /// Arrival of the first byte of an incomplete head.
    head_since: Option<Instant>,
    /// Start of the time in which the client reads nothing.
    blocked_since: Option<Instant>,
    /// Whether the body of the request was not read to its end.
    has_unread_body: bool,
}

impl Activity {
    pub(super) fn new() -> Activity {
        Activity(Mutex::new(State {
            fresh: true,
            in_progress: false,
            idle_since: Instant::now(),
            head_since: None,
            blocked_since: None,
            has_unread_body: false,
        }))
    }

    pub(super) fn received(&self) {
        let mut state = self.0.lock();
        if !state.in_progress && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    pub(super) fn request_started(&self) {
        let mut state = self.0.lock();
        state.fresh = false;
        state.in_progress = true;
        state.head_since = None;
        state.has_unread_body = false;
    }

    pub(super) fn body_dropped_early(&self) {
        self.0.lock().has_unread_body = true;
    }

    /// Returns whether the body of the last request was not read to its end.
    pub(super) fn has_unread_body(&self) -> bool {
        self.0.lock().has_unread_body
    }

    pub(super) fn response_finished(&self) {
        let mut state = self.0.lock();
        state.in_progress = false;
        state.idle_since = Instant::now();
    }

    pub(super) fn blocked(&self, is_blocked: bool) {
        let mut state = self.0.lock();
        match (is_blocked, state.blocked_since) {
            (true, None) => state.blocked_since = Some(Instant::now()),
            (false, Some(_)) => state.blocked_since = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Waits until a timeout has passed, and returns its reason.
    pub(super) async fn timeout(&self, limits: &ConnectionLimits) -> TimeoutReason {
        let shortest = limits.head.min(limits.idle).min(limits.write);
        let tick = (shortest / 10).clamp(Duration::from_millis(5), Duration::from_secs(1));
        loop {
            tokio::time::sleep(tick).await;
            if let Some(reason) = self.0.lock().timeout(Instant::now(), limits) {
                return reason;
            }
        }
    }
}

impl State {
    fn timeout(&self, now: Instant, limits: &ConnectionLimits) -> Option<TimeoutReason> {
        let over = |since: Instant, time: Duration| now.saturating_duration_since(since) >= time;
        if self.blocked_since.is_some_and(|since| over(since, limits.write)) {
            return Some(TimeoutReason::Write);
        }
        if self.in_progress {
            return None;
        }
        let idle = if self.fresh { limits.head } else { limits.idle };
        match self.head_since {
            Some(since) => over(since, limits.head).then_some(TimeoutReason::Head),
            None => over(self.idle_since, idle).then_some(TimeoutReason::Idle),
        }
    }
}
