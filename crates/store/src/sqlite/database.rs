//! How operations of `sql/` use SQLite.

use sqlx::Sqlite as Driver;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::key_uses::KeyUses;
use crate::sql::{Connection, Database, Statement, Work};
use crate::sqlite::Sqlite;
use crate::sqlite::query::{Query, query};

impl Database for Sqlite {
    type Reader = PoolConnection<Driver>;
    type Transaction = SqliteConnection;

    async fn reader(&self) -> Result<Self::Reader, StoreError> {
        Ok(self.readers.acquire().await?)
    }

    async fn transact<T, F>(&self, now: Timestamp, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection, Timestamp) -> Work<'c, T> + Send + 'static,
    {
        self.writer.run(move |connection| work(connection, now)).await
    }

    /// Does not wait for the write.
    async fn write_optional(&self, statement: Statement) {
        self.writer.post(|connection| Box::pin(statement.run(connection)));
    }

    fn key_uses(&self) -> &KeyUses {
        &self.key_uses
    }
}

impl From<Statement> for Query {
    fn from(statement: Statement) -> Self {
        query(statement.sqlite).bind_all(statement.values)
    }
}

macro_rules! connections {
    ($($connection:ty),+) => {
        $(impl Connection for $connection {
            type Row = SqliteRow;

            async fn fetch_all(&mut self, statement: Statement) -> Result<Vec<SqliteRow>, StoreError> {
                let connection: &mut SqliteConnection = self;
                Query::from(statement).fetch_all(connection).await
            }

            async fn fetch_one(&mut self, statement: Statement) -> Result<SqliteRow, StoreError> {
                let connection: &mut SqliteConnection = self;
                Query::from(statement).fetch_one(connection).await
            }

            async fn fetch_optional(&mut self, statement: Statement) -> Result<Option<SqliteRow>, StoreError> {
                let connection: &mut SqliteConnection = self;
                Query::from(statement).fetch_optional(connection).await
            }

            async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
                let connection: &mut SqliteConnection = self;
                Query::from(statement).execute(connection).await
            }
        })+
    };
}
connections!(SqliteConnection, PoolConnection<Driver>);
