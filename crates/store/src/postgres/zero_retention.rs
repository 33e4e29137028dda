//! Deletion of documents of jobs with zero data retention. Deleted rows stay in the files and the log of the
//! server for a while, until it vacuums and recycles them.

use harvestman_core::ids::JobId;

use crate::error::StoreError;
use crate::page::ZeroRetention;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::query::query;
use crate::sql::transact;
use crate::value::params;

impl ZeroRetention for Postgres {
    async fn delete_delivered(&self, job: JobId, skip: u64, upto: u64) -> Result<(), StoreError> {
        transact!(self, |transaction| {
            delete_documents(transaction, job, skip, upto, false).await
        })
    }
}

/// Deletes documents of pages after `skip` up to `upto`; with `with_pending` also those that a pending webhook event
/// needs.
pub(crate) async fn delete_documents(
    client: &Client,
    job: JobId,
    skip: u64,
    upto: u64,
    with_pending: bool,
) -> Result<(), StoreError> {
    query(
        "UPDATE harvestman.page SET zstd = NULL WHERE job_id = $1 AND seq > $2 AND seq <= $3 AND zstd IS NOT NULL
            AND EXISTS (SELECT 1 FROM harvestman.job WHERE id = $1 AND zero_data_retention = 1)
            AND ($4 OR NOT EXISTS (SELECT 1 FROM harvestman.outbox WHERE outbox.job_id = page.job_id
                AND outbox.seq = page.seq AND state = 'pending'))",
    )
    .bind_all(params![job, skip, upto, with_pending])
    .run(client)
    .await
}
