//! The store on embedded SQLite: one writer connection owned by one task, several readers.
//!
//! Always WAL with `synchronous=FULL`: what was answered survives a power loss. Never two servers
//! on one file: a lock file guards the data folder for the life of the writer.

mod activity;
mod cache;
mod commit;
mod credits;
mod damage;
mod events;
mod expiry;
mod files;
mod folder;
mod forget;
mod jobs;
mod keys;
mod leases;
mod migrate;
mod open;
mod origins;
mod outbox;
mod profiles;
mod rows;
mod runs;
mod scrapes;
mod search;
mod sessions;
mod snapshot;
mod status;
mod teams;
mod versions;
mod writer;

use std::collections::HashMap;
use std::sync::Mutex;

use sqlx::sqlite::SqlitePool;

use harvestman_core::ids::KeyId;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::sqlite::writer::Writer;

/// An open database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: Writer,
    readers: SqlitePool,
    cache: cache::Cache,
    /// When the use of each key was last written.
    key_uses: Mutex<HashMap<KeyId, Timestamp>>,
}

impl Sqlite {
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        self.writer.close().await
    }

    /// Writes for real while the last write failed, so that an answer says that space is back.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.readers).await?;
        let really = self.writer.in_trouble();
        self.writer
            .run(move |connection| {
                Box::pin(async move {
                    if really {
                        migrate::write_version(connection, migrate::MIGRATIONS).await
                    } else {
                        Ok(())
                    }
                })
            })
            .await
    }
}
