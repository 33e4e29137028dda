//! Partitions the rows of jobs by the day of the job's id. Partitions of the next days are added ahead of time,
//! before the default partition has any of their rows. Partitions of past days are dropped once no job of the day is
//! left, which frees their space without a vacuum.

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::postgres::client::Client;
use crate::postgres::connect::Pool;
use crate::postgres::query::query;

/// A waiting change of a table holds up all later statements on it.
const SHORT_LOCK: &str = "SET LOCAL lock_timeout = '500ms'";
/// The missing partitions of today and the next two days.
const MISSING: &str = "SELECT parent, day::date::text AS day
    FROM unnest(ARRAY['job_url', 'page', 'job_error', 'outbox', 'delivery']) AS parent,
        generate_series($1::date, $1::date + 2, '1 day') AS day
    WHERE (parent, day::date) NOT IN (SELECT parent, day FROM harvestman.day_partition) ORDER BY day, parent";
/// Partitions without jobs. Yesterday's may still get one: the clocks of nodes, which make the ids, may differ.
const EMPTY: &str = "SELECT name FROM harvestman.day_partition WHERE day < $1::date - 1 AND NOT EXISTS
    (SELECT FROM harvestman.job WHERE id >= harvestman.first_id(day) AND id < harvestman.first_id(day + 1))";

/// Adds the missing partitions and drops the empty ones, each in a transaction of its own. A change that another
/// transaction blocks is left for the next call.
pub(super) async fn maintain(pool: &Pool, now: Timestamp) -> Result<(), StoreError> {
    let connection = pool.connection().await?;
    let today = day(&connection, now).await?;
    let missing = query(MISSING).bind(today.as_str()).fetch_all(&connection).await?;
    let empty = query(EMPTY).bind(today.as_str()).fetch_all(&connection).await?;
    let additions = missing.iter().map(|row| {
        let (parent, day): (&str, &str) = (row.get("parent"), row.get("day"));
        format!("SELECT harvestman.add_partition('{parent}', '{day}')")
    });
    let drops = empty
        .iter()
        .map(|row| format!("DROP TABLE harvestman.{}", row.get::<_, &str>("name")));
    for change in additions.chain(drops) {
        if let Err(error) = connection.batch_execute(&format!("{SHORT_LOCK}; {change}")).await {
            tracing::debug!(%error, "cannot change a partition; retrying later");
        }
    }
    Ok(())
}

/// Returns the day (UTC) of the database's time.
async fn day(client: &Client, now: Timestamp) -> Result<String, StoreError> {
    let row =
        query("SELECT (to_timestamp(harvestman.clock($1) / 1000.0) AT TIME ZONE 'UTC')::date::text AS today")
            .bind(now)
            .fetch_one(client)
            .await?;
    Ok(row.get("today"))
}
