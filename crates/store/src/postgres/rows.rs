//! Reading of columns, and conversion of database errors to [`StoreError`].

use std::error::Error;

use harvestman_core::url_key::UrlKey;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

pub(crate) use crate::columns::{Columns, bad_column};
use crate::error::StoreError;

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = describe(&error);
        match error.code() {
            Some(code) if may_pass(code) => Self::Transient(text),
            Some(_) => Self::Database(text),
            None if error.is_closed() || has_io_error(&error) => Self::Transient(text),
            None => Self::Database(text),
        }
    }
}

/// Returns the message of the server, or the chain of causes without repeated text.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        return format!("{} ({})", database.message(), database.code().code());
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn has_io_error(error: &tokio_postgres::Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.is::<std::io::Error>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// Returns whether the same statement may succeed later: connection lost, conflict, resources, lock, shutdown, I/O
/// error, or a former primary.
pub(crate) fn may_pass(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "53", "58"].iter().any(|class| code.starts_with(class))
        || [
            "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "57014", "25006", "25P03", "57P05",
        ]
        .contains(&code)
}

impl Columns for Row {
    fn maybe_id(&self, column: &str) -> Result<Option<Uuid>, StoreError> {
        self.try_get(column).map_err(|_| bad_column(column))
    }

    fn maybe_node(&self) -> Result<Option<Uuid>, StoreError> {
        self.maybe_id("node")
    }

    fn url_key(&self, column: &str) -> Result<UrlKey, StoreError> {
        Ok(UrlKey::from_bytes(self.id(column)?.into_bytes()))
    }

    fn maybe_count(&self, column: &str) -> Result<Option<u64>, StoreError> {
        let number: Option<i64> = self.try_get(column).map_err(|_| bad_column(column))?;
        number
            .map(|number| u64::try_from(number).map_err(|_| bad_column(column)))
            .transpose()
    }

    fn text(&self, column: &str) -> Result<String, StoreError> {
        self.try_get(column).map_err(|_| bad_column(column))
    }

    fn maybe_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        self.try_get(column).map_err(|_| bad_column(column))
    }

    fn flag(&self, column: &str) -> Result<bool, StoreError> {
        self.try_get(column).map_err(|_| bad_column(column))
    }

    fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError> {
        self.try_get(column).map_err(|_| bad_column(column))
    }
}
