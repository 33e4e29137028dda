//! Credits: ledger entries, written with what they charge for, and sums by month and day, read by reports. The ledger
//! outlives its jobs.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::api::error::ApiError;
use harvestman_core::day::Day;
use harvestman_core::ids::TeamId;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::error::StoreError;
use crate::job::{JobStatus, NewJob};
use crate::rows::{day_usage, month_usage};
use crate::sqlite::Sqlite;
use crate::sqlite::jobs::insert_activity;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::usage::{DayUsage, MonthUsage, Usage, UsageChange};
use crate::value::params;

/// Charges a request without pages, or a part of it that has a number of its own.
pub(crate) async fn charge_call(
    connection: &mut SqliteConnection,
    account: &Account,
    seq: u64,
    credits: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    charge(connection, account, "call", &[(seq, credits)], now).await?;
    add_to_sums(connection, account, UsageChange::credits(credits), now).await
}

/// Charges a browser session at its end.
pub(crate) async fn charge_session(
    connection: &mut SqliteConnection,
    account: &Account,
    credits: u64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let credits = u32::try_from(credits).unwrap_or(u32::MAX);
    charge(connection, account, "session", &[(0, credits)], at).await?;
    add_to_sums(connection, account, UsageChange::credits(credits), at).await
}

/// Charges pages, given as (seq, credits). Each page gets one entry, also for 0 credits.
pub(crate) async fn charge_pages(
    connection: &mut SqliteConnection,
    account: &Account,
    pages: &[(u64, u32)],
    now: Timestamp,
) -> Result<(), StoreError> {
    charge(connection, account, "page", pages, now).await
}

async fn charge(
    connection: &mut SqliteConnection,
    account: &Account,
    reason: &'static str,
    entries: &[(u64, u32)],
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO ledger (job_id, seq, reason, team_id, key_id, endpoint, credits, at)
         SELECT ?1, value ->> 0, ?7, ?3, ?4, ?5, value ->> 1, ?6 FROM json_each(?2) ORDER BY key",
    )
    .bind_all(params![
        account.job,
        json_text(&entries)?,
        account.team,
        account.key,
        account.kind.as_str(),
        now,
        reason,
    ])
    .run(connection)
    .await
}

/// Adds the usage of a transaction to the sums of its month and day.
const ADD_TO_SUMS: &str = "
    INSERT INTO month_usage (team_id, month, key_id, credits)
    SELECT $1, $2, $3, $4 WHERE $4 > 0
    ON CONFLICT (team_id, month, key_id) DO UPDATE SET credits = credits + excluded.credits;
    INSERT INTO day_usage (team_id, day, key_id, credits, pages) VALUES ($1, $5, $3, $4, $6)
    ON CONFLICT (team_id, day, key_id) DO UPDATE SET credits = credits + excluded.credits, pages = pages + excluded.pages";

/// Adds the usage of a transaction to the sums of its month and day. Must be its last statement.
pub(crate) async fn add_to_sums(
    connection: &mut SqliteConnection,
    account: &Account,
    used: UsageChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    if used == UsageChange::default() {
        return Ok(());
    }
    query(ADD_TO_SUMS)
        .bind_all(params![
            account.team,
            Month::of(now).to_string(),
            account.key.map_or_else(Vec::new, |key| key.0.as_bytes().to_vec()),
            used.credits,
            Day::of(now).to_string(),
            used.pages,
        ])
        .run(connection)
        .await
}

impl Usage for Sqlite {
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
        self.write(move |connection| {
            Box::pin(async move {
                insert_activity(connection, &call, Some(end)).await?;
                match credits {
                    0 => Ok(()),
                    credits => charge_call(connection, &account, 0, credits, now).await,
                }
            })
        })
        .await
    }

    async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError> {
        let row = query("SELECT coalesce(sum(credits), 0) AS credits FROM ledger WHERE team_id = ?1")
            .bind(team)
            .fetch_one(&self.readers)
            .await?;
        row.count("credits")
    }

    async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError> {
        let row = query(
            "SELECT coalesce(sum(credits), 0) AS credits FROM month_usage WHERE team_id = ?1 AND month = ?2",
        )
        .bind_all(params![team, month.to_string()])
        .fetch_one(&self.readers)
        .await?;
        row.count("credits")
    }

    async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError> {
        let rows = query(
            "SELECT month, key_id, credits, api_key.name AS key_name FROM month_usage
             LEFT JOIN api_key ON api_key.id = key_id
             WHERE month_usage.team_id = ?1 ORDER BY month, key_name, key_id",
        )
        .bind(team)
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| month_usage(row, row.maybe_id("key_id")?))
            .collect()
    }

    async fn day_usage(&self, team: TeamId, since: Day) -> Result<Vec<DayUsage>, StoreError> {
        let rows = query(
            "SELECT day, key_id, credits, pages, api_key.name AS key_name FROM day_usage
             LEFT JOIN api_key ON api_key.id = key_id
             WHERE day_usage.team_id = ?1 AND day >= ?2 ORDER BY day, key_name, key_id",
        )
        .bind_all(params![team, since.to_string()])
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| day_usage(row, row.maybe_id("key_id")?))
            .collect()
    }
}
