//! State of a connection from which its timeouts follow.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Patience;

/// Reason for a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overdue {
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
    answering: bool,
    /// Start of the time without a request in progress.
    idle_since: Instant,
    /// Arrival of the first byte of an incomplete head.
    head_since: Option<Instant>,
    /// Start of the time in which the client reads nothing.
    blocked_since: Option<Instant>,
}

impl Activity {
    pub(super) fn new() -> Activity {
        Activity(Mutex::new(State {
            fresh: true,
            answering: false,
            idle_since: Instant::now(),
            head_since: None,
            blocked_since: None,
        }))
    }

    pub(super) fn received(&self) {
        let mut state = self.state();
        if !state.answering && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    pub(super) fn request_began(&self) {
        let mut state = self.state();
        state.fresh = false;
        state.answering = true;
        state.head_since = None;
    }

    pub(super) fn answer_handed_over(&self) {
        let mut state = self.state();
        state.answering = false;
        state.idle_since = Instant::now();
    }

    pub(super) fn blocked(&self, is_blocked: bool) {
        let mut state = self.state();
        match (is_blocked, state.blocked_since) {
            (true, None) => state.blocked_since = Some(Instant::now()),
            (false, Some(_)) => state.blocked_since = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Waits until a timeout has passed, and returns its reason.
    pub(super) async fn overdue(&self, patience: &Patience) -> Overdue {
        let shortest = patience.head.min(patience.idle).min(patience.write);
        let tick = (shortest / 10).clamp(Duration::from_millis(5), Duration::from_secs(1));
        loop {
            tokio::time::sleep(tick).await;
            if let Some(why) = self.state().overdue(Instant::now(), patience) {
                return why;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn overdue(&self, now: Instant, patience: &Patience) -> Option<Overdue> {
        let over = |since: Instant, time: Duration| now.saturating_duration_since(since) >= time;
        if self
            .blocked_since
            .is_some_and(|since| over(since, patience.write))
        {
            return Some(Overdue::Write);
        }
        if self.answering {
            return None;
        }
        let idle = if self.fresh { patience.head } else { patience.idle };
        match self.head_since {
            Some(since) => over(since, patience.head).then_some(Overdue::Head),
            None => over(self.idle_since, idle).then_some(Overdue::Idle),
        }
    }
}
