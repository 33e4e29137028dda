//! Encryption of a whole database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use harvestman_core::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use crate::cipher::Cipher;
use crate::encryption::{DiscardedSecrets, Encryption, Lost};
use crate::error::StoreError;
use crate::limits;
use crate::secret_key::KeyRing;
use crate::sql::encryption::encrypt;
use crate::sql::transact;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;

impl Encryption for Sqlite {
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError> {
        let changed = transact!(self, |connection| {
            let renews = !is_recorded(connection, &keys).await?;
            if renews {
                encrypt(connection, &keys, &mut Lost::Keep).await?;
            }
            Ok(renews)
        })?;
        if changed {
            // What was replaced must not stay in the log.
            self.writer.checkpoint.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn discard_lost(&self, keys: Arc<KeyRing>, now: Timestamp) -> Result<DiscardedSecrets, StoreError> {
        let discarded = transact!(self, |connection| {
            let mut lost = Lost::discard(now);
            encrypt(connection, &keys, &mut lost).await?;
            Ok(lost.discarded())
        })?;
        self.writer.checkpoint.store(true, Ordering::Relaxed);
        Ok(discarded)
    }
}

/// Returns the id of the key of a database file; `None` if there is no file, or it records no key.
pub(crate) async fn recorded_key(path: &Path) -> Result<Option<String>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(limits::BUSY_TIMEOUT);
    let mut connection = options.connect().await?;
    let is_older = query("SELECT 1 FROM sqlite_schema WHERE name = 'secret_key'")
        .fetch_optional(&mut connection)
        .await?
        .is_none();
    let recorded = match is_older {
        true => None,
        false => {
            query("SELECT id FROM secret_key")
                .fetch_optional(&mut connection)
                .await?
        }
    };
    connection.close().await?;
    recorded.map(|row| row.text("id")).transpose()
}

/// Returns whether the database records this key.
async fn is_recorded(connection: &mut SqliteConnection, keys: &KeyRing) -> Result<bool, StoreError> {
    let recorded = query("SELECT id FROM secret_key")
        .fetch_optional(connection)
        .await?;
    let recorded = recorded.map(|row| row.text("id")).transpose()?;
    Ok(recorded.as_deref() == keys.current.as_ref().map(Cipher::id))
}
