//! How operations of `sql/` use PostgreSQL.

use harvestman_core::ids::JobId;
use harvestman_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::account::Account;
use crate::commit::NewPage;
use crate::error::StoreError;
use crate::event::EventLog;
use crate::key_uses::KeyUses;
use crate::monitor::NewCheckPage;
use crate::postgres::client::Client;
use crate::postgres::commit::PageRows;
use crate::postgres::credits::{add_to_sums, charge_part};
use crate::postgres::query::{Query, query};
use crate::postgres::transaction::Transaction;
use crate::postgres::{Postgres, checks, events, shares, zero_retention};
use crate::sql::{CheckPlace, Database, Statement, Transaction as WriteTransaction, Work, connections};
use crate::usage::UsageChange;

impl Database for Postgres {
    type Reader = Client;
    type Snapshot = Transaction;
    type Transaction = Transaction;

    async fn reader(&self) -> Result<Client, StoreError> {
        self.pool.connection().await
    }

    async fn snapshot(&self) -> Result<Transaction, StoreError> {
        Postgres::snapshot(self).await
    }

    async fn transact<T, F>(&self, now: Timestamp, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Transaction, Timestamp) -> Work<'c, T> + Send + 'static,
    {
        self.detached(move |mut transaction| {
            Box::pin(async move {
                let outcome = match transaction.begin(now).await {
                    Ok(now) => work(&mut transaction, now).await,
                    Err(error) => Err(error),
                };
                transaction.finish(outcome).await
            })
        })
        .await
    }

    async fn write_optional(&self, statement: Statement) {
        let written = async { statement.execute(&mut self.reader().await?).await };
        if let Err(error) = written.await {
            tracing::debug!(%error, "optional write failed");
        }
    }

    fn node(&self) -> Option<Uuid> {
        Some(self.node)
    }

    fn key_uses(&self) -> &KeyUses {
        &self.key_uses
    }
}

impl From<Statement> for Query {
    fn from(statement: Statement) -> Self {
        query(statement.postgres).bind_all(statement.values)
    }
}

connections!(Row, Query::from, &Client: Client, Transaction, &Client);

impl WriteTransaction for Transaction {
    async fn lock(&mut self, statement: Statement) -> Result<(), StoreError> {
        statement.fetch_all(self).await.map(drop)
    }

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
        add_to_sums(account, used, now)
            .execute_if(used != UsageChange::default(), self)
            .await
            .map(drop)
    }

    async fn store_pages(
        &mut self,
        account: &Account,
        pages: Vec<NewPage>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        PageRows::of(pages).store(self, account, now).await
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

    async fn delete_old_limits(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        shares::delete_old(self, now).await
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
