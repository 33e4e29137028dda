//! [`Store`], the handle that the rest of the server holds. Its methods are declared in families, each next to its
//! types: `team.rs`, `job.rs`, `lease.rs` and so on.

use std::sync::Arc;

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::sqlite::Sqlite;

/// The durable state of the server. Cheap to clone. Methods that take a job id without a team expect that the
/// caller has checked with [`Store::job`] that the team owns the job.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) engine: Engine,
}

/// The engine that holds the data, chosen when the store is opened.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Sqlite(Arc<Sqlite>),
}

impl Store {
    /// Opens the database in a data folder, and creates or upgrades it when needed. Afterwards, shards of a
    /// stopped server can be leased at once, and its browser sessions are ended at their last use.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], [`StoreError::Damaged`] (the file is left untouched),
    /// [`StoreError::NewerSchema`], [`StoreError::ForeignFile`].
    pub async fn open(config: &StoreConfig) -> Result<Store, StoreError> {
        let sqlite = Sqlite::open(config).await?;
        Ok(Self {
            engine: Engine::Sqlite(Arc::new(sqlite)),
        })
    }
}
