//! A statement with its parameters. Every statement is unnamed and sends its parameter types, so that it takes one
//! round trip and works behind a connection pooler.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::columns::int;
use crate::error::StoreError;

/// A parameter.
#[derive(Debug)]
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(Option<bool>),
    Id(Option<Uuid>),
    Bytes(Option<Vec<u8>>),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Bools(Vec<bool>),
    Ids(Vec<Option<Uuid>>),
    ByteStrings(Vec<Option<Vec<u8>>>),
}

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
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bool(value) => value.to_sql(ty, out),
            Self::Id(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
            Self::Ints(values) => values.to_sql(ty, out),
            Self::Texts(values) => values.to_sql(ty, out),
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
pub(crate) fn storable(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{FFFD}"),
        false => text,
    }
}

/// Conversions to [`Value`], for single values and lists.
macro_rules! values {
    ($($from:ty => $one:ident, $many:ident, |$value:ident| $to:expr;)+) => {
        $(
            impl From<$from> for Value {
                fn from($value: $from) -> Self {
                    Self::$one(Some($to))
                }
            }
            impl From<Option<$from>> for Value {
                fn from(value: Option<$from>) -> Self {
                    Self::$one(value.map(|$value| $to))
                }
            }
            impl From<Vec<$from>> for Value {
                fn from(values: Vec<$from>) -> Self {
                    Self::$many(values.into_iter().map(|$value| Some($to)).collect())
                }
            }
            impl From<Vec<Option<$from>>> for Value {
                fn from(values: Vec<Option<$from>>) -> Self {
                    Self::$many(values.into_iter().map(|value| value.map(|$value| $to)).collect())
                }
            }
        )+
    };
}

values! {
    i64 => Int, Ints, |value| value;
    u64 => Int, Ints, |value| int(value);
    u32 => Int, Ints, |value| i64::from(value);
    u16 => Int, Ints, |value| i64::from(value);
    Uuid => Id, Ids, |value| value;
    [u8; 16] => Id, Ids, |value| Uuid::from_bytes(value);
    String => Text, Texts, |value| storable(value);
    &str => Text, Texts, |value| storable(value.to_owned());
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(value: Option<Vec<u8>>) -> Self {
        Self::Bytes(value)
    }
}

impl From<Vec<Option<Vec<u8>>>> for Value {
    fn from(values: Vec<Option<Vec<u8>>>) -> Self {
        Self::ByteStrings(values)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(Some(value))
    }
}

impl From<Option<bool>> for Value {
    fn from(value: Option<bool>) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<bool>> for Value {
    fn from(values: Vec<bool>) -> Self {
        Self::Bools(values)
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

    pub(crate) async fn fetch_all(self, client: &Client) -> Result<Vec<Row>, StoreError> {
        Ok(client.query_typed(&self.sql, &self.parameters()).await?)
    }

    pub(crate) async fn fetch_one(self, client: &Client) -> Result<Row, StoreError> {
        Ok(client.query_typed_one(&self.sql, &self.parameters()).await?)
    }

    pub(crate) async fn fetch_optional(self, client: &Client) -> Result<Option<Row>, StoreError> {
        Ok(client.query_typed_opt(&self.sql, &self.parameters()).await?)
    }

    /// Runs the statement and returns the number of affected rows.
    pub(crate) async fn execute(self, client: &Client) -> Result<u64, StoreError> {
        Ok(client.execute_typed(&self.sql, &self.parameters()).await?)
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
