//! Reads the recent activity and the pending work of a team.

use sqlx::sqlite::SqliteRow;

use harvestman_core::ids::TeamId;

use crate::activity::{Activities, Activity, ActivityQuery, CallList, CallQuery, RunningJobs, TeamQueue};
use crate::error::StoreError;
use crate::limits;
use crate::rows::{CallReader, activity, running_jobs, team_queue};
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::value::{int, params};

macro_rules! select_activity {
    ($index:literal, $and:literal) => {
        select_activity!($index, $and, "", "")
    };
    ($index:literal, $and:literal, $columns:literal, $joins:literal) => {
        concat!(
            "SELECT job_id, endpoint, target, origin, integration, username, activity.created_at",
            $columns,
            " FROM activity INDEXED BY ",
            $index,
            $joins,
            " WHERE activity.team_id = ?1 AND activity.created_at > ?2 AND (activity.created_at, job_id) < (?3, ?4) ",
            $and,
            " ORDER BY activity.created_at DESC, job_id DESC LIMIT ?5"
        )
    };
}

macro_rules! select_calls {
    ($index:literal, $and:literal) => {
        select_activity!(
            $index,
            $and,
            ", activity.key_id, api_key.name AS key_name, coalesce(failure, job.error) AS error, coalesce(
                outcome, job.status,
                iif(session.id IS NULL, NULL, iif(session.ended_at IS NULL, 'scraping', 'completed'))) AS status,
                coalesce(job.completed_at, session.ended_at, CASE WHEN outcome IS NOT NULL THEN
                    (SELECT max(at) FROM ledger WHERE ledger.job_id = activity.job_id) END) AS ended_at,
                coalesce(job.credits, session.credits, CASE WHEN outcome IS NOT NULL THEN
                    (SELECT coalesce(sum(credits), 0) FROM ledger WHERE ledger.job_id = activity.job_id) END) AS credits",
            " LEFT JOIN api_key ON api_key.id = activity.key_id LEFT JOIN job ON job.id = activity.job_id
                LEFT JOIN session ON session.id = activity.job_id"
        )
    };
}

/// Each statement has its own index, so that every page of the list costs the same. The index is named
/// because SQLite's planner, without statistics, chooses a worse one.
const OF_ANY_KIND: &str = select_activity!("activity_of_team", "");
const OF_ONE_KIND: &str = select_activity!("activity_of_endpoint", "AND endpoint = ?6");
const CALLS_OF_ANY_KIND: &str = select_calls!("activity_of_team", "");
const CALLS_OF_ONE_KIND: &str = select_calls!("activity_of_endpoint", "AND endpoint = ?6");

/// A crawl that has not admitted a page yet counts as one page. The pages of a check are those of its jobs.
const QUEUE: &str = "
    SELECT
        (SELECT coalesce(sum(iif(kind = 'batch_scrape', page_limit, max(admitted, 1)) - completed - failed), 0)
            FROM job INDEXED BY job_running
            WHERE team_id = ?1 AND status = 'scraping' AND kind <> 'monitor') AS unsettled,
        (SELECT max(completed_at) FROM job INDEXED BY job_succeeded
            WHERE team_id = ?1 AND status = 'completed') AS last_success";

const RUNNING_JOBS: &str = "
    SELECT kind, count(*) AS jobs,
        sum(CASE kind WHEN 'batch_scrape' THEN page_limit WHEN 'monitor' THEN 0 ELSE max(admitted, 1) END
            - completed - failed) AS unsettled
        FROM job INDEXED BY job_running WHERE status = 'scraping' GROUP BY kind";

impl Activities for Sqlite {
    async fn activity(&self, team: TeamId, filter: &ActivityQuery) -> Result<Vec<Activity>, StoreError> {
        let statement = match filter.endpoint {
            None => OF_ANY_KIND,
            Some(_) => OF_ONE_KIND,
        };
        let rows = self.activity_rows(statement, team, filter).await?;
        rows.iter().map(activity).collect()
    }

    async fn calls(&self, team: TeamId, filter: &CallQuery) -> Result<CallList, StoreError> {
        let statement = match filter.activity.endpoint {
            None => CALLS_OF_ANY_KIND,
            Some(_) => CALLS_OF_ONE_KIND,
        };
        let mut reader = CallReader::new(filter);
        loop {
            let rows = self.activity_rows(statement, team, reader.next_query()).await?;
            if let Some(list) = reader.add(&rows)? {
                return Ok(list);
            }
        }
    }

    async fn running_jobs(&self) -> Result<Vec<RunningJobs>, StoreError> {
        query(RUNNING_JOBS).read_all(&self.readers, running_jobs).await
    }

    async fn queue(&self, team: TeamId) -> Result<TeamQueue, StoreError> {
        let row = query(QUEUE).bind(team).fetch_one(&self.readers).await?;
        team_queue(&row)
    }
}

impl Sqlite {
    async fn activity_rows(
        &self,
        statement: &'static str,
        team: TeamId,
        filter: &ActivityQuery,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let since = filter.now.0.saturating_sub(limits::ACTIVITY_MS);
        let (before_time, before_id) = match filter.before {
            Some((time, id)) => (int(time.0), id.0.as_bytes().to_vec()),
            None => (i64::MAX, Vec::new()),
        };
        let mut bound = query(statement).bind_all(params![team, since, before_time, before_id, filter.limit]);
        if let Some(endpoint) = &filter.endpoint {
            bound = bound.bind(endpoint.clone());
        }
        bound.fetch_all(&self.readers).await
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sqlx::sqlite::SqliteConnection;
    use sqlx::{AssertSqlSafe, Connection};

    use super::*;
    use crate::sqlite::migrate::{self, MIGRATIONS};
    use crate::sqlite::rows::Columns;

    #[tokio::test]
    async fn activity_statements_search_by_index_and_never_sort() {
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
                CALLS_OF_ANY_KIND,
                &[
                    "SEARCH activity USING INDEX activity_of_team (team_id=? AND created_at>? AND (created_at,job_id)<(?,?))",
                    "SEARCH job USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH session USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                ],
            ),
            (
                CALLS_OF_ONE_KIND,
                &[
                    "SEARCH activity USING INDEX activity_of_endpoint (team_id=? AND endpoint=? AND created_at>? AND (created_at,job_id)<(?,?))",
                    "SEARCH job USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH session USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
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
                .filter(|step| {
                    ["activity", "job", "session"]
                        .iter()
                        .any(|table| step.contains(table))
                })
                .collect();
            assert_eq!(found, searches, "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
