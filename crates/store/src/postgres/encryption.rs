//! Encryption of a whole database, by the node that starts first with a key.

use std::sync::Arc;

use harvestman_core::time::Timestamp;

use crate::cipher::Cipher;
use crate::encryption::{DiscardedSecrets, Encryption, Lost};
use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::connect::Pool;
use crate::postgres::nodes::is_served;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::secret_key::KeyRing;
use crate::sql::encryption::encrypt;
use crate::sql::transact;

/// Lets one node encrypt while the others wait for it.
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '60s';
    SELECT pg_advisory_xact_lock(5210194012303)";

impl Encryption for Postgres {
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError> {
        if is_recorded(&self.pool.connection().await?, &keys).await? {
            return Ok(());
        }
        transact!(self, |transaction| {
            transaction.unlimited().batch_execute(LOCK).await?;
            match is_recorded(transaction, &keys).await? {
                true => Ok(()),
                false => encrypt(transaction, &keys, &mut Lost::Keep).await,
            }
        })
    }

    async fn discard_lost(&self, keys: Arc<KeyRing>, now: Timestamp) -> Result<DiscardedSecrets, StoreError> {
        transact!(self, now, |transaction, now| {
            transaction.unlimited().batch_execute(LOCK).await?;
            if is_served(transaction).await? {
                return Err(StoreError::Setup(
                    "a server uses the PostgreSQL database: stop it first".to_owned(),
                ));
            }
            let mut lost = Lost::discard(now);
            encrypt(transaction, &keys, &mut lost).await?;
            Ok(lost.discarded())
        })
    }
}

/// Returns the id of the key of a database; `None` if it records none.
pub(crate) async fn recorded_key(url: &str) -> Result<Option<String>, StoreError> {
    let connection = Pool::connect(url).await?.connection().await?;
    let there = query("SELECT to_regclass('harvestman.secret_key') IS NOT NULL AS there")
        .fetch_one(&connection)
        .await?;
    match there.flag("there")? {
        true => recorded(&connection).await,
        false => Ok(None),
    }
}

async fn recorded(client: &Client) -> Result<Option<String>, StoreError> {
    let row = query("SELECT id FROM harvestman.secret_key")
        .fetch_optional(client)
        .await?;
    row.map(|row| row.text("id")).transpose()
}

/// Returns whether the database records this key.
async fn is_recorded(client: &Client, keys: &KeyRing) -> Result<bool, StoreError> {
    Ok(recorded(client).await?.as_deref() == keys.current.as_ref().map(Cipher::id))
}
