//! A transaction that only reads.

use harvestman_core::ids::JobId;
use harvestman_core::url_key::UrlKey;
use uuid::Uuid;

use crate::error::StoreError;
use crate::limits;
use crate::postgres::query::query;
use crate::postgres::rows::Columns;
use crate::postgres::transaction::Transaction;
use crate::sql::Snapshot;
use crate::value::params;

impl Snapshot for Transaction {
    async fn read_keys(&mut self, job: JobId) -> Result<Vec<UrlKey>, StoreError> {
        let (mut all, mut after) = (Vec::new(), Uuid::nil());
        loop {
            let keys = query(
                "SELECT url_key FROM harvestman.job_url WHERE job_id = $1 AND url_key > $2 ORDER BY url_key LIMIT $3",
            )
            .bind_all(params![job, after, limits::KEYS_PER_READ])
            .fetch_all(self)
            .await?;
            let Some(last) = keys.last() else { return Ok(all) };
            after = last.id("url_key")?;
            for row in &keys {
                all.push(row.url_key("url_key")?);
            }
        }
    }

    async fn end(self) -> Result<(), StoreError> {
        Transaction::end(self).await
    }
}
