//! Opens a store with the key of its secrets. What another key encrypted, or none, is encrypted with the current one before
//! the store is used.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::clock::clock;
use crate::config::StoreConfig;
use crate::encryption::{DiscardedSecrets, Encryption};
use crate::error::StoreError;
use crate::secret_key::{KeyRing, SECRET_KEY, create_file, key_file};
use crate::secrets::Secrets;
use crate::store::{Engine, Store};

impl Store {
    /// Opens the database and creates or upgrades its schema when needed: the PostgreSQL database of the
    /// configuration, which other nodes may use too, else the file in the data folder. Once the file is open, shards
    /// of a stopped server can be leased at once, and its browser sessions are ended at their last use. On
    /// PostgreSQL, the same happens to a node that has not reported itself for some seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], [`StoreError::Damaged`] (the file is left untouched),
    /// [`StoreError::NewerSchema`], [`StoreError::ForeignFile`], [`StoreError::Setup`].
    pub async fn open(config: &StoreConfig) -> Result<Store, StoreError> {
        let Some(report) = &config.node else {
            return Store::open_engine(config, Secrets::default()).await;
        };
        let path = key_file(config);
        if config.database_url.is_some() {
            let keys = KeyRing::collect(config)?;
            let mut report = report.clone();
            report
                .settings
                .insert(SECRET_KEY.to_owned(), keys.name().to_owned());
            let config = StoreConfig {
                node: Some(report),
                ..config.clone()
            };
            if keys.current.is_none() {
                tracing::warn!(
                    "webhook secrets, request headers and browser profiles are stored unencrypted: set `secret_key` \
                     (HARVESTMAN_SECRET_KEY) to the same value on every server of the database"
                );
            }
            let store = Store::open_engine(&config, Secrets::new(keys.clone())).await?;
            return with_keys(store, keys, &path).await;
        }
        let mut store = Store::open_engine(config, Secrets::default()).await?;
        let (keys, is_new) = match folder_keys(config) {
            Ok(collected) => collected,
            Err(error) => {
                store.close().await?;
                return Err(error);
            }
        };
        store.secrets = Secrets::new(keys.clone());
        let opened = with_keys(store, keys, &path).await;
        if is_new && matches!(opened, Err(StoreError::Setup(_))) {
            // Nothing was encrypted with it, and it must not be mistaken for the key that is missing.
            let _ = fs::remove_file(&path);
        }
        opened
    }

    /// Discards every stored secret that cannot be decrypted with the keys of the configuration, and encrypts the others
    /// with the current key, in one transaction: then a server with these keys starts. Unfinished jobs fail and active
    /// monitors are paused if a part of their requests was discarded.
    ///
    /// # Errors
    /// As for [`Store::open`]; [`StoreError::Setup`] if a server uses the PostgreSQL database.
    pub async fn discard_lost_secrets(config: &StoreConfig) -> Result<DiscardedSecrets, StoreError> {
        let config = StoreConfig {
            node: None,
            ..config.clone()
        };
        let store = Store::open_engine(&config, Secrets::default()).await?;
        let discarded = store.discard_lost(&config).await;
        store.close().await?;
        discarded
    }

    async fn discard_lost(&self, config: &StoreConfig) -> Result<DiscardedSecrets, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => {
                let (keys, _) = folder_keys(config)?;
                sqlite.discard_lost(Arc::new(keys), clock()).await
            }
            Engine::Postgres(postgres) => {
                let keys = KeyRing::collect(config)?;
                postgres.discard_lost(Arc::new(keys), clock()).await
            }
        }
    }
}

/// Collects the keys for an embedded database, and creates a file with one if there is none. Only the process that holds
/// the lock of the folder may do so. Also returns whether the file was created.
fn folder_keys(config: &StoreConfig) -> Result<(KeyRing, bool), StoreError> {
    let keys = KeyRing::collect(config)?;
    if keys.current.is_some() {
        return Ok((keys, false));
    }
    let key = create_file(&key_file(config))?;
    Ok((keys.with_current(&key)?, true))
}

async fn with_keys(store: Store, keys: KeyRing, file: &Path) -> Result<Store, StoreError> {
    let keys = Arc::new(keys);
    let adopted = match &store.engine {
        Engine::Sqlite(sqlite) => sqlite.adopt(keys).await,
        Engine::Postgres(postgres) => postgres.adopt(keys).await,
    };
    match adopted {
        Ok(()) => Ok(store),
        Err(error) => {
            store.close().await?;
            Err(match error {
                StoreError::UnknownKey => StoreError::Setup(format!(
                    "the secrets in this database are encrypted with a key that this server does not have: set \
                     `secret_key` (HARVESTMAN_SECRET_KEY) to it, or put the key file back at {}; if the key was changed, set \
                     `previous_secret_key` (HARVESTMAN_PREVIOUS_SECRET_KEY) to the earlier one; if it is lost, `harvestman \
                     discard-secrets` deletes them. Nothing was changed",
                    file.display()
                )),
                StoreError::Unreadable(value) => StoreError::Setup(format!(
                    "a secret in this database is damaged and cannot be encrypted with the new key: {value}. Restore \
                     a backup, or delete all damaged secrets with `harvestman discard-secrets`. Nothing was changed"
                )),
                error => error,
            })
        }
    }
}
