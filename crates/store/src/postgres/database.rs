//! How operations of `sql/` use PostgreSQL.

use deadpool_postgres::Object;
use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};

use crate::account::Account;
use crate::error::StoreError;
use crate::event::EventLog;
use crate::key_uses::KeyUses;
use crate::postgres::credits::charge_part;
use crate::postgres::query::{Query, query};
use crate::postgres::transaction::Transaction;
use crate::postgres::{Postgres, events, monitors};
use crate::sql::{Connection, Database, Snapshot, Statement, Transaction as WriteTransaction, Work};

impl Database for Postgres {
    type Reader = Object;
    type Snapshot = Transaction;
    type Transaction = Transaction;

    async fn reader(&self) -> Result<Object, StoreError> {
        self.pool.connection().await
    }

    async fn snapshot(&self) -> Result<Transaction, StoreError> {
        Postgres::snapshot(self).await
    }

    async fn transact<T, F>(&self, now: Timestamp, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Transaction, Timestamp) -> Work<'c, T> + Send + 'static,
    {
        self.write(now, work).await
    }

    async fn write_optional(&self, statement: Statement) {
        let written = async { statement.execute(&mut self.reader().await?).await };
        if let Err(error) = written.await {
            tracing::debug!(%error, "optional write failed");
        }
    }

    fn key_uses(&self) -> &KeyUses {
        &self.key_uses
    }
}

impl From<Statement> for Query {
    fn from(statement: Statement) -> Self {
        query(statement.postgres).bind_all(statement.values)
    }
}

macro_rules! connections {
    ($($connection:ty),+) => {
        $(impl Connection for $connection {
            type Row = Row;

            async fn fetch_all(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
                Query::from(statement).fetch_all(self).await
            }

            async fn fetch_one(&mut self, statement: Statement) -> Result<Row, StoreError> {
                Query::from(statement).fetch_one(self).await
            }

            async fn fetch_optional(&mut self, statement: Statement) -> Result<Option<Row>, StoreError> {
                Query::from(statement).fetch_optional(self).await
            }

            async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
                Query::from(statement).execute(self).await
            }
        })+
    };
}
connections!(Object, Transaction, &Client);

impl Snapshot for Transaction {
    async fn end(self) -> Result<(), StoreError> {
        Transaction::end(self).await
    }
}

impl WriteTransaction for Transaction {
    async fn charge_once(
        &mut self,
        account: &Account,
        reason: &'static str,
        credits: u64,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let credits = u32::try_from(credits).unwrap_or(u32::MAX);
        charge_part(self, account, reason, (0, credits), at).await
    }

    async fn save_events(&mut self, job: JobId, log: &EventLog) -> Result<(), StoreError> {
        events::save(self, job, log).await
    }

    async fn fail_check(&mut self, check: JobId, error: &str, now: Timestamp) -> Result<(), StoreError> {
        monitors::fail_check(self, check, error, now).await
    }

    async fn pause(&mut self, monitor: MonitorId, now: Timestamp) -> Result<bool, StoreError> {
        monitors::pause(self, monitor, now).await
    }
}
