//! Browser sessions and their files.

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::session::{SessionEnd, SessionRow};
use crate::session_file::SessionFileRow;

/// Builds a session from a row of `session`.
pub(crate) fn session_row(row: &impl Columns) -> Result<SessionRow, StoreError> {
    let credits = row.count("credits")?;
    Ok(SessionRow {
        id: SessionId(row.id("id")?),
        team: TeamId(row.id("team_id")?),
        node: row.maybe_node()?,
        scrape: row.maybe_id("scrape_id")?.map(ScrapeId),
        stream_web_view: row.flag("stream_web_view")?,
        created_at: row.time("created_at")?,
        last_activity_at: row.time("last_activity_at")?,
        expires_at: row.time("expires_at")?,
        end: row.maybe_time("ended_at")?.map(|at| SessionEnd { at, credits }),
    })
}

/// Builds a file from a row of `session_file`.
pub(crate) fn session_file_row(row: &impl Columns) -> Result<SessionFileRow, StoreError> {
    Ok(SessionFileRow {
        no: row.count("no")?,
        is_upload: row.flag("is_upload")?,
        name: row.text("name")?,
        content_type: row.text("content_type")?,
        url: row.maybe_text("url")?,
        size: row.count("size_bytes")?,
        token: row.maybe_text("token")?,
        error: row.maybe_text("error")?,
        created_at: row.time("created_at")?,
    })
}
