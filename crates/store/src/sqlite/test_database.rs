//! A database in memory, for tests of single statements.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Row, query};

use crate::sqlite::migrate::{MIGRATIONS, migrate};

/// Returns a connection to a new database without rows.
pub(crate) async fn empty() -> SqliteConnection {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    migrate(&mut connection, Path::new(":memory:"), MIGRATIONS)
        .await
        .unwrap();
    connection
}

/// Returns the steps in which SQLite executes a statement.
pub(crate) async fn plan(connection: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let steps = query(AssertSqlSafe(explain)).fetch_all(connection).await;
    steps.unwrap().iter().map(|step| step.get("detail")).collect()
}
