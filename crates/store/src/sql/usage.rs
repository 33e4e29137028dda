//! Reports of what teams used, and requests without a stored job.

use harvestman_core::api::error::ApiError;
use harvestman_core::day::Day;
use harvestman_core::ids::TeamId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::{JobStatus, NewJob};
use crate::rows::{day_usage, month_usage};
use crate::sql::activity::insert_activity;
use crate::sql::{Database, Transaction, statement, transact};
use crate::usage::{DayUsage, MonthUsage, Usage};
use crate::value::params;

impl<D: Database> Usage for D {
    async fn record_call(
        &self,
        call: &NewJob,
        end: Result<u32, &ApiError>,
        node_now: Timestamp,
    ) -> Result<(), StoreError> {
        let call = call.clone();
        let (credits, end) = match end {
            Ok(credits) => (credits, (JobStatus::Completed, None)),
            Err(error) => (0, (JobStatus::Failed, Some(error.message.clone()))),
        };
        let account = Account::of_call(&call);
        transact!(self, node_now, |transaction, now| {
            let call = call.by_database_clock(node_now, now);

            insert_activity(transaction, &call, Some(end)).await?;
            match credits {
                0 => Ok(()),
                credits => transaction.charge(&account, "call", (0, credits), now).await,
            }
        })
    }

    async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError> {
        statement!(
            "SELECT coalesce(sum(credits), 0)::bigint AS credits FROM harvestman.ledger WHERE team_id = $1"
        )
        .bind(team)
        .fetch_one(&mut self.reader().await?)
        .await?
        .count("credits")
    }

    async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError> {
        statement!(
            "SELECT coalesce(sum(credits), 0)::bigint AS credits FROM harvestman.month_usage
             WHERE team_id = $1 AND month = $2",
        )
        .bind_all(params![team, month.to_string()])
        .fetch_one(&mut self.reader().await?)
        .await?
        .count("credits")
    }

    async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError> {
        statement!(
            "SELECT month, key_id, credits, api_key.name AS key_name FROM harvestman.month_usage
             LEFT JOIN harvestman.api_key ON api_key.id = key_id
             WHERE month_usage.team_id = $1 ORDER BY month, api_key.name COLLATE \"C\" NULLS FIRST, key_id",
        )
        .bind(team)
        .read_all(&mut self.reader().await?, month_usage)
        .await
    }

    async fn day_usage(&self, team: TeamId, since: Day) -> Result<Vec<DayUsage>, StoreError> {
        statement!(
            "SELECT day, key_id, credits, pages, api_key.name AS key_name FROM harvestman.day_usage
             LEFT JOIN harvestman.api_key ON api_key.id = key_id
             WHERE day_usage.team_id = $1 AND day >= $2
             ORDER BY day, api_key.name COLLATE \"C\" NULLS FIRST, key_id",
        )
        .bind_all(params![team, since.to_string()])
        .read_all(&mut self.reader().await?, day_usage)
        .await
    }
}
