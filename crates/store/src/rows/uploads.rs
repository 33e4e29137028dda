//! Uploads.

use harvestman_core::ids::TeamId;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::upload::UploadState;

/// Builds the state of an upload from its team and whether it was `received`.
pub(crate) fn upload_state(row: &impl Columns) -> Result<UploadState, StoreError> {
    Ok(UploadState {
        team: TeamId(row.id("team_id")?),
        received: row.flag("received")?,
    })
}
