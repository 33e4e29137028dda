//! Fills a database created by the server with two years of usage and one day of activity for every key in
//! it. `cargo xtask bench usage` measures with this data (docs/BENCHMARKS.md). Never run it on a database
//! that is in use.

#![allow(clippy::expect_used, reason = "a development tool")]

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, query};

/// Months of usage.
const MONTHS: i64 = 24;
const MONTH_MS: i64 = 2_629_746_000;
const DAY_MS: i64 = 24 * 3_600_000;
/// One in this many activities of a key is by an agent.
const RARE: i64 = 2_000;

/// Ten pages per job. Jobs are in order of time, as are their ids, and are assigned to the keys in rotation.
const LEDGER: &str = "
    INSERT INTO ledger (job_id, seq, reason, team_id, key_id, endpoint, credits, at)
    WITH RECURSIVE rows (page) AS (SELECT 0 UNION ALL SELECT page + 1 FROM rows WHERE page + 1 < ?1),
        pages AS (SELECT page, page / 10 AS job, ?2 + ?3 * (page / 10) / (?1 / 10 + 1) AS at FROM rows)
    SELECT unhex(format('%012x70008000%012x', at, job)), page % 10 + 1, 'page', team_id, key_id, 'crawl',
        iif(page % 7 = 0, 5, 1), at
    FROM pages JOIN owner ON owner.no = job % (SELECT count(*) FROM owner)";

const MONTH_USAGE: &str = "
    INSERT INTO month_usage (team_id, month, key_id, credits)
    SELECT team_id, strftime('%Y-%m', at / 1000, 'unixepoch') AS month, key_id, sum(credits) FROM ledger
    GROUP BY team_id, month, key_id";

const ACTIVITY: &str = "
    INSERT INTO activity (job_id, team_id, key_id, endpoint, target, created_at)
    WITH RECURSIVE rows (call) AS (SELECT 0 UNION ALL SELECT call + 1 FROM rows WHERE call + 1 < ?1),
        calls AS (SELECT call, (SELECT count(*) FROM owner) AS owners, ?2 + ?3 * call / ?1 AS at FROM rows)
    SELECT unhex(format('%012x70009000%012x', at, call)), team_id, key_id,
        iif(call / owners % ?4 = ?4 / 2, 'agent', 'scrape'), 'http://site.test/' || call, at
    FROM calls JOIN owner ON owner.no = call % owners";

/// Each activity is a scrape that has ended, with only the columns that the queue figures of a team need.
const JOBS: &str = "
    INSERT INTO job (id, team_id, key_id, kind, url, request, status, page_limit, admitted, completed, retention_ms,
        created_at, completed_at)
    SELECT job_id, team_id, key_id, 'scrape', target, '{}', 'completed', 1, 1, 1, 86400000, created_at, created_at
    FROM activity";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, rows, activity] = arguments.as_slice() else {
        return Err("usage: fill_usage DATABASE LEDGER_ROWS ACTIVITY_ROWS".into());
    };
    let (rows, activity): (i64, i64) = (rows.parse()?, activity.parse()?);
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let mut connection = open(database.into()).await?;
    query("CREATE TEMP TABLE owner (no INTEGER PRIMARY KEY, team_id BLOB, key_id BLOB)")
        .execute(&mut connection)
        .await?;
    query("INSERT INTO owner SELECT row_number() OVER (ORDER BY id) - 1, team_id, id FROM api_key")
        .execute(&mut connection)
        .await?;
    let mut filling = connection.begin().await?;
    let span = MONTHS * MONTH_MS;
    query(LEDGER)
        .bind(rows)
        .bind(now - span)
        .bind(span)
        .execute(&mut *filling)
        .await?;
    query(MONTH_USAGE).execute(&mut *filling).await?;
    query(ACTIVITY)
        .bind(activity)
        .bind(now - DAY_MS)
        .bind(DAY_MS)
        .bind(RARE)
        .execute(&mut *filling)
        .await?;
    query(JOBS).execute(&mut *filling).await?;
    filling.commit().await?;
    connection.close().await?;
    Ok(())
}

async fn open(database: PathBuf) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new()
        .filename(database)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Off)
        .pragma("cache_size", "-262144")
        .connect()
        .await
}
