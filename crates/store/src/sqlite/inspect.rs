//! Inspects a database file before anything is written to it. Never changes the file: a damaged one stays as
//! it is, for repair or for a copy.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, query_scalar};

use crate::error::StoreError;
use crate::limits;
use crate::sqlite::migrate;

/// Returns the schema version of an existing file, 0 for an empty one. With `thorough` the whole file is
/// checked.
pub(crate) async fn inspect(path: &Path, thorough: bool) -> Result<u32, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(limits::BUSY_TIMEOUT);
    let with_advice = |error: StoreError| match error {
        StoreError::Damaged(detail) => advice(path, &detail),
        other => other,
    };
    let mut connection = options
        .connect()
        .await
        .map_err(|error| with_advice(error.into()))?;
    let result = check(&mut connection, path, thorough).await.map_err(with_advice);
    connection.close().await?;
    result
}

async fn check(connection: &mut SqliteConnection, path: &Path, thorough: bool) -> Result<u32, StoreError> {
    let version: u32 = query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await?;
    let application: i64 = query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await?;
    let tables: i64 = query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await?;
    if tables > 0 && application != migrate::APPLICATION_ID {
        return Err(StoreError::ForeignFile(path.to_owned()));
    }
    if thorough {
        let reports: Vec<String> = query_scalar("PRAGMA quick_check(3)")
            .fetch_all(&mut *connection)
            .await?;
        if reports.iter().any(|line| line != "ok") {
            return Err(StoreError::Damaged(reports.join("; ")));
        }
    }
    Ok(version)
}

fn advice(path: &Path, detail: &str) -> StoreError {
    StoreError::Damaged(format!(
        "{}: {detail}. Restore a copy of this file, or move it (and the files next to it that begin with its \
         name) away to start with an empty database",
        path.display()
    ))
}
