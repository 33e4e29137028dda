//! [`Store`], the handle that the rest of the server holds. Its methods are declared in families, each next to its
//! types: `team.rs`, `job.rs`, `lease.rs` and so on.

use std::sync::Arc;

use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::job::{CreateOutcome, Idempotency, NewJob};
use crate::postgres::Postgres;
use crate::postgres::SharedLimits;
use crate::secrets::Secrets;
use crate::sqlite::Sqlite;

/// The durable state of the server. Cheap to clone. Methods that take a job id without a team expect that the
/// caller has checked with [`Store::job`] that the team owns the job.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) engine: Engine,
    pub(crate) secrets: Secrets,
}

/// The engine that holds the data, chosen when the store is opened.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Sqlite(Arc<Sqlite>),
    Postgres(Arc<Postgres>),
}

impl Store {
    /// Opens the database of the configuration.
    pub(crate) async fn open_engine(config: &StoreConfig, secrets: Secrets) -> Result<Store, StoreError> {
        let engine = match &config.database_url {
            None => Engine::Sqlite(Arc::new(Sqlite::open(config).await?)),
            Some(url) => Engine::Postgres(Arc::new(Postgres::open(url.as_str(), config).await?)),
        };
        Ok(Self { engine, secrets })
    }

    /// Returns the id of this process among the nodes of the database; `None` on a store that no other node uses.
    pub fn node(&self) -> Option<Uuid> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.node()),
        }
    }

    /// Returns the limits that all nodes share; `None` on a store that no other node uses.
    pub fn shared_limits(&self) -> Option<SharedLimits> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(SharedLimits(postgres.clone())),
        }
    }

    /// Creates a crawl or an extract, like [`Self::create_batch`].
    pub async fn create_crawl(
        &self,
        job: &NewJob,
        idempotency: Option<&Idempotency>,
    ) -> Result<CreateOutcome, StoreError> {
        self.create_batch(job, Vec::new(), idempotency).await
    }

    /// Returns whether another process may be able to read a request that this one cannot: a part of it is encrypted with a
    /// key that this process does not have, or another version of the server stored it.
    pub fn may_be_readable_elsewhere(&self, request: &str) -> bool {
        match self.secrets.open_request(request) {
            Ok(request) => self.is_shared() && serde_json::from_str::<IgnoredAny>(&request).is_ok(),
            Err(error) => error == StoreError::UnknownKey,
        }
    }

    /// Returns whether other nodes may work on the same jobs.
    pub fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }
}
