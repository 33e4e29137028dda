//! Rows of tables on their way from one database to another.

/// A value of a column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// The tables to copy; tables that others refer to come first. The page cache is not copied: pages are fetched again.
pub(crate) const TABLES: &[&str] = &[
    "secret_key", "team", "api_key", "job", "shard", "run_event", "job_url", "page", "job_error",
    "page_version", "ledger", "month_usage", "day_usage", "outbox", "receiver", "delivery", "activity",
    "idempotency", "file", "session", "session_file", "upload", "profile", "monitor", "monitor_check",
    "monitor_page", "monitor_url", "feedback",
];
