//! Schema versions. Migrations only go forward; all missing ones run in one transaction, after the file was
//! copied.

use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, query, query_scalar, raw_sql};

use crate::error::StoreError;

/// Identifies our files, in the SQLite header.
pub(crate) const APPLICATION_ID: i64 = 0x4852_564D;

/// The migration at index n upgrades the schema from version n to n + 1.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_keys.sql"),
    include_str!("migrations/0003_failed_pages.sql"),
    include_str!("migrations/0004_zero_retention.sql"),
    include_str!("migrations/0009_receivers.sql"),
    include_str!("migrations/0011_page_versions.sql"),
    include_str!("migrations/0006_page_cache.sql"),
    include_str!("migrations/0012_file.sql"),
    include_str!("migrations/0013_session.sql"),
    include_str!("migrations/0015_teams.sql"),
    include_str!("migrations/0014_usage.sql"),
    include_str!("migrations/0016_page_text.sql"),
    include_str!("migrations/0017_answers.sql"),
    include_str!("migrations/0019_call_end.sql"),
    include_str!("migrations/0018_found_on.sql"),
    include_str!("migrations/0020_monitors.sql"),
    include_str!("migrations/0021_feedback.sql"),
    include_str!("migrations/0022_page_duration.sql"),
    include_str!("migrations/0023_session_files.sql"),
    include_str!("migrations/0024_agent_threads.sql"),
    include_str!("migrations/0025_day_usage.sql"),
    include_str!("migrations/0026_page_text_hash.sql"),
    include_str!("migrations/0027_driven_jobs.sql"),
    include_str!("migrations/0028_page_text_waiting.sql"),
    include_str!("migrations/0029_secret_key.sql"),
    include_str!("migrations/0030_clock_steps.sql"),
];

/// Fails when a newer server has written the file.
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

/// Upgrades the schema. An existing older file is first copied to `<name>.v<version>`.
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
    write_version(connection, migrations).await
}

/// Writes the schema version into the file's header.
pub(crate) async fn write_version(
    connection: &mut SqliteConnection,
    migrations: &[&str],
) -> Result<(), StoreError> {
    // A pragma takes no bind parameters; the number is a constant of ours.
    let version = format!("PRAGMA user_version = {}", version_of(migrations));
    raw_sql(AssertSqlSafe(version)).execute(&mut *connection).await?;
    Ok(())
}

fn version_of(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

/// Copies the file to its own folder. The copy gets its final name only when it is complete.
async fn copy_file(path: &Path, version: u32) -> Result<PathBuf, StoreError> {
    let name = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let (part, copy) = (name(format!(".v{version}.part")), name(format!(".v{version}")));
    let failed = |error: std::io::Error| {
        StoreError::io(
            &format!(
                "cannot copy the database to {} before the upgrade",
                copy.display()
            ),
            &error,
        )
    };
    tokio::fs::copy(path, &part).await.map_err(failed)?;
    let file = tokio::fs::File::open(&part).await.map_err(failed)?;
    file.sync_all().await.map_err(failed)?;
    tokio::fs::rename(&part, &copy).await.map_err(failed)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;
    use sqlx::Connection;
    use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};

    use super::*;

    const ONE: &[&str] = &["CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1)"];
    const TWO: &[&str] = &[
        ONE[0],
        "CREATE TABLE b (n INTEGER); INSERT INTO b SELECT n + 1 FROM a",
    ];
    const BROKEN: &[&str] = &[
        ONE[0],
        "CREATE TABLE b (n INTEGER)",
        "INSERT INTO missing VALUES (1)",
    ];

    async fn connect(path: &Path) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        options.connect().await.unwrap()
    }

    async fn number(connection: &mut SqliteConnection, sql: &'static str) -> i64 {
        query_scalar(sql).fetch_one(connection).await.unwrap()
    }

    /// Creates a separate folder for each test.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("harvestman-migrate-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[tokio::test]
    async fn an_older_file_is_copied_and_upgraded() {
        let folder = folder("older");
        let path = folder.join("test.db");
        let mut connection = connect(&path).await;
        migrate(&mut connection, &path, ONE).await.unwrap();
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().filter(is_copy).count(),
            0,
            "nothing to copy"
        );
        query("INSERT INTO a VALUES (7)")
            .execute(&mut connection)
            .await
            .unwrap();
        migrate(&mut connection, &path, TWO).await.unwrap();
        migrate(&mut connection, &path, TWO).await.unwrap();
        assert_eq!(number(&mut connection, "PRAGMA user_version").await, 2);
        assert_eq!(number(&mut connection, "SELECT sum(n) FROM b").await, 10);
        connection.close().await.unwrap();

        let mut copy = connect(&folder.join("test.db.v1")).await;
        assert_eq!(number(&mut copy, "PRAGMA user_version").await, 1);
        assert_eq!(
            number(&mut copy, "SELECT sum(n) FROM a").await,
            8,
            "the copy holds what was in the log"
        );
        copy.close().await.unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }

    fn is_copy(entry: &std::io::Result<std::fs::DirEntry>) -> bool {
        entry
            .as_ref()
            .is_ok_and(|entry| entry.file_name().to_string_lossy().contains(".v"))
    }

    #[tokio::test]
    async fn a_failed_upgrade_changes_nothing() {
        let folder = folder("broken");
        let path = folder.join("test.db");
        let mut connection = connect(&path).await;
        migrate(&mut connection, &path, ONE).await.unwrap();
        assert!(migrate(&mut connection, &path, BROKEN).await.is_err());
        assert_eq!(number(&mut connection, "PRAGMA user_version").await, 1);
        assert_eq!(
            number(&mut connection, "SELECT count(*) FROM sqlite_schema").await,
            1
        );
        migrate(&mut connection, &path, TWO).await.unwrap();
        assert_eq!(number(&mut connection, "PRAGMA user_version").await, 2);
        connection.close().await.unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
