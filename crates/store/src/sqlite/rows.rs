//! Conversions of column values to our types, and of database errors to [`StoreError`].

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use harvestman_core::url_key::UrlKey;

pub(crate) use crate::columns::{Columns, bad_column};
use crate::error::StoreError;

// Primary result codes (sqlite.org/rescode.html).
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const NO_MEMORY: i32 = 7;
const READ_ONLY: i32 = 8;
const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => {
                let code: Option<i32> = database.code().and_then(|code| code.parse().ok());
                match code.map(|code| code & 0xff) {
                    Some(BUSY | LOCKED | NO_MEMORY | READ_ONLY | IO_ERROR | FULL | CANNOT_OPEN) => {
                        Self::Transient(error.to_string())
                    }
                    Some(CORRUPT | NOT_A_DATABASE) => Self::Damaged(error.to_string()),
                    _ => Self::Database(error.to_string()),
                }
            }
            sqlx::Error::PoolTimedOut | sqlx::Error::Io(_) => Self::Transient(error.to_string()),
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::Unreadable(error.to_string()),
            _ => Self::Database(error.to_string()),
        }
    }
}

impl Columns for SqliteRow {
    fn maybe_id(&self, column: &str) -> Result<Option<Uuid>, StoreError> {
        let bytes: Option<&[u8]> = self.try_get(column)?;
        match bytes {
            None | Some([]) => Ok(None),
            Some(bytes) => Uuid::from_slice(bytes).map(Some).map_err(|_| bad_column(column)),
        }
    }

    fn maybe_node(&self) -> Result<Option<Uuid>, StoreError> {
        Ok(None)
    }

    fn url_key(&self, column: &str) -> Result<UrlKey, StoreError> {
        let bytes: &[u8] = self.try_get(column)?;
        bytes
            .try_into()
            .map(UrlKey::from_bytes)
            .map_err(|_| bad_column(column))
    }

    fn maybe_count(&self, column: &str) -> Result<Option<u64>, StoreError> {
        let number: Option<i64> = self.try_get(column)?;
        number
            .map(|number| u64::try_from(number).map_err(|_| bad_column(column)))
            .transpose()
    }

    fn text(&self, column: &str) -> Result<String, StoreError> {
        Ok(self.try_get(column)?)
    }

    fn maybe_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(self.try_get(column)?)
    }

    fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.count(column)? != 0)
    }

    fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError> {
        Ok(self.try_get(column)?)
    }
}
