//! Schema versions. Migrations only go forward, all that are missing in one transaction, after a
//! copy of the file.

use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, query, query_scalar, raw_sql};

use crate::error::StoreError;

/// Says in the file's header that it is ours.
pub(crate) const APPLICATION_ID: i64 = 0x4852_564D;

/// Each brings the schema from its index to the next version.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_keys.sql"),
];

/// Refuses a file that a newer server has written.
pub(crate) fn check_version(path: &Path, found: u32, migrations: &[&str]) -> Result<(), StoreError> {
    let supported = version_of(migrations);
    if found > supported {
        return Err(StoreError::NewerSchema {
            path: path.to_owned(),
            found,
            supported,
        });
    }
    Ok(())
}

/// Brings the schema up to date. An existing older file is copied to `<name>.v<version>` first.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &'static [&'static str],
) -> Result<(), StoreError> {
    let found: u32 = query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await?;
    check_version(path, found, migrations)?;
    let supported = version_of(migrations);
    if found == supported {
        return Ok(());
    }
    if found > 0 {
        // The log must be in the file before the file is copied.
        query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut *connection)
            .await?;
        let copy = copy_file(path, found).await?;
        tracing::info!(from = found, to = supported, copy = %copy.display(), "upgrading the database");
    }
    query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let outcome = apply(connection, found, migrations).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    query(end).execute(&mut *connection).await?;
    outcome
}

async fn apply(
    connection: &mut SqliteConnection,
    found: u32,
    migrations: &'static [&'static str],
) -> Result<(), StoreError> {
    for migration in &migrations[found as usize..] {
        raw_sql(*migration).execute(&mut *connection).await?;
    }
    // A pragma takes no parameters; the number is ours.
    let version = format!("PRAGMA user_version = {}", version_of(migrations));
    raw_sql(AssertSqlSafe(version)).execute(&mut *connection).await?;
    Ok(())
}

fn version_of(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

/// Copies the file beside itself; a copy has its final name only when it is whole.
async fn copy_file(path: &Path, version: u32) -> Result<PathBuf, StoreError> {
    let name = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let (part, copy) = (name(format!(".v{version}.part")), name(format!(".v{version}")));
    let failed = |error: std::io::Error| {
        StoreError::io(
            &format!("copying the database to {} before the upgrade", copy.display()),
            &error,
        )
    };
    tokio::fs::copy(path, &part).await.map_err(failed)?;
    let file = tokio::fs::File::open(&part).await.map_err(failed)?;
    file.sync_all().await.map_err(failed)?;
    tokio::fs::rename(&part, &copy).await.map_err(failed)?;
    Ok(copy)
}
