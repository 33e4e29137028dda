//! Teams, their keys, usage, and feedback.

use harvestman_core::day::Day;
use harvestman_core::ids::{JobId, KeyId, TeamId};
use harvestman_core::month::Month;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::feedback::{FeedbackRow, NewFeedback};
use crate::team::{KeyRow, TeamRow};
use crate::usage::{DayUsage, MonthUsage};

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

/// Builds the usage of a month from a row of `month_usage` with `key_name`.
pub(crate) fn month_usage(row: &impl Columns) -> Result<MonthUsage, StoreError> {
    Ok(MonthUsage {
        month: row.parsed("month", Month::parse)?,
        key: usage_key(row)?,
        key_name: row.maybe_text("key_name")?,
        credits: row.count("credits")?,
    })
}

/// Builds the usage of a day from a row of `day_usage` with `key_name`.
pub(crate) fn day_usage(row: &impl Columns) -> Result<DayUsage, StoreError> {
    Ok(DayUsage {
        day: row.parsed("day", Day::parse)?,
        key: usage_key(row)?,
        key_name: row.maybe_text("key_name")?,
        credits: row.count("credits")?,
        pages: row.count("pages")?,
    })
}

/// Reads the key of a usage. Requests without a key have an empty id in SQLite and a nil one in PostgreSQL.
fn usage_key(row: &impl Columns) -> Result<Option<KeyId>, StoreError> {
    let key = row.maybe_id("key_id")?;
    Ok(key.filter(|key| !key.is_nil()).map(KeyId))
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
