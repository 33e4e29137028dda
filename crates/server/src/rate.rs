//! Rate limits: requests per minute of a team and of a key. Requests are counted after authentication and before the
//! handler.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::{KeyId, TeamId};
use harvestman_engine::Limits;
use harvestman_store::{Principal, SharedLimits};
use parking_lot::Mutex;

use crate::error::Failure;
use crate::limits::{RATE_BLOCKS, RATE_WINDOW, RATE_WINDOWS};

/// Rate windows of all teams and keys.
#[derive(Debug, Default)]
pub(crate) struct RateLimit {
    windows: Mutex<HashMap<Subject, Window>>,
    /// Requests that this node may still accept under limits that all nodes share.
    grants: Mutex<HashMap<Subject, SharedGrant>>,
}

/// Locked while its requests are taken from the store, so that other subjects do not wait.
type SharedGrant = Arc<tokio::sync::Mutex<Grant>>;

#[derive(Clone, Copy, Debug)]
struct Grant {
    requests: u32,
    until: Instant,
}

/// Subject of a rate limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Subject {
    Team(TeamId),
    Key(KeyId),
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Instant,
    requests: u32,
}

impl RateLimit {
    /// Counts a request. A refused request is not counted.
    ///
    /// # Errors
    /// 429 above a limit, with the seconds until the next window.
    pub(crate) fn count(&self, principal: &Principal, limits: &Limits, now: Instant) -> Result<(), Failure> {
        let bounds = bounds(principal, limits);
        if bounds.is_empty() {
            return Ok(());
        }
        let mut windows = self.windows.lock();
        if windows.len() >= RATE_WINDOWS {
            windows.retain(|_, window| now.saturating_duration_since(window.since) < RATE_WINDOW);
        }
        for (subject, most) in &bounds {
            let window = windows.entry(*subject).or_insert(Window::new(now));
            let passed = now.saturating_duration_since(window.since);
            if passed >= RATE_WINDOW {
                *window = Window::new(now);
            }
            if window.requests >= *most {
                let wait = RATE_WINDOW.saturating_sub(passed).as_secs_f64().ceil() as u32;
                return Err(too_many(*subject, *most, wait));
            }
        }
        for (subject, _) in bounds {
            windows.entry(subject).or_insert(Window::new(now)).requests += 1;
        }
        Ok(())
    }
}

impl RateLimit {
    /// Counts a request like [`RateLimit::count`], but under limits that all nodes share. This node takes the requests
    /// of a window in blocks.
    ///
    /// # Errors
    /// Also 503 if the store fails.
    pub(crate) async fn count_shared(
        &self,
        shared: &SharedLimits,
        principal: &Principal,
        limits: &Limits,
    ) -> Result<(), Failure> {
        // The key first, then its team: in the same order for all requests, so that they never block each other.
        let mut grants = Vec::new();
        for (subject, most) in bounds(principal, limits) {
            let mut grant = self.grant(subject).lock_owned().await;
            let now = Instant::now();
            if grant.requests == 0 || now >= grant.until {
                let block = most.div_ceil(RATE_BLOCKS).max(1);
                let granted = shared.take_requests(subject.to_string(), most, block).await?;
                if granted.requests == 0 {
                    let wait = granted.valid_for.as_secs_f64().ceil() as u32;
                    return Err(too_many(subject, most, wait));
                }
                *grant = Grant {
                    requests: granted.requests,
                    until: now + granted.valid_for,
                };
            }
            grants.push(grant);
        }
        for mut grant in grants {
            grant.requests -= 1;
        }
        Ok(())
    }

    /// Returns the grant of a subject; a new one is empty.
    fn grant(&self, subject: Subject) -> SharedGrant {
        let mut grants = self.grants.lock();
        let now = Instant::now();
        if grants.len() >= RATE_WINDOWS {
            // A grant in use is kept.
            grants.retain(|_, grant| Arc::get_mut(grant).is_none_or(|grant| now < grant.get_mut().until));
        }
        let empty = Grant {
            requests: 0,
            until: now,
        };
        let grant = grants.entry(subject).or_insert_with(|| Arc::new(empty.into()));
        grant.clone()
    }
}

/// Returns the limits that apply to a request.
fn bounds(principal: &Principal, limits: &Limits) -> Vec<(Subject, u32)> {
    let of_key = principal.key.map(Subject::Key).zip(limits.key_rate_limit);
    let of_team = Some(Subject::Team(principal.team)).zip(limits.rate_limit);
    of_key.into_iter().chain(of_team).collect()
}

/// Displayed as stored.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Team(team) => write!(f, "team {team}"),
            Self::Key(key) => write!(f, "key {key}"),
        }
    }
}

impl Window {
    fn new(since: Instant) -> Self {
        Self { since, requests: 0 }
    }
}

fn too_many(subject: Subject, most: u32, wait_s: u32) -> Failure {
    let subject_name = match subject {
        Subject::Team(_) => "of the team",
        Subject::Key(_) => "of this key",
    };
    let message =
        format!("the rate limit {subject_name} is {most} requests per minute; try again in {wait_s} s");
    let mut error = ApiError::new(ErrorCode::RateLimited, message);
    error.retry_after_s = Some(wait_s);
    Failure(error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    fn limits(rate_limit: Option<u32>, key_rate_limit: Option<u32>) -> Limits {
        Limits {
            max_concurrency: 1,
            key_max_concurrency: None,
            max_sessions: 1,
            rate_limit,
            key_rate_limit,
            credit_budget: None,
        }
    }

    fn principal(team: u128, key: u128) -> Principal {
        Principal {
            team: TeamId(Uuid::from_u128(team)),
            team_name: String::new(),
            key: Some(KeyId(Uuid::from_u128(key))),
            key_name: String::new(),
        }
    }

    #[test]
    fn the_keys_of_a_team_share_its_rate_limit() {
        let (rate, limits) = (RateLimit::default(), limits(Some(2), None));
        let start = Instant::now();
        let count = |principal: &Principal, millis| {
            rate.count(principal, &limits, start + Duration::from_millis(millis))
        };
        // Two keys of a team count together.
        assert!(count(&principal(1, 1), 0).is_ok() && count(&principal(1, 2), 100).is_ok());
        let refused = count(&principal(1, 1), 30_500).unwrap_err().0;
        assert_eq!((refused.status(), refused.retry_after_s), (429, Some(30)));
        assert!(count(&principal(2, 3), 30_500).is_ok());
        assert!(count(&principal(1, 1), 60_000).is_ok());
    }

    #[test]
    fn a_key_above_its_limit_does_not_affect_other_keys() {
        let (rate, limits) = (RateLimit::default(), limits(Some(3), Some(1)));
        let now = Instant::now();
        assert!(rate.count(&principal(1, 1), &limits, now).is_ok());
        for _ in 0..5 {
            let refused = rate.count(&principal(1, 1), &limits, now).unwrap_err().0;
            assert!(refused.message.contains("this key"), "{}", refused.message);
        }
        // The refused requests did not count for the team.
        assert!(
            rate.count(&principal(1, 2), &limits, now).is_ok()
                && rate.count(&principal(1, 3), &limits, now).is_ok()
        );
        assert!(
            rate.count(&principal(1, 4), &limits, now)
                .unwrap_err()
                .0
                .message
                .contains("the team")
        );
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        let rate = RateLimit::default();
        let now = Instant::now();
        assert!((0..1000).all(|_| rate.count(&principal(1, 1), &limits(None, None), now).is_ok()));
        assert!(rate.windows.lock().is_empty());
    }
}
