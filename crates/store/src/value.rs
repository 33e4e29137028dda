//! Parameters of statements.

use harvestman_core::cache::CacheKey;
use harvestman_core::ids::{JobId, KeyId, MonitorId, ScrapeId, SessionId, TeamId, WebhookId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

/// A parameter. SQLite takes a list as JSON text, for `json_each`, with ids and bytes as hexadecimal digits.
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

/// Lists the parameters of a statement, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::value::Value::from($value)),*]
    };
}
pub(crate) use params;

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
    Timestamp => Int, Ints, |value| int(value.0);
    Uuid => Id, Ids, |value| value;
    JobId => Id, Ids, |value| value.0;
    KeyId => Id, Ids, |value| value.0;
    MonitorId => Id, Ids, |value| value.0;
    ScrapeId => Id, Ids, |value| value.0;
    SessionId => Id, Ids, |value| value.0;
    TeamId => Id, Ids, |value| value.0;
    WebhookId => Id, Ids, |value| value.0;
    CacheKey => Id, Ids, |value| Uuid::from_bytes(value.0);
    [u8; 16] => Id, Ids, |value| Uuid::from_bytes(value);
    String => Text, Texts, |value| value;
    &str => Text, Texts, |value| value.to_owned();
    &String => Text, Texts, |value| value.clone();
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

/// Returns a count or time as stored; values larger than `i64::MAX` are stored as `i64::MAX`.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
