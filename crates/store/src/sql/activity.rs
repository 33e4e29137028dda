//! The recent activity and the pending work of a team.

use harvestman_core::ids::TeamId;
use uuid::Uuid;

use crate::activity::{
    Activities, Activity, ActivityQuery, CallList, CallQuery, RunningJobs, TeamQueue, activity_values,
};
use crate::error::StoreError;
use crate::job::{JobStatus, NewJob};
use crate::limits;
use crate::rows::{CallReader, activity, running_jobs, team_queue};
use crate::sql::{Connection, Database, Statement, statement};
use crate::value::{int, params};

/// Selects activity by an index, so that every page of the list costs the same. The index is named because SQLite's
/// planner, without statistics, chooses a worse one.
macro_rules! select_activity {
    ($index:literal, $columns:literal, $joins:literal, $and:literal) => {
        statement!(concat!(
            "SELECT activity.job_id, endpoint, target, origin, integration, username, activity.created_at",
            $columns,
            " FROM harvestman.activity /*sqlite INDEXED BY ",
            $index,
            "*/ ",
            $joins,
            " WHERE activity.team_id = $1 AND activity.created_at > harvestman.clock($2) - $3
                AND (activity.created_at, activity.job_id) < ($4, $5) ",
            $and,
            " ORDER BY activity.created_at DESC, activity.job_id DESC LIMIT $6"
        ))
    };
}

macro_rules! select_calls {
    ($index:literal, $and:literal) => {
        select_activity!(
            $index,
            ", activity.key_id, api_key.name AS key_name, coalesce(failure, job.error) AS error, coalesce(
                outcome, job.status, CASE WHEN session.id IS NULL THEN NULL
                    WHEN session.ended_at IS NULL THEN 'scraping' ELSE 'completed' END) AS status,
                coalesce(job.completed_at, session.ended_at, CASE WHEN outcome IS NOT NULL THEN
                    (SELECT max(at) FROM harvestman.ledger WHERE ledger.job_id = activity.job_id) END) AS ended_at,
                coalesce(job.credits, session.credits, CASE WHEN outcome IS NOT NULL THEN
                    (SELECT coalesce(sum(credits), 0)::bigint FROM harvestman.ledger WHERE ledger.job_id = activity.job_id) END) AS credits",
            "LEFT JOIN harvestman.api_key ON api_key.id = activity.key_id
                LEFT JOIN harvestman.job ON job.id = activity.job_id
                LEFT JOIN harvestman.session ON session.id = activity.job_id",
            $and
        )
    };
}

fn of_any_kind() -> Statement {
    select_activity!("activity_of_team", "", "", "")
}

fn of_one_kind() -> Statement {
    select_activity!("activity_of_endpoint", "", "", "AND endpoint = $7")
}

fn calls_of_any_kind() -> Statement {
    select_calls!("activity_of_team", "")
}

fn calls_of_one_kind() -> Statement {
    select_calls!("activity_of_endpoint", "AND endpoint = $7")
}

/// A crawl that has not admitted a page yet counts as one page. The pages of a check are those of its jobs.
fn select_queue() -> Statement {
    statement!(
        "SELECT
            (SELECT coalesce(sum(CASE kind WHEN 'batch_scrape' THEN page_limit ELSE greatest(admitted, 1) END
                    - completed - failed), 0)::bigint
                FROM harvestman.job /*sqlite INDEXED BY job_running*/
                WHERE team_id = $1 AND status = 'scraping' AND kind <> 'monitor') AS unsettled,
            (SELECT max(completed_at) FROM harvestman.job /*sqlite INDEXED BY job_succeeded*/
                WHERE team_id = $1 AND status = 'completed') AS last_success"
    )
}

