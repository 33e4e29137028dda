//! The PostgreSQL implementation, for one or many nodes on one database. Deadlines use the database's clock
//! (`harvestman.clock`), locks are taken in one order (job, shard, its rows, receiver, month, day), and every table is in
//! the schema `harvestman`. The schema is in `migrations/`.
//!
//! Start reading at [`commit`]; [`transaction`] is how everything is written, [`query`] how a statement is run.

mod cache;
mod checks;
mod client;
mod commit;
mod connect;
mod credits;
mod database;
pub(crate) mod encryption;
mod events;
mod import;
mod jobs;
mod leases;
mod migrate;
mod nodes;
mod partitions;
mod query;
mod rows;
mod search;
mod shares;
mod signals;
mod snapshot;
mod transaction;
mod words;
mod zero_retention;

pub use shares::SharedLimits;

use std::sync::Arc;

use harvestman_core::time::Timestamp;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::{DatabaseUrl, StoreConfig};
use crate::error::StoreError;
use crate::health::WriteHealth;
use crate::key_uses::KeyUses;
use crate::lifecycle::Lifecycle;
use crate::limits;
use crate::new_id::new_id;
use crate::postgres::cache::Cache;
use crate::postgres::connect::Pool;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::sql::{expiry, transact};

/// An open database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    /// Identifies this process among the nodes of the database.
    node: Uuid,
    /// Whether this process is a node, or only reads and changes the data.
    is_node: bool,
    reports: Arc<nodes::Reports>,
    cache: Cache,
    health: WriteHealth,
    /// When `last_used_at` of each key was last written.
    key_uses: KeyUses,
    stop: CancellationToken,
    /// Reports this node until `stop` is cancelled.
    reporting: Mutex<Option<JoinHandle<()>>>,
}

/// Returns the version of a PostgreSQL server and that of the schema in the database, without changing it; no schema
/// version if the database is empty.
///
/// # Errors
/// [`StoreError::Setup`] if a server could not start on the database.
pub async fn postgres_versions(url: &DatabaseUrl) -> Result<(String, Option<u64>), StoreError> {
    let connection = Pool::connect(url.as_str()).await?.connection().await?;
    let row = query("SELECT current_setting('server_version') AS name");
    let server = row.fetch_one(&connection).await?.text("name")?;
    Ok((server, migrate::usable_version(&connection).await?))
}

impl Postgres {
    pub(crate) fn node(&self) -> Uuid {
        self.node
    }

    pub(crate) fn reports(&self) -> &nodes::Reports {
        &self.reports
    }

    /// Connects, upgrades the schema, and registers this process as a node if it is one.
    pub(crate) async fn open(url: &str, config: &StoreConfig) -> Result<Self, StoreError> {
        let pool = Pool::connect(url).await?;
        migrate::migrate(&pool).await?;
        partitions::maintain(&pool, Timestamp(0)).await?;
        let node = new_id();
        let stop = CancellationToken::new();
        let reports = Arc::new(nodes::Reports::default());
        let mut reporting = None;
        if let Some(report) = &config.node {
            let this = nodes::Node::new(node, report, reports.clone())?;
            this.register(&pool).await?;
            reporting = Some(tokio::spawn(this.keep_alive(pool.clone(), stop.clone())));
        }
        Ok(Self {
            is_node: config.node.is_some(),
            reports,
            cache: Cache::start(pool.clone(), config.cache_bytes),
            pool,
            node,
            health: WriteHealth::default(),
            key_uses: KeyUses::default(),
            stop,
            reporting: Mutex::new(reporting),
        })
    }
}

impl Lifecycle for Postgres {
    /// Also frees at once what this node holds.
    async fn close(&self) -> Result<(), StoreError> {
        if self.pool.is_closed() {
            return Ok(());
        }
        self.stop.cancel();
        self.cache.flush().await;
        // A report that is under way would add the node again after it has left.
        let reporting = self.reporting.lock().take();
        if let Some(reporting) = reporting {
            let _ = timeout(limits::LAST_REPORT_TIME, reporting).await;
        }
        let left = match self.is_node {
            true => nodes::leave(&self.pool, self.node).await,
            false => Ok(()),
        };
        self.pool.close();
        left
    }

    /// If the last write failed, also writes.
    async fn ping(&self) -> Result<(), StoreError> {
        self.cache.flush().await;
        query("SELECT 1").execute(&self.pool.connection().await?).await?;
        if self.health.is_failing() {
            transact!(self, |transaction| { nodes::touch(transaction).await })?;
        }
        Ok(())
    }

    async fn database_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        query("SELECT harvestman.clock($1) AS now")
            .bind(now)
            .fetch_one(&self.pool.connection().await?)
            .await?
            .time("now")
    }

    async fn expire(&self, now: Timestamp) -> Result<u64, StoreError> {
        partitions::maintain(&self.pool, now).await?;
        expiry::expire(self, now).await
    }
}
