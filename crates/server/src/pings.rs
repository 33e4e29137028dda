//! Pings that show whether the client of a WebSocket is there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::limits;

/// The pings of a socket. One task sends them, another reads what the client sends.
pub(crate) struct Pings {
    last: Mutex<Instant>,
    unanswered: AtomicU32,
}

impl Default for Pings {
    fn default() -> Self {
        Self {
            last: Mutex::new(Instant::now()),
            unanswered: AtomicU32::new(0),
        }
    }
}

impl Pings {
    /// Returns the time until the next ping.
    fn pause(&self) -> Duration {
        limits::SOCKET_PING.saturating_sub(self.last.lock().elapsed())
    }

    /// Waits until the next ping is due.
    pub(crate) async fn due(&self) {
        tokio::time::sleep(self.pause()).await;
    }

    /// Counts a ping as sent. Returns false instead if too many are unanswered.
    pub(crate) fn send(&self) -> bool {
        *self.last.lock() = Instant::now();
        self.unanswered.fetch_add(1, Ordering::Relaxed) <= limits::SOCKET_MISSED_PINGS
    }

    /// Records a message of the client.
    pub(crate) fn answered(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_receives_documents_for_long_is_not_disconnected() {
        let pings = Pings::default();
        *pings.last.lock() -= 4 * limits::SOCKET_PING;
        assert_eq!(pings.pause(), Duration::ZERO);
        for _ in 0..=limits::SOCKET_MISSED_PINGS {
            assert!(pings.send());
            assert!(!pings.pause().is_zero());
        }
        assert!(!pings.send());
        pings.answered();
        assert!(pings.send());
    }
}
