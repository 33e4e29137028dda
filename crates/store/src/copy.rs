//! Copies the data of an embedded database into an empty PostgreSQL database. Both have the same tables, apart from what
//! belongs to one running process.

use std::path::Path;

use crate::config::{DATABASE_FILE, DatabaseUrl, StoreConfig};
use crate::error::StoreError;
use crate::lifecycle::Lifecycle;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;

/// Copies the database of a data folder that no server uses into an empty PostgreSQL database, in one transaction.
/// Returns the number of rows of each table. The folder keeps its data.
///
/// # Errors
/// Any error of opening either database; [`StoreError::Setup`] if the folder has no database, or the PostgreSQL
/// database has data or a running server.
pub async fn copy_to_postgres(
    data_dir: &Path,
    url: &DatabaseUrl,
) -> Result<Vec<(&'static str, u64)>, StoreError> {
    if !data_dir.join(DATABASE_FILE).exists() {
        return Err(StoreError::Setup(format!(
            "{} has no database: name the data folder of the server with --data-dir",
            data_dir.display()
        )));
    }
    let config = StoreConfig {
        node: None,
        ..StoreConfig::new(data_dir)
    };
    let target = Postgres::open(url.as_str(), &config).await?;
    let source = Sqlite::open(&config).await?;
    let copied = target.import(&source).await;
    source.close().await?;
    target.close().await?;
    copied
}
