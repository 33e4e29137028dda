//! Statements that both engines run. An operation that needs nothing else of its engine is written once, in `sql/`, for
//! any [`Database`]; what differs is in the folders of the engines.
//!
//! [`statement!`] takes the text for PostgreSQL and derives the one for SQLite from it when it is compiled.

pub(crate) mod activity;
pub(crate) mod cache;
mod checks;
mod continuation;
pub(crate) mod encryption;
pub(crate) mod expiry;
mod feedback;
pub(crate) mod files;
mod idempotency;
pub(crate) mod jobs;
mod keys;
pub(crate) mod leases;
mod monitors;
pub(crate) mod outbox;
mod pages;
mod profiles;
pub(crate) mod runs;
pub(crate) mod scrapes;
pub(crate) mod session_files;
pub(crate) mod sessions;
pub(crate) mod snapshot;
mod teams;
pub(crate) mod uploads;
mod usage;
pub(crate) mod zero_retention;

use std::future::ready;
use std::pin::Pin;

use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;
use uuid::Uuid;

use crate::account::Account;
use crate::columns::Columns;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::event::EventLog;
use crate::job::NewJob;
use crate::key_uses::KeyUses;
use crate::monitor::NewCheckPage;
use crate::prepared::ScrapeEnd;
use crate::usage::UsageChange;
use crate::value::Value;

/// The future of the work of a transaction.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'c>>;

/// An open database of either engine.
pub(crate) trait Database: Sync {
    type Reader: Connection;
    type Snapshot: Snapshot;
    type Transaction: Transaction;

    /// Returns a connection for statements that only read.
    fn reader(&self) -> impl Future<Output = Result<Self::Reader, StoreError>> + Send;

    /// Begins a transaction that only reads and sees the database as of one moment.
    fn snapshot(&self) -> impl Future<Output = Result<Self::Snapshot, StoreError>> + Send;

    /// Runs `work` in a transaction, with the time of the database, which is `now` if the database has no clock.
    fn transact<T, F>(&self, now: Timestamp, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Self::Transaction, Timestamp) -> Work<'c, T> + Send + 'static;

    /// Runs a statement whose failure affects nobody.
    fn write_optional(&self, statement: Statement) -> impl Future<Output = ()> + Send;

    /// Removes deleted content from the log of the database, if the engine can.
    fn clear_log(&self) {}

    /// Returns the id of this process among the nodes of the database; `None` if no other node uses it.
    fn node(&self) -> Option<Uuid>;

    /// Returns when `last_used_at` of each key was last written.
    fn key_uses(&self) -> &KeyUses;
}

/// Runs a block in a transaction of a [`Database`] and waits for its end. A block that needs the time of the transaction
/// gets it as second argument (see [`Database::transact`]).
macro_rules! transact {
    ($database:expr, |$transaction:ident| $work:block) => {
        $crate::sql::transact!($database, harvestman_core::time::Timestamp(0), |$transaction, _| $work)
    };
    ($database:expr, $now:expr, |$transaction:ident, $time:pat_param| $work:block) => {
        $crate::sql::Database::transact($database, $now, move |$transaction, $time| {
            Box::pin(async move $work)
        })
        .await
    };
}
pub(crate) use transact;

/// A connection to a database of either engine.
pub(crate) trait Connection: Send {
    type Row: Columns + Send + Sync + 'static;

