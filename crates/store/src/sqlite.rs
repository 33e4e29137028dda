//! The SQLite implementation: one writer connection owned by one task ([`writer`]), and several readers.
//!
//! Always WAL with `synchronous=FULL`, so that everything reported as stored survives a power loss. Two
//! servers never share a file: the writer holds a lock file in the data folder. The schema is in
//! `migrations/`.

pub(crate) mod backup;
mod cache;
mod checks;
mod commit;
mod credits;
mod database;
pub(crate) mod encryption;
mod events;
mod export;
pub(crate) mod folder;
mod index;
mod inspect;
mod jobs;
mod leases;
pub(crate) mod migrate;
mod open;
mod prepared;
pub(crate) mod query;
mod rows;
mod scrapes;
mod search;
mod sessions;
mod signals;
mod snapshot;
#[cfg(test)]
pub(crate) mod test_database;
mod versions;
mod writer;
mod zero_retention;

use std::sync::Arc;

use sqlx::sqlite::SqlitePool;

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::key_uses::KeyUses;
use crate::lifecycle::Lifecycle;
use crate::sql::{expiry, transact};
use crate::sqlite::writer::Writer;

/// An open database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: Arc<Writer>,
    readers: SqlitePool,
    cache: cache::Cache,
    index: Arc<index::IndexQueue>,
    /// When `last_used_at` of each key was last written.
    key_uses: KeyUses,
}

impl Lifecycle for Sqlite {
    async fn close(&self) -> Result<(), StoreError> {
        self.index.flush(&self.writer).await;
        self.readers.close().await;
        self.writer.close().await
    }

    /// If the last write failed, also writes, so that success means that there is disk space again.
    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.readers).await?;
        let health = self.writer.health();
        transact!(self, |connection| {
            // Only now, when the writer has recorded the results of earlier writes.
            if health.is_failing() {
                migrate::write_version(connection, migrate::MIGRATIONS).await
            } else {
                Ok(())
            }
        })
    }

    async fn database_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        Ok(now)
    }

    async fn expire(&self, now: Timestamp) -> Result<u64, StoreError> {
        expiry::expire(self, now).await
    }
}
