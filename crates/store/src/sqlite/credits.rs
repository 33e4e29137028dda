//! Credits: ledger entries, written with what they charge for, and sums by month and day, read by reports. The ledger
//! outlives its jobs.

use sqlx::sqlite::SqliteConnection;

use harvestman_core::day::Day;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

use crate::account::Account;
use crate::error::StoreError;
use crate::sqlite::prepared::json_text;
use crate::sqlite::query::query;
use crate::usage::UsageChange;
use crate::value::params;

/// Charges a part of a call or a session, given as (seq, credits): one ledger entry, and the sums.
pub(crate) async fn charge_part(
    connection: &mut SqliteConnection,
    account: &Account,
    reason: &'static str,
    part: (u64, u32),
    at: Timestamp,
) -> Result<(), StoreError> {
    charge(connection, account, reason, &[part], at).await?;
    add_to_sums(connection, account, UsageChange::credits(part.1), at).await
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
