//! Credits: ledger entries, written with what they charge for, and sums by month and day, read by reports. The ledger
//! outlives its jobs. Month and day are those of the database's clock.

use harvestman_core::day::Day;
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::account::Account;
use crate::error::StoreError;
use crate::postgres::client::Client;
use crate::postgres::query::{Query, query};
use crate::usage::UsageChange;
use crate::value::params;

/// Charges a part of a call or a session, given as (seq, credits): one ledger entry, and the sums.
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
