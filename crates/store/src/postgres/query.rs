//! A statement with its parameters. Every statement is unnamed and sends its parameter types, so that it takes one
//! round trip and works behind a connection pooler.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::error::StoreError;
use crate::postgres::client::Client;
use crate::value::Value;

impl Value {
    fn kind(&self) -> Type {
        match self {
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bool(_) => Type::BOOL,
            Self::Id(_) => Type::UUID,
            Self::Bytes(_) => Type::BYTEA,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Bools(_) => Type::BOOL_ARRAY,
            Self::Ids(_) => Type::UUID_ARRAY,
            Self::ByteStrings(_) => Type::BYTEA_ARRAY,
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Int(value) => value.to_sql(ty, out),
            Self::Text(value) => value.as_deref().map(storable).to_sql(ty, out),
            Self::Bool(value) => value.to_sql(ty, out),
            Self::Id(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
            Self::Ints(values) => values.to_sql(ty, out),
            Self::Texts(values) => {
                let texts = values.iter().map(|value| value.as_deref().map(storable));
                texts.collect::<Vec<_>>().to_sql(ty, out)
            }
            Self::Bools(values) => values.to_sql(ty, out),
            Self::Ids(values) => values.to_sql(ty, out),
            Self::ByteStrings(values) => values.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Returns the text as it can be stored: PostgreSQL has no U+0000.
fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', "\u{FFFD}").into(),
        false => text.into(),
    }
}

/// A statement to run, with its parameters bound in order.
#[derive(Debug)]
pub(crate) struct Query {
    sql: Cow<'static, str>,
    values: Vec<Value>,
}

/// Creates a statement without parameters.
pub(crate) fn query(sql: impl Into<Cow<'static, str>>) -> Query {
    Query {
        sql: sql.into(),
        values: Vec::new(),
    }
}

impl Query {
    /// Adds the next parameter.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds the next parameters, in order.
    pub(crate) fn bind_all(mut self, values: Vec<Value>) -> Self {
        self.values.extend(values);
        self
    }

    pub(crate) async fn fetch_all(self, client: &Client) -> Result<Vec<Row>, StoreError> {
        let parameters = self.parameters();
        client
            .within_limit(client.unlimited().query_typed(&self.sql, &parameters))
            .await
    }

    pub(crate) async fn fetch_one(self, client: &Client) -> Result<Row, StoreError> {
        let parameters = self.parameters();
        client
            .within_limit(client.unlimited().query_typed_one(&self.sql, &parameters))
            .await
    }

    pub(crate) async fn fetch_optional(self, client: &Client) -> Result<Option<Row>, StoreError> {
        let parameters = self.parameters();
        client
            .within_limit(client.unlimited().query_typed_opt(&self.sql, &parameters))
            .await
    }

    /// Runs the statement and builds a value from each row.
    pub(crate) async fn read_all<T>(
        self,
        client: &Client,
        build: fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.fetch_all(client).await?.iter().map(build).collect()
    }

    /// Runs the statement and returns the number of affected rows.
    pub(crate) async fn execute(self, client: &Client) -> Result<u64, StoreError> {
        let parameters = self.parameters();
        client
            .within_limit(client.unlimited().execute_typed(&self.sql, &parameters))
            .await
    }

    /// Runs the statement.
    pub(crate) async fn run(self, client: &Client) -> Result<(), StoreError> {
        self.execute(client).await.map(drop)
    }

    /// Runs the statement if the condition holds; affects no row otherwise.
    pub(crate) async fn execute_if(self, condition: bool, client: &Client) -> Result<u64, StoreError> {
        match condition {
            true => self.execute(client).await,
            false => Ok(0),
        }
    }

    fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let parameter = |value| (value as &(dyn ToSql + Sync), Value::kind(value));
        self.values.iter().map(parameter).collect()
    }
}