fn select_running_jobs() -> Statement {
    statement!(
        "SELECT kind, count(*) AS jobs, sum(CASE kind WHEN 'batch_scrape' THEN page_limit WHEN 'monitor' THEN 0
                ELSE greatest(admitted, 1) END
                - completed - failed)::bigint AS unsettled
         FROM harvestman.job /*sqlite INDEXED BY job_running*/ WHERE status = 'scraping'
         GROUP BY kind ORDER BY kind COLLATE \"C\""
    )
}

impl<D: Database> Activities for D {
    async fn activity(&self, team: TeamId, filter: &ActivityQuery) -> Result<Vec<Activity>, StoreError> {
        let select = match filter.endpoint {
            None => of_any_kind(),
            Some(_) => of_one_kind(),
        };
        let rows = activity_rows(self, select, team, filter).await?;
        rows.iter().map(activity).collect()
    }

    async fn calls(&self, team: TeamId, filter: &CallQuery) -> Result<CallList, StoreError> {
        let select = match filter.activity.endpoint {
            None => calls_of_any_kind,
            Some(_) => calls_of_one_kind,
        };
        let mut reader = CallReader::new(filter);
        loop {
            let rows = activity_rows(self, select(), team, reader.next_query()).await?;
            if let Some(list) = reader.add(&rows)? {
                return Ok(list);
            }
        }
    }

    async fn running_jobs(&self) -> Result<Vec<RunningJobs>, StoreError> {
        select_running_jobs()
            .read_all(&mut self.reader().await?, running_jobs)
            .await
    }

    async fn queue(&self, team: TeamId) -> Result<TeamQueue, StoreError> {
        let row = select_queue()
            .bind(team)
            .fetch_one(&mut self.reader().await?)
            .await?;
        team_queue(&row)
    }
}

async fn activity_rows<D: Database>(
    database: &D,
    select: Statement,
    team: TeamId,
    filter: &ActivityQuery,
) -> Result<Vec<<D::Reader as Connection>::Row>, StoreError> {
    let (before_time, before_id) = match filter.before {
        Some((time, id)) => (int(time.0), id.0),
        None => (i64::MAX, Uuid::nil()),
    };
    let mut bound = select.bind_all(params![
        team,
        filter.now,
        limits::ACTIVITY_MS,
        before_time,
        before_id,
        filter.limit,
    ]);
    if let Some(endpoint) = &filter.endpoint {
        bound = bound.bind(endpoint.clone());
    }
    bound.fetch_all(&mut database.reader().await?).await
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_database;

    #[tokio::test]
    async fn activity_statements_search_by_index_and_never_sort() {
        let mut connection = test_database::empty().await;
        for (statement, searches) in [
            (
                of_any_kind(),
                &[
                    "SEARCH activity USING INDEX activity_of_team (team_id=? AND created_at>? AND (created_at,job_id)<(?,?))",
                ][..],
            ),
            (
                of_one_kind(),
                &[
                    "SEARCH activity USING INDEX activity_of_endpoint (team_id=? AND endpoint=? AND created_at>? AND (created_at,job_id)<(?,?))",
                ],
            ),
            (
                calls_of_any_kind(),
                &[
                    "SEARCH activity USING INDEX activity_of_team (team_id=? AND created_at>? AND (created_at,job_id)<(?,?))",
                    "SEARCH job USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH session USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                ],
            ),
            (
                calls_of_one_kind(),
                &[
                    "SEARCH activity USING INDEX activity_of_endpoint (team_id=? AND endpoint=? AND created_at>? AND (created_at,job_id)<(?,?))",
                    "SEARCH job USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH session USING PRIMARY KEY (id=?) LEFT-JOIN",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                    "SEARCH ledger USING PRIMARY KEY (job_id=?)",
                ],
            ),
            (
                select_queue(),
                &[
                    "SEARCH job USING INDEX job_running (team_id=?)",
                    "SEARCH job USING COVERING INDEX job_succeeded (team_id=?)",
                ],
            ),
        ] {
            let plan = test_database::plan(&mut connection, statement.sqlite).await;
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
