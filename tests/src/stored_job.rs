//! A job for the store, for tests that write to the database themselves.

use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, NewJob};

/// Returns a job that a server could have stored: its results stay for an hour, and it has no pages, key or webhook.
pub fn new_job(id: JobId, team: TeamId, kind: JobKind, created_at: Timestamp) -> NewJob {
    NewJob {
        id,
        team,
        key: None,
        kind,
        url: String::new(),
        request: "{}".to_owned(),
        base: String::new(),
        page_limit: 0,
        webhook: None,
        origin: None,
        integration: None,
        username: None,
        zero_data_retention: false,
        retention_ms: 3_600_000,
        created_at,
    }
}
