//! Reads the recent activity and the pending work of a team.

use harvestman_core::ids::TeamId;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::activity::{Activities, Activity, ActivityQuery, CallList, CallQuery, RunningJobs, TeamQueue};
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::rows::{CallReader, activity, running_jobs, team_queue};
use crate::value::{int, params};

macro_rules! select_activity {
    ($columns:literal, $joins:literal, $and:literal) => {
        concat!(
            "SELECT activity.job_id, endpoint, target, origin, integration, username, activity.created_at",
            $columns,
            " FROM harvestman.activity ",
            $joins,
            " WHERE activity.team_id = $1 AND activity.created_at > harvestman.clock($2) - $3
                AND (activity.created_at, activity.job_id) < ($4, $5) ",
            $and,
            " ORDER BY activity.created_at DESC, activity.job_id DESC LIMIT $6"
        )
    };
}

macro_rules! select_calls {
    ($and:literal) => {
        select_activity!(
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

const OF_ANY_KIND: &str = select_activity!("", "", "");
const OF_ONE_KIND: &str = select_activity!("", "", "AND endpoint = $7");
const CALLS_OF_ANY_KIND: &str = select_calls!("");
const CALLS_OF_ONE_KIND: &str = select_calls!("AND endpoint = $7");

/// A crawl that has not admitted a page yet counts as one page. The pages of a check are those of its jobs.
const QUEUE: &str = "
    SELECT
        (SELECT coalesce(sum(CASE kind WHEN 'batch_scrape' THEN page_limit ELSE greatest(admitted, 1) END
                - completed - failed), 0)::bigint
            FROM harvestman.job WHERE team_id = $1 AND status = 'scraping' AND kind <> 'monitor') AS unsettled,
        (SELECT max(completed_at) FROM harvestman.job WHERE team_id = $1 AND status = 'completed') AS last_success";

const RUNNING_JOBS: &str = "
    SELECT kind, count(*) AS jobs, sum(CASE kind WHEN 'batch_scrape' THEN page_limit WHEN 'monitor' THEN 0
            ELSE greatest(admitted, 1) END
            - completed - failed)::bigint AS unsettled
        FROM harvestman.job WHERE status = 'scraping' GROUP BY kind ORDER BY kind COLLATE \"C\"";

impl Activities for Postgres {
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
        query(RUNNING_JOBS)
            .read_all(&*self.pool.connection().await?, running_jobs)
            .await
    }

    async fn queue(&self, team: TeamId) -> Result<TeamQueue, StoreError> {
        let row = query(QUEUE)
            .bind(team)
            .fetch_one(&*self.pool.connection().await?)
            .await?;
        team_queue(&row)
    }
}

impl Postgres {
    async fn activity_rows(
        &self,
        statement: &'static str,
        team: TeamId,
        filter: &ActivityQuery,
    ) -> Result<Vec<Row>, StoreError> {
        let (before_time, before_id) = match filter.before {
            Some((time, id)) => (int(time.0), id.0),
            None => (i64::MAX, Uuid::nil()),
        };
        let mut bound = query(statement).bind_all(params![
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
        bound.fetch_all(&*self.pool.connection().await?).await
    }
}