    fn fetch_all(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<Vec<Self::Row>, StoreError>> + Send;

    fn fetch_one(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<Self::Row, StoreError>> + Send;

    fn fetch_optional(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<Option<Self::Row>, StoreError>> + Send;

    /// Runs a statement and returns the number of affected rows.
    fn execute(&mut self, statement: Statement) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

/// Implements [`Connection`] for connections of an engine: given its rows, the function that makes its query of a
/// [`Statement`], and what runs the query, to which each of them dereferences.
macro_rules! connections {
    ($row:ty, $query:path, $executor:ty: $($connection:ty),+) => {
        $(impl $crate::sql::Connection for $connection {
            type Row = $row;

            async fn fetch_all(&mut self, statement: Statement) -> Result<Vec<$row>, StoreError> {
                let executor: $executor = self;
                $query(statement).fetch_all(executor).await
            }

            async fn fetch_one(&mut self, statement: Statement) -> Result<$row, StoreError> {
                let executor: $executor = self;
                $query(statement).fetch_one(executor).await
            }

            async fn fetch_optional(&mut self, statement: Statement) -> Result<Option<$row>, StoreError> {
                let executor: $executor = self;
                $query(statement).fetch_optional(executor).await
            }

            async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
                let executor: $executor = self;
                $query(statement).execute(executor).await
            }
        })+
    };
}
pub(crate) use connections;

/// A transaction that only reads. End it: PostgreSQL closes the connection of one that is dropped.
pub(crate) trait Snapshot: Connection {
    /// Reads the keys of all URLs of a job, in order.
    fn read_keys(&mut self, job: JobId) -> impl Future<Output = Result<Vec<UrlKey>, StoreError>> + Send;

    fn end(self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A transaction that writes, with what each engine writes in its own way.
pub(crate) trait Transaction: Connection {
    /// Locks the rows that a statement selects. SQLite, whose transactions wait for each other, does not run it.
    fn lock(&mut self, _: Statement) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }

    /// Charges a part of a call or a session, given as (seq, credits): one ledger entry, and the sums.
    fn charge(
        &mut self,
        account: &Account,
        reason: &'static str,
        part: (u64, u32),
        at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Adds usage to the sums of its month and day. Must be the last statement of the transaction.
    fn add_to_sums(
        &mut self,
        account: &Account,
        used: UsageChange,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores a scrape that has already ended, on this node.
    fn record_scrape(
        &mut self,
        job: NewJob,
        end: ScrapeEnd,
        node: Option<Uuid>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send
    where
        Self: Sized,
    {
        async move {
            scrapes::begin(self, &job, node).await?;
            scrapes::finish(self, job.id, end, now).await
        }
    }

    /// Stores pages and charges them.
    fn store_pages(
        &mut self,
        account: &Account,
        pages: Vec<NewPage>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes documents of pages after `skip` up to `upto` of a job with zero data retention; with `with_pending` also
    /// those that a pending webhook event needs.
    fn delete_documents(
        &mut self,
        job: JobId,
        skip: u64,
        upto: u64,
        with_pending: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes some documents of an expired job that are stored apart from its pages. Returns how many.
    fn delete_bodies(&mut self, _: JobId) -> impl Future<Output = Result<u64, StoreError>> + Send {
        ready(Ok(0))
    }

    /// Deletes some limits that nodes shared too long ago. Returns how many.
    fn delete_old_limits(&mut self, _: Timestamp) -> impl Future<Output = Result<u64, StoreError>> + Send {
        ready(Ok(0))
    }

    /// Stores the added events of a job outside a commit.
    fn save_events(
        &mut self,
        job: JobId,
        log: &EventLog,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores pages of a check, and what the next check needs to know of them. Of several pages with the same URL, the
    /// last one counts.
    fn store_check_pages(
        &mut self,
        place: CheckPlace,
        pages: &[NewCheckPage],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The place of pages of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckPlace {
    pub(crate) check: JobId,
    pub(crate) monitor: MonitorId,
    /// Index of the target.
    pub(crate) target: u32,
    /// Number of pages of the target before them.
    pub(crate) after: u64,
}

/// A statement for either engine, with its parameters. See [`statement!`].
pub(crate) struct Statement {
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) values: Vec<Value>,
}

impl Statement {
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

    pub(crate) async fn fetch_all<C: Connection>(
        self,
        connection: &mut C,
    ) -> Result<Vec<C::Row>, StoreError> {
        connection.fetch_all(self).await
    }

    pub(crate) async fn fetch_one<C: Connection>(self, connection: &mut C) -> Result<C::Row, StoreError> {
        connection.fetch_one(self).await
    }

    pub(crate) async fn fetch_optional<C: Connection>(
        self,
        connection: &mut C,
    ) -> Result<Option<C::Row>, StoreError> {
        connection.fetch_optional(self).await
    }

    /// Runs the statement and builds a value from each row.
    pub(crate) async fn read_all<C: Connection, T>(
        self,
        connection: &mut C,
        build: fn(&C::Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.fetch_all(connection).await?.iter().map(build).collect()
    }

    /// Runs the statement and builds a value from its row, if there is one.
    pub(crate) async fn read_optional<C: Connection, T>(
        self,
        connection: &mut C,
        build: fn(&C::Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.fetch_optional(connection)
            .await?
            .as_ref()
            .map(build)
            .transpose()
    }

    /// Runs the statement and returns the number of affected rows.
    pub(crate) async fn execute(self, connection: &mut impl Connection) -> Result<u64, StoreError> {
        connection.execute(self).await
    }

    /// Runs the statement.
    pub(crate) async fn run(self, connection: &mut impl Connection) -> Result<(), StoreError> {
        self.execute(connection).await.map(drop)
    }

    /// See [`Transaction::lock`].
    pub(crate) async fn lock(self, transaction: &mut impl Transaction) -> Result<(), StoreError> {
        transaction.lock(self).await
    }

    /// Runs the statement in a transaction of its own and returns the number of affected rows. Statements that need the
    /// time have `harvestman.clock`.
    pub(crate) async fn write(self, database: &impl Database) -> Result<u64, StoreError> {
        database
            .transact(Timestamp(0), |transaction, _| Box::pin(transaction.execute(self)))
            .await
    }
}

/// Creates a [`Statement`] without parameters from the text for PostgreSQL, and from one for SQLite if more than
/// [`REWRITES`] differs.
macro_rules! statement {
    ($text:expr, sqlite: $sqlite:expr $(,)?) => {
        $crate::sql::Statement {
            postgres: $text,
            sqlite: $sqlite,
            values: Vec::new(),
        }
    };
    ($text:expr $(,)?) => {{
        const POSTGRES: &str = $text;
        const REWRITTEN: &$crate::sql::SqliteText<{ POSTGRES.len() }> =
            &$crate::sql::SqliteText::of(POSTGRES);
        const SQLITE: &str = REWRITTEN.as_str();
        $crate::sql::statement!(POSTGRES, sqlite: SQLITE)
    }};
}
pub(crate) use statement;

/// Creates a [`Statement`] that deletes some of the rows of a table for which a condition holds, in the order of a key.
/// PostgreSQL selects them once, whatever its statistics say: those of a new job are always out of date.
macro_rules! delete_rows {
    ($table:literal, $key:literal, $condition:literal, $limit:literal) => {
        $crate::sql::statement!(
            concat!(
                "DELETE FROM harvestman.", $table, " WHERE ", $condition, " AND ctid = ANY (ARRAY (SELECT ctid
                    FROM harvestman.", $table, " WHERE ", $condition, " ORDER BY ", $key, " LIMIT ", $limit, "))"
            ),
            sqlite: concat!(
                "DELETE FROM ", $table, " WHERE ", $condition, " AND (", $key, ") IN (SELECT ", $key, "
                    FROM ", $table, " WHERE ", $condition, " ORDER BY ", $key, " LIMIT ", $limit, ")"
            ),
        )
    };
}
pub(crate) use delete_rows;

/// What SQLite has instead of a text of PostgreSQL. It has one schema, one writer and few types, takes the time from the
/// caller, and sorts texts by their bytes. Longer texts come first.
const REWRITES: &[(&str, &str)] = &[
    // A comment for PostgreSQL that is text for SQLite.
    ("/*sqlite ", ""),
    ("*/", ""),
    ("harvestman.clock", ""),
    ("harvestman.", ""),
    ("greatest(", "max("),
    ("least(", "min("),
    ("strpos(", "instr("),
    ("::bigint", ""),
    ("::text", ""),
    (" COLLATE \"C\"", ""),
    (" FOR NO KEY UPDATE OF team", ""),
    (" FOR NO KEY UPDATE SKIP LOCKED", ""),
    (" FOR NO KEY UPDATE", ""),
    (" FOR UPDATE SKIP LOCKED", ""),
];

/// A statement rewritten for SQLite; never longer than the original.
pub(crate) struct SqliteText<const MAX: usize> {
    bytes: [u8; MAX],
    len: usize,
}

impl<const MAX: usize> SqliteText<MAX> {
    pub(crate) const fn of(postgres: &str) -> Self {
        let mut text = Self {
            bytes: [0; MAX],
            len: 0,
        };
        let mut rest = postgres.as_bytes();
        'text: while let Some((first, after)) = rest.split_first() {
            let mut no = 0;
            while no < REWRITES.len() {
                let (from, to) = REWRITES[no];
                if starts_with(rest, from.as_bytes()) {
                    let mut at = 0;
                    while at < to.len() {
                        text.push(to.as_bytes()[at]);
                        at += 1;
                    }
                    rest = rest.split_at(from.len()).1;
                    continue 'text;
                }
                no += 1;
            }
            text.push(*first);
            rest = after;
        }
        text
    }

    const fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    pub(crate) const fn as_str(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("rewriting replaces whole characters"),
        }
    }
}

const fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let mut at = 0;
    while at < start.len() {
        if at == text.len() || text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    #[test]
    fn sqlite_has_no_schema_clock_or_row_locks() {
        let statement = statement!(
            "SELECT 'ä' FROM harvestman.team WHERE created_at > harvestman.clock($1) FOR NO KEY UPDATE"
        );
        assert_eq!(statement.sqlite, "SELECT 'ä' FROM team WHERE created_at > ($1)");
    }
}
