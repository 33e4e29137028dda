//! Write transactions. Each runs in a task of its own, so that it ends even if its caller goes away. Its time limits
//! are well below a lease: nobody waits long for the locks of a node that is frozen or cut off. If the connection
//! breaks before the response to a COMMIT, the database is asked whether the transaction was committed.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use harvestman_core::time::Timestamp;
use tokio::time::Instant;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::connect::Pool;
use crate::postgres::query::query;
use crate::sql::Work;

pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = '8s'; \
    SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '5s'";
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '20s'; \
    SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// A connection in a transaction. If it is dropped before the end, the connection is closed, which rolls back.
#[derive(Debug)]
pub(crate) struct Transaction {
    pool: Pool,
    connection: Option<Client>,
    /// The id that the database gave it, once begun (`xid8` as text).
    id: OnceLock<String>,
    undone: AtomicBool,
}

impl Transaction {
    /// Takes a connection, on which nothing has begun yet.
    pub(crate) async fn on(pool: &Pool) -> Result<Self, StoreError> {
        Ok(Self {
            pool: pool.clone(),
            connection: Some(pool.connection().await?),
            id: OnceLock::new(),
            undone: AtomicBool::new(false),
        })
    }

    /// Begins a write transaction and returns the database's time.
    pub(crate) async fn begin(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let (begun, row) = futures_util::future::join(
            self.batch_execute(BEGIN),
            query("SELECT harvestman.clock($1) AS now, pg_current_xact_id()::text AS id")
                .bind(now)
                .fetch_one(self),
        )
        .await;
        begun?;
        let row = row?;
        self.id.get_or_init(|| row.get("id"));
        row.time("now")
    }

    /// Makes the transaction end without storing anything, although its work succeeded.
    pub(crate) fn undo(&self) {
        self.undone.store(true, Ordering::Relaxed);
    }

    /// Commits after the work succeeded, and rolls back after it failed.
    pub(crate) async fn finish<T>(self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        match outcome {
            Ok(value) => self.end().await.map(|()| value),
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    /// Commits, unless the work was undone.
    pub(crate) async fn end(self) -> Result<(), StoreError> {
        if self.undone.load(Ordering::Relaxed) {
            self.roll_back().await;
            return Ok(());
        }
        let committed = self.batch_execute("COMMIT").await;
        self.ended_with(committed).await
    }

    /// Ends with the outcome of a COMMIT. If the response was lost, asks the database for the outcome.
    pub(crate) async fn ended_with(mut self, committed: Result<(), StoreError>) -> Result<(), StoreError> {
        let Err(error) = committed else {
            self.ended();
            return Ok(());
        };
        if !error.is_transient() {
            self.roll_back().await;
            return Err(error);
        }
        // The broken connection must not take the place in the pool that the lookup needs.
        if let (Some(connection), Some(id)) = (self.connection.take(), self.id.get()) {
            connection.close();
            drop(connection);
            if was_committed(&self.pool, id).await {
                return Ok(());
            }
        }
        Err(error)
    }

    /// Returns the connection to the pool; the transaction was ended by a statement.
    pub(crate) fn ended(mut self) {
        self.connection.take();
    }

    /// Rolls back after an error. If that fails, the connection is closed.
    pub(crate) async fn roll_back(mut self) {
        if self.batch_execute("ROLLBACK").await.is_ok() {
            self.connection.take();
        }
    }
}

impl Deref for Transaction {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.connection
            .as_ref()
            .expect("a transaction has its connection until it ends")
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.close();
        }
    }
}

impl Postgres {
    /// Runs `work` on a connection, in a task of its own. The work begins and ends the transaction.
    pub(crate) async fn detached<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Transaction) -> Work<'static, T> + Send + 'static,
    {
        let pool = self.pool.clone();
        let task = tokio::spawn(async move {
            let transaction = Transaction::on(&pool).await?;
            work(transaction).await
        });
        let outcome = task.await.map_err(|_| StoreError::Closed)?;
        self.health.record(&outcome);
        outcome
    }

    /// Begins a read-only transaction that sees the database as of one moment. End it: dropping it closes the
    /// connection.
    pub(crate) async fn snapshot(&self) -> Result<Transaction, StoreError> {
        let transaction = Transaction::on(&self.pool).await?;
        transaction.batch_execute(BEGIN_SNAPSHOT).await?;
        transaction.undo();
        Ok(transaction)
    }
}

/// Returns whether a transaction was committed; also false if the response does not arrive in time.
async fn was_committed(pool: &Pool, id: &str) -> bool {
    let deadline = Instant::now() + limits::RECONNECT_TIME;
    loop {
        let status = async {
            query("SELECT pg_xact_status($1::xid8) AS status")
                .bind(id)
                .fetch_one(&pool.connection().await?)
                .await
        };
        match status.await.map(|row| row.get::<_, Option<String>>("status")) {
            // The server has not noticed yet that the connection is broken.
            Ok(Some(status)) if status == "in progress" => {}
            Ok(status) => return status.as_deref() == Some("committed"),
            Err(error) if error.is_transient() => {}
            Err(_) => return false,
        }
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(limits::RECONNECT_RETRY).await;
    }
}
