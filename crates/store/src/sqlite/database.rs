//! How operations of `sql/` use SQLite.

use std::sync::atomic::Ordering;

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use sqlx::Sqlite as Driver;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use uuid::Uuid;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::event::EventLog;
use crate::job::NewJob;
use crate::key_uses::KeyUses;
use crate::limits;
use crate::monitor::NewCheckPage;
use crate::prepared::ScrapeEnd;
use crate::sql::{CheckPlace, Database, Statement, Transaction, Work, connections};
use crate::sqlite::commit::insert_pages;
use crate::sqlite::credits::{add_to_sums, charge_part};
use crate::sqlite::query::{Query, query};
use crate::sqlite::{Sqlite, checks, events, scrapes, zero_retention};
use crate::usage::UsageChange;
use crate::value::params;

impl Database for Sqlite {
    type Reader = PoolConnection<Driver>;
    type Snapshot = sqlx::Transaction<'static, Driver>;
    type Transaction = SqliteConnection;

    async fn reader(&self) -> Result<Self::Reader, StoreError> {
        Ok(self.readers.acquire().await?)
    }

    async fn snapshot(&self) -> Result<Self::Snapshot, StoreError> {
        Ok(self.readers.begin().await?)
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

    fn clear_log(&self) {
        self.writer.checkpoint.store(true, Ordering::Relaxed);
    }

    fn node(&self) -> Option<Uuid> {
        None
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

connections!(SqliteRow, Query::from, &mut SqliteConnection: SqliteConnection,
    PoolConnection<Driver>,
    sqlx::Transaction<'static, Driver>);

impl Transaction for SqliteConnection {
    async fn charge(
        &mut self,
        account: &Account,
        reason: &'static str,
        part: (u64, u32),
        at: Timestamp,
    ) -> Result<(), StoreError> {
        charge_part(self, account, reason, part, at).await
    }

    async fn add_to_sums(
        &mut self,
        account: &Account,
        used: UsageChange,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        add_to_sums(self, account, used, now).await
    }

    async fn record_scrape(
        &mut self,
        job: NewJob,
        end: ScrapeEnd,
        _: Option<Uuid>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        scrapes::record(self, job, end, now).await
    }

    async fn store_pages(
        &mut self,
        account: &Account,
        pages: Vec<NewPage>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        insert_pages(self, account, pages, now).await
    }

    async fn delete_documents(
        &mut self,
        job: JobId,
        skip: u64,
        upto: u64,
        with_pending: bool,
    ) -> Result<(), StoreError> {
        zero_retention::delete_documents(self, job, skip, upto, with_pending).await
    }

    async fn delete_bodies(&mut self, job: JobId) -> Result<u64, StoreError> {
        query(
            "DELETE FROM body WHERE id IN (SELECT body_id FROM page WHERE job_id = ?1 ORDER BY seq LIMIT ?2)",
        )
        .bind_all(params![job, limits::EXPIRY_ROWS])
        .execute(self)
        .await
    }

    async fn save_events(&mut self, job: JobId, log: &EventLog) -> Result<(), StoreError> {
        events::save(self, job, log).await
    }

    async fn store_check_pages(
        &mut self,
        place: CheckPlace,
        pages: &[NewCheckPage],
    ) -> Result<(), StoreError> {
        checks::store_pages(self, place, pages).await
    }
}
