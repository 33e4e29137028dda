//! Reading activity.

use sqlx::query;

use harvestman_core::ids::{JobId, TeamId};

use crate::activity::{Activity, ActivityQuery};
use crate::error::StoreError;
use crate::limits;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int};

impl Sqlite {
    pub(crate) async fn activity(
        &self,
        team: TeamId,
        wanted: &ActivityQuery,
    ) -> Result<Vec<Activity>, StoreError> {
        let since = wanted.now.0.saturating_sub(limits::ACTIVITY_MS);
        let (before_time, before_id) = match wanted.before {
            Some((time, id)) => (int(time.0), blob(id.0)),
            None => (i64::MAX, Vec::new()),
        };
        let rows = query(
            "SELECT job_id, endpoint, target, origin, integration, created_at FROM activity
             WHERE team_id = ?1 AND created_at > ?2 AND (created_at, job_id) < (?3, ?4)
                AND (?5 IS NULL OR endpoint = ?5)
             ORDER BY created_at DESC, job_id DESC LIMIT ?6",
        )
        .bind(blob(team.0))
        .bind(int(since))
        .bind(before_time)
        .bind(before_id)
        .bind(wanted.endpoint.clone())
        .bind(wanted.limit)
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(Activity {
                    id: JobId(row.id("job_id")?),
                    endpoint: row.text("endpoint")?,
                    target: row.maybe_text("target")?,
                    origin: row.maybe_text("origin")?,
                    integration: row.maybe_text("integration")?,
                    created_at: row.time("created_at")?,
                })
            })
            .collect()
    }
}
