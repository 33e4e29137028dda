//! Credits: ledger entries, written with what they charge for, and sums by month and day, read by reports. The ledger
//! outlives its jobs. Month and day are those of the database's clock.

use harvestman_core::api::error::ApiError;
use harvestman_core::day::Day;
use harvestman_core::ids::TeamId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::account::Account;
use crate::error::StoreError;
use crate::job::{JobStatus, NewJob};
use crate::postgres::Postgres;
use crate::postgres::activity::insert_activity;
use crate::postgres::query::{Query, query};
use crate::postgres::rows::Columns;
use crate::rows::{day_usage, month_usage};
use crate::usage::{DayUsage, MonthUsage, Usage, UsageChange};
use crate::value::params;

/// Charges a call or a session: one ledger entry, and the sums.
pub(crate) async fn charge_once(
    client: &Client,
    account: &Account,
    reason: &'static str,
    credits: u64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let credits = u32::try_from(credits).unwrap_or(u32::MAX);
    charge_part(client, account, reason, (0, credits), at).await
}

/// Charges a part of a call, given as (seq, credits): one ledger entry, and the sums.
pub(crate) async fn charge_part(
    client: &Client,
    account: &Account,
    reason: &'static str,
    part: (u64, u32),
    at: Timestamp,
) -> Result<(), StoreError> {
    charge(account, reason, &[part], at).execute(client).await?;
    add_to_sums(account, UsageChange::credits(part.1), at)
        .execute_if(part.1 > 0, client)
        .await?;
    Ok(())
}

/// Returns the statement that inserts ledger entries, given as (seq, credits).
pub(crate) fn charge(
    account: &Account,
    reason: &'static str,
    entries: &[(u64, u32)],
    now: Timestamp,
) -> Query {
    let (numbers, credits): (Vec<u64>, Vec<u32>) = entries.iter().copied().unzip();
    query(
        "INSERT INTO harvestman.ledger (job_id, seq, reason, team_id, key_id, endpoint, credits, at)
         SELECT $1, new.seq, $2, $3, $4, $5, new.credits, $6 FROM unnest($7, $8) AS new (seq, credits)",
    )
    .bind_all(params![
        account.job,
        reason,
        account.team,
        account.key,
        account.kind.as_str(),
        now,
        numbers,
        credits,
    ])
}

/// Returns the statement that adds the usage of a transaction to the sums of its month and day, if there is any. Run
/// it last in the transaction. It locks the month before the day.
pub(crate) fn add_to_sums(account: &Account, used: UsageChange, now: Timestamp) -> Query {
    query(
        "WITH day AS (
            INSERT INTO harvestman.day_usage AS day_usage (team_id, day, key_id, credits, pages)
            VALUES ($1, $5, $3, $4, $6)
            ON CONFLICT (team_id, day, key_id) DO UPDATE
            SET credits = day_usage.credits + excluded.credits, pages = day_usage.pages + excluded.pages)
         INSERT INTO harvestman.month_usage AS month_usage (team_id, month, key_id, credits)
         SELECT $1, $2, $3, $4 WHERE $4 > 0
         ON CONFLICT (team_id, month, key_id) DO UPDATE SET credits = month_usage.credits + excluded.credits",
    )
    .bind_all(params![
        account.team,
        Month::of(now).to_string(),
        account.key.map_or(Uuid::nil(), |key| key.0),
        used.credits,
        Day::of(now).to_string(),
        used.pages,
    ])
}

impl Usage for Postgres {
    async fn record_call(
        &self,
        call: &NewJob,
        end: Result<u32, &ApiError>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let call = call.clone();
        let (credits, end) = match end {
            Ok(credits) => (credits, (JobStatus::Completed, None)),
            Err(error) => (0, (JobStatus::Failed, Some(error.message.clone()))),
        };
        let account = Account::of_call(&call);
        self.write(now, move |transaction, now| {
            Box::pin(async move {
                insert_activity(transaction, &call, Some(end)).await?;
                match credits {
                    0 => Ok(()),
                    credits => charge_once(transaction, &account, "call", u64::from(credits), now).await,
                }
            })
        })
        .await
    }

    async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError> {
        query("SELECT coalesce(sum(credits), 0)::bigint AS credits FROM harvestman.ledger WHERE team_id = $1")
            .bind(team)
            .fetch_one(&*self.pool.connection().await?)
            .await?
            .count("credits")
    }

    async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError> {
        query(
            "SELECT coalesce(sum(credits), 0)::bigint AS credits FROM harvestman.month_usage
             WHERE team_id = $1 AND month = $2",
        )
        .bind_all(params![team, month.to_string()])
        .fetch_one(&*self.pool.connection().await?)
        .await?
        .count("credits")
    }

    async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError> {
        let rows = query(
            "SELECT month, key_id, credits, api_key.name AS key_name FROM harvestman.month_usage
             LEFT JOIN harvestman.api_key ON api_key.id = key_id
             WHERE month_usage.team_id = $1 ORDER BY month, api_key.name COLLATE \"C\" NULLS FIRST, key_id",
        )
        .bind(team)
        .fetch_all(&*self.pool.connection().await?)
        .await?;
        rows.iter()
            .map(|row| month_usage(row, Some(row.id("key_id")?).filter(|key| !key.is_nil())))
            .collect()
    }

    async fn day_usage(&self, team: TeamId, since: Day) -> Result<Vec<DayUsage>, StoreError> {
        let rows = query(
            "SELECT day, key_id, credits, pages, api_key.name AS key_name FROM harvestman.day_usage
             LEFT JOIN harvestman.api_key ON api_key.id = key_id
             WHERE day_usage.team_id = $1 AND day >= $2
             ORDER BY day, api_key.name COLLATE \"C\" NULLS FIRST, key_id",
        )
        .bind_all(params![team, since.to_string()])
        .fetch_all(&*self.pool.connection().await?)
        .await?;
        rows.iter()
            .map(|row| day_usage(row, Some(row.id("key_id")?).filter(|key| !key.is_nil())))
            .collect()
    }
}
