//! Requests of a team per minute, where the operator bounds them. It counts alone: who asks is known
//! before, and what is refused never gets to a handler.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::TeamId;

use crate::error::Failure;
use crate::limits::RATE_WINDOW;

/// The counts of all teams.
#[derive(Debug)]
pub(crate) struct RateLimit {
    /// Requests in each window; `None`: any number.
    most: Option<u32>,
    windows: Mutex<HashMap<TeamId, Window>>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Instant,
    requests: u32,
}

impl RateLimit {
    pub(crate) fn new(most: Option<u32>) -> Self {
        let windows = Mutex::default();
        Self { most, windows }
    }

    /// Counts a request. Errors: 429 that says when the next window begins.
    pub(crate) fn count(&self, team: TeamId, now: Instant) -> Result<(), Failure> {
        let Some(most) = self.most else { return Ok(()) };
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = Window {
            since: now,
            requests: 0,
        };
        let window = windows.entry(team).or_insert(fresh);
        let passed = now.saturating_duration_since(window.since);
        if passed >= RATE_WINDOW {
            *window = fresh;
        }
        if window.requests < most {
            window.requests += 1;
            return Ok(());
        }
        let wait = RATE_WINDOW.saturating_sub(passed).as_secs_f64().ceil() as u32;
        let message = format!("the team may make {most} requests per minute; try again in {wait} s");
        let mut error = ApiError::new(ErrorCode::RateLimited, message);
        error.retry_after_s = Some(wait);
        Err(Failure(error))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_team_has_its_requests_of_a_minute() {
        let limit = RateLimit::new(Some(2));
        let [one, other] = [1, 2].map(|id| TeamId(Uuid::from_u128(id)));
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        assert!(limit.count(one, at(0)).is_ok() && limit.count(one, at(100)).is_ok());
        let refused = limit.count(one, at(30_500)).unwrap_err().0;
        assert_eq!((refused.status(), refused.retry_after_s), (429, Some(30)));
        assert!(limit.count(other, at(30_500)).is_ok());
        assert!(limit.count(one, at(60_000)).is_ok());
        let unlimited = RateLimit::new(None);
        assert!((0..1000).all(|_| unlimited.count(one, at(0)).is_ok()));
    }
}
