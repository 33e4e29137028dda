//! Reading what a team did, and what it has to do.

use sqlx::query;

use harvestman_core::ids::{JobId, TeamId};

use crate::activity::{Activity, ActivityQuery};
use crate::error::StoreError;
use crate::limits;
use crate::sqlite::Sqlite;
use crate::sqlite::rows::{Columns, blob, int};
use crate::team::Queue;

macro_rules! select_activity {
    ($index:literal, $and:literal) => {
        concat!(
            "SELECT job_id, endpoint, target, origin, integration, created_at FROM activity INDEXED BY ",
            $index,
            " WHERE team_id = ?1 AND created_at > ?2 AND (created_at, job_id) < (?3, ?4) ",
            $and,
            " ORDER BY created_at DESC, job_id DESC LIMIT ?5"
        )
    };
}

/// Each has its index, so that a page costs the same wherever it is. They are named, since the planner, which knows no
/// figures of the tables, takes the next best.
const OF_ANY_KIND: &str = select_activity!("activity_of_team", "");
const OF_ONE_KIND: &str = select_activity!("activity_of_endpoint", "AND endpoint = ?6");

/// A crawl that has not begun waits for its first page.
const QUEUE: &str = "
    SELECT
        (SELECT coalesce(sum(iif(kind = 'batch_scrape', page_limit, max(admitted, 1)) - completed - failed), 0)
            FROM job INDEXED BY job_running WHERE team_id = ?1 AND status = 'scraping') AS unsettled,
        (SELECT max(completed_at) FROM job INDEXED BY job_succeeded
            WHERE team_id = ?1 AND status = 'completed') AS last_success";

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
        let statement = match wanted.endpoint {
            None => OF_ANY_KIND,
            Some(_) => OF_ONE_KIND,
        };
        let mut asked = query(statement)
            .bind(blob(team.0))
            .bind(int(since))
            .bind(before_time)
            .bind(before_id)
            .bind(wanted.limit);
        if let Some(endpoint) = &wanted.endpoint {
            asked = asked.bind(endpoint.clone());
        }
        let rows = asked.fetch_all(&self.readers).await?;
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

    pub(crate) async fn queue(&self, team: TeamId) -> Result<Queue, StoreError> {
        let row = query(QUEUE).bind(blob(team.0)).fetch_one(&self.readers).await?;
        Ok(Queue {
            unsettled: row.count("unsettled")?,
            last_success: row.maybe_time("last_success")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sqlx::sqlite::SqliteConnection;
    use sqlx::{AssertSqlSafe, Connection};

    use super::*;
    use crate::sqlite::migrate::{self, MIGRATIONS};

    #[tokio::test]
    async fn nothing_is_read_that_is_not_told() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        migrate::migrate(&mut connection, Path::new(":memory:"), MIGRATIONS)
            .await
            .unwrap();
        for (statement, searches) in [
            (
                OF_ANY_KIND,
                &[
                    "SEARCH activity USING INDEX activity_of_team (team_id=? AND created_at>? AND (created_at,job_id)<(?,?))",
                ][..],
            ),
            (
                OF_ONE_KIND,
                &[
                    "SEARCH activity USING INDEX activity_of_endpoint (team_id=? AND endpoint=? AND created_at>? AND (created_at,job_id)<(?,?))",
                ],
            ),
            (
                QUEUE,
                &[
                    "SEARCH job USING INDEX job_running (team_id=?)",
                    "SEARCH job USING COVERING INDEX job_succeeded (team_id=?)",
                ],
            ),
        ] {
            let plan = query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            let plan: Vec<String> = plan.iter().map(|step| step.text("detail").unwrap()).collect();
            let found: Vec<&String> = plan
                .iter()
                .filter(|step| step.contains("activity") || step.contains("job"))
                .collect();
            assert_eq!(found, searches, "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
