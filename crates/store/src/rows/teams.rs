//! Teams, their keys, and their feedback.

use harvestman_core::ids::{JobId, KeyId, TeamId};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::feedback::{FeedbackRow, NewFeedback};
use crate::team::{KeyRow, TeamRow};

/// Builds a team from a row of `team` with the number of its `keys`.
pub(crate) fn team_row(row: &impl Columns) -> Result<TeamRow, StoreError> {
    Ok(TeamRow {
        id: TeamId(row.id("id")?),
        name: row.text("name")?,
        plan: row.maybe_text("plan")?,
        keys: row.count("keys")?,
        created_at: row.time("created_at")?,
    })
}

/// Builds a key from a row of `api_key` with `team_name`.
pub(crate) fn key_row(row: &impl Columns) -> Result<KeyRow, StoreError> {
    Ok(KeyRow {
        id: KeyId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        team_name: row.text("team_name")?,
        name: row.text("name")?,
        hint: row.text("hint")?,
        created_at: row.time("created_at")?,
        last_used_at: row.maybe_time("last_used_at")?,
        revoked_at: row.maybe_time("revoked_at")?,
    })
}

/// Builds feedback from a row of `feedback` with `team_name`.
pub(crate) fn feedback_row(row: &impl Columns) -> Result<FeedbackRow, StoreError> {
    Ok(FeedbackRow {
        team_name: row.text("team_name")?,
        feedback: NewFeedback {
            id: row.id("id")?,
            team: TeamId(row.id("team_id")?),
            job: JobId(row.id("job_id")?),
            endpoint: row.text("endpoint")?,
            rating: row.text("rating")?,
            body: row.text("body")?,
            at: row.time("created_at")?,
        },
    })
}
