//! A statement with its parameters.

use serde_json::Value as Json;
use sqlx::sqlite::{SqliteArguments, SqliteExecutor, SqliteRow};
use sqlx::{Decode, Row, SqlSafeStr, Sqlite, Type};

use crate::error::StoreError;
use crate::sqlite::writer::Writer;
use crate::value::Value;

/// A statement to run.
pub(crate) struct Query(sqlx::query::Query<'static, Sqlite, SqliteArguments>);

/// Creates a statement without parameters.
pub(crate) fn query(sql: impl SqlSafeStr) -> Query {
    Query(sqlx::query(sql))
}

impl Query {
    /// Adds the next parameter.
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self(match value.into() {
            Value::Int(value) => self.0.bind(value),
            Value::Text(value) => self.0.bind(value),
            Value::Bool(value) => self.0.bind(value),
            Value::Id(value) => self.0.bind(value.map(|id| id.as_bytes().to_vec())),
            Value::Bytes(value) => self.0.bind(value),
            Value::Ints(values) => self.0.bind(Json::from(values).to_string()),
            Value::Texts(values) => self.0.bind(Json::from(values).to_string()),
            Value::Bools(values) => self.0.bind(Json::from(values).to_string()),
            Value::Ids(values) => self.0.bind(hex_list(values)),
            Value::ByteStrings(values) => self.0.bind(hex_list(values)),
        })
    }

    /// Adds the next parameters, in order.
    pub(crate) fn bind_all(self, values: Vec<Value>) -> Self {
        values.into_iter().fold(self, Self::bind)
    }

    pub(crate) async fn fetch_all(
        self,
        executor: impl SqliteExecutor<'_>,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        Ok(self.0.fetch_all(executor).await?)
    }

    pub(crate) async fn fetch_one(self, executor: impl SqliteExecutor<'_>) -> Result<SqliteRow, StoreError> {
        Ok(self.0.fetch_one(executor).await?)
    }

    pub(crate) async fn fetch_optional(
        self,
        executor: impl SqliteExecutor<'_>,
    ) -> Result<Option<SqliteRow>, StoreError> {
        Ok(self.0.fetch_optional(executor).await?)
    }

    /// Returns the first column of the only row.
    pub(crate) async fn fetch_scalar<T>(self, executor: impl SqliteExecutor<'_>) -> Result<T, StoreError>
    where
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite>,
    {
        Ok(self.0.fetch_one(executor).await?.try_get(0)?)
    }

    /// Runs the statement and builds a value from each row.
    pub(crate) async fn read_all<T>(
        self,
        executor: impl SqliteExecutor<'_>,
        build: fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.fetch_all(executor).await?.iter().map(build).collect()
    }

    /// Runs the statement and returns the number of affected rows.
    pub(crate) async fn execute(self, executor: impl SqliteExecutor<'_>) -> Result<u64, StoreError> {
        Ok(self.0.execute(executor).await?.rows_affected())
    }

    /// Runs the statement.
    pub(crate) async fn run(self, executor: impl SqliteExecutor<'_>) -> Result<(), StoreError> {
        self.execute(executor).await.map(drop)
    }

    /// Runs the statement in a transaction of the writer and returns the number of affected rows.
    pub(crate) async fn write(self, writer: &Writer) -> Result<u64, StoreError> {
        writer.run(|connection| Box::pin(self.execute(connection))).await
    }
}

/// Returns a JSON list of hexadecimal digits in upper case, as SQLite's `hex` does.
fn hex_list(values: Vec<Option<impl AsRef<[u8]>>>) -> String {
    let hex = |value: Option<_>| value.map(hex::encode_upper);
    Json::from_iter(values.into_iter().map(hex)).to_string()
}
