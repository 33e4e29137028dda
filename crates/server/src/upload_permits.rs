//! Bounds the uploads that are held in memory at once, over all teams and per team, so that slow uploads of one team
//! do not block those of the others.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::api::error::ErrorCode;
use harvestman_core::ids::TeamId;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::error::Failure;
use crate::limits;

/// Permits of all teams.
#[derive(Debug)]
pub(crate) struct UploadPermits {
    server: Arc<Semaphore>,
    /// Teams that hold a permit or wait for one.
    teams: Mutex<HashMap<TeamId, Arc<Semaphore>>>,
}

/// Permission to hold one upload in memory.
#[derive(Debug)]
pub(crate) struct UploadPermit {
    _team: OwnedSemaphorePermit,
    _server: OwnedSemaphorePermit,
}

impl Default for UploadPermits {
    fn default() -> Self {
        Self {
            server: Arc::new(Semaphore::new(limits::UPLOADS_AT_ONCE)),
            teams: Mutex::default(),
        }
    }
}

impl UploadPermits {
    /// Waits until one more upload of the team may be held in memory.
    ///
    /// # Errors
    /// After [`limits::UPLOAD_WAIT`]: 429 if the team holds all of its permits, 503 if all teams together do.
    pub(crate) async fn acquire(&self, team: TeamId) -> Result<UploadPermit, Failure> {
        self.acquire_until(Instant::now() + limits::UPLOAD_WAIT, team)
            .await
    }

    async fn acquire_until(&self, deadline: Instant, team: TeamId) -> Result<UploadPermit, Failure> {
        let of_team = acquire(self.of(team), deadline).await.ok_or_else(|| {
            let most = limits::TEAM_UPLOADS_AT_ONCE;
            let message =
                format!("the team already has {most} uploads in progress; try again when one has ended");
            failure(ErrorCode::ConcurrencyLimited, message)
        })?;
        let of_server = acquire(self.server.clone(), deadline).await.ok_or_else(|| {
            let most = limits::UPLOADS_AT_ONCE;
            let message = format!("the server already has {most} uploads in progress; try again in a moment");
            failure(ErrorCode::Unavailable, message)
        })?;
        Ok(UploadPermit {
            _team: of_team,
            _server: of_server,
        })
    }

    fn of(&self, team: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock();
        teams.retain(|_, permits| Arc::strong_count(permits) > 1);
        let new = || Arc::new(Semaphore::new(limits::TEAM_UPLOADS_AT_ONCE));
        teams.entry(team).or_insert_with(new).clone()
    }
}

/// Returns a permit, or `None` at the deadline.
async fn acquire(permits: Arc<Semaphore>, deadline: Instant) -> Option<OwnedSemaphorePermit> {
    let permit = timeout_at(deadline, permits.acquire_owned()).await.ok()?;
    Some(permit.expect("the semaphore is never closed"))
}

fn failure(code: ErrorCode, message: String) -> Failure {
    let mut failure = Failure::new(code, message);
    failure.0.retry_after_s = Some(limits::UPLOAD_RETRY_AFTER_S);
    failure
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_wait_ends_with_a_permit_or_an_error() {
        let permits = UploadPermits::default();
        let acquire = async |team| {
            let deadline = Instant::now() + Duration::from_millis(50);
            let acquired = permits.acquire_until(deadline, TeamId(Uuid::from_u128(team)));
            acquired
                .await
                .map_err(|Failure(error)| (error.status(), error.retry_after_s))
        };
        let mut held = Vec::new();
        for team in 0..4 {
            for _ in 0..limits::TEAM_UPLOADS_AT_ONCE {
                held.push(acquire(team).await.unwrap());
            }
        }
        assert_eq!(acquire(0).await.unwrap_err(), (429, Some(5)));
        assert_eq!(acquire(9).await.unwrap_err(), (503, Some(5)));
        held.pop();
        assert!(acquire(9).await.is_ok());
        held.clear();
        assert!(acquire(0).await.is_ok());
        assert_eq!(permits.teams.lock().len(), 1, "idle teams are removed");
    }
}
