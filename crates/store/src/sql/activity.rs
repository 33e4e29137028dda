//! Entries of the activity of a team.

use crate::activity::activity_values;
use crate::error::StoreError;
use crate::job::{JobStatus, NewJob};
use crate::sql::{Connection, statement};

/// Inserts the activity entry; for `end` see [`activity_values`].
pub(crate) async fn insert_activity(
    connection: &mut impl Connection,
    job: &NewJob,
    end: Option<(JobStatus, Option<String>)>,
) -> Result<(), StoreError> {
    statement!(
        "INSERT INTO harvestman.activity (job_id, team_id, key_id, endpoint, target, origin, integration,
            created_at, outcome, failure, username)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind_all(activity_values(job, end))
    .run(connection)
    .await
}
