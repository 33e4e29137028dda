//! Schema versions. Migrations only go forward, and keep the previous version of the server working: a migration that
//! removes something comes one version after the migration that added its replacement. One node applies them, in one
//! transaction.

use crate::error::StoreError;
use crate::postgres::client::Client;
use crate::postgres::connect::Pool;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::value::params;

/// The migration at index n upgrades the schema from version n to n + 1.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_node_reports.sql"),
    include_str!("migrations/0003_page_duration.sql"),
    include_str!("migrations/0004_session_files.sql"),
    include_str!("migrations/0005_shared_limits.sql"),
    include_str!("migrations/0006_agent_threads.sql"),
    include_str!("migrations/0007_partitions.sql"),
    include_str!("migrations/0008_day_usage.sql"),
    include_str!("migrations/0009_waiting_urls.sql"),
    include_str!("migrations/0010_driven_jobs.sql"),
    include_str!("migrations/0011_secret_key.sql"),
    include_str!("migrations/0012_clock_steps.sql"),
];
/// The oldest schema version whose server can run on the newest schema: earlier ones cannot decrypt.
const OLDEST_COMPATIBLE: u64 = 11;

const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '20s'; SELECT pg_advisory_xact_lock(5210194012301)";
const MAY_NOT_CREATE: &str = "the database user may not create the schema `harvestman`: grant CREATE on the database, or create the \
    schema with this user as owner";
/// `CREATE SCHEMA IF NOT EXISTS` needs the right to create schemas even if there is one.
const CREATE: &str = "DO $$ BEGIN
        IF to_regnamespace('harvestman') IS NULL THEN CREATE SCHEMA harvestman; END IF;
    END $$;
    CREATE TABLE IF NOT EXISTS harvestman.schema_version (version bigint NOT NULL, oldest bigint NOT NULL)";

/// Upgrades the schema if it is older than this program.
pub(crate) async fn migrate(pool: &Pool) -> Result<(), StoreError> {
    let supported = MIGRATIONS.len() as u64;
    let transaction = Transaction::on(pool).await?;
    if check(read_version(&transaction).await?)? >= supported {
        transaction.ended();
        return Ok(());
    }
    transaction.unlimited().batch_execute(BEGIN).await?;
    // Another node may have upgraded it meanwhile.
    let found = check(read_version(&transaction).await?)?;
    if found < supported {
        if found == 0 {
            transaction
                .unlimited()
                .batch_execute(CREATE)
                .await
                .map_err(|error| match error.code() {
                    Some(code) if code.code() == "42501" => StoreError::Setup(MAY_NOT_CREATE.to_owned()),
                    _ => error.into(),
                })?;
        }
        for migration in MIGRATIONS
            .iter()
            .skip(usize::try_from(found).unwrap_or(usize::MAX))
        {
            transaction.unlimited().batch_execute(migration).await?;
        }
        query("DELETE FROM harvestman.schema_version")
            .execute(&transaction)
            .await?;
        query("INSERT INTO harvestman.schema_version (version, oldest) VALUES ($1, $2)")
            .bind_all(params![supported, OLDEST_COMPATIBLE])
            .execute(&transaction)
            .await?;
        tracing::info!(
            from = found,
            to = supported,
            "upgraded the schema of the database"
        );
    }
    transaction.end().await
}

/// Returns the version of the schema if this program can run on it; `None` if there is none and it can be created.
pub(crate) async fn usable_version(client: &Client) -> Result<Option<u64>, StoreError> {
    let version = read_version(client).await?;
    if version.is_some() {
        return check(version).map(Some);
    }
    let row = query(
        "SELECT CASE WHEN to_regnamespace('harvestman') IS NULL
            THEN has_database_privilege(current_database(), 'CREATE')
            ELSE has_schema_privilege('harvestman', 'CREATE') END AS allowed",
    );
    match row.fetch_one(client).await?.get("allowed") {
        true => Ok(None),
        false => Err(StoreError::Setup(MAY_NOT_CREATE.to_owned())),
    }
}

/// Returns version and oldest compatible version; `None` without a schema.
async fn read_version(client: &Client) -> Result<Option<(u64, u64)>, StoreError> {
    let there = query(
        "SELECT to_regclass('harvestman.schema_version') IS NOT NULL AS there,
            EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'harvestman') AS used",
    )
    .fetch_one(client)
    .await?;
    match (there.get("there"), there.get("used")) {
        (false, false) => Ok(None),
        (false, true) => Err(StoreError::Setup(
            "the schema `harvestman` belongs to another program: use another database".to_owned(),
        )),
        _ => {
            let row = query("SELECT version, oldest FROM harvestman.schema_version")
                .fetch_optional(client)
                .await?;
            row.map(|row| Ok((row.count("version")?, row.count("oldest")?)))
                .transpose()
        }
    }
}

/// Returns the version if this program can run on the schema.
fn check(version: Option<(u64, u64)>) -> Result<u64, StoreError> {
    let supported = MIGRATIONS.len() as u64;
    match version {
        Some((found, oldest)) if oldest > supported => Err(StoreError::Setup(format!(
            "the database has schema version {found}, but this server supports versions up to {supported}: start \
             the newer server, or use another database"
        ))),
        version => Ok(version.map_or(0, |(found, _)| found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_this_version_cannot_run_on_is_refused() {
        assert_eq!(check(None), Ok(0));
        assert_eq!(check(Some((1, 1))), Ok(1));
        let next = MIGRATIONS.len() as u64 + 1;
        assert_eq!(check(Some((next, 1))), Ok(next));
        let error = check(Some((next, next))).unwrap_err().to_string();
        assert!(error.contains("start the newer server"), "{error}");
    }
}
