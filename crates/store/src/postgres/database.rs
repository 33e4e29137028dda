//! How operations of `sql/` use PostgreSQL.

use deadpool_postgres::Object;
use harvestman_core::time::Timestamp;
use tokio_postgres::{Client, Row};

use crate::error::StoreError;
use crate::key_uses::KeyUses;
use crate::postgres::Postgres;
use crate::postgres::query::{Query, query};
use crate::postgres::transaction::Transaction;
use crate::sql::{Connection, Database, Statement, Work};

impl Database for Postgres {
    type Reader = Object;
    type Transaction = Transaction;

    async fn reader(&self) -> Result<Object, StoreError> {
        self.pool.connection().await
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
