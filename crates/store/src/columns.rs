//! What both engines share in reading and writing columns.

use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use uuid::Uuid;

use crate::error::StoreError;
use crate::page::PageFacts;

/// Typed access to the columns of a row.
pub(crate) trait Columns {
    /// Reads an id that may be NULL or, in a key that cannot be NULL, empty.
    fn maybe_id(&self, column: &str) -> Result<Option<Uuid>, StoreError>;
    /// Reads the node of a session. SQLite stores none.
    fn maybe_node(&self) -> Result<Option<Uuid>, StoreError>;
    fn url_key(&self, column: &str) -> Result<UrlKey, StoreError>;
    fn maybe_count(&self, column: &str) -> Result<Option<u64>, StoreError>;
    fn text(&self, column: &str) -> Result<String, StoreError>;
    fn maybe_text(&self, column: &str) -> Result<Option<String>, StoreError>;
    fn flag(&self, column: &str) -> Result<bool, StoreError>;
    fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError>;

    /// Reads an id.
    fn id(&self, column: &str) -> Result<Uuid, StoreError> {
        self.maybe_id(column)?.ok_or_else(|| bad_column(column))
    }

    fn count(&self, column: &str) -> Result<u64, StoreError> {
        self.maybe_count(column)?.ok_or_else(|| bad_column(column))
    }

    fn time(&self, column: &str) -> Result<Timestamp, StoreError> {
        self.count(column).map(Timestamp)
    }

    /// Reads a text with a parser that returns `None` for invalid text.
    fn parsed<T>(&self, column: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        parse(&self.text(column)?).ok_or_else(|| bad_column(column))
    }

    /// Reads the facts about a page.
    fn page_facts(&self) -> Result<PageFacts, StoreError> {
        Ok(PageFacts {
            stored_at: self.time("at")?,
            depth: self
                .maybe_count("depth")?
                .and_then(|depth| u32::try_from(depth).ok()),
            took_ms: self.maybe_count("took_ms")?,
        })
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.maybe_count(column)?.map(Timestamp))
    }
}

/// Returns the error for a column with an invalid value.
pub(crate) fn bad_column(column: &str) -> StoreError {
    StoreError::Unreadable(format!("column {column}"))
}
