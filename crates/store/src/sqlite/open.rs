//! Opening the database: lock the folder, inspect the file, upgrade the schema, and clean up after the last
//! server.

use std::path::Path;
use std::sync::Arc;

use sqlx::ConnectOptions;
use sqlx::query;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};

use harvestman_core::api::error::ApiError;

use crate::clock::clock;
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::key_uses::KeyUses;
use crate::limits;
use crate::sqlite::cache::Cache;
use crate::sqlite::folder::Folder;
use crate::sqlite::migrate::{self, MIGRATIONS};
use crate::sqlite::writer::Writer;
use crate::sqlite::{Sqlite, index, inspect, sessions};
use crate::value::int;

impl Sqlite {
    pub(crate) async fn open(config: &StoreConfig) -> Result<Self, StoreError> {
        let mut folder = Folder::lock(&config.data_dir)?;
        let path = folder.database();
        if path.exists() {
            let version = inspect::inspect(&path, folder.after_crash()).await?;
            migrate::check_version(&path, version, MIGRATIONS)?;
            let log = folder.log();
            if folder.after_crash() && !log.exists() {
                tracing::warn!(path = %log.display(), "the last server did not stop cleanly and its log is missing: if it was deleted, the latest changes are lost");
            }
        }
        folder.mark_running()?;
        folder.make_private()?;
        let mut connection = writer_options(&path).connect().await?;
        migrate::migrate(&mut connection, &path, MIGRATIONS).await?;
        recover(&mut connection).await?;
        folder.record_files();
        let readers = SqlitePoolOptions::new()
            .max_connections(config.readers.max(1))
            .acquire_timeout(limits::READER_TIMEOUT)
            .test_before_acquire(false)
            .connect_with(reader_options(&path))
            .await?;
        Ok(Self {
            writer: Arc::new(Writer::start(connection, folder)),
            readers,
            cache: Cache::new(config.cache_bytes),
            index: Arc::default(),
            key_uses: KeyUses::default(),
        })
    }
}

fn writer_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(limits::BUSY_TIMEOUT)
        // Deleted content must not stay readable in the file.
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", limits::JOURNAL_BYTES.to_string())
        .pragma("cache_size", format!("-{}", limits::WRITER_CACHE_KIB))
}

fn reader_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(limits::BUSY_TIMEOUT)
}

/// Releases everything that the last server held. No other server can hold anything: the folder is locked.
async fn recover(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    query("UPDATE shard SET lease_until = 0 WHERE active = 1 AND lease_until > 0")
        .execute(&mut *connection)
        .await?;
    query("UPDATE receiver SET lease_until = 0 WHERE due_at IS NOT NULL")
        .execute(&mut *connection)
        .await?;
    query("UPDATE monitor_check SET lease_until = 0 WHERE lease_until > 0")
        .execute(&mut *connection)
        .await?;
    let error =
        ApiError::internal("The server stopped before this scrape was finished. Send the request again.");
    let now = clock();
    query(
        "UPDATE job SET status = 'failed', admitted = 0, error = ?1, answer_status = ?2, answer_body = ?3,
            completed_at = ?4, expires_at = ?4 + retention_ms
         WHERE kind IN ('scrape', 'parse') AND status = 'scraping'",
    )
    .bind(error.message.clone())
    .bind(error.status())
    .bind(error.body().to_string())
    .bind(int(now.0))
    .execute(&mut *connection)
    .await?;
    index::recover(connection).await?;
    sessions::end_all_live(connection).await
}
